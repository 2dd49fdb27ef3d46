/**
 * A store in Postgres, for any number of machines: an event is committed before it is shown.
 *
 * @module
 */
import { checkOptionNames, StartError } from "#domain";
import type { Store } from "#sessions";
import { systemClock } from "#transports";
import { opened } from "./opened.ts";
import { openPostgresStore } from "../../sessions/stores/postgres/postgres-store.ts";

export type { Store, StoreErrorCode } from "#sessions";
export { isStoreError, StoreError } from "#sessions";

/** The options of `openStore`. */
export interface PostgresOptions {
  /** The schema of the tables, created if missing. Lower-case letters, digits and `_`. Default `millrace`. */
  readonly schema?: string;
  /** The largest number of connections of this process, besides one for hints. Default 10. */
  readonly connections?: number;
  /** How long a statement may take, in milliseconds. Default 30,000. */
  readonly statementMs?: number;
  /** How long opening a connection may take, in milliseconds. Default 4,000. */
  readonly connectMs?: number;
  /**
   * Removes runs that ended longer ago than this many days, with their events; messages stay in their thread. Default:
   * nothing is removed.
   */
  readonly retentionDays?: number;
}

const NAMES = ["schema", "connections", "statementMs", "connectMs", "retentionDays"] as const;
const DAY_MS = 86_400_000;

/**
 * Opens the store in a Postgres database (13 or later), and creates or migrates its tables. Several processes may open it at
 * the same time. Requires the package `pg`. Rejects with a `StartError` that says what to do if the database cannot be used.
 *
 * @example
 * const store = await openStore("postgres://millrace@db.example/millrace", { retentionDays: 90 })
 */
export async function openStore(url: string, options: PostgresOptions = {}): Promise<Store> {
  checkOptionNames(options, NAMES satisfies readonly (keyof PostgresOptions)[], "openStore");
  const { schema = "millrace", connections = 10, statementMs = 30_000, connectMs = 4000, retentionDays } = options;
  if (!/^[a-z_][a-z0-9_]{0,40}$/.test(schema)) {
    throw new StartError(
      "invalid-option",
      "schema must be 1 to 41 lower-case letters, digits and _, not a digit first.",
    );
  }
  for (const [name, value, least] of [
    ["connections", connections, 2],
    ["statementMs", statementMs, 100],
    ["connectMs", connectMs, 100],
    ["retentionDays", retentionDays ?? 1, 0],
  ] as const) {
    if (!Number.isFinite(value) || value < least)
      throw new StartError("invalid-option", `${name} must be a number of at least ${least}, not ${String(value)}.`);
  }
  const retentionMs = retentionDays === undefined ? undefined : retentionDays * DAY_MS;
  return await opened(
    openPostgresStore({ url, schema, connections, statementMs, connectMs, retentionMs, clock: systemClock }),
  );
}
