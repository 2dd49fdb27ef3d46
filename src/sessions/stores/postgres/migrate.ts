import { StoreError } from "../store-error.ts";
import type { Database } from "./database.ts";
import { OLDEST_PROGRAM, STEPS } from "./schema.ts";

/** Row-level security for partitions, `GENERATED … AS IDENTITY` and partitioned primary keys, all without known faults. */
const OLDEST_SERVER = 130_000;

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
    const { rows: found } = await client.query<{ version: string; has_table: boolean }>(
      `SELECT current_setting('server_version_num') AS version, to_regclass($1) IS NOT NULL AS has_table`,
      [`${database.schema}.version`],
    );
    const [server] = found;
    if (Number(server?.version) < OLDEST_SERVER) {
      throw new StoreError(
        "store-failed",
        `Postgres at ${database.place.host} has version ${Number(server?.version) / 10_000}; the store needs 13 or later.`,
      );
    }
    const readVersion = async (): Promise<number> => {
      const { rows } = await client.query<VersionRow>(database.sql("SELECT * FROM @.version"));
      return requireKnown(rows[0], steps);
    };
    if (server?.has_table === true && (await readVersion()) >= steps.length) return;

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

interface VersionRow {
  readonly number: number;
  /** Absent in the first version. */
  readonly oldest?: number | null;
}

function requireKnown(row: VersionRow | undefined, steps: readonly string[]): number {
  const version = row?.number ?? 0;
  if (version <= steps.length || (row?.oldest ?? version) <= steps.length) return version;
  throw new StoreError(
    "store-failed",
    `The database has version ${version}; this program knows versions up to ${steps.length}. Use the program that wrote it, or a newer one.`,
  );
}
