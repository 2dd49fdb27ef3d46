/**
 * The seams: everything the outside world gives us, passed in and never reached for, so that tests can play the world.
 * The real ones stand in `transports/`, the test ones in `testing/`.
 */

/** Time. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()`. */
  now(): number;
  /** Calls `fire` once after `ms`; the returned function takes it back and may be called any number of times. */
  after(ms: number, fire: () => void): () => void;
}

/** Chance. */
export interface Random {
  /** A number in [0, 1), for jitter. Not for secrets. */
  next(): number;
  /** A new id that nobody can guess: letters, digits, `-` and `_`. */
  id(): string;
}

/** The variable by which everything a process has started is found again. */
export interface ProcessTag {
  readonly name: string;
  readonly value: string;
}

/** One living process. Number and start together name it for ever; the number alone does not. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** When it started, in a unit of the system's own. A child's is never less than its parent's. */
  readonly startTicks: number;
  /** The process group, and the session; left out where they have no numbers. */
  readonly group?: number | undefined;
  readonly session?: number | undefined;
}

/** A process and everything it has started, followed from its start. */
export interface ProcessFamily {
  /**
   * Resolves with who of it lives. Rejects when the processes cannot be listed. A process that was looked at and is not
   * of the family is not looked at again, which makes a second look cheap; `fresh` looks at all of them, because a number
   * may belong to another process by now.
   */
  look(how?: { readonly fresh: boolean }): Promise<readonly ProcessEntry[]>;
  /** Kills all of it in one step, what is being started among it. Does nothing where the system has no such step. */
  killAtOnce(): void;
  /** The control group the system keeps it in, as a path; `undefined` where it is followed by its traces only. */
  readonly controlGroup: string | undefined;
  /** Called with the living after each look that found others than the one before. */
  onChange: (living: readonly ProcessEntry[]) => void;
  /** Ends the following. Idempotent. */
  close(): void;
}

/** What a run needs to know of a started process. */
export interface ProcessHandle {
  readonly pid: number | undefined;
  /**
   * Whether the process itself is still there; its output may outlast it. While this is true its number is its own.
   * Left out by handles that cannot tell.
   */
  readonly isRunning?: boolean | undefined;
  /** When it started, as the system's table of processes counts. Left out where there is no such table. */
  readonly startTicks?: number | undefined;
  /** Left out where nothing is followed: without a `tag` in the request, and by handles of no real process. */
  readonly family?: ProcessFamily | undefined;
  /** Bytes of stdout in order; pulling slowly slows the process down. Ends when the process closes it. */
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly stderr: AsyncIterable<Uint8Array>;
  /** Resolves when the bytes were taken; rejects when the process no longer reads. */
  write(bytes: Uint8Array): Promise<void>;
  /** Closes stdin. */
  endInput(): void;
  kill(signal: "SIGINT" | "SIGTERM" | "SIGKILL"): void;
  /**
   * Resolves once the process is gone and its output has arrived; never rejects. What a reader has not pulled by then
   * is still there for it.
   */
  readonly exit: Promise<ProcessExit>;
}

/** How a process ended: with a code, or by a signal. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A process to start. */
export interface ProcessRequest {
  readonly executable: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  /** One of the variables of `env`. What the process starts is then followed, until its `family` is closed. */
  readonly tag?: ProcessTag;
}

/** Starts processes: no shell, ever. Rejects when the process could not be started. */
export type Spawn = (request: ProcessRequest) => Promise<ProcessHandle>;

export interface HttpRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body in order, for one reader; pulling slowly slows the sender down. Throws when the connection breaks. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Makes one HTTP exchange. Follows no redirect: a redirect would carry the key to another host. */
export type Fetch = (request: HttpRequest) => Promise<HttpResponse>;

/** Files, whole or appended. Paths are absolute; others are refused. */
export interface FileSystem {
  /** Rejects with the code `ENOENT` when there is none. */
  read(path: string): Promise<Uint8Array>;
  /** Replaces the file in one step; readers see the old or the new one. Mode 0600; missing folders are made, 0700. */
  write(path: string, bytes: Uint8Array): Promise<void>;
  /** Adds to the end; makes what is missing as `write` does. */
  append(path: string, bytes: Uint8Array): Promise<void>;
  /**
   * Makes a folder that is its owner's alone (0700), or tightens one that is there. Rejects when it cannot be: another
   * user's, a link of somebody else's, a folder that everybody shares.
   */
  makePrivate(path: string): Promise<void>;
  /** Whether there is a file or a folder. */
  exists(path: string): Promise<boolean>;
  /** Removes a file. One that is not there is no failure. */
  remove(path: string): Promise<void>;
  /** The names in a folder, sorted; none when there is no such folder. */
  list(path: string): Promise<readonly string[]>;
  /** Where a path leads, every link on the way followed. Rejects with the code `ENOENT` when nothing is there. */
  realPath(path: string): Promise<string>;
}

/** Another thread of this process. It answers one question after the other. */
export interface Worker {
  /** `false`: it has ended, whyever. */
  readonly isAlive: boolean;
  /** Rejects when the thread ends before it has answered. What is asked and answered must be plain data. */
  ask(question: unknown): Promise<unknown>;
  /** Ends it after what was asked. Idempotent. */
  close(): Promise<void>;
}

/** Starts a thread with a program text, which is ours and never anybody else's, and data for it. */
export type StartWorker = (program: string, data: unknown) => Worker;
