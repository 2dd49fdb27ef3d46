/** One line of the server's log. Never holds bodies, query strings or tokens. */
export interface LogRecord {
  readonly ts: string;
  readonly level: "info" | "warn" | "error";
  /** What happened: `request`, `run-start`, `run-end`, `listening`, `store-failed` … */
  readonly event: string;
  readonly [field: string]: unknown;
}

/** Writes one line. */
export type WriteLog = (level: LogRecord["level"], event: string, fields?: Readonly<Record<string, unknown>>) => void;

/** Shorter ones are no secrets, and would be found everywhere. */
const SHORTEST_SECRET = 6;

/** A log that knows the secrets of this server and lets none of them through, wherever they turn up. */
export function createServerLog(
  listener: ((record: LogRecord) => void) | undefined,
  secrets: readonly string[],
  now: () => number,
): WriteLog {
  if (listener === undefined) return () => undefined;
  const hidden = [...new Set(secrets)]
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .sort((left, right) => right.length - left.length);
  const redact = (value: unknown): unknown =>
    typeof value === "string" ? hidden.reduce((text, secret) => text.replaceAll(secret, "[secret]"), value) : value;
  return (level, event, fields = {}) => {
    const shown = Object.entries(fields).map(([name, value]) => [name, redact(value)] as const);
    try {
      listener({ ts: new Date(now()).toISOString(), level, event, ...Object.fromEntries(shown) });
    } catch {
      // Who listens to the log must not be able to stop the server.
    }
  };
}

/** A record as one line of JSON. */
export function logLine(record: LogRecord): string {
  return `${JSON.stringify(record)}\n`;
}
