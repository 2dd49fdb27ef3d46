import type { Clock } from "#domain";
import { isRecord, ownArray, ownNumber, ownString } from "#wire";
import type { Finding } from "../../finding.ts";
import { CHAT_TENANT } from "../thread-rules.ts";
import type { OpenConnection } from "./rights.ts";

export interface InspectNodesOptions {
  readonly schema: string;
  readonly clock: Clock;
  /** The version of this package. */
  readonly version: string;
}

const NAME = "nodes";

/** In this time a running node changes its note. */
const BEAT_MS = 1300;

/** A run that nobody has taken for so long waits for a worker. */
const WAITS_MS = 5000;

interface Node {
  readonly name: string;
  readonly beat: number;
  readonly version: string | undefined;
  readonly worksOn: readonly unknown[];
}

/** The nodes that are running, and the runs for which there is none. */
export async function inspectNodes(client: OpenConnection, options: InspectNodesOptions): Promise<readonly Finding[]> {
  const { schema, clock, version } = options;
  const before = await readNodes(client, schema);
  await new Promise<void>((resolve) => {
    clock.after(BEAT_MS, resolve);
  });
  const now = await readNodes(client, schema);
  const living = [...now].flatMap(([id, node]) => (before.get(id)?.beat === node.beat ? [] : [node]));
  const names = living.map((node) => `${node.name} (${node.version ?? "an older version"})`).join(", ");
  const says = living.length === 0 ? "No node is running." : `Running nodes: ${names}.`;
  const found: Finding[] = [{ name: NAME, isReady: true, says }];
  const others = living.filter((node) => node.version !== version);
  if (others.length > 0) {
    found.push({
      name: NAME,
      isReady: true,
      isWarning: true,
      says: `${others.length} of ${living.length} nodes have another version than this program (${version}). That is fine during an upgrade; afterwards, restart them with the new version.`,
    });
  }
  for (const { target: stored, runs } of await readWaiting(client, schema, clock.now() - WAITS_MS)) {
    const target = String(JSON.parse(stored));
    if (living.some((node) => node.worksOn.includes(target))) continue;
    found.push({
      name: NAME,
      isReady: true,
      isWarning: true,
      says: `${runs === 1 ? "1 run" : `${runs} runs`} of ${target} cannot be worked on: no running node offers ${target} and has its program. Start one that does: millrace serve --worker-only --backend ${target}.`,
    });
  }
  return found;
}

async function readNodes(client: OpenConnection, schema: string): Promise<ReadonlyMap<string, Node>> {
  const rows = await readAll<{ node: string; body: string }>(client, `SELECT node, body FROM ${schema}.nodes`);
  return new Map(
    rows.flatMap(({ node, body }): [string, Node][] => {
      const note: unknown = JSON.parse(body);
      if (!isRecord(note)) return [];
      return [
        [
          node,
          {
            name: ownString(note, "name") ?? node,
            beat: ownNumber(note, "beat") ?? 0,
            version: ownString(note, "version"),
            worksOn: ownArray(note, "worksOn") ?? [],
          },
        ],
      ];
    }),
  );
}

/** The runs of threads that nobody works on, although they do not wait for anything outside. */
async function readWaiting(client: OpenConnection, schema: string, before: number): Promise<readonly WaitingRow[]> {
  return readAll<WaitingRow>(
    client,
    `SELECT t.target, count(*)::integer AS runs FROM ${schema}.runs AS r JOIN ${schema}.threads AS t ON t.id = r.thread_id
      WHERE r.status IS NULL AND r.worker IS NULL AND r.created_at < ${Math.round(before)}
        AND r.tenant <> '${CHAT_TENANT}' AND r.parked_seq IS DISTINCT FROM r.last_seq GROUP BY t.target ORDER BY t.target`,
  );
}

interface WaitingRow {
  /** As JSON. */
  readonly target: string;
  readonly runs: number;
}

/** The rows of all tenants. */
async function readAll<Row extends object>(client: OpenConnection, text: string): Promise<readonly Row[]> {
  await client.query("BEGIN; SELECT set_config('millrace.tenant', '*', true)");
  try {
    return (await client.query<Row & Record<string, unknown>>(text)).rows;
  } finally {
    await client.query("COMMIT");
  }
}
