import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import {
  type AgentEvent,
  type Clock,
  type Message,
  noticeItem,
  permissionItem,
  type StartWorker,
  toolCallItem,
} from "#domain";
import type { Store } from "#sessions";
import { closeRunLog } from "#testing";
import { createSystemFiles, startWorker } from "#transports";
import { byEffort } from "../../../../test/effort.ts";
import { temporaryFolder } from "../../../../test/temporary-folder.ts";
import { loadSqlDriver, type SqlDatabase, type SqlDriver } from "./sql-driver.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const FAULTY_WORKER = fileURLToPath(new URL("../../../../test/support/faulty-worker.mjs", import.meta.url));

const driver = await loadSqlDriver();
const makeFolder = (): string => join(temporaryFolder("crash"), "data");

/** Time passes as soon as somebody waits for it. */
function createHastyClock(): Clock {
  let now = 1000;
  return {
    now: () => now,
    after(ms, call) {
      const timer = setImmediate(() => {
        now += ms;
        call();
      });
      return () => clearImmediate(timer);
    },
  };
}

const LONG = "é\0\ud83d\ude00".repeat(70_000);
const message = (id: string, text: string): Message => ({ id, role: "user", blocks: [{ type: "text", text }] });

const LOG: readonly AgentEvent[] = closeRunLog(
  [
    noticeItem("status", { at: 1 }),
    toolCallItem({ callId: "c-1", name: "rm", input: {}, executedBy: "millrace" }),
    permissionItem({ callId: "c-1", name: "rm", state: "asked", by: "rule", input: {} }),
    permissionItem({ callId: "c-1", name: "rm", state: "allowed", by: "user" }),
    noticeItem("status", { text: LONG }),
    noticeItem("parked", { until: 9 }),
  ],
  "r-1",
);
const thread = (id: string) => ({ id, tenant: "a", title: "Title", target: "offline", createdAt: 1 });
const run = (id: string, threadId: string) => ({ id, createdAt: 2, threadId, tenant: "a" });
const settlement = (text: string) => ({
  at: 5,
  messages: [message("m-2", text)],
  usage: [{ model: "m", usage: { inputTokens: 1 } }],
});

/** An unfinished run whose log has `events` events, a thread without a run, a file. */
async function prepare(store: Store, events: number): Promise<void> {
  await store.createThread(thread("t-1"));
  await store.createThread(thread("t-2"));
  await store.createRun(run("r-1", "t-1"), [message("m-1", "go")]);
  if (events > 0) await store.append("r-1", LOG.slice(0, events));
  await store.keepFile("f", new TextEncoder().encode("before"));
}

interface WriteCase {
  readonly name: string;
  /** How many events the log of the run has before. Default 2. */
  readonly events?: number;
  write(store: Store): Promise<unknown>;
}

/** Every method of the contract that writes, in each of its forms. */
const WRITES: readonly WriteCase[] = [
  { name: "createThread", write: (store) => store.createThread(thread("t-3")) },
  { name: "renameThread", write: (store) => store.renameThread("a", "t-1", { title: "Other", at: 9 }) },
  { name: "removeThread", write: (store) => store.removeThread("a", "t-2") },
  { name: "createRun", write: (store) => store.createRun(run("r-2", "t-2"), [message("m-2", "go")]) },
  {
    name: "createRun with large settings and a large message",
    write: (store) => store.createRun({ ...run("r-2", "t-2"), settings: { LONG } }, [message("m-2", LONG)]),
  },
  { name: "append of the first row", events: 0, write: (store) => store.append("r-1", LOG.slice(0, 1)) },
  { name: "append of a row after staged ones", events: 1, write: (store) => store.append("r-1", LOG.slice(1, 2)) },
  { name: "append of a question", write: (store) => store.append("r-1", LOG.slice(2, 3)) },
  { name: "append of a decision", events: 3, write: (store) => store.append("r-1", LOG.slice(3, 4)) },
  { name: "append of a large event", events: 4, write: (store) => store.append("r-1", LOG.slice(4, 5)) },
  { name: "append that parks", events: 5, write: (store) => store.append("r-1", LOG.slice(5, 6)) },
  {
    name: "append of the end",
    events: 6,
    write: (store) => store.append("r-1", LOG.slice(6), settlement("Done.")),
  },
  {
    name: "append of the end with a large message",
    events: 6,
    write: (store) => store.append("r-1", LOG.slice(6), settlement(`${LONG}!`)),
  },
  {
    name: "addAnswer",
    events: 3,
    write: (store) => store.addAnswer("r-1", { callId: "c-1", at: 7, decision: { allow: true } }),
  },
  {
    name: "addAnswer with a large result",
    events: 3,
    write: (store) => store.addAnswer("r-1", { callId: "c-1", at: 7, result: { output: LONG, isError: false } }),
  },
  { name: "keepFile", write: (store) => store.keepFile("g", new Uint8Array(500_000).fill(7)) },
  { name: "keepFile over another one", write: (store) => store.keepFile("f", new Uint8Array(100_000).fill(7)) },
  { name: "removeFile", write: (store) => store.removeFile("f") },
  { name: "addAudit", write: (store) => store.addAudit({ at: 1, tenant: "a", action: "run-aborted" }) },
];

/** Everything that the contract shows. */
async function observe(store: Store): Promise<string> {
  const runs = await store.listRuns();
  const { threads } = await store.listThreads({ tenant: "a" });
  const logs = [];
  for (const { id } of runs) logs.push(await store.read(id), await store.listAnswers(id));
  const kept = [];
  for (const { id } of threads) kept.push(await store.listMessages("a", id), await store.listUsage("a", id));
  const found = [];
  for (const name of ["f", "g"]) found.push([...((await store.findFile(name)) ?? [])].join().length);
  const rest = [await store.listQuestions("a"), await store.listAudit("a"), await store.countBytes?.("a")];
  return JSON.stringify({ runs, threads, logs, kept, found, rest });
}

type Meddle = (call: number, sql: string) => void;

/** A driver whose calls are counted while `meddle` is set; it may throw, or copy the files. */
function createCountingDriver() {
  const state: { meddle: Meddle | undefined; calls: number } = { meddle: undefined, calls: 0 };
  const pass = <Value>(sql: string, call: () => Value): Value => {
    if (state.meddle !== undefined) state.meddle((state.calls += 1), sql);
    return call();
  };
  const open = (path: string): SqlDatabase => {
    const database = driver.open(path);
    return {
      exec: (sql) => (sql === "ROLLBACK" ? database.exec(sql) : pass(sql, () => database.exec(sql))),
      prepare(sql) {
        const statement = database.prepare(sql);
        return {
          run: (...values) => pass(sql, () => statement.run(...values)),
          get: (...values) => pass(sql, () => statement.get(...values)),
          all: (...values) => pass(sql, () => statement.all(...values)),
        };
      },
      close: () => database.close(),
    };
  };
  return { state, driver: { ...driver, open } satisfies SqlDriver };
}

function openStore(folder: string, using: SqlDriver = driver, start?: StartWorker): Promise<Store> {
  return openSqliteStore({
    folder,
    clock: createHastyClock(),
    files: createSystemFiles(),
    driver: using,
    ...(start !== undefined && { startWorker: start }),
  });
}

/** A store with the state before the write, whose database calls are counted from now on. */
async function begin(events: number | undefined, start?: StartWorker) {
  const folder = makeFolder();
  const counting = createCountingDriver();
  const store = await openStore(folder, counting.driver, start);
  await prepare(store, events ?? 2);
  return { folder, store, state: counting.state };
}

/** The files as a killed program leaves them. */
function copyFiles(folder: string): string {
  const copy = makeFolder();
  mkdirSync(copy, { recursive: true });
  for (const name of ["millrace.sqlite", "millrace.sqlite-wal"]) {
    if (existsSync(join(folder, name))) copyFileSync(join(folder, name), join(copy, name));
  }
  return copy;
}

/** What the next program finds there. Nothing that belongs to nothing is left. */
async function reopen(folder: string): Promise<string> {
  const store = await openStore(folder);
  const seen = await observe(store);
  await store.close();
  const raw = driver.open(join(folder, "millrace.sqlite"));
  expect(raw.prepare("PRAGMA integrity_check").get()).toMatchObject({ integrity_check: "ok" });
  expect(raw.prepare("SELECT count(*) AS parts FROM parts WHERE bytes IS NULL").get()).toMatchObject({ parts: 0 });
  expect(raw.prepare("SELECT count(*) AS rows FROM fresh").get()).toMatchObject({ rows: 0 });
  raw.close();
  return seen;
}

/** What is there before and after the write, and how many calls of the database it takes. */
async function measure({ events, write }: WriteCase) {
  const { folder, store, state } = await begin(events);
  const before = await observe(store);
  state.calls = 0;
  state.meddle = () => undefined;
  await write(store);
  const calls = state.calls;
  state.meddle = undefined;
  const after = await observe(store);
  await store.close();
  expect(await reopen(folder)).toBe(after);
  expect(after).not.toBe(before);
  return { before, after, calls };
}

/** At most this many calls, evenly, with the last one, which commits. */
function pointsOf(calls: number, most: number): readonly number[] {
  const count = Math.min(calls, most);
  return Array.from({ length: count }, (_, at) => Math.ceil(((at + 1) * calls) / count));
}

const full = (): Error => Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL", errcode: 13 });
const locked = (): Error => Object.assign(new Error("database is locked"), { code: "SQLITE_BUSY", errcode: 5 });
const POINTS = byEffort({ quick: 2, full: 12, nightly: 1000 });
const WORKER_POINTS = byEffort({ quick: 1, full: 4, nightly: 1000 });

describe.each(WRITES)("Runs that survive: a fault inside $name", (one) => {
  let measured: ReturnType<typeof measure> | undefined;
  it("kill -9 at every call of the database: the next program finds all of it or nothing, and all if it was acknowledged", async () => {
    const { before, after, calls } = await (measured ??= measure(one));
    const { folder, store, state } = await begin(one.events);
    const copies: string[] = [];
    const points = new Set(pointsOf(calls, POINTS));
    state.calls = 0;
    state.meddle = (call) => void (points.has(call) && copies.push(copyFiles(folder)));
    await one.write(store);
    state.meddle = undefined;
    const acknowledged = copyFiles(folder);
    const found: string[] = [];
    for (const copy of copies) found.push(await reopen(copy));
    expect(found.filter((seen) => seen !== before && seen !== after)).toEqual([]);
    expect(found).toContain(before);
    expect(await reopen(acknowledged)).toBe(after);
    await store.close();
  });

  it("a full disk at every call: it is refused, nothing is changed, and it succeeds when there is room", async () => {
    const { before, after, calls } = await (measured ??= measure(one));
    for (const point of pointsOf(calls, POINTS)) {
      const { folder, store, state } = await begin(one.events);
      state.calls = 0;
      state.meddle = (call) => {
        if (call >= point) throw full();
      };
      await expect(one.write(store), `call ${point} of ${calls}`).rejects.toMatchObject({ code: "store-failed" });
      state.meddle = undefined;
      expect(await observe(store), `call ${point} of ${calls}`).toBe(before);
      await one.write(store);
      expect(await observe(store), `call ${point} of ${calls}`).toBe(after);
      await store.close();
      expect(await reopen(folder)).toBe(after);
    }
  });

  it("a lock of another program at every call: it is waited for; one that stays is reported, and nothing is changed", async () => {
    const { before, after, calls } = await (measured ??= measure(one));
    for (const point of pointsOf(calls, POINTS)) {
      for (const lasts of [1, Number.POSITIVE_INFINITY]) {
        const { folder, store, state } = await begin(one.events);
        state.calls = 0;
        state.meddle = (call) => {
          if (call >= point && call < point + lasts) throw locked();
        };
        const written = one.write(store);
        if (lasts === 1) await written;
        else await expect(written, `call ${point}`).rejects.toMatchObject({ code: "store-failed" });
        state.meddle = undefined;
        expect(await observe(store), `call ${point} of ${calls}, ${lasts}`).toBe(lasts === 1 ? after : before);
        await store.close();
        expect(await reopen(folder)).toBe(lasts === 1 ? after : before);
      }
    }
  });

  it("the death of the worker at every call: it is written once", async () => {
    const { after, calls } = await (measured ??= measure(one));
    // The worker counts from its start: the calls of the preparation come first.
    for (const point of pointsOf(calls, WORKER_POINTS)) {
      const counter = new SharedArrayBuffer(4);
      const fault = { dieAtCall: point, counter };
      const dying: StartWorker = (file, data) => startWorker(FAULTY_WORKER, { file, data, fault });
      const { folder, store } = await begin(one.events, dying);
      Atomics.store(new Int32Array(counter), 0, 1);
      await one.write(store);
      Atomics.store(new Int32Array(counter), 0, 0);
      expect(await observe(store), `call ${point} of ${calls}`).toBe(after);
      await store.close();
      expect(await reopen(folder)).toBe(after);
    }
  });
});
