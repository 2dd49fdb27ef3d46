import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import { assertRunLog, createSeededRandom } from "#testing";
import type { Store } from "#sessions";
import { createSystemFiles, systemClock } from "#transports";
import { ROOT } from "../../scripts/set-up.mjs";
import { loadSqlDriver } from "../../src/sessions/stores/sqlite/sql-driver.ts";
import { openSqliteStore } from "../../src/sessions/stores/sqlite/sqlite-store.ts";
import { byEffort } from "../effort.ts";
import { followSse } from "../server/support.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const POINTS = ["before-append", "after-append", "inside-frame", "after-emit"] as const;
/** Event boundaries at which each fail-point is tried. */
const ALL = Array.from({ length: 100 }, (_, at) => at + 1);
const BOUNDARIES = byEffort({
  quick: [1, 13, 61],
  // The start of the run with its tool call at every event, then every fourth one: a kill takes a second.
  full: ALL.filter((at) => at <= 20 || at % 4 === 0),
  nightly: ALL,
});
const KILLS = [
  ...POINTS.flatMap((point) => BOUNDARIES.map((count) => ({ point, count }))),
  // A tool that ends its own process.
  ...Array.from({ length: byEffort({ quick: 2, full: 8, nightly: 100 }) }, () => ({ point: "in-tool", count: 1 })),
];
/** How many servers under load are killed at random moments. */
const RANDOM_KILLS = byEffort({ quick: 4, full: 24, nightly: 500 });
/** How many runs each of them begins, besides those that it continues. */
const LOAD = 6;
/** About as long as a run takes. */
const LONGEST_LIFE_MS = 1500;
const JSON_TYPE = { "content-type": "application/json" };

const children = new Set<ChildProcess>();
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

/** Where a server kills itself: at the k-th passing of a point, or after as many milliseconds. */
interface Kill {
  readonly point: string;
  readonly count: number;
}

interface Child {
  readonly url: string;
  readonly readyMs: number;
  readonly gone: Promise<unknown>;
  kill(): void;
}

/** `undefined`: it died before it listened, because it continues runs at once. */
async function start(folder: string, { point, count }: Kill): Promise<Child | undefined> {
  const startedAt = Date.now();
  const child = spawn(
    process.execPath,
    [join(ROOT, "test/server/kill-child.mjs"), join(ROOT, "dist"), folder, point, String(count)],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  children.add(child);
  const gone = once(child, "exit").then(() => children.delete(child));
  const listens = once(child.stdout as NonNullable<typeof child.stdout>, "data") as Promise<[Buffer]>;
  const [line] = await Promise.race([listens, gone.then(() => [undefined])]);
  if (line === undefined) return undefined;
  return {
    url: line.toString().trim(),
    readyMs: Date.now() - startedAt,
    gone,
    kill: () => void child.kill("SIGKILL"),
  };
}

interface Seen {
  readonly runId: string;
  readonly events: AgentEvent[];
}

/** Node's `fetch` does not always notice that the other process is dead. */
function untilGone(gone: Promise<unknown>): AbortSignal {
  const lost = new AbortController();
  gone.then(
    () => setTimeout(() => lost.abort(), 5000).unref(),
    () => undefined,
  );
  return lost.signal;
}

/** Asks, and reads until the server is gone or the answer is over. */
async function chat({ url, gone }: Child): Promise<Seen | undefined> {
  const signal = untilGone(gone);
  try {
    const created = await fetch(`${url}/api/threads`, { method: "POST", body: "{}", headers: JSON_TYPE, signal });
    const { id } = (await created.json()) as { id: string };
    const body = '{"input":"count"}';
    const response = await fetch(`${url}/api/threads/${id}/chat`, { method: "POST", body, headers: JSON_TYPE, signal });
    const events: AgentEvent[] = [];
    await followSse(response.body as unknown as AsyncIterable<Uint8Array>, (event) => events.push(event));
    return { runId: response.headers.get("x-run-id") ?? "", events };
  } catch {
    // Killed before the first byte of an answer: nobody has seen anything.
    return undefined;
  }
}

/** Comes back to the run with the cursor of what was seen, and looks at the log as a whole. */
async function comeBack(url: string, { runId, events }: Seen): Promise<readonly AgentEvent[]> {
  const from = async (after: number): Promise<AgentEvent[]> => {
    const rest: AgentEvent[] = [];
    const response = await fetch(`${url}/api/runs/${runId}/events?after=${after}`);
    if (response.status === 204) return rest;
    expect(response.status).toBe(200);
    const end = await followSse(response.body as unknown as AsyncIterable<Uint8Array>, (event) => rest.push(event));
    expect(end).toBe("done");
    return rest;
  };
  const whole = await from(-1);
  assertRunLog(whole);
  // I3: what anybody saw is in the log, as he saw it. I2: with the rest it is the log, nothing lost, nothing doubled.
  expect([...events, ...(await from(events.at(-1)?.seq ?? -1))]).toEqual(whole);
  return whole;
}

/** How many servers are killed one after the other, each with the unfinished runs of all of them. */
const IN_A_ROW = 4;

const CALM: Kill = { point: "none", count: 0 };

interface Figures {
  readonly slowestMs: number;
  readonly runs: number;
  readonly statuses: readonly string[];
  /** Tools that were started, by their run. */
  readonly starts: readonly string[];
  readonly startedTwice: readonly string[];
  /** Starts without a stored call. */
  readonly unrecorded: readonly string[];
  readonly resumed: number;
}

/**
 * Kills one server after the other, all over the same data, and compares after each few what readers saw with the log.
 * In the end every log is read, also those of runs that nobody saw.
 */
async function killAll(kills: readonly Kill[], load: number): Promise<Figures> {
  const folder = join(temporaryFolder("kill"), "data");
  const seen: Seen[] = [];
  let slowestMs = 0;
  for (const [at, kill] of kills.entries()) {
    const victim = await start(folder, kill);
    if (victim !== undefined) {
      slowestMs = Math.max(slowestMs, victim.readyMs);
      const chats = await Promise.all(Array.from({ length: load }, () => chat(victim)));
      seen.push(...chats.filter((one) => one !== undefined));
      victim.kill();
      await victim.gone;
    }
    if ((at + 1) % IN_A_ROW !== 0 && at + 1 !== kills.length) continue;
    await finishAll(folder, seen.splice(0));
  }
  const logs = await readAll(folder);
  const lines = readFileSync(join(folder, "effects.txt"), "utf8").trim().split("\n");
  const starts = lines.filter((line) => line.startsWith("start ")).map((line) => line.slice(6));
  return {
    slowestMs,
    runs: logs.size,
    statuses: [...new Set([...logs.values()].map(statusOf))],
    starts,
    startedTwice: starts.filter((runId, index) => starts.indexOf(runId) !== index),
    unrecorded: starts.filter((runId) => logs.get(runId)?.some(({ type }) => type === "tool-call") !== true),
    resumed: [...logs.values()].filter((log) =>
      log.some((event) => event.type === "notice" && event.kind === "resumed"),
    ).length,
  };
}

const openStore = (folder: string): Promise<Store> =>
  openSqliteStore({ folder, clock: systemClock, files: createSystemFiles() });

/** Lets all runs come to their end, also those that nobody saw: a run that was interrupted often is not continued. */
async function finishAll(folder: string, seen: readonly Seen[]): Promise<void> {
  const store = await openStore(folder);
  const unfinished = await store.listRuns({ isOver: false });
  await store.close();
  const unseen = unfinished.filter(({ id }) => !seen.some(({ runId }) => runId === id));
  const calm = await start(folder, CALM);
  if (calm === undefined) throw new Error("The server that nothing kills ended before it listened.");
  for (const one of seen) await comeBack(calm.url, one);
  for (const { id } of unseen) await comeBack(calm.url, { runId: id, events: [] });
  calm.kill();
  await calm.gone;
}

/** Every log. */
async function readAll(folder: string): Promise<ReadonlyMap<string, readonly AgentEvent[]>> {
  const database = (await loadSqlDriver()).open(join(folder, "millrace.sqlite"));
  expect(database.prepare("PRAGMA integrity_check").get()).toMatchObject({ integrity_check: "ok" });
  database.close();
  const store = await openStore(folder);
  const logs = new Map<string, readonly AgentEvent[]>();
  for (const { id } of await store.listRuns()) logs.set(id, await store.read(id));
  await store.close();
  for (const log of logs.values()) assertRunLog(log);
  return logs;
}

function statusOf(log: readonly AgentEvent[]): string {
  const done = log.at(-1);
  return done?.type === "done" ? done.result.status : "none";
}

function report(kills: number, { slowestMs, runs, resumed, starts }: Figures): void {
  console.log(
    `R4: ${kills} kills: ${runs} runs, ${resumed} of them continued, ${starts.length} tools started; the slowest start took ${slowestMs} ms`,
  );
}

describe("R4: kill -9", () => {
  it(`Runs that survive: ${KILLS.length} kills at event boundaries and inside a tool: 0 events lost, 0 doubled, every run ends as a success, no tool runs twice, no effect without a stored call`, async () => {
    const figures = await killAll(KILLS, 1);
    expect(figures).toMatchObject({ statuses: ["success"], startedTwice: [], unrecorded: [] });
    expect(figures.starts.length).toBeGreaterThan(KILLS.length / 3);
    expect(figures.resumed).toBeGreaterThan(KILLS.length / 3);
    report(KILLS.length, figures);
  }, 1_800_000);

  it(`Runs that survive: ${RANDOM_KILLS} kills at random moments of a server under load: the same`, async () => {
    const random = createSeededRandom(17);
    const kills = Array.from({ length: RANDOM_KILLS }, () => ({
      point: "after-ms",
      count: Math.floor(random.next() * LONGEST_LIFE_MS),
    }));
    const figures = await killAll(kills, LOAD);
    expect(figures).toMatchObject({ statuses: ["success"], startedTwice: [], unrecorded: [] });
    expect(figures.resumed).toBeGreaterThan(RANDOM_KILLS);
    report(RANDOM_KILLS, figures);
  }, 3_600_000);
});
