import { describe, expect, it } from "vitest";
import { loadSqlDriver } from "../sessions/stores/sqlite/sql-driver.ts";
import { inspectStore } from "./inspect-store.ts";

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
