import { noticeItem } from "#domain";
import type { AuditEntry, Store, WholeThread } from "#sessions";
import { closeRunLog } from "./close-run-log.ts";
import { expectSame, expectThat, type Trial } from "./conformance.ts";
import { refused } from "./store-threads.ts";

const THREAD = { id: "thread-1", tenant: "a", title: "First", target: "offline", createdAt: 10 };

/** More than a store should handle in one piece. */
const LONG = "é\0\ud83d\ude00".repeat(70_000);

const say = (id: string, text: string) => ({ id, role: "user" as const, blocks: [{ type: "text" as const, text }] });

const WHOLE: WholeThread = {
  ...THREAD,
  title: "Whole\0\ud800",
  updatedAt: 70,
  messages: [say("m-1", "needle\0\ud800"), say("m-2", LONG), say("m-3", `${LONG}end`)],
  usage: [
    { model: "big\0", usage: { inputTokens: 3 }, costUsd: 0.5, runs: 2 },
    { model: "small", usage: { outputTokens: 1 }, runs: 1 },
  ],
};

type Copyable = Store & Required<Pick<Store, "listTenants" | "listFiles" | "restoreThread" | "replaceAudit">>;

function copying(behaviour: string, attempt: (store: Copyable) => Promise<void>): Trial<Store> {
  return [
    behaviour,
    async (store) => {
      const { listTenants, listFiles, restoreThread, replaceAudit } = store;
      const given = [listTenants, listFiles, restoreThread, replaceAudit].filter(
        (method) => method !== undefined,
      ).length;
      if (given === 0) return;
      expectThat(given === 4, "listTenants, listFiles, restoreThread and replaceAudit belong together");
      await attempt(store as Copyable);
    },
  ];
}

async function expectWhole(store: Store, whole: WholeThread, what: string): Promise<void> {
  const { messages, usage, ...thread } = whole;
  const found = await store.findThread("a", thread.id);
  const { title, target, createdAt, updatedAt } = found ?? {};
  expectSame({ id: found?.id, tenant: found?.tenant, title, target, createdAt, updatedAt }, { ...thread }, what);
  expectSame(await store.listMessages("a", thread.id), messages, `the messages of ${what}`);
  expectSame(await store.listUsage("a", thread.id), usage, `the usage of ${what}`);
}

/** The contract of `Store` for copying everything that it has. */
export const COPYING_TRIALS: readonly Trial<Store>[] = [
  copying("tenants are listed that have a thread, a run or an entry in the audit", async (store) => {
    expectSame(await store.listTenants(), [], "tenants of an empty store");
    await store.createRun({ id: "run-1", createdAt: 1 });
    await store.createRun({ id: "run-2", createdAt: 1, tenant: "c" });
    await store.createThread({ ...THREAD, tenant: "b" });
    await store.createThread({ ...THREAD, id: "thread-2", tenant: "b" });
    await store.addAudit({ at: 1, tenant: "A", action: "run-aborted" });
    await store.addAudit({ at: 1, tenant: "b", action: "run-aborted" });
    expectSame(await store.listTenants(), ["A", "b", "c", "local"], "tenants");
  }),
  copying("the names of files are listed", async (store) => {
    for (const name of ["b", "a/b.c", "B", "b"]) await store.keepFile(name, new Uint8Array([1]));
    await store.removeFile("b");
    expectSame(await store.listFiles(), ["B", "a/b.c"], "files");
  }),
  copying("a thread is restored as it was, with its messages and usage, and may be replaced", async (store) => {
    await store.restoreThread(WHOLE);
    await expectWhole(store, WHOLE, "a restored thread");
    const found = await store.findThread("a", THREAD.id);
    expectSame([found?.usage, found?.costUsd], [{ inputTokens: 3, outputTokens: 1 }, 0.5], "usage and cost");
    const search = async (text: string) => (await store.listThreads({ tenant: "a", search: text })).threads.length;
    expectSame([await search("needle"), await search("whole")], [1, 1], "threads found by message and title");
    await store.createRun({ id: "run-1", createdAt: 5, threadId: THREAD.id, tenant: "a" });
    await store.append("run-1", closeRunLog([noticeItem("status", {})], "run-1").slice(0, 1));
    await expectWhole(store, WHOLE, "a restored thread with an older run");
    const other = { ...WHOLE, title: "Other", updatedAt: 5, messages: [say("m-9", "x")], usage: [] };
    await store.restoreThread(other);
    await expectWhole(store, other, "a thread that was replaced");
    expectSame((await store.findThread("a", THREAD.id))?.runId, "run-1", "its run");
    expectSame([await search("needle"), await search("whole")], [0, 0], "threads found by what was replaced");
  }),
  copying("a run goes on in a restored thread", async (store) => {
    await store.restoreThread(WHOLE);
    await store.createRun({ id: "run-1", createdAt: 80, threadId: THREAD.id, tenant: "a" }, [say("m-4", "more")]);
    const settlement = { at: 90, messages: [], usage: [{ model: "small", usage: { outputTokens: 2 } }] };
    await store.append("run-1", closeRunLog([], "run-1"), settlement);
    const usage = [WHOLE.usage[0], { model: "small", usage: { outputTokens: 3 }, runs: 2 }];
    const whole = { ...WHOLE, updatedAt: 90, messages: [...WHOLE.messages, say("m-4", "more")], usage };
    await expectWhole(store, whole as WholeThread, "a thread that went on");
  }),
  copying("a thread is not restored over that of another tenant, nor if it could not be found again", async (store) => {
    await store.createThread({ ...THREAD, tenant: "b" });
    await refused(store.restoreThread(WHOLE), "thread-exists", "another tenant's thread");
    expectThat((await store.findThread("a", THREAD.id)) === undefined, "it was restored");
    expectSame((await store.findThread("b", THREAD.id))?.title, "First", "the other one");
    for (const change of [{ id: "../x" }, { tenant: "" }, { updatedAt: Number.NaN }, { title: "x".repeat(501) }]) {
      await refused(store.restoreThread({ ...WHOLE, ...change }), "invalid-thread", JSON.stringify(change));
    }
  }),
  copying("restored threads are counted, and no more when they are replaced or removed", async (store) => {
    const count = async (): Promise<number> => (await store.countBytes?.("a")) ?? 0;
    const before = await count();
    for (let time = 0; time < 3; time += 1) await store.restoreThread(WHOLE);
    const whole = await count();
    const atLeast = store.countBytes === undefined ? 0 : LONG.length * 2;
    expectThat(whole - before >= atLeast && whole - before < 20 * LONG.length, `${whole - before} bytes were counted`);
    await store.restoreThread({ ...WHOLE, messages: [] });
    expectThat((await count()) - before < 1000, "replaced messages are still counted");
    await store.restoreThread(WHOLE);
    await store.removeThread("a", THREAD.id);
    expectSame(await count(), before, "bytes after it was removed");
  }),
  copying("the audit of a tenant is replaced as a whole, in order, and that of others is not", async (store) => {
    const entry = (at: number, tenant = "a"): AuditEntry => ({ at, tenant, action: "run-aborted", detail: `\0${at}` });
    for (const one of [entry(1), entry(2, "b"), entry(3)]) await store.addAudit(one);
    await store.replaceAudit("a", [entry(9), entry(4), entry(9)]);
    expectSame(await store.listAudit("a"), [entry(9), entry(4), entry(9)], "the audit");
    expectSame(await store.listAudit("b"), [entry(2, "b")], "another tenant's");
    await store.addAudit(entry(5));
    expectSame((await store.listAudit("a")).at(-1), entry(5), "an entry added later");
    await store.replaceAudit("a", []);
    expectSame(await store.listAudit("a"), [], "an empty audit");
  }),
];

/** Restored threads survive a restart, and are counted then as before. */
export function reopeningCopied(reopen: (store: Store) => Promise<Store>): Trial<Store> {
  return copying("what was restored is the same when the store is opened again", async (store) => {
    await store.restoreThread(WHOLE);
    const bytes = await store.countBytes?.("a");
    const again = await reopen(store);
    try {
      await expectWhole(again, WHOLE, "a restored thread");
      expectSame(await again.countBytes?.("a"), bytes, "bytes");
      await again.removeThread("a", THREAD.id);
      expectSame(await again.countBytes?.("a"), again.countBytes && 0, "bytes after it was removed");
    } finally {
      await again.close();
    }
  });
}
