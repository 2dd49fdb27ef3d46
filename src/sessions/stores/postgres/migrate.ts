import { StoreError } from "../store-error.ts";
import type { Database } from "./database.ts";
import { findObstacle, readRights } from "./rights.ts";
import { OLDEST_PROGRAM, STEPS } from "./schema.ts";

/**
 * Brings the tables to the newest version, all or nothing. Several nodes may start at once: the others wait for the one that
 * does it. A newer database is left unchanged, and rejected unless it says that programs of this version may use it.
 */
export async function migrate(
  database: Database,
  steps: readonly string[] = STEPS,
  oldest: number = OLDEST_PROGRAM,
): Promise<void> {
  await database.transact(async (client) => {
    const rights = await readRights(client, database.schemaName);
    const obstacle = findObstacle(rights, database.schemaName, database.place);
    if (obstacle !== undefined) throw new StoreError("store-failed", obstacle);
    const readVersion = async (): Promise<number> => {
      const { rows } = await client.query<VersionRow>(database.sql("SELECT * FROM @.version"));
      return requireKnown(rows[0], steps);
    };
    if (rights.has_version && (await readVersion()) >= steps.length) return;

    await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`millrace ${database.schema}`]);
    // IF NOT EXISTS needs the right to create schemas even if there is one. And to_regnamespace would answer from a cache that
    // waiting for the lock does not refresh.
    const { rows } = await client.query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [database.schemaName]);
    if (rows.length === 0) await client.query(`CREATE SCHEMA ${database.schema}`);
    await client.query(database.sql("CREATE TABLE IF NOT EXISTS @.version (number integer NOT NULL)"));
    const version = await readVersion();
    if (version >= steps.length) return;
    for (const step of steps.slice(version)) await client.query(database.sql(step));
    await client.query(database.sql("DELETE FROM @.version"));
    await client.query(database.sql("INSERT INTO @.version (number, oldest) VALUES ($1, $2)"), [steps.length, oldest]);
  });
}

export interface VersionRow {
  readonly number: number;
  /** Absent in the first version. */
  readonly oldest?: number | null;
}

function requireKnown(row: VersionRow | undefined, steps: readonly string[]): number {
  const version = row?.number ?? 0;
  const fault = findNewer(row, steps.length);
  if (fault !== undefined) throw new StoreError("store-failed", fault);
  return version;
}

/** Why this program may not work on tables of this version; `undefined` if it may. */
export function findNewer(row: VersionRow | undefined, known: number): string | undefined {
  const version = row?.number ?? 0;
  if (version <= known || (row?.oldest ?? version) <= known) return undefined;
  return `The database has version ${version}; this program knows versions up to ${known}. Use the program that wrote it, or a newer one.`;
}
