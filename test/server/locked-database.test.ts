import { spawn } from "node:child_process";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type Message, noticeItem, permissionItem, textDelta } from "#domain";
import { agent } from "#runtime";
import type { Store } from "#sessions";
import { closeRunLog, createScriptedBackend } from "#testing";
import { createSystemFiles, startWorker, systemClock } from "#transports";
import { openSqliteStore } from "../../src/sessions/stores/sqlite/sqlite-store.ts";
import { isQuick } from "../effort.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { startServer } from "./support.ts";

const LOCKER = new URL("./lock-database.mjs", import.meta.url).pathname;
const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

/** A store, and another program that locks its database. */
async function openLockable(isThreaded: boolean) {
  const folder = temporaryFolder("locked");
  const seams = { clock: systemClock, files: createSystemFiles(), ...(isThreaded && { startWorker }) };
  const store = await openSqliteStore({ folder: join(folder, "data"), ...seams });
  const lock = async (): Promise<() => Promise<void>> => {
    const locker = spawn(process.execPath, [LOCKER, join(folder, "data", "millrace.sqlite")], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    cleanUps.push(() => locker.kill("SIGKILL"));
    await new Promise((resolve) => locker.stdout.once("data", resolve));
    return async () => {
      const released = new Promise((resolve) => locker.stdout.once("data", resolve));
      locker.stdin.end("let go\n");
      await released;
    };
  };
  return { store, lock };
}

const THREAD = { id: "t", tenant: "local", title: "Needle", target: "x", createdAt: 1 };
const INPUT: Message = { id: "i", role: "user", blocks: [{ type: "text", text: "Hi" }] };
const ASKED = permissionItem({ callId: "c", name: "tool", state: "asked", by: "rule" });
const LOG = closeRunLog([noticeItem("a", {}), ASKED, permissionItem({ ...ASKED, state: "allowed" })], "r");
const LARGE = closeRunLog([noticeItem("a", {}), textDelta("m", 0, "x".repeat(600_000))], "r");
const ANSWER = { callId: "c", at: 1, decision: { allow: true } };
const SETTLEMENT = { at: 3, messages: [INPUT], usage: [{ model: "m", usage: { inputTokens: 1 } }] };

/** Every kind of write; in the quick set two of them. Before it: two threads, and a run with its first event. */
const ALL_WRITES: readonly [string, (store: Store) => Promise<unknown>][] = [
  ["createThread", (store) => store.createThread({ ...THREAD, id: "new" })],
  ["renameThread", (store) => store.renameThread("local", "t", { title: "x", at: 2 })],
  ["removeThread", (store) => store.removeThread("local", "empty")],
  ["createRun", (store) => store.createRun({ id: "new", createdAt: 2, threadId: "empty" }, [INPUT])],
  ["append of a plain event", (store) => store.append("r", [{ ...LOG[0], seq: 1 } as never])],
  ["append of a question", (store) => store.append("r", LOG.slice(1, 2))],
  ["append of a question and its answer", (store) => store.append("r", LOG.slice(1, 3))],
  ["append of a large event", (store) => store.append("r", LARGE.slice(1, 2))],
  ["append with the end of a run", (store) => store.append("r", LOG.slice(1))],
  ["append with a settlement", (store) => store.append("r", LOG.slice(1), SETTLEMENT)],
  ["append of a parked notice", (store) => store.append("r", [{ ...LOG[0], seq: 1, kind: "parked" } as never])],
  ["addAnswer", (store) => store.addAnswer("r", { callId: "new", at: 1 })],
  [
    "addAnswer of a large answer",
    (store) => store.addAnswer("r", { callId: "new", at: 1, result: { output: "x".repeat(600_000), isError: false } }),
  ],
  ["keepFile", (store) => store.keepFile("f", new Uint8Array(300_000))],
  ["removeFile", (store) => store.removeFile("f")],
  ["addAudit", (store) => store.addAudit({ at: 1, tenant: "local", action: "x" })],
];

const WRITES = ALL_WRITES.filter(([name]) => !isQuick || ["createThread", "append with a settlement"].includes(name));

/** Every kind of read, and what it finds. */
const READS: readonly [string, (store: Store) => Promise<unknown>, unknown][] = [
  ["findThread", (store) => store.findThread("local", "t"), { id: "t", runId: "r" }],
  ["listThreads", (store) => store.listThreads({ tenant: "local", search: "needle" }), { threads: [{}, {}] }],
  ["countThreads", async (store) => store.countThreads?.("local"), 2],
  ["countBytes", async (store) => Number(await store.countBytes?.("local")) > 0, true],
  ["listMessages", (store) => store.listMessages("local", "t"), [INPUT]],
  ["listUsage", (store) => store.listUsage("local", "t"), []],
  ["listQuestions", (store) => store.listQuestions("local"), []],
  ["listAudit", (store) => store.listAudit("local"), []],
  ["listRuns", (store) => store.listRuns({ threadId: "t" }), [{ id: "r", lastSeq: 0 }]],
  ["findRun", (store) => store.findRun("local", "r"), { id: "r", lastSeq: 0, isOver: false }],
  ["listAnswers", (store) => store.listAnswers("r"), [ANSWER]],
  ["findFile", async (store) => [...((await store.findFile("f")) ?? [])], [1, 2]],
  ["read", (store) => store.read("r"), LOG.slice(0, 1)],
];

describe.each([
  ["with workers", true],
  ["without", false],
])("F-A8: a database that another program has locked, %s", (_, isThreaded) => {
  it.each(WRITES)("%s waits for it, and every read is served meanwhile", async (_name, write) => {
    const { store, lock } = await openLockable(isThreaded);
    await store.createThread(THREAD);
    await store.createThread({ ...THREAD, id: "empty" });
    await store.createRun({ id: "r", createdAt: 1, threadId: "t" }, [INPUT]);
    await store.append("r", LOG.slice(0, 1));
    await store.addAnswer("r", ANSWER);
    await store.keepFile("f", Uint8Array.of(1, 2));
    const release = await lock();
    const order: string[] = [];
    const writing = write(store).then(() => order.push("written"));
    for (const [name, read, found] of READS) {
      // A turn of the event loop: a timer would come after the write if that blocked.
      await new Promise((resolve) => setTimeout(resolve, 1));
      const value = await read(store);
      if (typeof found === "object") expect(value).toMatchObject(found as object);
      else expect(value).toBe(found);
      order.push(name);
    }
    order.push("released");
    await release();
    await writing;
    expect(order).toEqual([...READS.map(([name]) => name), "released", "written"]);
    await store.close();
  });

  it("the server answers /healthz and every GET while requests of every kind wait for the lock", async () => {
    const { store, lock } = await openLockable(isThreaded);
    const clerk = agent({ name: "clerk", backend: createScriptedBackend([{ text: "Hi" }, { text: "Ho" }]) });
    const { ask, server } = startServer({ store, agents: [clerk], target: "clerk" });
    const made = await Promise.all([1, 2, 3].map(() => ask("POST", "/api/threads", {})));
    const [one, two, three] = (await Promise.all(made.map((answer) => answer.json()))) as { id: string }[];
    const first = await ask("POST", `/api/threads/${one?.id}/chat`, { input: "Hello" });
    await first.text();
    const runId = first.headers.get("x-run-id") as string;
    const release = await lock();
    const order: string[] = [];
    const note = (what: string, answer: Promise<Response>): Promise<number> =>
      answer.then(({ status }) => order.push(`${what} ${status}`));
    const writing = Promise.all([
      note("created", ask("POST", "/api/threads", {})),
      note("renamed", ask("PATCH", `/api/threads/${one?.id}`, { title: "x" })),
      note("removed", ask("DELETE", `/api/threads/${two?.id}`)),
      note("begun", ask("POST", `/api/threads/${three?.id}/chat`, { input: "Go on" })),
    ]);
    const paths = [
      ...[
        "/healthz",
        "/readyz",
        "/api/threads",
        "/api/threads?q=hello",
        "/api/permissions",
        "/api/backends",
        "/metrics",
      ],
      ...[`/api/threads/${one?.id}`, `/api/threads/${one?.id}/messages`, `/api/threads/${one?.id}/export`],
      ...[`/api/runs/${runId}`, `/api/runs/${runId}/events`],
    ];
    for (const path of paths) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      const answer = await ask("GET", path);
      await answer.text();
      expect([path, answer.status]).toEqual([path, 200]);
      order.push("served");
    }
    order.push("released");
    await release();
    await writing;
    expect(order.slice(0, paths.length + 1)).toEqual([...paths.map(() => "served"), "released"]);
    expect(order.slice(paths.length + 1).toSorted()).toEqual([
      "begun 200",
      "created 201",
      "removed 204",
      "renamed 200",
    ]);
    await server.close();
    await store.close();
  });
});
