import type { QueryResultRow } from "pg";
import { StoreError } from "../store-error.ts";
import type { Place } from "./failures.ts";

/** Row-level security for partitions, `GENERATED … AS IDENTITY` and partitioned primary keys, all without known faults. */
const OLDEST_SERVER = 130_000;

/** A connection, or one of a pool. */
export interface OpenConnection {
  query<Row extends QueryResultRow>(text: string, values?: unknown[]): Promise<{ readonly rows: Row[] }>;
}

/** What the user of a connection may do, and what the server is. */
export interface Rights {
  readonly version: number;
  readonly encoding: string;
  readonly is_standby: boolean;
  readonly is_read_only: boolean;
  /** Row-level security does not hold for this user. */
  readonly ignores_tenants: boolean;
  readonly has_schema: boolean;
  readonly has_version: boolean;
  /** Whether its tables are those of version 2 or later. */
  readonly has_nodes: boolean;
  readonly may_make_schema: boolean;
  /** Whether it may create tables in the schema. */
  readonly may_add: boolean;
  /** Tables that it may not write. */
  readonly closed: readonly string[];
  /** Who owns tables that it does not own; `null` if there are none. */
  readonly owner: string | null;
}

const QUESTION = `
  SELECT current_setting('server_version_num')::integer AS version, current_setting('server_encoding') AS encoding,
    pg_is_in_recovery() AS is_standby, current_setting('transaction_read_only') = 'on' AS is_read_only,
    u.rolsuper OR u.rolbypassrls AS ignores_tenants, n.oid IS NOT NULL AS has_schema,
    EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = n.oid AND relname = 'version') AS has_version,
    EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = n.oid AND relname = 'nodes') AS has_nodes,
    has_database_privilege(current_database(), 'CREATE') AS may_make_schema,
    coalesce(has_schema_privilege(n.oid, 'CREATE'), false) AS may_add,
    ARRAY(SELECT c.relname::text FROM pg_class AS c WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p')
      AND NOT (has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
        AND (c.relname = 'version' OR (has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE')
          AND has_table_privilege(c.oid, 'DELETE')))) ORDER BY c.relname) AS closed,
    (SELECT pg_get_userbyid(c.relowner)::text FROM pg_class AS c WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p')
      AND NOT pg_has_role(c.relowner, 'USAGE') LIMIT 1) AS owner
  FROM pg_roles AS u LEFT JOIN pg_namespace AS n ON n.nspname = $1 WHERE u.rolname = current_user`;

/** Changes nothing. */
export async function readRights(client: OpenConnection, schemaName: string): Promise<Rights> {
  const { rows } = await client.query<Rights & QueryResultRow>(QUESTION, [schemaName]);
  const [rights] = rows;
  if (rights === undefined)
    throw new StoreError("store-failed", "Postgres knows nothing of the user of this connection.");
  return rights;
}

/** Why the store cannot be used, with the remedy; `undefined` if nothing is in the way. */
export function findObstacle(rights: Rights, schemaName: string, { host, database, user }: Place): string | undefined {
  const {
    version,
    encoding,
    is_standby,
    is_read_only,
    has_schema,
    has_version,
    may_make_schema,
    may_add,
    closed,
    owner,
  } = rights;
  if (version < OLDEST_SERVER) {
    const shown = version >= 100_000 ? Math.floor(version / 10_000) : version / 10_000;
    return `Postgres at ${host} has version ${shown}; the store needs 13 or later.`;
  }
  if (is_standby) return `Postgres at ${host} is a standby, which takes no writes. Give the address of the primary.`;
  if (is_read_only) {
    return `The database ${database} at ${host} takes no writes from the user ${user}: default_transaction_read_only is on. Switch it off (ALTER ROLE ${user} SET default_transaction_read_only = off).`;
  }
  if (encoding !== "UTF8") {
    return `The database ${database} has the encoding ${encoding}, in which not every text can be stored. Create one with UTF8 (createdb --encoding=UTF8 --template=template0 ${database}).`;
  }
  if (!has_schema) {
    if (may_make_schema) return undefined;
    return `The user ${user} may not create the schema ${schemaName} in the database ${database}. Let it (GRANT CREATE ON DATABASE ${database} TO ${user}), or create the schema for it (CREATE SCHEMA ${schemaName} AUTHORIZATION ${user}).`;
  }
  if (!has_version && !may_add) {
    return `The user ${user} may not create tables in the schema ${schemaName}. Let it (GRANT ALL ON SCHEMA ${schemaName} TO ${user}).`;
  }
  if (closed.length === 0) return undefined;
  const named =
    closed.length > 3 ? `${closed.slice(0, 3).join(", ")} and ${closed.length - 3} more` : closed.join(", ");
  return `The user ${user} may not write all tables of the schema ${schemaName} (${named}). Use their owner${owner === null ? "" : `, or make it a member (GRANT ${owner} TO ${user})`}.`;
}
