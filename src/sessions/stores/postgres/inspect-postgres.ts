import type { Clock } from "#domain";
import type { Finding } from "../../finding.ts";
import { StoreError } from "../store-error.ts";
import { readPlace, storeFailure } from "./failures.ts";
import { inspectNodes } from "./inspect-nodes.ts";
import type { PostgresDriver } from "./load-driver.ts";
import { findNewer, type VersionRow } from "./migrate.ts";
import { type OpenConnection, findObstacle, readRights, type Rights } from "./rights.ts";
import { STEPS } from "./schema.ts";

export interface InspectPostgresOptions {
  readonly url: string;
  readonly schema: string;
  readonly clock: Clock;
  /** The version of this package. */
  readonly version: string;
  /** Whether several nodes are to share the database. */
  readonly hasQueue: boolean;
}

const NAME = "store postgres";

/** Together less than 5 s. */
const TIMES = { connectMs: 2500, statementMs: 800 } as const;

/** The connections of one node: those of its store, the one for hints, and those of pg-boss. */
const OF_A_NODE = 15;

/** Clocks of nodes may differ by this much: a claim counts as fresh for 15 s. */
const MOST_SKEW_MS = 5000;

/** Says what would keep a server from using this database, and what is unwise. Changes nothing there. Never rejects. */
export async function inspectPostgres(
  pg: PostgresDriver,
  options: InspectPostgresOptions,
): Promise<readonly Finding[]> {
  const { url, schema, clock } = options;
  try {
    const place = readPlace(url);
    const client = new pg.Client({
      connectionString: url,
      application_name: "millrace doctor",
      connectionTimeoutMillis: TIMES.connectMs,
      statement_timeout: TIMES.statementMs,
      query_timeout: TIMES.statementMs,
    });
    client.on("error", () => undefined);
    try {
      await client.connect();
      const rights = await readRights(client, schema);
      const obstacle = findObstacle(rights, schema, place);
      if (obstacle !== undefined) return [wrong(obstacle)];
      const version = await readTables(client, rights, schema);
      if (!version.isReady) return [version];
      return [
        {
          name: NAME,
          isReady: true,
          says: `Postgres ${serverOf(rights)} at ${place.host} can be used. ${version.says}`,
        },
        ...warnOfRights(rights, schema, place.user),
        ...(await inspectSettings(client)),
        ...(await inspectClock(client, clock)),
        ...(rights.has_nodes && options.hasQueue ? await inspectNodes(client, options) : []),
      ];
    } catch (error) {
      return [wrong((error instanceof StoreError ? error : storeFailure(error, place)).message)];
    } finally {
      client.end().catch(() => undefined);
    }
  } catch (error) {
    return [wrong((error as StoreError).message)];
  }
}

function wrong(says: string): Finding {
  return { name: NAME, isReady: false, says };
}

function warning(says: string): Finding {
  return { name: NAME, isReady: true, isWarning: true, says };
}

function serverOf({ version }: Rights): string {
  return `${Math.floor(version / 10_000)}.${version % 10_000}`;
}

async function readTables(client: OpenConnection, { has_version }: Rights, schema: string): Promise<Finding> {
  if (!has_version) return { name: NAME, isReady: true, says: "The first server creates its tables." };
  const { rows } = await client.query<VersionRow & Record<string, unknown>>(`SELECT * FROM ${schema}.version`);
  const newer = findNewer(rows[0], STEPS.length);
  if (newer !== undefined) return wrong(newer);
  const version = rows[0]?.number ?? 0;
  if (version > STEPS.length) {
    return {
      name: NAME,
      isReady: true,
      says: `Its tables are those of a newer program (version ${version}), with which this one may work.`,
    };
  }
  const later = version < STEPS.length ? `; the next server brings them to version ${STEPS.length}` : "";
  return { name: NAME, isReady: true, says: `Its tables have version ${version}${later}.` };
}

function warnOfRights({ ignores_tenants, owner, may_add }: Rights, schema: string, user: string): readonly Finding[] {
  const found: Finding[] = [];
  if (ignores_tenants) {
    found.push(
      warning(
        `The user ${user} is a superuser or has BYPASSRLS, so row-level security does not keep tenants apart. Use an ordinary user that owns the schema ${schema}.`,
      ),
    );
  }
  if (owner !== null || (!may_add && !ignores_tenants)) {
    found.push(
      warning(
        `The user ${user} does not own the schema ${schema}, so it cannot bring the tables to a newer version or add partitions for coming weeks. Use the owner${owner === null ? "" : ` (${owner})`} instead.`,
      ),
    );
  }
  return found;
}

interface SettingsRow {
  readonly fsync: string;
  readonly synchronous_commit: string;
  readonly full_page_writes: string;
  readonly most: number;
  readonly used: number;
}

async function inspectSettings(client: OpenConnection): Promise<readonly Finding[]> {
  const { rows } = await client.query<SettingsRow & Record<string, unknown>>(
    `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous_commit,
       current_setting('full_page_writes') AS full_page_writes,
       current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer AS most,
       (SELECT count(*)::integer FROM pg_stat_activity WHERE backend_type = 'client backend') AS used`,
  );
  const [row] = rows;
  if (row === undefined) return [];
  const found: Finding[] = [];
  for (const name of ["fsync", "full_page_writes"] as const) {
    if (row[name] === "on") continue;
    found.push(warning(`${name} is off: a loss of power can destroy the database. Switch it on in postgresql.conf.`));
  }
  if (row.synchronous_commit === "off") {
    found.push(
      warning(
        "synchronous_commit is off: what readers were shown may be lost in a crash of the database. Switch it on (ALTER DATABASE … SET synchronous_commit = on).",
      ),
    );
  }
  const free = row.most - row.used;
  if (free < OF_A_NODE) {
    found.push(
      warning(
        `${free} of ${row.most} connections are free, and a node may need ${OF_A_NODE}. Raise max_connections, or lower the option connections of the store.`,
      ),
    );
  }
  return found;
}

async function inspectClock(client: OpenConnection, clock: Clock): Promise<readonly Finding[]> {
  const before = clock.now();
  const { rows } = await client.query<{ now: number }>(
    "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS now",
  );
  const skewMs = Math.round((rows[0]?.now ?? before) - (before + clock.now()) / 2);
  if (Math.abs(skewMs) < MOST_SKEW_MS) return [];
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  return [
    warning(
      `The clock of this machine is ${seconds} s ${skewMs > 0 ? "behind" : "ahead of"} that of the database. Nodes compare times of claims: synchronise the clocks (NTP).`,
    ),
  ];
}
