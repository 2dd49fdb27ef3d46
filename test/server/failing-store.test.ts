import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type AgentEvent, messageItem, textDelta, toolCallItem } from "#domain";
import { agent } from "#runtime";
import type { ServerOptions } from "#server";
import { type Store, StoreError } from "#sessions";
import { assertRunLog, createScriptedBackend, type ScriptedReply, type VirtualClock } from "#testing";
import { tool } from "#tools";
import { createSystemFiles } from "#transports";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { openSqliteStore } from "../../src/sessions/stores/sqlite/sqlite-store.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { readEvents, startServer, testWorld } from "./support.ts";

const STORES: readonly [string, (clock: VirtualClock) => Promise<Store>][] = [
  ["memory", async () => createMemoryStore()],
  [
    "SQLite",
    async (clock) => {
      return await openSqliteStore({
        folder: join(temporaryFolder("failing"), "data"),
        clock,
        files: createSystemFiles(),
      });
    },
  ],
];

const WRITES = ["append", "createRun", "createThread", "renameThread", "removeThread", "addAudit"] as const;

/**
 * A disk that is full from its k-th write on, until it is back. With `isUnreadable` it cannot be read either, with
 * `hasNoReserve` it cannot even keep the end of a run.
 */
function breakDisk(store: Store, { isUnreadable = false, hasNoReserve = false } = {}) {
  const disk = { failsAt: Number.POSITIVE_INFINITY, writes: 0, isFull: false };
  const full = () => Promise.reject(new StoreError("store-failed", "database or disk is full"));
  const methods = Object.entries(store).map(([name, method]: [string, (...given: never[]) => Promise<unknown>]) => {
    const isWrite = WRITES.some((write) => write === name);
    const call = (...given: never[]): Promise<unknown> => {
      if (isWrite) disk.isFull ||= disk.writes++ >= disk.failsAt;
      const isRefused = isWrite || isUnreadable || (hasNoReserve && name === "keepEnd");
      return disk.isFull && isRefused && name !== "close" ? full() : method(...given);
    };
    return [name, call] as const;
  });
  return { disk, store: Object.fromEntries(methods) as unknown as Store };
}

/** Two turns, each piece of which is stored by itself. */
const replies = (clock: VirtualClock): readonly ScriptedReply[] => {
  const pause = () => new Promise<void>((resolve) => clock.after(150, resolve));
  const first: ScriptedReply = async function* () {
    yield [textDelta("m1", 0, "I look.")];
    await pause();
    const call = { callId: "c1", name: "look", input: {} };
    const blocks = [{ type: "text", text: "I look." } as const, { type: "tool-call", ...call } as const];
    yield [messageItem({ id: "m1", role: "assistant", blocks }), toolCallItem({ ...call, executedBy: "millrace" })];
  };
  const second: ScriptedReply = async function* () {
    await pause();
    yield [textDelta("m2", 0, "All is")];
    await pause();
    yield [textDelta("m2", 0, " well.")];
    await pause();
    yield [messageItem({ id: "m2", role: "assistant", blocks: [{ type: "text", text: "All is well." }] })];
  };
  return [first, second];
};

type Begun = Awaited<ReturnType<typeof begin>>;

/** The end is removed right after the run was closed, by another write. */
async function waitUntilEndsAreGone({ kept, clock, due }: Pick<Begun, "kept" | "clock" | "due">): Promise<void> {
  while ((await due(kept.listEnds?.() ?? Promise.resolve([]))).length > 0) await clock.advance(1000);
}

async function begin(
  open: (clock: VirtualClock) => Promise<Store>,
  options: { isUnreadable?: boolean; hasNoReserve?: boolean; run?: ServerOptions["run"] } = {},
) {
  const world = testWorld();
  const { clock } = world;
  const kept = await open(clock);
  const { disk, store } = breakDisk(kept, options);
  const look = tool("look", "Look", {}, () => "seen");
  const clerk = (): ReturnType<typeof agent> =>
    agent({ name: "clerk", backend: createScriptedBackend([...replies(clock), ...replies(clock)]), tools: [look] });
  const server = startServer({ store, agents: [clerk()], target: "clerk", world, run: options.run ?? {} });
  /** Lets time pass until it is there. */
  const due = async <Value>(promise: Promise<Value>): Promise<Value> => {
    let isThere = false;
    promise.then(
      () => (isThere = true),
      () => (isThere = true),
    );
    for (let step = 0; !isThere; step += 1) {
      await clock.advance(step < 200 ? 100 : 1);
      // A real disk needs real time as well.
      if (step >= 20) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return await promise;
  };
  const thread = ((await (await due(server.ask("POST", "/api/threads", { title: "t" }))).json()) as { id: string }).id;
  const chat = () => due(server.ask("POST", `/api/threads/${thread}/chat`, { input: "Look" }));
  const show = async (path: string) => (await (await due(server.ask("GET", path))).json()) as Record<string, unknown>;
  return { server, kept, disk, thread, chat, show, due, clock, world, clerk };
}

/** How many writes a whole chat makes; the first of them begins the run. */
async function countWrites(open: (clock: VirtualClock) => Promise<Store>): Promise<number> {
  const { disk, chat, due } = await begin(open);
  const before = disk.writes;
  await due(readEvents(await chat()));
  return disk.writes - before;
}

describe.each(STORES)("F-B14: a disk that is full, over the %s store", (_, open) => {
  it("whichever write fails first, the reader gets the end at once, the failure is reported, and everything is stored later", async () => {
    const writes = await countWrites(open);
    expect(writes).toBeGreaterThan(3);
    for (let failing = 1; failing < writes; failing += 1) {
      const { kept, disk, thread, chat, show, due, clock, server } = await begin(open);
      disk.failsAt = disk.writes + failing;
      const response = await chat();
      const runId = response.headers.get("x-run-id") as string;
      const seen = await due(readEvents(response));
      assertRunLog(seen);
      // How many writes there are is a matter of what comes together.
      if (!disk.isFull) {
        expect(failing).toBeGreaterThan(3);
        break;
      }
      expect(seen.at(-1)).toMatchObject({
        type: "done",
        result: { status: "error", subtype: "store-failed", error: { code: "store-failed" } },
      });

      // The disk is still full.
      expect(await show(`/api/runs/${runId}`)).toMatchObject({ status: "error", result: { subtype: "store-failed" } });
      const shown = await show(`/api/threads/${thread}`);
      expect(shown).toMatchObject({ runs: [{ id: runId, status: "error" }] });
      expect((shown["thread"] as { runId?: string }).runId).toBeUndefined();
      for (const cursor of [-1, ...seen.map(({ seq }) => seq)]) {
        const again = await due(server.ask("GET", `/api/runs/${runId}/events?after=${cursor}`));
        const rest = seen.filter(({ seq }) => seq > cursor);
        if (rest.length === 0) expect(again.status).toBe(204);
        else expect(await due(readEvents(again))).toEqual(rest);
      }
      expect((await chat()).status).toBe(503);
      expect((await due(kept.findRun("local", runId)))?.isOver).toBe(false);

      // It is back.
      disk.failsAt = Number.POSITIVE_INFINITY;
      disk.isFull = false;
      while ((await due(kept.findRun("local", runId)))?.isOver !== true) await clock.advance(1000);
      expect(await due(kept.read(runId))).toEqual(seen);
      expect(await due(kept.findRun("local", runId))).toMatchObject({ isOver: true, status: "error" });
      const next = await due(readEvents(await chat()));
      expect(next.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
      await due(kept.close());
    }
  });

  it("if the disk cannot be read either, a reader at its cursor still gets the end", async () => {
    const { disk, chat, due, server, kept } = await begin(open, { isUnreadable: true });
    disk.failsAt = disk.writes + 2;
    const response = await chat();
    const seen = await due(readEvents(response));
    assertRunLog(seen);
    expect(seen.at(-1)).toMatchObject({ type: "done", result: { subtype: "store-failed" } });
    const runId = response.headers.get("x-run-id") as string;
    const again = await due(server.ask("GET", `/api/runs/${runId}/events?after=${(seen.at(-1)?.seq ?? 0) - 1}`));
    expect(await due(readEvents(again))).toEqual(seen.slice(-1));
    await due(kept.close());
  });

  it("whichever write fails first: a server that is killed before the disk is back leaves the end that it told to the next one", async () => {
    const writes = await countWrites(open);
    for (let failing = 1; failing < writes; failing += 1) {
      const { disk, thread, chat, due, kept, world, clerk, clock } = await begin(open);
      disk.failsAt = disk.writes + failing;
      const response = await chat();
      const runId = response.headers.get("x-run-id") as string;
      const seen = await due(readEvents(response));
      if (!disk.isFull) break;
      expect((await due(kept.findRun("local", runId)))?.isOver).toBe(false);

      // It is not closed: whatever it has in memory is lost. Its disk stays full.
      const next = startServer({ store: kept, agents: [clerk()], target: "clerk", world });
      const again = await due(readEvents(await due(next.ask("GET", `/api/runs/${runId}/events`))));
      expect(again).toEqual(seen);
      expect(await due(kept.read(runId))).toEqual(seen);
      expect(await due(kept.findRun("local", runId))).toMatchObject({ isOver: true, status: "error" });
      await waitUntilEndsAreGone({ kept, clock, due });
      const shown = (await (await due(next.ask("GET", `/api/threads/${thread}`))).json()) as { thread: object };
      expect(shown.thread).not.toHaveProperty("runId");
      await due(kept.close());
    }
  });

  it("the end that a killed server told is shown by the next one while the disk is still full", async () => {
    const { disk, chat, due, kept, world, clerk, clock } = await begin(open);
    disk.failsAt = disk.writes + 3;
    const response = await chat();
    const runId = response.headers.get("x-run-id") as string;
    const seen = await due(readEvents(response));
    const { disk: later, store } = breakDisk(kept);
    later.isFull = true;
    const next = startServer({ store, agents: [clerk()], target: "clerk", world });
    const read = async (path: string) => (await due(next.ask("GET", path))).json() as Promise<unknown>;
    expect(await due(readEvents(await due(next.ask("GET", `/api/runs/${runId}/events`))))).toEqual(seen);
    expect(await read(`/api/runs/${runId}`)).toMatchObject({ status: "error" });
    expect(await due(kept.listEnds?.() ?? Promise.resolve([]))).toHaveLength(1);
    later.isFull = false;
    while ((await due(kept.findRun("local", runId)))?.isOver !== true) await clock.advance(1000);
    expect(await due(kept.read(runId))).toEqual(seen);
    await waitUntilEndsAreGone({ kept, clock, due });
    await due(kept.close());
  });

  it("without room for the end, the next server continues the run from what is stored", async () => {
    const { disk, chat, due, server, kept, world, clerk } = await begin(open, { hasNoReserve: true });
    disk.failsAt = disk.writes + 3;
    const response = await chat();
    await due(readEvents(response));
    await due(server.server.close());
    const runId = response.headers.get("x-run-id") as string;
    const next = startServer({ store: kept, agents: [clerk()], target: "clerk", world });
    const events = await due(readEvents(await due(next.ask("GET", `/api/runs/${runId}/events`))));
    expect(events.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
    expect(events).toContainEqual(expect.objectContaining({ type: "notice", kind: "resumed" }));
    assertRunLog(await kept.read(runId));
    await due(kept.close());
  });

  it("a server that goes when the disk is back stores what it kept", async () => {
    const { disk, chat, due, server, kept } = await begin(open);
    disk.failsAt = disk.writes + 3;
    const response = await chat();
    const seen = await due(readEvents(response));
    disk.isFull = false;
    disk.failsAt = Number.POSITIVE_INFINITY;
    await due(server.server.close());
    expect(await kept.read(response.headers.get("x-run-id") as string)).toEqual(seen);
    await due(kept.close());
  });

  it("a question that waits for a person ends too, and is asked no more", async () => {
    for (let failing = 1; failing <= 2; failing += 1) {
      const { disk, chat, due, show, kept } = await begin(open, { run: { permissions: { ask: ["look"] } } });
      disk.failsAt = disk.writes + failing;
      const seen = await due(readEvents(await chat()));
      assertRunLog(seen);
      expect(seen.at(-1)).toMatchObject({ type: "done", result: { subtype: "store-failed" } });
      expect(await show("/api/permissions")).toEqual({ permissions: [] });
      await due(kept.close());
    }
  });

  it("each call that changes something is rejected with a remedy, and no internals are shown", async () => {
    const { disk, thread, chat, due, server, show } = await begin(open);
    const seen: readonly AgentEvent[] = await due(readEvents(await chat()));
    const runId = seen[0]?.runId;
    disk.isFull = true;
    const calls: readonly [string, string, unknown][] = [
      ["POST", "/api/threads", {}],
      ["POST", `/api/threads/${thread}/chat`, { input: "Look" }],
      ["PATCH", `/api/threads/${thread}`, { title: "x" }],
      ["DELETE", `/api/threads/${thread}`, undefined],
    ];
    for (const [method, path, body] of calls) {
      const refused = await due(server.ask(method, path, body));
      expect([method, path, refused.status]).toEqual([method, path, 503]);
      expect(refused.headers.get("retry-after")).toBe("5");
      const { error } = (await refused.json()) as { error: { code: string; message: string } };
      expect(error.code).toBe("store-unavailable");
      expect(error.message).not.toContain("disk is full");
    }
    // An abort needs no disk, and neither does what is only read.
    expect((await due(server.ask("POST", `/api/runs/${runId}/abort`, {}))).status).toBe(200);
    expect((await due(server.ask("GET", "/healthz"))).status).toBe(200);
    expect(await show(`/api/threads/${thread}`)).toMatchObject({ thread: { title: "t" } });
  });
});
