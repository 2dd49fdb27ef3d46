import { checkOptionNames, describeWriteFailure, type FileSystem } from "#domain";
import { encodeEvent } from "#wire";
import { escapeUnsafe } from "./safe-text.ts";
import type { Sink } from "./sink.ts";

/** The options of `createLogSink`. */
export interface LogOptions {
  /** An absolute path. Missing folders are created; an existing file is appended to. */
  readonly path: string;
  readonly files: Pick<FileSystem, "append">;
  /** Changes every line before it is written: the place to remove secrets. */
  readonly redact?: (line: string) => string;
}

/** The number of unwritten characters above which `room` returns a promise. */
const MAX_WAITING = 1024 * 1024;

/**
 * Appends one event per line to a file while the run continues. Events of runs that share a file are distinguished by
 * their `runId`. `close` resolves when the last line is written; it rejects if one could not be written.
 *
 * @example
 * const sink = createLogSink({
 *   path: "/var/log/agents/today.jsonl",
 *   files: { append: (path, bytes) => appendFile(path, bytes) },
 * })
 */
export function createLogSink(options: LogOptions): Sink {
  checkOptionNames(options, ["path", "files", "redact"] satisfies (keyof LogOptions)[], "createLogSink");
  const encoder = new TextEncoder();
  const redact = options.redact ?? ((line) => line);
  let lines: string[] = [];
  let waiting = 0;
  let failure: unknown;
  let writing: Promise<void> | undefined;

  const writeAll = async (): Promise<void> => {
    try {
      while (lines.length > 0 && failure === undefined) {
        const text = lines.join("");
        lines = [];
        waiting = 0;
        await options.files.append(options.path, encoder.encode(text));
      }
    } catch (error) {
      failure = error ?? new Error("append failed");
    } finally {
      writing = undefined;
    }
  };

  return {
    accept(event) {
      if (failure !== undefined) return;
      const line = `${redact(escapeUnsafe(encodeEvent(event)))}\n`;
      lines.push(line);
      waiting += line.length;
      writing ??= writeAll();
    },
    room: () => (waiting > MAX_WAITING ? writing : undefined),
    async close() {
      await writing;
      if (failure === undefined) return;
      throw new Error(`The log ${options.path} could not be written: ${describeWriteFailure(failure)}`, {
        cause: failure,
      });
    },
  };
}

/**
 * The default name of a log: `YYYY-MM-DD-HH-MM-SS-stream.jsonl`, in local time.
 *
 * @example
 * logFileName(Date.now()) // "2026-11-17-21-08-15-stream.jsonl"
 */
export function logFileName(now: number): string {
  const time = new Date(now);
  const parts = [time.getFullYear(), time.getMonth() + 1, time.getDate()];
  parts.push(time.getHours(), time.getMinutes(), time.getSeconds());
  return `${parts.map((part) => String(part).padStart(2, "0")).join("-")}-stream.jsonl`;
}
