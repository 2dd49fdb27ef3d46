import type { SecretMask } from "#secrets";
import { callSafely } from "#streams";

/** One line of the server's log. Never contains bodies, query strings or tokens. */
export interface LogRecord {
  readonly ts: string;
  readonly level: "info" | "warn" | "error";
  /** What happened: `request`, `run-start`, `run-end`, `listening`, `store-failed` … */
  readonly event: string;
  readonly [field: string]: unknown;
}

/** Writes one line. */
export type WriteLog = (level: LogRecord["level"], event: string, fields?: Readonly<Record<string, unknown>>) => void;

/** Creates a log that masks the secrets of this server wherever they appear. */
export function createServerLog(
  listener: ((record: LogRecord) => void) | undefined,
  secrets: SecretMask | undefined,
  now: () => number,
  onListenerError: (error: unknown) => void = () => undefined,
): WriteLog {
  if (listener === undefined) return () => undefined;
  let isReported = false;
  // A failing log listener must not stop the server. Reported once: on a full disk every line would fail.
  const report = (error: unknown): void => {
    if (isReported) return;
    isReported = true;
    callSafely(
      () => onListenerError(error),
      () => undefined,
    );
  };
  return (level, event, fields = {}) => {
    const shown = secrets?.value(fields) ?? fields;
    callSafely(() => listener({ ts: new Date(now()).toISOString(), level, event, ...shown }), report);
  };
}

/**
 * A record as one line of JSON.
 *
 * @example
 * const server = createServer({ store, log: (record) => process.stderr.write(logLine(record)) })
 */
export function logLine(record: LogRecord): string {
  return `${JSON.stringify(record)}\n`;
}
