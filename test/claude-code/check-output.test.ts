import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SpawnStep } from "#testing";
import { checkOutput } from "../../src/backends/claude-code/check-output.ts";
import { parseVersion } from "../../src/backends/claude-code/version.ts";
import { inspectTarget } from "../../src/runtime/inspect.ts";
import { systemWorld } from "../../src/runtime/world.ts";
import { locateRealCli, realCliHas } from "../real-cli.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { openPlace, processesWith } from "./place.ts";
import { greet, openScripted } from "./scripted.ts";

const cliAt = (path: string, version = "2.1.197") => ({
  path,
  command: { executable: path, args: [] },
  version: parseVersion(version),
  warnings: [],
});

async function check(steps: readonly SpawnStep[], { version = "2.1.197", passMs = 0 } = {}) {
  const place = openScripted(steps);
  const checking = checkOutput(cliAt("/usr/bin/claude", version), {}, place.world);
  await place.clock.advance(0);
  await place.clock.advance(passMs);
  const output = await checking;
  expect(place.clock.pending()).toBe(0);
  expect(place.spawn.calls.every(({ isGone }) => isGone)).toBe(true);
  return { output, calls: place.spawn.calls };
}

describe("S1-145: whether the output of the CLI is JSON only", () => {
  it("initialises it and sends no prompt", async () => {
    const { output, calls } = await check([greet, { waitForInput: "end" }, { exit: 0 }]);
    expect(output).toEqual({ kind: "pure", lines: 1 });
    expect(calls[0]?.stdin.trim().split("\n")).toHaveLength(1);
    expect(JSON.parse(calls[0]?.stdin ?? "")).toMatchObject({ request: { subtype: "initialize" } });
  });

  it.each<[string, readonly SpawnStep[]]>([
    ["before its answer", [{ write: "Update available!\n" }, greet, { exit: 0 }]],
    ["behind its answer", [greet, { write: "Update available!\n" }, { hang: true }]],
  ])("the first line that is not JSON is named: %s", async (_where, steps) => {
    expect((await check(steps)).output).toEqual({ kind: "impure", line: "Update available!" });
  });

  it.each<[string, readonly SpawnStep[], RegExp]>([
    ["it hangs", [{ hang: true }], /5000 ms/],
    ["it ends without a word", [{ exit: 1 }], /without an answer/],
  ])("is unknown if %s", async (_why, steps, reason) => {
    const { output } = await check(steps, { passMs: 10_000 });
    expect(output).toEqual({ kind: "unknown", reason: expect.stringMatching(reason) });
  });

  it("is unknown without a control channel, and nothing is started", async () => {
    const { output, calls } = await check([{ hang: true }], { version: "1.0.130" });
    expect(output).toMatchObject({ kind: "unknown" });
    expect(calls).toEqual([]);
  });
});

describe("S1-145: how doctor reports it", () => {
  const folder = temporaryFolder("output");
  const executable = join(folder, "claude");
  const answer = JSON.stringify({
    type: "control_response",
    response: { subtype: "success", request_id: "check-output" },
  });

  async function look(before: string, env: Readonly<Record<string, string>> = {}) {
    const version = `if [ "$1" = --version ]; then echo 2.1.197; exit 0; fi`;
    writeFileSync(executable, `#!/bin/sh\n${version}\ncat >/dev/null\n${before}\necho '${answer}'\n`);
    chmodSync(executable, 0o755);
    const system = systemWorld();
    const world = { ...system, env: { ...system.env, ...env } };
    return inspectTarget("claude-code", { executable, cwd: folder, checksOutput: true }, world);
  }

  it("JSON only: ready, with what was checked", async () => {
    const state = await look("true");
    expect(state).toMatchObject({ isReady: true, missing: [] });
    expect(state.found.join("\n")).toContain("Its output is JSON only (1 line of a start without a prompt");
  });

  it("another line: not ready, with the line; CLAUDE_INTEGRATION_ALLOW_NONJSON=1 accepts it", async () => {
    const banner = "echo 'Welcome to the wrapper'";
    const state = await look(banner);
    expect(state).toMatchObject({ isReady: false, missing: [expect.stringContaining('"Welcome to the wrapper"')] });
    const passed = await look(banner, { CLAUDE_INTEGRATION_ALLOW_NONJSON: "1" });
    expect(passed).toMatchObject({ isReady: true, missing: [] });
    expect(passed.found.join("\n")).toContain("lets it pass");
  });
});

describe.runIf(realCliHas("control"))("S1-145: the real CLI", () => {
  it("writes JSON only, without calling a model", async () => {
    const place = await openPlace();
    try {
      const cli = cliAt(locateRealCli() ?? "");
      // On a busy machine the CLI may take longer to start than the check waits for it.
      const { clock } = place.world;
      const patient = { ...clock, after: (ms: number, act: () => void) => clock.after(12 * ms, act) };
      const check = checkOutput(cli, { cwd: place.home }, { ...place.world, clock: patient });
      expect(await check).toMatchObject({ kind: "pure" });
      expect(place.emulator.requests.filter(({ method }) => method === "POST")).toEqual([]);
      expect(processesWith(place.home)).toEqual([]);
    } finally {
      await place.close();
    }
  });
});
