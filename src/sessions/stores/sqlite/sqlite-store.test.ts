import {
  copyFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AgentEvent,
  type DoneEvent,
  type Message,
  messageItem,
  noticeItem,
  permissionItem,
  type StartWorker,
  textDelta,
} from "#domain";
import { createDeferred } from "#streams";
import type { Store } from "#sessions";
import { checkStore, closeRunLog, createVirtualClock, type VirtualClock } from "#testing";
import { createSystemFiles, startWorker, systemClock } from "#transports";
import { fuzzRuns } from "../../../../test/effort.ts";
import type { Fault } from "../../../../test/support/faulty-worker.mjs";
import { temporaryFolder } from "../../../../test/temporary-folder.ts";
import { KeptEnds } from "./kept-ends.ts";
import { migrate } from "./migrations.ts";
import { loadSqlDriver, type SqlDatabase, type SqlDriver } from "./sql-driver.ts";
import { openSqliteStore } from "./sqlite-store.ts";
import { createEngine } from "./worker/engine.ts";
import type { EngineQuestion } from "./worker/requests.ts";

const makeFolder = (): string => join(temporaryFolder("sqlite"), "data");

const FAULTY_WORKER = fileURLToPath(new URL("../../../../test/support/faulty-worker.mjs", import.meta.url));

const RUN = { id: "run-1", createdAt: 1 };

/** The drivers this Node can run: from 22.13 on both, before that only the package. */
const chosen = await loadSqlDriver();
const DRIVERS = chosen.name === "libsql" ? [chosen] : [chosen, await loadSqlDriver({ builtIn: () => undefined })];

/** Opens folders with one driver. */
function openWith(driver: SqlDriver) {
  return {
    driver: driver.open,
    open: (folder: string, clock = systemClock): Promise<Store> =>
      openSqliteStore({ folder, clock, files: createSystemFiles(), driver }),
    openRaw: (folder: string): SqlDatabase => driver.open(join(folder, "millrace.sqlite")),
  };
}

/** A store that writes its log with a worker. */
function openThreaded(
  folder: string,
  driver: SqlDriver,
  start: StartWorker = startWorker,
  onWorkerLost: () => void = () => {
    // Otherwise this thread would do the work, and a worker that never starts would go unnoticed.
    if (start === startWorker) throw new Error("The worker has died.");
  },
): Promise<Store> {
  const seams = { clock: systemClock, files: createSystemFiles(), startWorker: start };
  return openSqliteStore({ folder, driver, ...seams, onWorkerLost });
}

/** The store contract, each test in a separate folder. */
function checkContract(open: (folder: string) => Promise<Store>): Promise<readonly unknown[]> {
  const places = new Map<Store, string>();
  const begin = async (folder: string): Promise<Store> => {
    const store = await open(folder);
    places.set(store, folder);
    return store;
  };
  return checkStore(() => begin(makeFolder()), {
    async reopen(store) {
      await store.close();
      return begin(places.get(store) ?? "");
    },
  });
}

/** A log of a run of that name. */
function logOf(id: string, length: number): AgentEvent[] {
  const chunks = Array.from({ length: length - 1 }, (_, at) => noticeItem("status", { at, text: "x".repeat(at % 90) }));
  return closeRunLog(chunks).map((event) => ({ ...event, runId: id }));
}

/** About how many characters are copied for it. */
const sizeOf = (value: unknown): number => (JSON.stringify(value) ?? "").length;

/** A driver that wraps another one. */
function around(driver: SqlDriver, open: SqlDriver["open"]): SqlDriver {
  return { ...driver, open };
}

describe.each(DRIVERS)("openSqliteStore on $name", (sqlDriver) => {
  const { driver, open, openRaw } = openWith(sqlDriver);

  it("fulfils the store contract, also across restarts", async () => {
    expect(await checkContract(open)).toEqual([]);
  });

  it("fulfils it with a worker that writes to the disk", async () => {
    expect(await checkContract((folder) => openThreaded(folder, sqlDriver))).toEqual([]);
  });

  it("SEC19: the folder and every file in it are private to the owner", async () => {
    const folder = makeFolder();
    const store = await open(folder);
    await store.createRun(RUN);
    await store.append(RUN.id, closeRunLog([noticeItem("status", {})]));
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of ["millrace.sqlite", "millrace.sqlite-wal", "millrace.sqlite-shm", "millrace.lock"]) {
      expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
    }
    await store.close();
  });

  it("F-A10: a folder that was accessible to everyone is private to the owner afterwards", async () => {
    const folder = makeFolder();
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    const store = await open(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    await store.close();
  });

  it("F-A10: files that were accessible to everyone are private to the owner afterwards", async () => {
    const folder = makeFolder();
    await (await open(folder)).close();
    const modeOf = (name: string): number => statSync(join(folder, name)).mode & 0o777;
    const modes = (): readonly number[] => readdirSync(folder).map((name) => (name === "ends" ? 0 : modeOf(name)));
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), name === "ends" ? 0o777 : 0o666);
    expect(new Set(modes())).toEqual(new Set([0, 0o666]));
    const store = await open(folder);
    expect(new Set(modes())).toEqual(new Set([0, 0o600]));
    expect(modeOf("ends")).toBe(0o700);
    await store.close();
  });

  it("F-A10: a write-ahead log that another program removes meanwhile does not become a folder", async () => {
    const folder = makeFolder();
    const files = createSystemFiles();
    const list = async (path: string) => [...(await files.list(path)), "millrace.sqlite-wal", "millrace.sqlite-shm"];
    const store = await openSqliteStore({ folder, clock: systemClock, files: { ...files, list }, driver: sqlDriver });
    await store.createRun(RUN);
    expect(readdirSync(folder).filter((name) => statSync(join(folder, name)).isDirectory())).toEqual(["ends"]);
    await store.close();
  });

  it("F-A10: a folder in the place of the write-ahead log is named in the error, and left as it is", async () => {
    const folder = makeFolder();
    mkdirSync(join(folder, "millrace.sqlite-wal", "inside"), { recursive: true });
    await expect(open(folder)).rejects.toThrow(/millrace\.sqlite-wal is not a file/);
    expect(readdirSync(join(folder, "millrace.sqlite-wal"))).toEqual(["inside"]);
  });

  it("SEC19: a link instead of the database is not followed", async () => {
    const folder = makeFolder();
    mkdirSync(folder);
    const elsewhere = join(folder, "..", "elsewhere");
    writeFileSync(elsewhere, "");
    symlinkSync(elsewhere, join(folder, "millrace.sqlite"));
    await expect(open(folder)).rejects.toMatchObject({ code: "store-failed" });
    expect(readFileSync(elsewhere, "utf8")).toBe("");
  });

  it("uses a write-ahead log and syncs at every commit", async () => {
    const folder = makeFolder();
    const seen: string[] = [];
    const store = await openSqliteStore({
      folder,
      clock: systemClock,
      files: createSystemFiles(),
      driver: around(sqlDriver, (path) => {
        const database = driver(path);
        return {
          exec: (sql) => (seen.push(sql), database.exec(sql)),
          prepare: (sql) => (seen.push(sql), database.prepare(sql)),
          close: () => database.close(),
        };
      }),
    });
    expect(seen.join("\n")).toMatch(/journal_mode = WAL[^]*synchronous = FULL/);
    await store.close();
    const raw = openRaw(folder);
    expect(raw.prepare("PRAGMA journal_mode").get()).toMatchObject({ journal_mode: "wal" });
    expect(raw.prepare("PRAGMA integrity_check").get()).toMatchObject({ integrity_check: "ok" });
    raw.close();
  });

  it("a closed store is one file", async () => {
    const folder = makeFolder();
    const store = await open(folder);
    await store.createRun(RUN);
    await store.close();
    const wal = statSync(join(folder, "millrace.sqlite-wal"), { throwIfNoEntry: false });
    expect(wal?.size ?? 0).toBe(0);
    const copy = makeFolder();
    mkdirSync(copy);
    copyFileSync(join(folder, "millrace.sqlite"), join(copy, "millrace.sqlite"));
    const next = await open(copy);
    expect(await next.listRuns()).toHaveLength(1);
    await next.close();
  });

  it("F-B14: an end is kept on a full disk, in the room that was reserved for it", async () => {
    const folder = makeFolder();
    const system = createSystemFiles();
    let room = 300_000;
    const files = {
      ...system,
      async write(path: string, bytes: Uint8Array) {
        if (bytes.length > room) throw new Error("ENOSPC: no space left on device");
        await system.write(path, bytes);
        room -= bytes.length;
      },
      async remove(path: string) {
        const { size = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
        await system.remove(path);
        room += size;
      },
    };
    const store = await openSqliteStore({ folder, clock: systemClock, files, driver: sqlDriver });
    const end = (id: string) => ({ run: { ...RUN, id }, events: logOf(id, 3) });
    const ids = ["a", "b"];
    room = 0;
    for (const id of ids) await store.keepEnd?.(end(id));
    expect(await store.listEnds?.()).toEqual(ids.map(end));
    room = 0;
    await expect(store.keepEnd?.(end("c"))).rejects.toMatchObject({ code: "store-failed" });
    room = 300_000;
    for (const id of ids) await store.removeEnd?.(id);
    room = 0;
    await store.keepEnd?.(end("c"));
    expect(await store.listEnds?.()).toEqual([end("c")]);
    await store.close();
  });

  it("F-B14: an end that is removed while the ends are listed is left out", async () => {
    const files = createSystemFiles();
    const ends = new KeptEnds(join(makeFolder(), "ends"), {
      ...files,
      async list(folder) {
        const names = await files.list(folder);
        await ends.remove("a");
        return names;
      },
    });
    const end = (id: string) => ({ run: { ...RUN, id }, events: logOf(id, 3) });
    await ends.reserve();
    for (const id of ["a", "b"]) await ends.keep(end(id));
    expect(await ends.list()).toEqual([end("b")]);
  });

  it("F-B14: an end that is too large to be written at once is refused", async () => {
    const store = await open(makeFolder());
    const events = [...logOf("a", 3)];
    events.unshift({
      ...(events[0] as AgentEvent),
      ...noticeItem("status", { text: "x".repeat(5_000_000) }),
    } as AgentEvent);
    await expect(store.keepEnd?.({ run: RUN, events })).rejects.toThrow(/too large/);
    await store.close();
  });

  it("a second program on the same folder is rejected with the reason; afterwards it is accepted", async () => {
    const folder = makeFolder();
    const store = await open(folder);
    await expect(open(folder)).rejects.toMatchObject({
      code: "store-failed",
      message: expect.stringContaining("in use by another program"),
    });
    await store.createRun(RUN);
    await store.close();
    const next = await open(folder);
    expect(await next.listRuns()).toHaveLength(1);
    await next.close();
  });

  it("a database that is newer than the program is not changed", async () => {
    const folder = makeFolder();
    await (await open(folder)).close();
    const raw = openRaw(folder);
    raw.exec("PRAGMA user_version = 99");
    raw.close();
    await expect(open(folder)).rejects.toThrow(/version 99.*newer/);
  });

  it("a folder that cannot be created is reported by name", async () => {
    const file = `${makeFolder()}-file`;
    writeFileSync(file, "");
    await expect(open(join(file, "data"))).rejects.toThrow(`${file}/data`);
  });

  it("a file that is not a database is reported, and not changed", async () => {
    const folder = makeFolder();
    mkdirSync(folder);
    writeFileSync(join(folder, "millrace.sqlite"), "not a database at all, but long enough to be one ".repeat(40));
    await expect(open(folder)).rejects.toMatchObject({ code: "store-failed" });
    expect(readFileSync(join(folder, "millrace.sqlite"), "utf8")).toMatch(/^not a database/);
  });
});

/** A clock that only moves when the test advances it. */
async function createIn(store: Store, clock: VirtualClock): Promise<void> {
  const created = store.createRun(RUN);
  await clock.advance(10);
  await created;
}

describe.each(DRIVERS)("commits in groups on $name", (sqlDriver) => {
  const { driver, open } = openWith(sqlDriver);

  it("writes within 10 ms are one transaction, and none waits longer", async () => {
    const clock = createVirtualClock(1000);
    const commits: number[] = [];
    const store = await openSqliteStore({
      folder: makeFolder(),
      clock,
      files: createSystemFiles(),
      driver: around(sqlDriver, (path) => {
        const database = driver(path);
        return {
          exec: (sql) => (sql === "COMMIT" && commits.push(clock.now()), database.exec(sql)),
          prepare: (sql) => database.prepare(sql),
          close: () => database.close(),
        };
      }),
    });
    await createIn(store, clock);
    commits.length = 0;
    const events = closeRunLog(Array.from({ length: 20 }, () => noticeItem("status", {})));
    const done: number[] = [];
    for (const event of events.slice(0, 20)) {
      const at = clock.now();
      store.append(RUN.id, [event]).then(() => done.push(clock.now() - at), expect.fail);
      await clock.advance(1);
    }
    await clock.advance(20);
    expect(done).toHaveLength(20);
    expect(Math.max(...done)).toBeLessThanOrEqual(10);
    expect(commits.length).toBeLessThanOrEqual(4);
    await store.close();
  });

  it("a rejected write does not affect the others in its group", async () => {
    const clock = createVirtualClock();
    const store = await open(makeFolder(), clock);
    await createIn(store, clock);
    const events = closeRunLog([noticeItem("a", {}), noticeItem("b", {})]);
    const outcomes = Promise.allSettled([
      store.append(RUN.id, events.slice(0, 1)),
      store.append(RUN.id, events.slice(0, 1)),
      store.append(RUN.id, events.slice(1)),
    ]);
    await clock.advance(10);
    expect((await outcomes).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await store.read(RUN.id)).toEqual(events);
    await store.close();
  });

  it("a commit that fails rolls back the whole group, and the store continues", async () => {
    const clock = createVirtualClock();
    let failing = false;
    const store = await openSqliteStore({
      folder: makeFolder(),
      clock,
      files: createSystemFiles(),
      driver: around(sqlDriver, (path) => {
        const database = driver(path);
        return {
          exec(sql) {
            if (failing && sql === "COMMIT") throw new Error("disk full");
            return database.exec(sql);
          },
          prepare: (sql) => database.prepare(sql),
          close: () => database.close(),
        };
      }),
    });
    await createIn(store, clock);
    const events = closeRunLog([noticeItem("a", {}), noticeItem("b", {})]);
    failing = true;
    const outcomes = Promise.allSettled([
      store.append(RUN.id, events.slice(0, 1)),
      store.append(RUN.id, events.slice(1, 2)),
    ]);
    await clock.advance(10);
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "store-failed" } });
    }
    expect(await store.read(RUN.id)).toEqual([]);
    failing = false;
    const again = store.append(RUN.id, events);
    await clock.advance(10);
    await again;
    expect(await store.read(RUN.id)).toEqual(events);
    await store.close();
  });
});

/** Starts the real worker inside one that fails. */
function startFaulty(fault: Fault): StartWorker {
  return (file, data) => startWorker(FAULTY_WORKER, { file, data, fault });
}

describe.each(DRIVERS)("a worker that writes to the disk, on $name", (driver) => {
  const events = closeRunLog(Array.from({ length: 8 }, (_, at) => noticeItem("status", { at, text: "line\nbreak" })));

  /** Workers that a test can inspect and replace. */
  function watchThreads(
    answer: (question: unknown, ask: () => Promise<unknown>) => Promise<unknown> = (_, ask) => ask(),
  ) {
    const asked: unknown[] = [];
    const answered: unknown[] = [];
    const start: StartWorker = (file, data) => {
      const thread = startWorker(file, data);
      return {
        get isAlive() {
          return thread.isAlive;
        },
        async ask(question) {
          asked.push(question);
          const reply = await answer(question, () => thread.ask(question));
          answered.push(reply);
          return reply;
        },
        close: () => thread.close(),
      };
    };
    return { asked, answered, start };
  }

  it("F-B1: a text of megabytes goes to the worker once, and everything in both directions in small pieces", async () => {
    const text = `A "quote", a line\n, an é and a 𝄞. `.repeat(30_000);
    const many = Array.from({ length: 20_000 }, (_, at) => ({ at, name: `n${at}` }));
    const input = { text, many, byName: JSON.parse('{"__proto__":{"a":[1]}}'), empty: [{}, []] };
    const message: Message = { id: "m", role: "assistant", blocks: [{ type: "text", text }] };
    const log = closeRunLog([
      textDelta("m", 0, text),
      messageItem(message),
      permissionItem({ callId: "c", name: "t", state: "asked", by: "rule", input }),
      noticeItem("large", input),
    ]);
    const done = log.at(-1) as DoneEvent;
    const last = { ...done, result: { ...done.result, text, messages: [message, message] } };
    const all = [...log.slice(0, -1), last].map((event) => ({ ...event, runId: RUN.id }));
    const { asked, answered, start } = watchThreads();
    const folder = makeFolder();
    const store = await openThreaded(folder, driver, start);
    await store.createThread({ id: "t", tenant: "local", title: "", target: "x", createdAt: 1 });
    await store.createRun({ ...RUN, threadId: "t" }, [{ ...message, id: "u", role: "user" }]);
    await store.append(RUN.id, all.slice(0, 4));
    expect(await store.listQuestions("local")).toMatchObject([{ callId: "c", input }]);
    asked.length = 0;
    await store.append(RUN.id, all.slice(4), { at: 2, messages: [message, message], usage: [] });
    expect(sizeOf(asked)).toBeLessThan(4 * text.length);
    expect(await store.read(RUN.id)).toEqual(all);
    const [first, second, third] = await store.listMessages("local", "t");
    expect([first?.id, second, third]).toEqual(["u", message, message]);
    // A text that is read exists once as well: the copies in the JSON are gone.
    expect(sizeOf(answered.filter((answer) => typeof answer === "object"))).toBeLessThan(16 * text.length);
    for (const one of [...asked, ...answered]) expect(sizeOf(one)).toBeLessThan(524_288);
    await store.close();
    const again = await openThreaded(folder, driver);
    expect(await again.read(RUN.id)).toEqual(all);
    await again.close();
  });

  it("F-B1: what several readers read of large values at the same time is put together in many turns", async () => {
    const many = Array.from({ length: 40_000 }, (_, at) => ({ at, name: `n${at}` }));
    const all = closeRunLog([noticeItem("large", { many, text: "A sentence. ".repeat(100_000) })]);
    const folder = makeFolder();
    const { start } = watchThreads();
    const store = await openThreaded(folder, driver, start);
    await store.createRun(RUN);
    await store.append(RUN.id, all);
    await store.close();
    // A worker that is always faster than this thread.
    let turn = 0;
    const askedIn = new Map<number, number>();
    const instant: StartWorker = () => {
      const engine = createEngine(driver.open(join(folder, "millrace.sqlite")));
      return {
        isAlive: true,
        async ask(question) {
          if ((question as EngineQuestion).kind === "open") askedIn.set(turn, (askedIn.get(turn) ?? 0) + 1);
          return engine(question as EngineQuestion);
        },
        close: async () => undefined,
      };
    };
    const again = await openThreaded(folder, driver, instant);
    let isOver = false;
    const count = (): void => {
      turn += 1;
      if (!isOver) setImmediate(count);
    };
    count();
    const found = await Promise.all(Array.from({ length: 4 }, () => again.read(RUN.id)));
    isOver = true;
    for (const events of found) expect(events).toEqual(all);
    // Each of the four has a request on its way, and each turn handles the answer to one or two.
    expect(Math.max(...askedIn.values())).toBeLessThanOrEqual(6);
    await again.close();
  });

  it("writes events of the log alone as rows; the end is written with what belongs to it", async () => {
    const { asked, start } = watchThreads();
    const store = await openThreaded(makeFolder(), driver, start);
    await store.createRun(RUN);
    for (const event of events) await store.append(RUN.id, [event]);
    const waiting = events.slice(0, -1).map(({ seq }) => ({
      rows: { seqs: [], entry: { number: seq + 1, text: expect.stringMatching(`^\\[1,${seq}\\]\\n`) } },
      work: [],
    }));
    // When the end is written, the rows before it must be in their table.
    const placed = { seqs: events.slice(0, -1).map(({ seq }) => seq), entry: undefined };
    const end = {
      rows: placed,
      work: [
        [
          ["run", "addEvent", 1, events.length - 1, expect.any(String)],
          ["run", "endRun", events.length - 1, "success", expect.any(Number), 1],
          ["run", "dropQuestions", 1],
          ["run", "dropAnswers", 1],
          ["run", "dropAnswerParts", -1],
        ],
      ],
    };
    expect(asked.slice(1)).toMatchObject([...waiting, end]);
    expect(await store.read(RUN.id)).toEqual(events);
    expect(await store.findRun("local", RUN.id)).toMatchObject({ isOver: true, lastSeq: events.length - 1 });
    await store.close();
  });

  it("rows appended at the same time are stored in order, including the end", async () => {
    const { start } = watchThreads();
    const store = await openThreaded(makeFolder(), driver, start);
    await store.createRun(RUN);
    const outcomes = await Promise.allSettled([
      ...events.map((event) => store.append(RUN.id, [event])),
      store.append(RUN.id, events.slice(3, 4)),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([...events.map(() => "fulfilled"), "rejected"]);
    expect(await store.read(RUN.id)).toEqual(events);
    await store.close();
  });

  it("a worker that dies loses nothing: the serving thread continues writing, and reports it once", async () => {
    let thread: ReturnType<StartWorker> | undefined;
    const dying: StartWorker = (file, data) => (thread = startFaulty({ dieAfterMs: 50 })(file, data));
    let lost = 0;
    const store = await openThreaded(makeFolder(), driver, dying, () => (lost += 1));
    await store.createRun(RUN);
    await store.append(RUN.id, events.slice(0, 2));
    await expect.poll(() => thread?.isAlive, { timeout: 60_000 }).toBe(false);
    for (const event of events.slice(2)) await store.append(RUN.id, [event]);
    expect(await store.read(RUN.id)).toEqual(events);
    await store.close();
    expect(lost).toBe(1);
  });

  it("a worker that dies with a pending request: it is carried out here, and written once", async () => {
    const store = await openThreaded(makeFolder(), driver, startFaulty({ dieAt: "before" }));
    await store.createRun(RUN);
    await store.append(RUN.id, events.slice(0, 3));
    await store.append(RUN.id, events.slice(3));
    expect(await store.read(RUN.id)).toEqual(events);
    await store.close();
  });

  it("a worker that dies after writing and before answering: it is written once", async () => {
    const store = await openThreaded(makeFolder(), driver, startFaulty({ dieAt: "after" }));
    await store.createRun(RUN);
    await store.append(RUN.id, events.slice(0, 3));
    expect(await store.read(RUN.id)).toEqual(events.slice(0, 3));
    await store.append(RUN.id, events.slice(3));
    expect(await store.read(RUN.id)).toEqual(events);
    await store.close();
  });

  it("F-A8: a worker dies after a thread was created, or rejected, and before it answered: it is created once, and the rejection is reported", async () => {
    const thread = { id: "t", tenant: "a", title: "", target: "x", createdAt: 1 };
    const store = await openThreaded(makeFolder(), driver, startFaulty({ dieAfterCommit: 2 }));
    await store.createThread(thread);
    const outcomes = await Promise.allSettled([
      store.createThread(thread),
      store.createThread({ ...thread, id: "u" }),
      store.renameThread("a", "none", { title: "x", at: 1 }),
      store.removeThread("a", "t"),
    ]);
    expect(outcomes).toMatchObject([
      { status: "rejected", reason: { code: "thread-exists" } },
      { status: "fulfilled" },
      { status: "fulfilled", value: false },
      { status: "fulfilled", value: true },
    ]);
    expect((await store.listThreads({ tenant: "a" })).threads).toMatchObject([{ id: "u" }]);
    await store.close();
  });

  it("F-A8: an append after a failed one fails with it, so the log has no gap", async () => {
    const asked = createDeferred<void>();
    const released = createDeferred<void>();
    let commits = 0;
    const gated = watchThreads(async (question, ask) => {
      if ((question as { kind: string }).kind !== "commit" || ++commits !== 3) return await ask();
      asked.resolve();
      await released.promise;
      return { failure: "disk full", isBusy: false };
    });
    const store = await openThreaded(makeFolder(), driver, gated.start);
    await store.createRun(RUN);
    await store.append(RUN.id, events.slice(0, 2));
    const first = store.append(RUN.id, events.slice(2, 4));
    await asked.promise;
    const outcomes = Promise.allSettled([first, store.append(RUN.id, events.slice(4, 6))]);
    released.resolve();
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await store.read(RUN.id)).toEqual(events.slice(0, 2));
    await store.append(RUN.id, events.slice(2));
    expect(await store.read(RUN.id)).toEqual(events);
    await store.close();
  });

  it("R4: rows that were not moved when the program was killed are moved when the folder is opened again", async () => {
    const folder = makeFolder();
    const store = await openThreaded(folder, driver);
    await store.createRun(RUN);
    for (const event of events.slice(0, 5)) await store.append(RUN.id, [event]);
    // As after a kill: the files as they are now, without closing the store.
    const left = makeFolder();
    mkdirSync(left);
    for (const name of ["millrace.sqlite", "millrace.sqlite-wal"]) copyFileSync(join(folder, name), join(left, name));
    const raw = driver.open(join(left, "millrace.sqlite"));
    expect(raw.prepare("SELECT count(*) AS groups FROM fresh").get()).toMatchObject({ groups: 5 });
    expect(raw.prepare("SELECT count(*) AS placed FROM events").get()).toMatchObject({ placed: 0 });
    raw.close();
    const next = await openThreaded(left, driver);
    expect(await next.read(RUN.id)).toEqual(events.slice(0, 5));
    expect(await next.listRuns()).toMatchObject([{ id: RUN.id, lastSeq: 4, isOver: false }]);
    await next.append(RUN.id, events.slice(5));
    expect(await next.read(RUN.id)).toEqual(events);
    await next.close();
    await store.close();
  });

  it("a commit that fails in the worker rolls back its own rows, and not the waiting ones", async () => {
    const store = await openThreaded(makeFolder(), driver, startFaulty({ failCommit: 3 }));
    await store.createRun(RUN);
    await store.append(RUN.id, events.slice(0, 2));
    await expect(store.append(RUN.id, events.slice(2, 4))).rejects.toThrow(/disk full/);
    expect(await store.read(RUN.id)).toEqual(events.slice(0, 2));
    await store.append(RUN.id, events.slice(2, 5));
    await store.append(RUN.id, events.slice(5));
    expect(await store.read(RUN.id)).toEqual(events);
    await store.close();
  });

  it("the end of a run is not stored before the rows that precede it are moved", async () => {
    const store = await openThreaded(makeFolder(), driver, startFaulty({ failCommit: 3 }));
    await store.createRun(RUN);
    await store.append(RUN.id, events.slice(0, -1));
    await expect(store.append(RUN.id, events.slice(-1))).rejects.toMatchObject({ code: "store-failed" });
    expect(await store.read(RUN.id)).toEqual(events.slice(0, -1));
    await store.append(RUN.id, events.slice(-1));
    expect(await store.read(RUN.id)).toEqual(events);
    await store.close();
  });

  it("everything that was acknowledged as stored is read, in order and once", async () => {
    const steps = fc.array(
      fc.record({ run: fc.nat(2), events: fc.integer({ min: 1, max: 9 }), breath: fc.boolean() }),
      {
        minLength: 1,
        maxLength: 25,
      },
    );
    await fc.assert(
      fc.asyncProperty(steps, fc.boolean(), async (script, ends) => {
        const folder = makeFolder();
        const store = await openThreaded(folder, driver);
        const runs = ["a", "b", "c"].map((id) => ({ id, stored: -1, next: 0, log: logOf(id, 225) }));
        for (const { id } of runs) await store.createRun({ id, createdAt: 1 });
        const waiting: Promise<void>[] = [];
        const append = async (run: (typeof runs)[number], count: number): Promise<void> => {
          const part = run.log.slice(run.next, run.next + count);
          run.next += part.length;
          await store.append(run.id, part);
          run.stored = Math.max(run.stored, part.at(-1)?.seq ?? -1);
        };
        const look = async (): Promise<void> => {
          for (const { id, stored, log } of runs) {
            const seen = await store.read(id);
            expect(seen).toEqual(log.slice(0, seen.length));
            expect(seen.length).toBeGreaterThan(stored);
            expect(await store.read(id, { after: stored })).toEqual(log.slice(stored + 1, seen.length));
          }
        };
        for (const { run, events: count, breath } of script) {
          waiting.push(append(runs[run] as (typeof runs)[number], count));
          if (!breath) continue;
          await Promise.all(waiting.splice(0));
          await look();
        }
        if (ends) for (const run of runs) waiting.push(append(run, run.log.length));
        await Promise.all(waiting);
        await look();
        await store.close();
        const raw = driver.open(join(folder, "millrace.sqlite"));
        expect(raw.prepare("SELECT count(*) AS left FROM fresh").get()).toMatchObject({ left: 0 });
        raw.close();
      }),
      { numRuns: fuzzRuns(25) },
    );
  });

  it("a disk failure in the worker is reported here, and nothing counts as stored", async () => {
    const store = await openThreaded(makeFolder(), driver, startFaulty({ refuseCommit: 2 }));
    await store.createRun(RUN);
    await expect(store.append(RUN.id, events.slice(0, 3))).rejects.toThrow(/disk full/);
    expect(await store.read(RUN.id)).toEqual([]);
    await store.append(RUN.id, events);
    expect(await store.read(RUN.id)).toEqual(events);
    await store.close();
  });
});

describe.each(DRIVERS)("migrations on $name", (sqlDriver) => {
  const { open, openRaw } = openWith(sqlDriver);

  it("a failing step keeps the version before it", async () => {
    const folder = makeFolder();
    await (await open(folder)).close();
    const raw = openRaw(folder);
    raw.exec("PRAGMA user_version = 1");
    const steps = ["SELECT 1", "CREATE TABLE extra (id TEXT)", "CREATE TABLE more (id TEXT); NONSENSE"];
    expect(() => migrate(raw, steps)).toThrow();
    expect(raw.prepare("PRAGMA user_version").get()).toMatchObject({ user_version: 2 });
    const tables = raw.prepare("SELECT name FROM sqlite_master WHERE name IN ('extra', 'more')").all();
    expect(tables).toMatchObject([{ name: "extra" }]);
    raw.close();
  });
});

describe("loadSqlDriver", () => {
  it("prefers Node's own driver over the package", async () => {
    class StandIn {}
    // Before Node 22.13 there is none, so only the choice can be tested; test/nodes runs a Node that has one.
    const own = chosen.name === "node:sqlite" ? {} : { builtIn: () => ({ DatabaseSync: StandIn as never }) };
    const driver = await loadSqlDriver({ ...own, libsql: () => Promise.reject(new Error("not asked")) });
    expect(driver.name).toBe("node:sqlite");
  });

  it("names what to install if there is neither", async () => {
    const none = loadSqlDriver({
      builtIn: () => undefined,
      // As when the binding for this machine was left out.
      libsql: () => Promise.reject(new Error("Cannot find module '@libsql/linux-x64-gnu'\nRequire stack:\n- /a.js")),
    });
    await expect(none).rejects.toThrow(/: npm install libsql \(Cannot find module '@libsql\/linux-x64-gnu'\)\.$/);
  });
});
