import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import { assertRunLog } from "#testing";
import { ROOT } from "../../scripts/set-up.mjs";
import { loadSqlDriver } from "../../src/sessions/stores/sqlite/sql-driver.ts";
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
const JSON_TYPE = { "content-type": "application/json" };

const parent = temporaryFolder("kill");
const folder = join(parent, "data");
const children = new Set<ChildProcess>();
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

interface Child {
  readonly url: string;
  readonly readyMs: number;
  readonly gone: Promise<unknown>;
  kill(): void;
}

async function start(point: string, count: number): Promise<Child> {
  const startedAt = Date.now();
  const child = spawn(
    process.execPath,
    [join(ROOT, "test/server/kill-child.mjs"), join(ROOT, "dist"), folder, point, String(count)],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  children.add(child);
  const gone = once(child, "exit").then(() => children.delete(child));
  const [line] = (await once(child.stdout as NonNullable<typeof child.stdout>, "data")) as [Buffer];
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

/** Asks, and reads until the server is gone or the answer is over. */
async function chat(url: string): Promise<Seen | undefined> {
  try {
    const created = await fetch(`${url}/api/threads`, { method: "POST", body: "{}", headers: JSON_TYPE });
    const { id } = (await created.json()) as { id: string };
    const body = '{"input":"count"}';
    const response = await fetch(`${url}/api/threads/${id}/chat`, { method: "POST", body, headers: JSON_TYPE });
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

describe("R4: kill -9", () => {
  it(`Runs that survive: ${KILLS.length} kills at event boundaries and inside a tool: 0 events lost, 0 doubled, every run ends as a success, no tool runs twice, no effect without a stored call`, async () => {
    const statuses = new Map<string, number>();
    const seen: Seen[] = [];
    const logs = new Map<string, readonly AgentEvent[]>();
    let slowest = 0;
    for (const [at, { point, count }] of KILLS.entries()) {
      const victim = await start(point, count);
      slowest = Math.max(slowest, victim.readyMs);
      const killed = await chat(victim.url);
      if (killed !== undefined) seen.push(killed);
      victim.kill();
      await victim.gone;
      if ((at + 1) % IN_A_ROW !== 0 && at + 1 !== KILLS.length) continue;
      const calm = await start("none", 0);
      for (const one of seen.splice(0)) {
        const log = await comeBack(calm.url, one);
        const done = log.at(-1);
        const status = done?.type === "done" ? done.result.status : "none";
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        logs.set(one.runId, log);
      }
      calm.kill();
      await calm.gone;
    }
    const database = (await loadSqlDriver()).open(join(folder, "millrace.sqlite"));
    expect(database.prepare("PRAGMA integrity_check").get()).toMatchObject({ integrity_check: "ok" });
    database.close();
    expect([...statuses.keys()]).toEqual(["success"]);
    const lines = readFileSync(join(folder, "effects.txt"), "utf8").trim().split("\n");
    const starts = lines.filter((line) => line.startsWith("start ")).map((line) => line.slice(6));
    expect(starts.length).toBeGreaterThan(KILLS.length / 3);
    expect(starts.filter((runId, index) => starts.indexOf(runId) !== index)).toEqual([]);
    const unrecorded = starts.filter((runId) => logs.get(runId)?.some(({ type }) => type === "tool-call") === false);
    expect(unrecorded).toEqual([]);
    const resumed = [...logs.values()].filter((log) =>
      log.some((event) => event.type === "notice" && event.kind === "resumed"),
    );
    expect(resumed.length).toBeGreaterThan(KILLS.length / 3);
    console.log(
      `R4: the slowest of ${KILLS.length} starts took ${slowest} ms; ${resumed.length} of ${logs.size} runs continued`,
    );
  }, 1_800_000);
});
