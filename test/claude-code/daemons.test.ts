import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createWatchdog } from "#transports";
import { createClaudeCodeBackend } from "../../src/backends/claude-code/backend.ts";
import type { ClaudeCodeWorld } from "../../src/backends/claude-code/world.ts";
import { openQuery } from "../../src/backends/claude-code/query.ts";
import { startSession } from "../../src/runtime/open-session.ts";
import { startRun } from "../../src/runtime/run.ts";
import { systemWorld } from "../../src/runtime/world.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { canMakeGroups, listProcesses, onLinux, readProc, until } from "../transports/processes.ts";
import { realWorld } from "./place.ts";

/**
 * A CLI that leaves a daemon behind as soon as it is started, for its version too: forked twice, without variables, in
 * another session. Then it says nothing until it is ended.
 */
const CLI = (seconds: string): string => `#!/bin/sh
env -i PATH=$PATH setsid sh -c 'sleep ${seconds} >/dev/null 2>&1 </dev/null & exit 0'
[ "$1" = --version ] && { echo "2.1.197 (Claude Code)"; exit 0; }
cat >/dev/null
exec sleep 600
`;

const daemons = (seconds: string): readonly number[] =>
  listProcesses()
    .map(({ pid }) => pid)
    .filter((pid) => readProc(`${pid}/cmdline`) === ["sleep", seconds, ""].join("\0"));

interface Scene {
  readonly world: ClaudeCodeWorld;
  readonly executable: string;
  /** Resolves when the CLI at work has left its daemon. */
  readonly standing: () => Promise<void>;
}

/** Each starts the CLI, waits until its daemon stands, and ends it in the way a caller would. */
const WAYS: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  "plain, aborted": (scene) => abortRun(scene, "plain"),
  "control, aborted": (scene) => abortRun(scene, "control"),
  async "query, closed"({ world, executable, standing }) {
    const query = await openQuery("hello", { executable }, world);
    await standing();
    await query.close();
  },
  async "session, closed"({ world, executable, standing }) {
    const backend = createClaudeCodeBackend({ executable, mode: "control" }, world);
    const session = startSession(backend, {}, systemWorld());
    const run = session.send("hello");
    await standing();
    await session.close();
    await run.result();
  },
};

async function abortRun({ world, executable, standing }: Scene, mode: "plain" | "control"): Promise<void> {
  const run = startRun(createClaudeCodeBackend({ executable, mode }, world), "hello", {}, systemWorld());
  await standing();
  await run.abort("enough");
  expect((await run.result()).status).toBe("aborted");
}

describe.runIf(onLinux && (canMakeGroups() || process.env["CI"] === "true"))(
  "F-A5: a daemon that a CLI has started",
  () => {
    it.each(Object.keys(WAYS))("is stopped if it was started for: %s", async (way) => {
      const seconds = `63.${Object.keys(WAYS).indexOf(way) + 1}`;
      const folder = temporaryFolder("hidden");
      const executable = join(folder, "claude");
      writeFileSync(executable, CLI(seconds));
      chmodSync(executable, 0o755);
      const watchdog = createWatchdog();
      onTestFinished(() => watchdog.close());
      const world = { ...realWorld({ PATH: process.env["PATH"] ?? "" }, folder), watchdog };
      const standing = (): Promise<void> => until(() => daemons(seconds).length === 1);
      await WAYS[way]?.({ world, executable, standing });
      expect(daemons(seconds)).toEqual([]);
    });
  },
);
