import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { beforeAll, describe, expect, it, type TestContext } from "vitest";
import { noticeItem } from "#domain";
import { closeRunLog } from "#testing";
import { createSystemFiles, systemClock } from "#transports";
import { ROOT } from "../../scripts/set-up.mjs";
import { loadSqlDriver } from "../../src/sessions/stores/sqlite/sql-driver.ts";
import { openSqliteStore } from "../../src/sessions/stores/sqlite/sqlite-store.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { installNode, type OtherNode, VERSION } from "./install-node.ts";

const DIST = join(ROOT, "dist");

const folder = temporaryFolder("nodes");

let node: OtherNode;
beforeAll(() => {
  node = installNode();
}, 240_000);

/** What a program printed on the other Node. It may print nothing on stderr: that is where a server's log goes. */
function runOnOther(context: TestContext, args: readonly string[]): string {
  if ("missing" in node) return context.skip(node.missing);
  const env = { PATH: "/nowhere", HOME: folder };
  const { status, stdout, stderr } = spawnSync(node.path, args, { cwd: folder, env, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout;
}

const script = (name: string): string => join(import.meta.dirname, name);
const MILLRACE = join(ROOT, "bin", "millrace.js");

describe(`Node ${VERSION}, the oldest with a SQLite of its own`, () => {
  it("the command line answers without a key", (context) => {
    const printed = runOnOther(context, [MILLRACE, "--json", "What is 25 + 17?"]);
    const done = JSON.parse(printed.trim().split("\n").at(-1) ?? "");
    expect(done).toMatchObject({
      type: "done",
      result: { status: "success", text: expect.stringContaining("25 + 17 = 42.") },
    });
  });

  it("doctor names the SQLite that the store would take", (context) => {
    const { machine } = JSON.parse(runOnOther(context, [MILLRACE, "doctor", "-b", "offline", "--json"]));
    expect(machine).toContainEqual({
      name: "store sqlite",
      isReady: true,
      says: "Runs can be kept in SQLite (node:sqlite).",
    });
  });

  it("its SQLite keeps every promise of the store contract, and Node's warning about it stays out of the log", (context) => {
    const { stores, ...outcome } = JSON.parse(runOnOther(context, [script("check-store.mjs"), DIST, folder]));
    expect(outcome).toEqual({ ownSqlite: true, failures: [] });
    expect(stores).toBeGreaterThan(10);
  });

  it("it continues in a folder that was begun with libsql, and libsql continues after it", async (context) => {
    const data = join(folder, "moved");
    const driver = await loadSqlDriver({ builtIn: () => undefined });
    const open = () => openSqliteStore({ folder: data, clock: systemClock, files: createSystemFiles(), driver });
    const events = closeRunLog([noticeItem("status", { text: "ä\0😀" })]);
    const before = await open();
    await before.createRun({ id: "run-1", createdAt: 1 });
    await before.append("run-1", events);
    await before.close();

    const found = JSON.parse(runOnOther(context, [script("go-on.mjs"), DIST, data]));
    expect(found).toMatchObject({ run: { id: "run-1", isOver: true }, events });

    const after = await open();
    expect((await after.listRuns()).map(({ id }) => id)).toEqual(["run-of-other-node", "run-1"]);
    expect(await after.read("run-1")).toEqual(events);
    await after.close();
  });
});
