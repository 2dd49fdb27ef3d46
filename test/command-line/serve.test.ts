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
