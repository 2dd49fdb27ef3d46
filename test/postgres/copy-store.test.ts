import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type AgentEvent, type Chunk, noticeItem, permissionItem, toolCallItem } from "#domain";
import type { Store } from "#sessions";
import { closeRunLog } from "#testing";
import { main } from "../../src/cli/main.ts";
import { openStore as openPostgres } from "../../src/runtime/stores/postgres.ts";
import { openStore as openSqlite } from "../../src/runtime/stores/sqlite.ts";
import { createMemoryIo } from "../e2e/memory-io.ts";
import { describePostgres } from "../support/postgres.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const home = temporaryFolder("copy-store");
const LONG = "é\0\ud83d\ude00".repeat(30_000);
const say = (id: string, text: string) => ({ id, role: "user" as const, blocks: [{ type: "text" as const, text }] });

function logOf(runId: string, count: number, text = "short"): AgentEvent[] {
  const decided: Chunk[] = [
    toolCallItem({ callId: "c", name: "rm", input: { text }, executedBy: "millrace" }),
    permissionItem({ callId: "c", name: "rm", state: "asked", by: "rule", input: {} }),
    permissionItem({ callId: "c", name: "rm", state: "allowed", by: "user", input: {} }),
  ];
  const notices = Array.from({ length: count }, (_, number): Chunk => noticeItem("status", { number, text: "\ud800" }));
  return closeRunLog([...notices, ...decided], runId);
}

function waitingLog(runId: string): AgentEvent[] {
  const asked: Chunk[] = ["c-1", "c-2"].flatMap((callId) => [
    toolCallItem({ callId, name: "rm", input: {}, executedBy: "millrace" }),
    permissionItem({ callId, name: "rm", state: "asked", by: "rule", input: {} }),
  ]);
  const log = closeRunLog([...asked, noticeItem("parked", { until: 900 })], runId);
  return log.slice(0, log.findIndex(({ type }) => type === "notice") + 1);
}

async function fill(store: Store): Promise<void> {
  for (const tenant of ["a", "b"]) {
    const threadId = `thread-${tenant}`;
    await store.createThread({ id: threadId, tenant, title: `Of ${tenant}\0`, target: "offline", createdAt: 1 });
    for (const number of [1, 2]) {
      const id = `${tenant}-${number}`;
      const text = id === "a-1" ? LONG : "short";
      await store.createRun({ id, createdAt: number, threadId, tenant, settings: { text } }, [say(`${id}-q`, text)]);
      await store.append(id, logOf(id, 300, text), {
        at: 10 + number,
        messages: [say(`${id}-a`, `${text}.`)],
        usage: [{ model: "big", usage: { inputTokens: 1 }, costUsd: 0.25 }],
      });
    }
    await store.createRun({ id: `${tenant}-waits`, createdAt: 20, threadId, tenant }, [say(`${tenant}-w`, "?")]);
    await store.append(`${tenant}-waits`, waitingLog(`${tenant}-waits`));
    await store.addAnswer(`${tenant}-waits`, {
      callId: "c-1",
      at: 3,
      result: { output: tenant === "a" ? LONG : "x", isError: false },
    });
    await store.addAudit({ at: 4, tenant, action: "thread-removed" });
  }
  await store.createRun({ id: "alone", createdAt: 5 });
  await store.append("alone", logOf("alone", 1));
  await store.keepFile(
    "large/file",
    Uint8Array.from({ length: 200_000 }, (_, at) => at % 251),
  );
}

async function contents(store: Store): Promise<unknown> {
  const runs = await store.listRuns();
  const all: unknown[] = [
    runs,
    await store.listTenants?.(),
    await store.listFiles?.(),
    await store.findFile("large/file"),
  ];
  for (const { id } of runs) all.push(await store.read(id), await store.listAnswers(id));
  for (const tenant of ["a", "b", "local"]) {
    const { threads } = await store.listThreads({ tenant });
    all.push(threads, await store.listQuestions(tenant), await store.listAudit(tenant));
    for (const { id } of threads) all.push(await store.listMessages(tenant, id), await store.listUsage(tenant, id));
  }
  return all;
}

const copyWith = async (io: ReturnType<typeof createMemoryIo>, ...places: string[]): Promise<number> =>
  main(["store", "copy", ...places], io);
const newIo = () => createMemoryIo({ cwd: home, env: { HOME: home } });

async function openPlace(place: string): Promise<Store> {
  return place.startsWith("postgres:") ? openPostgres(place) : openSqlite(join(home, place));
}

async function whatIs(place: string): Promise<unknown> {
  const store = await openPlace(place);
  try {
    return await contents(store);
  } finally {
    await store.close();
  }
}

describePostgres("millrace store copy", (postgres) => {
  it("copies a folder to Postgres, back to a folder, and to another one, and nothing is lost or changed", async () => {
    const first = await openPlace("first");
    await fill(first);
    await first.close();
    const url = await postgres.createDatabase();
    const wanted = await whatIs("first");
    for (const [from, to] of [
      ["first", url],
      [url, "second"],
      ["second", "third"],
    ] as const) {
      const io = newIo();
      expect(await copyWith(io, from, to), io.stderr()).toBe(0);
      expect(io.stdout()).toContain("threads 2\nruns    7\nfiles   1\nCopied ");
      expect(io.stderr()).toBe("");
      expect(await whatIs(to)).toEqual(wanted);
    }
    const again = newIo();
    expect(await copyWith(again, "first", url)).toBe(0);
    expect(again.stdout()).toBe(
      "threads 2 (2 were there already)\nruns    7 (7 were there already)\nfiles   1 (1 were there already)\nCopied 0 events; both stores were compared, and everything is there.\n",
    );
  });

  it("goes on where an interrupted copy was, and refuses a target that was used meanwhile", async () => {
    const first = await openPlace("begun");
    await fill(first);
    await first.close();
    const url = await postgres.createDatabase();
    const target = await openPostgres(url);
    await target.createRun({ id: "alone", createdAt: 5 });
    await target.append("alone", logOf("alone", 1).slice(0, 2));
    await target.close();
    const io = newIo();
    expect(await copyWith(io, "begun", url), io.stderr()).toBe(0);
    expect(await whatIs(url)).toEqual(await whatIs("begun"));
    const used = await openPostgres(url);
    await used.renameThread("a", "thread-a", { title: "used", at: 999 });
    await used.close();
    const refused = newIo();
    expect(await copyWith(refused, "begun", url)).toBe(2);
    expect(refused.stderr()).toMatch(/same ids, so nothing was copied: thread thread-a .*Copy into an empty store/);
  });

  it("refuses a database under two names, and one in which runs go on", async () => {
    const url = await postgres.createDatabase();
    const io = newIo();
    expect(await copyWith(io, url, `${url}&application_name=other`)).toBe(2);
    expect(io.stderr()).toContain("the same store");
    const store = await openPostgres(url);
    await store.createRun({ id: "busy", createdAt: 1 });
    await store.claim?.("busy", { worker: "node-7", at: 1 });
    await store.close();
    const busy = newIo();
    expect(await copyWith(busy, url, "from-busy")).toBe(2);
    const stopped = newIo();
    expect(await copyWith(stopped, "--stopped", url, "from-busy"), stopped.stderr()).toBe(0);
    expect(busy.stderr()).toMatch(/neither over nor waiting.*: busy \(held by node-7\).*Stop every server.*--stopped/);
  });
});

describe("millrace store copy, with input that is wrong", () => {
  mkdirSync(join(home, "empty"), { recursive: true });
  it.each([
    [
      "a URL of another kind",
      ["mysql://u:secret@h/x", "to"],
      /<from> must be a folder or a URL like postgres:\/\/.*not mysql:/,
    ],
    ["nothing", ["", "to"], /<from> must be a folder or a URL/],
    ["another URL as target", ["x", "http://u:secret@h"], /<to> must be a folder or a URL/],
    ["a folder without a database", ["empty", "to"], /no millrace\.sqlite in .*empty\. Name the folder/],
    ["a folder that is not there", ["nowhere", "to"], /no millrace\.sqlite in .*nowhere/],
    ["the same folder twice", ["empty", "./empty/"], /the same store/],
    [
      "a database that cannot be reached",
      ["postgres://u:secret@127.0.0.1:1/x", "to"],
      /<from>: Postgres at 127\.0\.0\.1:1 cannot be reached\. Check that it runs/,
    ],
    ["one place", ["empty"], /missing required argument|to/],
  ])("says what to do about %s, without a password, with exit code 2", async (_, places, message) => {
    const io = newIo();
    expect(await copyWith(io, ...places)).toBe(2);
    expect(io.stderr()).toMatch(message);
    expect(io.stderr()).not.toContain("secret");
    expect(io.stdout()).toBe("");
  });

  it("refuses a folder that a server uses", async () => {
    const store = await openPlace("served");
    try {
      const io = newIo();
      expect(await copyWith(io, "served", "to-served")).toBe(2);
      expect(io.stderr()).toMatch(/<from>: .*in use by another program.*Stop that one/);
    } finally {
      await store.close();
    }
  });

  it("shows a bar on a terminal, and takes it away", async () => {
    const store = await openPlace("shown");
    await store.keepFile("a", new Uint8Array([1]));
    await store.close();
    const io = newIo();
    expect(await main(["store", "copy", "shown", "to-shown"], { ...io, err: { ...io.err, isTerminal: true } })).toBe(0);
    expect(io.stderr()).toMatch(/comparing █+ 100 %.*copying █+ 100 %.*checking █+ 100 %\r\u001b\[K$/s);
  });

  it("ends at Ctrl-C with exit code 130, and says that the same command goes on", async () => {
    const store = await openPlace("aborted");
    await store.keepFile("a", new Uint8Array([1]));
    await store.close();
    const io = {
      ...newIo(),
      onInterrupt(interrupt: (signal: "SIGINT") => void) {
        interrupt("SIGINT");
        return () => undefined;
      },
    };
    expect(await copyWith(io, "aborted", "to-aborted")).toBe(130);
    expect(io.stderr()).toContain("Interrupted, so the copy is not complete. The same command goes on where it was.");
  });
});
