import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { noticeItem } from "#domain";
import type { Store } from "#sessions";
import { closeRunLog } from "#testing";
import { createSystemFiles, systemClock } from "#transports";
import { temporaryFolder } from "../../../../test/temporary-folder.ts";
import { loadSqlDriver, type SqlDriver } from "./sql-driver.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const makeFolder = (): string => join(temporaryFolder("waiting"), "data");

const chosen = await loadSqlDriver();
const DRIVERS = chosen.name === "libsql" ? [chosen] : [chosen, await loadSqlDriver({ builtIn: () => undefined })];

const openStore = (folder: string, driver: SqlDriver): Promise<Store> =>
  openSqliteStore({ folder, clock: systemClock, files: createSystemFiles(), driver });

const RUN = { id: "run-1", createdAt: 1 };
const LOG = closeRunLog([noticeItem("status", {}), noticeItem("parked", { until: 5 })], RUN.id);
const LARGE = { callId: "c", at: 1, result: { output: "x".repeat(600_000), isError: false } };

function countRows(folder: string, driver: SqlDriver, table: string): number {
  const raw = driver.open(join(folder, "millrace.sqlite"));
  const { rows } = raw.prepare(`SELECT count(*) AS rows FROM ${table}`).get() as { readonly rows: number };
  raw.close();
  return Number(rows);
}

/** A driver that copies the database after each commit, as a program that is killed there would leave it. */
function copyAfterCommits(driver: SqlDriver, folder: string, copies: string[]): SqlDriver {
  const open: SqlDriver["open"] = (path) => {
    const database = driver.open(path);
    return {
      prepare: (sql) => database.prepare(sql),
      close: () => database.close(),
      exec(sql) {
        database.exec(sql);
        if (sql !== "COMMIT") return;
        const copy = makeFolder();
        mkdirSync(copy);
        for (const name of ["millrace.sqlite", "millrace.sqlite-wal"]) {
          if (existsSync(join(folder, name))) copyFileSync(join(folder, name), join(copy, name));
        }
        copies.push(copy);
      },
    };
  };
  return { ...driver, open };
}

describe.each(DRIVERS)("runs that outlive their process, on $name", (driver) => {
  it("a database of version 4 is migrated, and its runs continue", async () => {
    const folder = makeFolder();
    const store = await openStore(folder, driver);
    await store.createRun(RUN);
    await store.append(RUN.id, LOG.slice(0, 1));
    await store.close();
    const raw = driver.open(join(folder, "millrace.sqlite"));
    raw.exec("DROP TABLE answers; DROP TABLE files");
    const columns = ["settings", "parked_seq", "wake_at", "epoch", "worker", "claimed_at"];
    for (const column of columns) raw.exec(`ALTER TABLE runs DROP COLUMN ${column}`);
    raw.exec("PRAGMA user_version = 4");
    raw.close();
    const again = await openStore(folder, driver);
    expect(await again.listRuns()).toEqual([{ ...RUN, lastSeq: 0, isOver: false }]);
    await again.append(RUN.id, LOG.slice(1, 2));
    expect(await again.addAnswer(RUN.id, LARGE)).toBe(true);
    await again.keepFile("f", Uint8Array.of(1));
    expect(await again.listRuns({ isWaiting: true })).toEqual([
      { ...RUN, lastSeq: 1, isOver: false, isWaiting: true, wakeAt: 5 },
    ]);
    await again.close();
    const version = driver.open(join(folder, "millrace.sqlite"));
    expect(version.prepare("PRAGMA user_version").get()).toMatchObject({ user_version: 6 });
    version.close();
  });

  it("rejected or obsolete answers, and replaced files, leave nothing", async () => {
    const folder = makeFolder();
    const store = await openStore(folder, driver);
    await store.createRun(RUN);
    const before = await store.countBytes?.("local");
    await Promise.all([store.addAnswer(RUN.id, LARGE), store.addAnswer(RUN.id, LARGE)]);
    expect(await store.countBytes?.("local")).toBe(before);
    for (const bytes of [200_000, 300_000, 1]) await store.keepFile("f", new Uint8Array(bytes));
    const late = store.addAnswer(RUN.id, { ...LARGE, callId: "late" });
    await store.append(RUN.id, LOG);
    expect(await late).toBe(false);
    await store.close();
    expect(countRows(folder, driver, "answers")).toBe(0);
    // That of the file.
    expect(countRows(folder, driver, "parts")).toBe(1);
    expect(countRows(folder, driver, "pieces")).toBe(1);
  });

  it("whenever the program is killed, a file is the old or the new one, an answer is complete or absent, and nothing else is left", async () => {
    const folder = makeFolder();
    const copies: string[] = [];
    const store = await openStore(folder, copyAfterCommits(driver, folder, copies));
    await store.createRun({ ...RUN, settings: { input: LARGE } });
    await store.keepFile("f", new Uint8Array(200_000).fill(1));
    copies.length = 0;
    await store.keepFile("f", new Uint8Array(400_000).fill(2));
    await store.addAnswer(RUN.id, LARGE);
    await store.append(RUN.id, LOG.slice(0, 2));
    await store.close();
    const seen: string[] = [];
    for (const copy of copies) {
      const left = await openStore(copy, driver);
      const file = await left.findFile("f");
      const answers = await left.listAnswers(RUN.id);
      const [run] = await left.listRuns();
      expect(run?.settings).toEqual({ input: LARGE });
      expect(file?.every((byte) => byte === (file.length === 200_000 ? 1 : 2))).toBe(true);
      if (answers.length > 0) expect(answers).toEqual([LARGE]);
      seen.push(`${file?.length} ${answers.length} ${run?.isWaiting ?? false}`);
      await left.close();
      // One for the file, one for the settings, and one for the answer if it is there.
      expect(countRows(copy, driver, "parts")).toBe(2 + answers.length);
    }
    expect([...new Set(seen)]).toEqual(["200000 0 false", "400000 0 false", "400000 1 false", "400000 1 true"]);
  });
});
