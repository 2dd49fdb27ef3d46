import { describeThrown } from "#domain";
import { StoreError } from "../store-error.ts";

/** Where a database is, without its password. */
export interface Place {
  readonly host: string;
  readonly database: string;
  readonly user: string;
}

/** The connection is gone, or there is none: the same may succeed later. */
const LOST_CODES: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ENOENT",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
  // The server stops, is stopped, or starts; it has no free connection.
  "57P01",
  "57P02",
  "57P03",
  "53300",
]);

/** Texts of `pg` for errors without a code. */
const LOST_TEXTS = [
  "Connection terminated",
  "timeout exceeded when trying to connect",
  "timeout expired",
  "Client has encountered a connection error",
  "Client was closed",
  "Query read timeout",
];

/** Two transactions waited for each other, or one waited too long for a lock: the same can be tried at once. */
const CONFLICT_CODES: ReadonlySet<string> = new Set(["40001", "40P01", "55P03"]);

function codeOf(error: unknown): string {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}

/** Whether the server could not be reached, or the connection was lost, before it answered. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error);
  if (LOST_CODES.has(code) || code.startsWith("08")) return true;
  // Every address of a host refused.
  if (error instanceof AggregateError) return error.errors.some(isLost);
  return code === "" && error instanceof Error && LOST_TEXTS.some((text) => error.message.includes(text));
}

export function isConflict(error: unknown): boolean {
  return CONFLICT_CODES.has(codeOf(error));
}

/** What a person can do about it. */
function remedyFor(error: unknown, { host, database, user }: Place): string | undefined {
  const code = codeOf(error);
  switch (code) {
    case "28P01":
    case "28000":
      if (/no encryption|SSL off/u.test(describeThrown(error))) {
        return `Postgres at ${host} does not let the user ${user} in without encryption. Add ?sslmode=verify-full to the URL, or correct pg_hba.conf.`;
      }
      return `Postgres at ${host} does not let the user ${user} in. Check user and password of the URL, and pg_hba.conf.`;
    case "3D000":
      return `There is no database ${database} at ${host}. Create it (createdb ${database}), or correct the URL.`;
    case "25006":
      return `Postgres at ${host} takes no writes: it is a standby, or default_transaction_read_only is on. Give the address of the primary, or switch that off.`;
    case "42501":
      return `The user ${user} may not do this in the database ${database}. Make it the owner of the schema, or let it create one (GRANT CREATE ON DATABASE ${database} TO ${user}).`;
    case "53300":
      return `Postgres at ${host} has no free connection. Lower the option connections, or raise max_connections.`;
    case "57014":
      return "A statement took longer than statementMs, so it was ended. Find out what the database is waiting for.";
    case "53100":
      return `The disk of Postgres at ${host} is full.`;
    case "ENOTFOUND":
      return `There is no host ${host}. Correct the URL.`;
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
      return `The certificate of ${host} is not signed by a known authority. Give its authority with sslrootcert in the URL.`;
    default:
      if (describeThrown(error).includes("does not support SSL")) {
        return `Postgres at ${host} does not offer encryption. Switch it on there (ssl = on), or leave sslmode out of the URL.`;
      }
      return isLost(error)
        ? `Postgres at ${host} cannot be reached. Check that it runs, and that host and port of the URL are right.`
        : undefined;
  }
}

export function storeFailure(error: unknown, place: Place): StoreError {
  return new StoreError("store-failed", describeAt(error, place), { cause: error });
}

/** What is wrong with the database at this URL, with the remedy and without the password. */
export function describePostgresFailure(error: unknown, url: string): string {
  return describeAt(error, readPlace(url));
}

function describeAt(error: unknown, place: Place): string {
  const remedy = remedyFor(error, place);
  // An AggregateError has no text of its own.
  const cause = error instanceof AggregateError && error.message === "" ? error.errors[0] : error;
  const why = describeThrown(cause);
  return remedy === undefined ? `The database rejected the call: ${why}` : `${remedy} (${why})`;
}

/** @throws StoreError `store-failed` if it is no URL of Postgres. */
export function readPlace(url: string): Place {
  let parsed: URL | undefined;
  try {
    parsed = new URL(url);
  } catch {
    // Said below, without the URL: it may have a password.
  }
  if (parsed === undefined || !/^postgres(ql)?:$/.test(parsed.protocol)) {
    throw new StoreError(
      "store-failed",
      "The store needs a URL like postgres://user:password@host:5432/database; the one given is not of that form.",
    );
  }
  const { hostname, port, pathname, username, searchParams } = parsed;
  return {
    host: searchParams.get("host") ?? `${hostname || "localhost"}:${port || "5432"}`,
    database: decodeURIComponent(pathname.slice(1)) || "(the default)",
    user: decodeURIComponent(username) || "(the default)",
  };
}
