import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type AgentEvent,
  type DoneEvent,
  type Message,
  messageItem,
  noticeItem,
  permissionItem,
  resultItem,
  textDelta,
} from "#domain";
import type { Store } from "#sessions";
import { closeRunLog } from "#testing";
import { createSystemFiles, systemClock } from "#transports";
import { temporaryFolder } from "../../../../test/temporary-folder.ts";
import { loadSqlDriver, type SqlDatabase, type SqlDriver, type SqlValue } from "./sql-driver.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const makeFolder = (): string => join(temporaryFolder("bodies"), "data");

const chosen = await loadSqlDriver();
const DRIVERS = chosen.name === "libsql" ? [chosen] : [chosen, await loadSqlDriver({ builtIn: () => undefined })];

const openStore = (folder: string, driver: SqlDriver): Promise<Store> =>
  openSqliteStore({ folder, clock: systemClock, files: createSystemFiles(), driver });

/** A driver that reports each text that is written to or read from the database. */
function watchTexts(driver: SqlDriver, look: (text: string, sql: string) => void): SqlDriver {
  const open = (path: string): SqlDatabase => {
    const database = driver.open(path);
    const show = (values: readonly unknown[], sql: string): void => {
      for (const value of values) if (typeof value === "string") look(value, sql);
    };
    const showRow = (row: unknown, sql: string): void => show(Object.values((row ?? {}) as object), sql);
    return {
      exec: (sql) => database.exec(sql),
      close: () => database.close(),
      prepare(sql) {
        const statement = database.prepare(sql);
        return {
          run(...values: SqlValue[]) {
            show(values, sql);
            return statement.run(...values);
          },
          get(...values: SqlValue[]) {
            show(values, sql);
            const row = statement.get(...values);
            showRow(row, sql);
            return row;
          },
          all(...values: SqlValue[]) {
            show(values, sql);
            const rows = statement.all(...values);
            for (const row of rows) showRow(row, sql);
            return rows;
          },
        };
      },
    };
  };
  return { ...driver, open };
}

/** How much the rows of a database hold, by table. */
function weighTables(folder: string, driver: SqlDriver): Record<string, number> {
  const database = driver.open(join(folder, "millrace.sqlite"));
  const weigh = (table: string): number => {
    const row = database.prepare(`SELECT coalesce(sum(length(body)), 0) AS size FROM ${table}`).get();
    return Number((row as { size: unknown }).size);
  };
  const parts = database.prepare("SELECT count(*) AS size FROM parts").get() as { size: unknown };
  const tables = { events: weigh("events"), messages: weigh("messages"), pieces: weigh("pieces") };
  database.close();
  return { ...tables, parts: Number(parts.size) };
}

const TEXT = `A "quote", a line\n, an é, a 𝄞, a \0 and text 1. `.repeat(40_000);
const MANY = Array.from({ length: 20_000 }, (_, at) => ({ at, name: `text ${at}` }));
const MESSAGE: Message = { id: "m", role: "assistant", blocks: [{ type: "text", text: TEXT }] };
const INPUT: Message = { id: "u", role: "user", blocks: [{ type: "text", text: "Hi" }] };
const THREAD = { id: "t", tenant: "local", title: "", target: "x", createdAt: 1 };
const RUN = { id: "run", createdAt: 1, threadId: "t" };

/** A log whose text occurs in a delta, a message, a result and twice in `done`. */
function writeLog(): readonly AgentEvent[] {
  const log = closeRunLog(
    [
      textDelta("m", 0, TEXT),
      messageItem(MESSAGE),
      permissionItem({ callId: "c", name: "t", state: "asked", by: "rule", input: { text: TEXT, MANY, small: [{}] } }),
      noticeItem("many", MANY),
      resultItem({ subtype: "success", isError: false, text: TEXT, usage: {} }),
    ],
    RUN.id,
  );
  const done = log.at(-1) as DoneEvent;
  return [...log.slice(0, -1), { ...done, result: { ...done.result, text: TEXT, messages: [MESSAGE] } }];
}

const LOG = writeLog();
const SETTLEMENT = { at: 2, messages: [MESSAGE], usage: [] };

async function beginRun(store: Store): Promise<void> {
  await store.createThread(THREAD);
  await store.createRun(RUN, [INPUT]);
}

describe.each(DRIVERS)("large bodies on $name", (driver) => {
  it("F-B1: a text is stored once for its deltas and once for everything else, and never as one value", async () => {
    let longest = 0;
    const watched = watchTexts(driver, (text) => (longest = Math.max(longest, text.length)));
    const folder = makeFolder();
    const store = await openStore(folder, watched);
    await beginRun(store);
    // In separate appends, as in a run of several turns.
    for (const event of LOG.slice(0, -1)) await store.append(RUN.id, [event]);
    await store.append(RUN.id, LOG.slice(-1), SETTLEMENT);
    expect(await store.read(RUN.id)).toEqual(LOG);
    expect(await store.listMessages("local", "t")).toEqual([INPUT, MESSAGE]);
    expect((await store.listThreads({ tenant: "local", search: "and text 1" })).threads).toHaveLength(1);
    await store.close();
    expect(longest).toBeLessThan(TEXT.length / 4);
    const { events, messages, pieces } = weighTables(folder, driver);
    const many = JSON.stringify(MANY).length;
    const once = JSON.stringify(TEXT).length;
    expect(pieces).toBeLessThan(2 * once + 3 * many + 1000);
    expect(Math.max(events ?? 0, messages ?? 0)).toBeLessThan(once / 10);
    const again = await openStore(folder, driver);
    expect(await again.read(RUN.id)).toEqual(LOG);
    await again.close();
  });

  it("they count towards the bytes of a tenant, also after a restart, and no longer when the thread is removed", async () => {
    const folder = makeFolder();
    const store = await openStore(folder, driver);
    await store.createThread(THREAD);
    await store.createRun(RUN, [{ ...MESSAGE, role: "user" }]);
    await store.append(RUN.id, LOG.slice(0, 2));
    const middle = await store.countBytes?.("local");
    expect(middle).toBeGreaterThan(2 * TEXT.length);
    await store.close();
    const second = await openStore(folder, driver);
    expect(await second.countBytes?.("local")).toBe(middle);
    await second.append(RUN.id, LOG.slice(2), SETTLEMENT);
    const whole = await second.countBytes?.("local");
    await second.close();
    const third = await openStore(folder, driver);
    expect(await third.countBytes?.("local")).toBe(whole);
    expect(await third.read(RUN.id)).toEqual(LOG);
    await third.removeThread("local", "t");
    expect(await third.countBytes?.("local")).toBe(0);
    await third.close();
    expect(weighTables(folder, driver)).toEqual({ events: 0, messages: 0, pieces: 0, parts: 0 });
  });

  it("whenever the program is killed, the log is complete up to some event, and nothing of the next one is left", async () => {
    const folder = makeFolder();
    const copies: string[] = [];
    const copy = (): void => {
      const left = makeFolder();
      mkdirSync(left);
      for (const name of ["millrace.sqlite", "millrace.sqlite-wal"]) copyFileSync(join(folder, name), join(left, name));
      copies.push(left);
    };
    let isCopying = false;
    const store = await openStore(folder, {
      ...driver,
      open(path) {
        const database = driver.open(path);
        const exec = (sql: string): unknown => {
          if (isCopying && sql === "COMMIT") copy();
          return database.exec(sql);
        };
        return { exec, prepare: (sql) => database.prepare(sql), close: () => database.close() };
      },
    });
    await beginRun(store);
    isCopying = true;
    await store.append(RUN.id, LOG.slice(0, 2));
    await store.append(RUN.id, LOG.slice(2), SETTLEMENT);
    isCopying = false;
    await store.close();
    expect(copies.length).toBeGreaterThan(20);
    for (const left of copies.filter((_, at) => at % 5 === 0)) {
      const next = await openStore(left, driver);
      const seen = await next.read(RUN.id);
      expect([0, 2]).toContain(seen.length);
      expect(seen).toEqual(LOG.slice(0, seen.length));
      await next.close();
      const { parts, pieces } = weighTables(left, driver);
      if (seen.length === 0) expect([parts, pieces]).toEqual([0, 0]);
      else expect(parts).toBe(1);
    }
  });

  it("a failed write leaves nothing, and can be repeated", async () => {
    const folder = makeFolder();
    let left = Number.POSITIVE_INFINITY;
    const store = await openStore(folder, {
      ...driver,
      open(path) {
        const database = driver.open(path);
        const exec = (sql: string): unknown => {
          if (sql === "COMMIT" && (left -= 1) === 0) throw new Error("disk full");
          return database.exec(sql);
        };
        return { exec, prepare: (sql) => database.prepare(sql), close: () => database.close() };
      },
    });
    await beginRun(store);
    const large = LOG.slice(0, 2);
    // The first piece, one in the middle, the transaction with the rows.
    for (const fails of [1, 5]) {
      left = fails;
      await expect(store.append(RUN.id, large)).rejects.toMatchObject({ code: "store-failed" });
    }
    expect(await store.read(RUN.id)).toEqual([]);
    left = Number.POSITIVE_INFINITY;
    await store.append(RUN.id, large);
    await store.append(RUN.id, LOG.slice(2), SETTLEMENT);
    expect(await store.read(RUN.id)).toEqual(LOG);
    await store.close();
    const whole = weighTables(folder, driver);
    expect(whole["pieces"]).toBeLessThan(2 * JSON.stringify(TEXT).length + 3 * JSON.stringify(MANY).length + 1000);
  });

  it("a rejected run leaves nothing", async () => {
    const folder = makeFolder();
    const store = await openStore(folder, driver);
    await beginRun(store);
    const busy = store.createRun({ ...RUN, id: "other" }, [{ ...MESSAGE, role: "user" }]);
    await expect(busy).rejects.toMatchObject({ code: "thread-busy" });
    await store.close();
    expect(weighTables(folder, driver)).toMatchObject({ pieces: 0, parts: 0 });
  });

  it("a thread that is removed while it is read has no messages", async () => {
    const folder = makeFolder();
    let isReading = false;
    const watched = watchTexts(driver, (_, sql) => {
      if (!sql.includes("FROM pieces") || !isReading) return;
      isReading = false;
      // Immediately, by another program: `removeThread` would be queued.
      const other = driver.open(join(folder, "millrace.sqlite"));
      other.exec("PRAGMA foreign_keys = ON");
      other.exec("DELETE FROM threads WHERE id = 't'");
      other.close();
    });
    const store = await openStore(folder, watched);
    await beginRun(store);
    await store.append(RUN.id, LOG, SETTLEMENT);
    isReading = true;
    expect(await store.listMessages("local", "t")).toEqual([]);
    expect(isReading).toBe(false);
    await store.close();
  });

  it("reads large bodies that an earlier version wrote as one value", async () => {
    const folder = makeFolder();
    const store = await openStore(folder, driver);
    await beginRun(store);
    await store.close();
    const raw = driver.open(join(folder, "millrace.sqlite"));
    const add = raw.prepare("INSERT INTO events (run_key, seq, body) VALUES (1, ?, ?)");
    for (const event of LOG.slice(0, 4)) add.run(event.seq, JSON.stringify(event));
    raw
      .prepare("INSERT INTO messages (thread_id, position, body, search) VALUES ('t', 1, ?, '')")
      .run(JSON.stringify(MESSAGE));
    raw.close();
    const again = await openStore(folder, driver);
    expect(await again.read(RUN.id)).toEqual(LOG.slice(0, 4));
    expect(await again.listMessages("local", "t")).toEqual([INPUT, MESSAGE]);
    await again.append(RUN.id, LOG.slice(4));
    expect(await again.read(RUN.id)).toEqual(LOG);
    await again.close();
  });
});
