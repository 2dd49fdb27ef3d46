import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadSqlDriver } from "../sessions/stores/sqlite/sql-driver.ts";
import { temporaryFolder } from "../../test/temporary-folder.ts";
import { inspectFolder, inspectStore } from "./inspect-store.ts";
import { openStore } from "./stores/sqlite.ts";

describe("inspectStore", () => {
  it("names the driver that the store takes", async () => {
    const { name } = await loadSqlDriver();
    expect(await inspectStore()).toEqual({ isReady: true, says: `Runs can be kept in SQLite (${name}).` });
  });

  it("an installed package that does not load is not ready, and the remedy is given", async () => {
    const sources = { builtIn: () => undefined, libsql: () => Promise.reject(new Error("no binding")) };
    expect(await inspectStore(() => loadSqlDriver(sources))).toEqual({
      isReady: false,
      says: expect.stringMatching(/^Runs can be kept in memory only\. .*npm install libsql \(no binding\)\.$/),
    });
  });
});

describe("inspectFolder", () => {
  const good = { exists: true, isWritable: true, isOwn: true, free: 2 ** 40 };
  const headOf = (version: number): Uint8Array => {
    const head = new Uint8Array(100);
    head.set(new TextEncoder().encode("SQLite format 3\0"));
    new DataView(head.buffer).setUint32(60, version);
    return head;
  };
  it.each([
    ["a folder that is not there", { ...good, exists: false }, true, /no folder .*millrace serve creates it/],
    ["a folder without a database", good, true, /no database in .*millrace serve creates it/],
    ["a folder of another user", { ...good, isOwn: false }, false, /belongs to another user/],
    ["a folder without rights", { ...good, isWritable: false }, false, /chmod -R u\+rwX/],
    ["another file", { ...good, head: new Uint8Array(100) }, false, /is not a database of SQLite/],
    ["a newer database", { ...good, head: headOf(99) }, false, /version 99; this program knows versions up to \d+/],
    ["an older database", { ...good, head: headOf(1) }, true, /version 1; the next server brings it to version/],
  ])("%s", async (_, look, isReady, says) => {
    const found = await inspectFolder("/data", async () => look);
    expect(found).toEqual([{ name: "store folder", isReady, says: expect.stringMatching(says) }]);
  });

  it("warns of a disk that is nearly full", async () => {
    const [, low] = await inspectFolder("/data", async () => ({ ...good, free: 5 * 2 ** 20, head: headOf(1) }));
    expect(low).toMatchObject({ isReady: true, isWarning: true, says: expect.stringMatching(/Only 5 MB are free/) });
  });

  it("looks at a real folder, and leaves it as it is", async () => {
    const folder = temporaryFolder("inspected");
    await (await openStore(folder)).close();
    const before = readdirSync(folder);
    expect(await inspectFolder(folder)).toMatchObject([{ isReady: true, says: expect.stringMatching(/can be used/) }]);
    expect(readdirSync(folder)).toEqual(before);
  });
});
