import {
  createFindRepositories,
  createProcessFolder,
  createProcessTable,
  createSpawn,
  createSystemFiles,
  createWatchdog,
  probeExecutable,
  systemClock,
  systemRandom,
} from "#transports";
import type { ClaudeCodeWorld } from "../backends/claude-code/launch.ts";

// One companion for the whole process, started with the first CLI.
const watchdog = createWatchdog();
const temporaryFolder = createProcessFolder();
const versions: NonNullable<ClaudeCodeWorld["versions"]> = new Map();

/** The real world, as the Claude Code CLI needs it. */
export function claudeCodeWorld(): ClaudeCodeWorld {
  return {
    clock: systemClock,
    random: systemRandom,
    spawn: createSpawn(),
    files: createSystemFiles(),
    probe: probeExecutable,
    env: process.env,
    cwd: process.cwd(),
    temporaryFolder,
    processes: createProcessTable(),
    watchdog,
    findRepositories: createFindRepositories(),
    versions,
  };
}
