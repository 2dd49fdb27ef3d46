import type { Clock, FileSystem, Random, Spawn } from "#domain";
import type { FindRepositories, ProcessTable, stopProcess, Watchdog } from "#transports";
import type { VersionDetection } from "./detect-version.ts";
import type { ProbeExecutable } from "./locate.ts";

/** The seams that the CLI needs. */
export interface ClaudeCodeWorld {
  readonly clock: Clock;
  readonly random: Random;
  readonly spawn: Spawn;
  readonly files: FileSystem;
  readonly probe: ProbeExecutable;
  /** The variables of our own process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Our own working folder. */
  readonly cwd: string;
  /** A private folder for the CLI's files while it runs. A function is called when there is a file. */
  readonly temporaryFolder: string | (() => Promise<string>);
  /** The processes of this machine; `undefined` if they cannot be listed. */
  readonly processes: ProcessTable | undefined;
  /** Default: the current platform. */
  readonly platform?: NodeJS.Platform | undefined;
  /** Ends what was started if this process dies suddenly. */
  readonly watchdog?: Watchdog | undefined;
  /** Detected versions: asking costs a process, and with the real CLI a fifth of a second. */
  readonly versions?: Map<string, { readonly at: number; readonly detection: VersionDetection }> | undefined;
  /**
   * Searches for git repositories below the working folder, whose commands are disabled. Absent: only those are
   * disabled that git enters by itself.
   */
  readonly findRepositories?: FindRepositories | undefined;
  /** Replaces `stopProcess`: a process on a tape cannot be stopped, its end can only be observed. */
  readonly stop?: typeof stopProcess | undefined;
}
