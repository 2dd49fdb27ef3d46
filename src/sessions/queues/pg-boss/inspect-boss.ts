import type { Finding } from "../../finding.ts";
import { PREFIX } from "./boss-engine.ts";

/** The parts of a connection to Postgres that are used. */
export interface PostgresCalls {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
}

const NAME = "queue pg-boss";

/** The version of the tables of the one version of pg-boss that is used. */
const TABLES = 43;

/** Why this program may not use the tables; `undefined` if it may. */
export function findNewerQueue(version: number): string | undefined {
  if (version <= TABLES) return undefined;
  return `The tables of the queue have version ${version}, which a newer pg-boss has written; this program uses version ${TABLES}. Use the program that wrote them, or give the queue a schema of its own.`;
}

/** Says what would keep a server from using the queue. Changes nothing there. Rejects if Postgres rejects a call. */
export async function inspectBoss(client: PostgresCalls, schema: string): Promise<readonly Finding[]> {
  const { rows } = await client.query(
    `SELECT current_user AS user, current_database() AS database, to_regclass($1) IS NOT NULL AS has_tables,
       n.oid IS NOT NULL AS has_schema, has_database_privilege(current_database(), 'CREATE') AS may_make_schema,
       coalesce(pg_has_role(n.nspowner, 'USAGE'), false) AS owns, pg_is_in_recovery() AS is_standby
     FROM (SELECT 1) AS one LEFT JOIN pg_namespace AS n ON n.nspname = $2`,
    [`${schema}.version`, schema],
  );
  const facts = rows[0] ?? {};
  if (facts["is_standby"] === true)
    return [wrong("The database is a standby, which takes no writes. Give the address of the primary.")];
  if (facts["has_schema"] !== true && facts["may_make_schema"] !== true) {
    return [
      wrong(
        `The user ${String(facts["user"])} may not create the schema ${schema}. Let it (GRANT CREATE ON DATABASE ${String(facts["database"])} TO ${String(facts["user"])}).`,
      ),
    ];
  }
  if (facts["has_schema"] === true && facts["owns"] !== true) {
    return [wrong(`The user ${String(facts["user"])} does not own the schema ${schema}. Use its owner.`)];
  }
  if (facts["has_tables"] !== true) {
    return [{ name: NAME, isReady: true, says: "The queue can be used. The first server creates its tables." }];
  }
  const { rows: versions } = await client.query(`SELECT version FROM ${schema}.version`);
  const newer = findNewerQueue(Number(versions[0]?.["version"] ?? 0));
  if (newer !== undefined) return [wrong(newer)];
  const { rows: counts } = await client.query(
    `SELECT count(*) FILTER (WHERE state < 'active' AND start_after <= now())::int AS waiting,
       count(*) FILTER (WHERE state = 'active')::int AS active
       FROM ${schema}.job WHERE state <= 'active' AND name LIKE $1`,
    [`${PREFIX}%`],
  );
  const [waiting, active] = [Number(counts[0]?.["waiting"]), Number(counts[0]?.["active"])];
  const found: Finding[] = [
    {
      name: NAME,
      isReady: true,
      says: `The queue can be used. ${waiting} jobs are waiting, and ${active} are worked on.`,
    },
  ];
  if (waiting > 0 && active === 0) {
    const says = "Jobs are waiting, and nobody works on any. Start a worker: millrace serve --worker-only.";
    found.push({ name: NAME, isReady: true, isWarning: true, says });
  }
  return found;
}

function wrong(says: string): Finding {
  return { name: NAME, isReady: false, says };
}
