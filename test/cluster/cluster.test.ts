import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ROOT } from "../../scripts/set-up.mjs";
import { openStore } from "../../src/runtime/stores/postgres.ts";
import { byEffort } from "../effort.ts";
import { createDice } from "../simulation/dice.ts";
import { describePostgres } from "../support/postgres.ts";
import { describeRedis } from "../support/redis.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { NODES, type ServedNode, startNodes } from "./nodes.ts";
import { storm, type Storm } from "./storm.ts";

/** One every 5 s; the whole form takes ten minutes for each engine. */
const KILLS = byEffort({ quick: 4, full: 8, nightly: 120 });
const RUNS = byEffort({ quick: 10, full: 24, nightly: 200 });
const STEPS = byEffort({ quick: 6, full: 8, nightly: 24 });
const BOUND_MS = 1_800_000;

/** Live streams over all nodes, each read at a node that does not work on its run. */
const STREAMS = byEffort({ quick: 15, full: 60, nightly: 1000 });
const SECONDS = byEffort({ quick: 3, full: 5, nightly: 60 });
const PACE = Number(process.env["MILLRACE_CLUSTER_PACE"] ?? 2);

const at = (sorted: readonly number[], part: number): number =>
  Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0);

function report(engine: string, { runs, kills, tools, continued, incomplete, handOverMs }: Storm): void {
  const sorted = handOverMs.toSorted((left, right) => left - right);
  console.log(
    `H1, ${engine}: ${kills} kills, ${runs} runs, ${continued} of them continued elsewhere, ${tools} tools started, ` +
      `${incomplete} calls cut off; ${sorted.length} hand-overs: p50 ${at(sorted, 0.5)} ms, p99 ${at(sorted, 0.99)} ms, ` +
      `at most ${at(sorted, 1)} ms`,
  );
}

interface Heard {
  readonly words: number;
  readonly faults: readonly string[];
  readonly late: { readonly p50: number; readonly p99: number; readonly max: number };
}

/** Readers in a process of their own. */
async function listen(nodes: readonly ServedNode[]): Promise<Heard> {
  const words = SECONDS * PACE;
  const urls = nodes.map(({ name, url }) => `${name}=${url}`).join(",");
  const input = JSON.stringify({ words, pace: PACE });
  const args = [join(ROOT, "test/alone/load-readers.mjs"), urls, String(STREAMS), String(words), "stay", input];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stdout.on("data", (text) => {
    said += String(text);
  });
  await once(child, "close");
  return JSON.parse(said) as Heard;
}

describePostgres("nodes on one Postgres", (postgres) => {
  it(
    `H2: ${STREAMS} streams, each read at a node that does not work on its run: nothing is lost or doubled`,
    async () => {
      const folder = temporaryFolder("streams");
      const database = await postgres.createDatabase();
      const effects = join(folder, "effects.txt");
      const socketFolder = postgres.folder;
      const nodes = await startNodes({ folder, database, socketFolder, redisPort: undefined, effects });
      const { words, faults, late } = await listen(nodes);
      const sizes = "SELECT count(*)::int AS events, sum(octet_length(body))::int AS bytes FROM millrace.events";
      const [stored] = await postgres.admin(sizes, database);
      const open = `SELECT count(*)::int AS open FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
      const [connections] = await postgres.admin(open, database);
      console.log(
        `H2: ${STREAMS} streams, ${words} words: p50 ${late.p50} ms, p99 ${late.p99} ms, at most ${late.max} ms; ` +
          `${String(stored?.["events"])} events, ${String(stored?.["bytes"])} bytes, ${String(connections?.["open"])} connections`,
      );
      expect(faults).toEqual([]);
      expect(words).toBe(STREAMS * SECONDS * PACE);
      expect(await Promise.all(nodes.map((node) => node.close()))).toEqual(nodes.map(() => 0));
    },
    BOUND_MS,
  );

  describeRedis("and a queue", (redis) => {
    it.each([
      ["pg-boss", 15_000],
      ["redis", 9000],
    ] as const)(
      `H1, Many machines: ${NODES} nodes with %s, ${KILLS} kills, nodes that stand still, restarts and cut wires: 0 events lost or doubled, 0 tools twice, 0 effects without a stored call, 0 early ends, every run is over`,
      async (engine, frozenMs) => {
        const folder = temporaryFolder("cluster");
        const database = await postgres.createDatabase();
        const effects = join(folder, "effects.txt");
        const redisPort = engine === "redis" ? redis.port : undefined;
        const nodes = await startNodes({ folder, database, socketFolder: postgres.folder, redisPort, effects });
        const store = await openStore(database);
        const result = await storm({
          nodes,
          store,
          dice: createDice(Number(process.env["MILLRACE_CLUSTER_SEED"] ?? 18)),
          kills: KILLS,
          runs: RUNS,
          steps: STEPS,
          frozenMs,
          effects,
          async restartPostgres() {
            await postgres.stop("immediate");
            await postgres.start();
          },
          async restartQueue() {
            // With pg-boss, that is Postgres, which is shut down in good order this time.
            const engineOf = engine === "redis" ? redis : postgres;
            await (engine === "redis" ? redis.stop("SIGKILL") : postgres.stop("fast"));
            await engineOf.start();
          },
        });
        report(engine, result);
        await store.close();
        const codes = await Promise.all(nodes.map((node) => node.close()));
        expect(result.faults).toEqual([]);
        expect(result.runs).toBeGreaterThanOrEqual(RUNS);
        // A storm in which nothing happens proves nothing.
        expect(result.continued).toBeGreaterThan(0);
        expect(result.handOverMs.length).toBeGreaterThan(0);
        expect(codes).toEqual(nodes.map(() => 0));
      },
      BOUND_MS,
    );
  });
});
