import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { agent, systemWorld } from "#runtime";
import type { ServerOptions } from "#server";
import type { RunQueue, Store } from "#sessions";
import { assertRunLog } from "#testing";
import { tool } from "#tools";
import { createInProcessQueue } from "../../src/runtime/queues/in-process.ts";
import { openQueue } from "../../src/runtime/queues/bullmq.ts";
import { openStore as openFolder } from "../../src/runtime/stores/sqlite.ts";
import { openStore } from "../../src/runtime/stores/postgres.ts";
import { loadSqlDriver } from "../../src/sessions/stores/sqlite/sql-driver.ts";
import { modelOf } from "../durability/resumable.ts";
import { eventsOf } from "../server/cluster.ts";
import { readText, startServer, type TestServer } from "../server/support.ts";
import { describePostgres } from "../support/postgres.ts";
import { describeRedis } from "../support/redis.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const STEPS = [{ text: "I work.", calls: [{ name: "work", input: { n: 1 } }] }, { text: "Done." }];

/** What waits for something real takes as long as it takes. */
const PATIENCE = { timeout: 60_000, interval: 50 };

/** A node on real time. */
function startNode(store: Store, queue: RunQueue | undefined, work: () => unknown, more: Partial<ServerOptions> = {}) {
  const clerk = agent({
    name: "clerk",
    backend: modelOf(STEPS),
    tools: [tool("work", "Work", { n: "number" }, work)],
    permissions: { ask: more.run === undefined ? [] : ["work"], otherwise: "allow" },
  });
  const node = startServer({
    store,
    agents: [clerk],
    target: "clerk",
    world: systemWorld(),
    ...more,
    ...(queue && { queue }),
  });
  onTestFinished(() => node.server.close());
  return node;
}

async function say(at: TestServer): Promise<{ readonly runId: string; readonly text: Promise<string> }> {
  const { id } = (await (await at.ask("POST", "/api/threads", {})).json()) as { id: string };
  const response = await at.ask("POST", `/api/threads/${id}/chat`, { input: "go" });
  expect(response.status).toBe(200);
  return { runId: response.headers.get("x-run-id") ?? "", text: readText(response) };
}

async function expectGoesOn(store: Store, queue: RunQueue | undefined, runId: string): Promise<void> {
  let ran = 0;
  const node = startNode(store, queue, () => (ran += 1));
  await node.ask("GET", "/api/threads");
  const before = await store.read(runId);
  const [question] = await store.listQuestions("local");
  expect(question).toMatchObject({ runId });
  const path = `/api/runs/${runId}/permissions/${question?.callId}`;
  expect(await (await node.ask("POST", path, { allow: true })).json()).toEqual({ accepted: true });
  await vi.waitFor(async () => expect((await store.findRun("local", runId))?.status).toBe("success"), PATIENCE);
  const log = await store.read(runId);
  assertRunLog(log);
  expect(log.slice(0, before.length)).toEqual(before);
  expect(ran).toBe(1);
}

/** A run whose question waits, without a process. */
async function parkOne(store: Store, queue: RunQueue | undefined): Promise<{ runId: string; node: TestServer }> {
  const node = startNode(store, queue, () => "never", { run: {}, limits: { parkMs: 50 } });
  const { runId, text } = await say(node);
  text.catch(() => undefined);
  await vi.waitFor(async () => expect((await store.findRun("local", runId))?.isWaiting).toBe(true), PATIENCE);
  return { runId, node };
}

describePostgres("operating on Postgres", (postgres) => {
  const call = (program: string, ...args: string[]): string => {
    const { status, stderr } = spawnSync(join(postgres.programs, program), args, { encoding: "utf8" });
    return status === 0 ? "" : stderr;
  };
  const asAdmin = (url: string): string => url.replace("//owner@", "//admin@");

  it("a backup of a parked run is restored into another database, where the run goes on", async () => {
    const url = await postgres.createDatabase();
    const store = await openStore(url);
    onTestFinished(() => store.close());
    const { runId } = await parkOne(store, createInProcessQueue());
    const dump = join(temporaryFolder("dump"), "millrace.dump");
    // Row-level security would leave out what the user may not see; so Postgres refuses.
    expect(call("pg_dump", "--format=custom", "--schema=millrace", `--file=${dump}`, url)).toMatch(
      /row-level security/,
    );
    expect(call("pg_dump", "--format=custom", "--schema=millrace", `--file=${dump}`, asAdmin(url))).toBe("");

    const restoredUrl = await postgres.createDatabase();
    expect(call("pg_restore", `--dbname=${asAdmin(restoredUrl)}`, "--exit-on-error", dump)).toBe("");
    const restored = await openStore(restoredUrl);
    onTestFinished(() => restored.close());
    expect(await restored.read(runId)).toEqual(await store.read(runId));
    // Its queue is empty: the answer adds the run.
    await expectGoesOn(restored, createInProcessQueue(), runId);
    const hidden = await postgres.admin(
      "SELECT count(*)::int AS tables FROM pg_class WHERE relnamespace = 'millrace'::regnamespace AND relkind IN ('r', 'p') AND relname <> 'version' AND NOT relforcerowsecurity",
      restoredUrl,
    );
    expect(hidden).toEqual([{ tables: 0 }]);
  });

  it("a copy of a SQLite database that is in use is restored into another folder, where the run goes on", async () => {
    const folder = temporaryFolder("source");
    const source = await openFolder(folder);
    onTestFinished(() => source.close());
    const { runId } = await parkOne(source, undefined);
    const target = temporaryFolder("restored");
    const { open } = await loadSqlDriver();
    const reader = open(join(folder, "millrace.sqlite"));
    reader.exec(`VACUUM INTO '${join(target, "millrace.sqlite")}'`);
    reader.close();
    const restored = await openFolder(target);
    onTestFinished(() => restored.close());
    expect(await restored.read(runId)).toEqual(await source.read(runId));
    await expectGoesOn(restored, undefined, runId);
  });
});

describePostgres("an engine that is away under load", (postgres) => {
  describeRedis("with the queue in Redis", (redis) => {
    it("runs wait and go on, readers keep their stream, and requests get 503 until it is back", async () => {
      const [url, prefix] = [await postgres.createDatabase(), "away"];
      const store = await openStore(url);
      const queue = await openQueue(redis.url, { prefix });
      onTestFinished(async () => {
        await queue.close();
        await store.close();
      });
      const finishers: (() => void)[] = [];
      const slow = (): Promise<string> =>
        new Promise((resolve) => {
          finishers.push(() => resolve("done"));
        });
      const node = startNode(store, queue, slow);
      const refused = async (path: string): Promise<void> => {
        const response = await node.ask("POST", path, path.endsWith("/chat") ? { input: "go" } : {});
        expect([response.status, Number(response.headers.get("retry-after")) > 0]).toEqual([503, true]);
        expect(await response.json()).toMatchObject({ error: { code: "store-unavailable" } });
      };
      const runs = [await say(node), await say(node), await say(node)];
      await vi.waitFor(() => expect(finishers).toHaveLength(3), PATIENCE);

      // Postgres goes away, also in the middle of what runs write.
      await postgres.stop("immediate");
      finishers[0]?.();
      await refused("/api/threads");
      expect((await node.ask("GET", "/readyz")).status).toBe(503);
      expect((await node.ask("GET", "/healthz")).status).toBe(200);
      await postgres.start();
      expect(eventsOf((await runs[0]?.text) ?? "").at(-1)).toMatchObject({
        type: "done",
        result: { status: "success" },
      });

      // Redis goes away: what is under way goes on, and what is new is refused before anything is stored.
      const { id } = (await (await node.ask("POST", "/api/threads", {})).json()) as { id: string };
      await redis.stop("SIGKILL");
      finishers[1]?.();
      expect(eventsOf((await runs[1]?.text) ?? "").at(-1)).toMatchObject({
        type: "done",
        result: { status: "success" },
      });
      await refused(`/api/threads/${id}/chat`);
      expect(await store.listRuns()).toHaveLength(3);
      await redis.start();
      finishers[2]?.();
      expect(eventsOf((await runs[2]?.text) ?? "").at(-1)).toMatchObject({
        type: "done",
        result: { status: "success" },
      });

      const after = await vi.waitFor(() => say(node), PATIENCE);
      await vi.waitFor(() => expect(finishers).toHaveLength(4), PATIENCE);
      finishers[3]?.();
      await after.text;
      for (const { runId } of [...runs, after]) {
        const log = await store.read(runId);
        assertRunLog(log);
        expect(log.filter(({ type }) => type === "tool-call")).toHaveLength(1);
        expect(log.some((event) => event.type === "notice" && event.kind === "resumed")).toBe(false);
      }
      // No tool was run again.
      expect(finishers).toHaveLength(4);
    });

    it("jobs that Redis has lost are added again from the store", async () => {
      const store = await openStore(await postgres.createDatabase());
      const queue = await openQueue(redis.url, { prefix: "lost" });
      onTestFinished(async () => {
        await queue.close();
        await store.close();
      });
      const front = startNode(store, queue, () => "never", { worker: false });
      const { runId, text } = await say(front);
      await redis.stop();
      await redis.startEmpty();
      expect(await queue.count()).toMatchObject({ waiting: 0 });
      await startNode(store, queue, () => "done").server.start();
      expect(eventsOf(await text).at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
      assertRunLog(await store.read(runId));
    });
  });
});
