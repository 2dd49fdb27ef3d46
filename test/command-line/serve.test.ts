import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { main } from "../../src/cli/main.ts";
import { createMemoryIo } from "../e2e/memory-io.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const folder = temporaryFolder("serve-ready");

describe("millrace serve", () => {
  it("F-F: logs which targets are not ready, with what they need, and serves nevertheless", async () => {
    let interrupt = (): void => undefined;
    const io = {
      ...createMemoryIo({ cwd: folder, env: { HOME: folder } }),
      onInterrupt: (listener: (signal: "SIGINT") => void) => {
        interrupt = () => listener("SIGINT");
        return () => undefined;
      },
    };
    const args = ["serve", "--port", "0", "--data", join(folder, "data"), "-b", "anthropic/x", "-b", "offline"];
    const served = main(args, io);
    await vi.waitFor(() => expect(io.stderr()).toContain("target-not-ready"));
    interrupt();
    expect(await served).toBe(0);
    expect(io.stdout()).toMatch(/^http:/);

    const records = io.stderr().trim().split("\n");
    const warnings = records.map((line) => JSON.parse(line)).filter(({ level }) => level === "warn");
    const reason = expect.stringMatching(/^ANTHROPIC_API_KEY is not set.* Set it/);
    expect(warnings).toEqual([
      { ts: expect.any(String), level: "warn", event: "target-not-ready", target: "anthropic/x", reason },
    ]);
  });
});

describe("F-C9: a command of the configuration that is not there", () => {
  const home = temporaryFolder("commands-of-config");
  const source = new URL("../../src/index.ts", import.meta.url).href;
  const text = `import { agent, command } from ${JSON.stringify(source)};
    export default { agents: [agent({ name: "lost", backend: command(["no-such-program-1"]) }), agent({ name: "here", backend: command(["sh"], { env: { PATH: "/bin:/usr/bin" } }) })] };`;
  mkdirSync(join(home, ".config", "millrace"), { recursive: true, mode: 0o700 });
  writeFileSync(join(home, ".config", "millrace", "config.mjs"), text, { mode: 0o600 });
  const offline = () => {
    const io = createMemoryIo({ cwd: folder, env: { HOME: home, NO_COLOR: "1" } });
    return { ...io, world: { ...io.world, fetch: () => Promise.reject(new Error("no network")) } };
  };

  it("is named by doctor", async () => {
    const io = offline();
    await main(["doctor"], io);
    const shown = io.stdout().slice(io.stdout().indexOf("Agents of the configuration"));
    expect(shown).toMatch(
      /✗ lost\n    Its backend is command.\n    The program no-such-program-1 was not found in PATH/,
    );
    expect(shown).toContain("✓ here");
    const json = offline();
    await main(["doctor", "--json"], json);
    expect(JSON.parse(json.stdout())).toMatchObject({ agents: [{ name: "lost", isReady: false }, { isReady: true }] });
  });

  it("is logged by serve", async () => {
    let interrupt = (): void => undefined;
    const io = {
      ...offline(),
      onInterrupt: (listener: (signal: "SIGINT") => void) => {
        interrupt = () => listener("SIGINT");
        return () => undefined;
      },
    };
    const served = main(["serve", "--port", "0", "--data", join(home, "data")], io);
    await vi.waitFor(() => expect(io.stderr()).toContain("target-not-ready"));
    interrupt();
    expect(await served).toBe(0);
    expect(io.stderr()).toMatch(/"target":"lost","reason":"The program no-such-program-1 was not found/);
  });
});
