import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Message } from "#domain";
import { agent } from "#runtime";
import type { Store } from "#sessions";
import { closeRunLog, createScriptedBackend } from "#testing";
import { createSystemFiles, startThread, systemClock } from "#transports";
import { loadSqlDriver, type SqlDatabase } from "../../src/sessions/stores/sqlite/sql-driver.ts";
import { openSqliteStore } from "../../src/sessions/stores/sqlite/sqlite-store.ts";
import { startServer } from "./support.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A store, and another program's connection to its database. */
async function openLockable(isThreaded: boolean): Promise<{ readonly store: Store; readonly other: SqlDatabase }> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-locked-"));
  folders.push(folder);
  const driver = await loadSqlDriver();
  const seams = { clock: systemClock, files: createSystemFiles(), ...(isThreaded && { startThread }) };
  const store = await openSqliteStore({ folder: join(folder, "data"), driver, ...seams });
  return { store, other: driver.open(join(folder, "data", "millrace.sqlite")) };
}

const THREAD = { id: "t", tenant: "local", title: "", target: "x", createdAt: 1 };
const INPUT: Message = { id: "i", role: "user", blocks: [{ type: "text", text: "Hi" }] };
const LOG = closeRunLog([], "r");

/** Every call that writes, and what has to be there before. */
const WRITES: readonly [string, (store: Store) => Promise<unknown>][] = [
  ["createThread", (store) => store.createThread({ ...THREAD, id: "new" })],
  ["renameThread", (store) => store.renameThread("local", "t", { title: "x", at: 2 })],
  ["removeThread", (store) => store.removeThread("local", "empty")],
  ["createRun", (store) => store.createRun({ id: "new", createdAt: 2, threadId: "empty" }, [INPUT])],
  ["append, with the end of a run", (store) => store.append("r", LOG)],
  ["addAudit", (store) => store.addAudit({ at: 1, tenant: "local", action: "x" })],
];

describe.each([
  ["with a worker", true],
  ["without one", false],
])("F-A8: a database that another program has locked, %s", (_, isThreaded) => {
  it.each(WRITES)("%s waits for it, and nobody else does", async (_name, write) => {
    const { store, other } = await openLockable(isThreaded);
    await store.createThread(THREAD);
    await store.createThread({ ...THREAD, id: "empty" });
    await store.createRun({ id: "r", createdAt: 1, threadId: "t" });
    other.exec("BEGIN EXCLUSIVE");
    const order: string[] = [];
    const writing = write(store).then(() => order.push("written"));
    // So many turns of the event loop, and reads, while the lock is held: each would come after the write if it blocked.
    for (let turn = 0; turn < 30; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      expect(await store.findThread("local", "t")).toMatchObject({ id: "t" });
      order.push("served");
    }
    other.exec("COMMIT");
    order.push("released");
    await writing;
    expect(order).toEqual([...Array.from({ length: 30 }, () => "served"), "released", "written"]);
    other.close();
    await store.close();
  });

  it("the server answers /healthz and reads while a request waits for the lock", async () => {
    const { store, other } = await openLockable(isThreaded);
    const clerk = agent({ name: "clerk", backend: createScriptedBackend([{ text: "Hi" }]) });
    const { ask, server } = startServer({ store, agents: [clerk], target: "clerk" });
    await ask("GET", "/healthz");
    other.exec("BEGIN EXCLUSIVE");
    const order: string[] = [];
    const creating = ask("POST", "/api/threads", {}).then(({ status }) => order.push(`created ${status}`));
    for (let turn = 0; turn < 20; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      for (const path of ["/healthz", "/readyz", "/api/threads"]) expect((await ask("GET", path)).status).toBe(200);
      order.push("served");
    }
    other.exec("COMMIT");
    order.push("released");
    await creating;
    expect(order).toEqual([...Array.from({ length: 20 }, () => "served"), "released", "created 201"]);
    other.close();
    await server.close();
    await store.close();
  });
});
