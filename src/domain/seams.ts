/**
 * The seams: everything from the outside world is passed in and never accessed directly, so that tests can replace it.
 * The real ones are in `transports/`, those for tests in `testing/`.
 */

/** Time. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()`. */
  now(): number;
  /** Calls `fire` once after `ms`; the returned function cancels it and may be called any number of times. */
  after(ms: number, fire: () => void): () => void;
}

/**
 * Resolves in the next turn of the event loop, after everything that has already arrived was processed. Long operations
 * await it between their steps. If it is absent, as on a virtual clock, the steps follow each other directly.
 */
export type NextTurn = () => Promise<void>;

/** Randomness. */
export interface Random {
  /** A number in [0, 1), for jitter. Not for secrets. */
  next(): number;
  /** A new unguessable id: letters, digits, `-` and `_`. */
  id(): string;
}

/** The variable that identifies everything a process has started. */
export interface ProcessTag {
  readonly name: string;
  readonly value: string;
}

/** One living process. Its id and start time together identify it for ever; the id alone does not. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** When it started, in a system-specific unit. A child's start is never less than its parent's. */
  readonly startTicks: number;
  /** The ids of the process group and the session; absent where there are none. */
  readonly group?: number | undefined;
  readonly session?: number | undefined;
}

/** A process and everything it has started, followed from its start. */
export interface ProcessFamily {
  /**
   * Resolves with its living processes. Rejects when the processes cannot be listed. A process that was found not to
   * belong to the family is not examined again, which makes repeated calls cheap; `fresh` examines all of them, because
   * an id may belong to another process by now.
   */
  look(how?: { readonly fresh: boolean }): Promise<readonly ProcessEntry[]>;
  /**
   * Kills all of it in one step, including processes that are just being started. Does nothing if the system has no
   * such step.
   */
  killAtOnce(): void;
  /** The path of its control group; `undefined` if it is followed only by its traces. */
  readonly controlGroup: string | undefined;
  /** Called with the living processes after each `look` whose result changed. */
  onChange: (living: readonly ProcessEntry[]) => void;
  /** Stops following it. Idempotent. */
  close(): void;
}

/** A started process. */
export interface ProcessHandle {
  readonly pid: number | undefined;
  /**
   * Whether the process itself is still alive; its output may outlast it. While this is true, its id cannot belong to
   * another process. Absent on handles that cannot determine it.
   */
  readonly isRunning?: boolean | undefined;
  /** When it started, in the ticks of the process table. Absent if there is no such table. */
  readonly startTicks?: number | undefined;
  /** Absent if nothing is followed: without a `tag` in the request, and on handles without a real process. */
  readonly family?: ProcessFamily | undefined;
  /** The bytes of stdout in order; reading slowly slows the process down. Ends when the process closes it. */
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly stderr: AsyncIterable<Uint8Array>;
  /** Resolves when the bytes were accepted; rejects when the process no longer reads. */
  write(bytes: Uint8Array): Promise<void>;
  /** Closes stdin. */
  endInput(): void;
  kill(signal: "SIGINT" | "SIGTERM" | "SIGKILL"): void;
  /**
   * Resolves once the process has exited and its output has arrived; never rejects. Output that was not read by then
   * can still be read.
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
  /** One of the variables in `env`. Everything the process starts is then followed, until its `family` is closed. */
  readonly tag?: ProcessTag;
}

/** Starts processes, always without a shell. Rejects when the process could not be started. */
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
  /** The body in order, for one reader; reading slowly slows the sender down. Throws when the connection breaks. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Makes one HTTP exchange. Follows no redirects: a redirect would send the key to another host. */
export type Fetch = (request: HttpRequest) => Promise<HttpResponse>;

/** Files, whole or appended. Paths must be absolute. */
export interface FileSystem {
  /** Rejects with the code `ENOENT` if there is none. */
  read(path: string): Promise<Uint8Array>;
  /**
   * Replaces the file atomically; readers see the old or the new one. Mode 0600; missing folders are created with 0700.
   */
  write(path: string, bytes: Uint8Array): Promise<void>;
  /** Appends to the file; creates what is missing, like `write`. */
  append(path: string, bytes: Uint8Array): Promise<void>;
  /**
   * Creates a folder that only its owner can use (0700), or restricts an existing folder or file (0600). Rejects if that
   * is not possible: another user's, a link made by another user, or a shared folder. For a `file` nothing is created:
   * a missing one is not an error, and something else in its place is.
   */
  makePrivate(path: string, kind?: "folder" | "file"): Promise<void>;
  /** Whether there is a file or a folder. */
  exists(path: string): Promise<boolean>;
  /** Removes a file. A missing file is not an error. */
  remove(path: string): Promise<void>;
  /** The names in a folder, sorted; empty if there is no such folder. */
  list(path: string): Promise<readonly string[]>;
  /** The real path, with all links followed. Rejects with the code `ENOENT` if nothing is there. */
  realPath(path: string): Promise<string>;
}

/** Another thread of this process. It answers one question after the other. */
export interface Worker {
  /** `false`: it has ended, for any reason. */
  readonly isAlive: boolean;
  /** Rejects if the worker ends before it has answered. Questions and answers must be plain data. */
  ask(question: unknown): Promise<unknown>;
  /** Ends the worker after all pending questions. Idempotent. */
  close(): Promise<void>;
}

/** The program of a worker. An exception ends the worker. */
export interface WorkerProgram {
  answer(question: unknown): unknown;
  /** Called after the last question. */
  close(): void;
}

/** Starts a worker with one of our files, whose export `start(data)` returns a `WorkerProgram` or a promise of one. */
export type StartWorker = (file: string, data: unknown) => Worker;
