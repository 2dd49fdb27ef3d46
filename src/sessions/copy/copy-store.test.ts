import { describe, expect, it } from "vitest";
import { type AgentEvent, type Chunk, noticeItem, permissionItem, textDelta, toolCallItem } from "#domain";
import { closeRunLog, createVirtualClock } from "#testing";
import { createMemoryStore } from "../stores/memory/memory-store.ts";
import type { Store } from "../stores/store.ts";
import { copyStore, type CopyProgress } from "./copy-store.ts";

const clock = createVirtualClock();
const TENANT = "a";

const say = (id: string, text: string) => ({ id, role: "user" as const, blocks: [{ type: "text" as const, text }] });
const ask = (callId: string): Chunk[] => [
  toolCallItem({ callId, name: "rm", input: {}, executedBy: "millrace" }),
  permissionItem({ callId, name: "rm", state: "asked", by: "rule", input: {} }),
];

/** The log without its end: the last event is the one that says that the run is waiting. */
function waitingLog(runId: string): AgentEvent[] {
  const log = closeRunLog([...ask("c-1"), ...ask("c-2"), noticeItem("parked", { until: 900 })], runId);
  return log.slice(0, log.findIndex(({ type }) => type === "notice") + 1);
}

function endedLog(runId: string): AgentEvent[] {
  const decided = permissionItem({ callId: "c-1", name: "rm", state: "allowed", by: "user", input: {} });
  return closeRunLog([textDelta("m", 0, "é\ud800\0"), ...ask("c-1"), decided], runId);
}

/** Two tenants, a thread with an ended and a waiting run, runs without thread, answers, audit, files. */
async function fill(store: Store): Promise<Store> {
  await store.createThread({ id: "t-1", tenant: TENANT, title: "One\0", target: "offline", createdAt: 10 });
  await store.createThread({ id: "t-2", tenant: "b", title: "Empty", target: "offline", createdAt: 11 });
  const inThread = { threadId: "t-1", tenant: TENANT };
  await store.createRun({ id: "ended", createdAt: 20, ...inThread, settings: { input: "x" } }, [say("m-1", "hello")]);
  await store.append("ended", endedLog("ended"), {
    at: 30,
    messages: [say("m-2", "answer")],
    usage: [{ model: "big\0", usage: { inputTokens: 3 }, costUsd: 0.5 }],
  });
  await store.createRun({ id: "waiting", createdAt: 40, ...inThread }, [say("m-3", "more")]);
  await store.append("waiting", waitingLog("waiting"));
  await store.addAnswer("waiting", { callId: "c-1", at: 50, decision: { allow: true } });
  await store.renameThread(TENANT, "t-1", { title: "Renamed", at: 60 });
  await store.createRun({ id: "alone", createdAt: 5 });
  await store.append("alone", endedLog("alone"));
  await store.addAudit({ at: 70, tenant: TENANT, action: "thread-removed", threadId: "t-0" });
  await store.addAudit({ at: 71, tenant: "only-audit", action: "run-aborted" });
  await store.keepFile("sessions/x.jsonl", new Uint8Array([1, 2, 3]));
  await store.keepFile("empty", new Uint8Array());
  return store;
}

async function everything(store: Store): Promise<unknown> {
  const tenants = (await store.listTenants?.()) ?? [];
  const runs = await store.listRuns();
  const files = (await store.listFiles?.()) ?? [];
  return {
    tenants: await Promise.all(
      tenants.map(async (tenant) => {
        const { threads } = await store.listThreads({ tenant });
        const held = threads.map(({ id }) =>
          Promise.all([store.listMessages(tenant, id), store.listUsage(tenant, id)]),
        );
        return [
          tenant,
          threads,
          await Promise.all(held),
          await store.listQuestions(tenant),
          await store.listAudit(tenant),
        ];
      }),
    ),
    runs: await Promise.all(runs.map(async (run) => [run, await store.read(run.id), await store.listAnswers(run.id)])),
    files: await Promise.all(files.map(async (name) => [name, await store.findFile(name)])),
  };
}

/** A store whose n-th call that changes something is the last one: it is carried out or not, and everything after fails. */
function breaking(store: Store, changes: number, isCarriedOut: boolean): Store {
  const changing = ["createRun", "append", "restoreThread", "addAnswer", "keepFile", "removeFile", "replaceAudit"];
  let left = changes;
  return new Proxy(store, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      if (typeof value !== "function") return value;
      return async (...args: unknown[]) => {
        if (left <= 0) throw new Error("broken");
        if (changing.includes(String(name))) {
          left -= 1;
          if (left === 0 && !isCarriedOut) throw new Error("broken");
          const result: unknown = await value.apply(target, args);
          if (left === 0) throw new Error("broken");
          return result;
        }
        return value.apply(target, args);
      };
    },
  });
}

describe("copyStore", () => {
  it("copies everything of a store, and finds no difference", async () => {
    const from = await fill(createMemoryStore());
    const to = createMemoryStore();
    const copied = await copyStore(from, to, { clock });
    expect(copied).toEqual({
      threads: { all: 2, copied: 2 },
      runs: { all: 3, copied: 3 },
      files: { all: 2, copied: 2 },
      events: 2 * endedLog("x").length + waitingLog("x").length,
      faults: [],
    });
    expect(await everything(to)).toEqual(await everything(from));
    expect((await to.listQuestions(TENANT)).map(({ callId }) => callId)).toEqual(["c-2"]);
  });

  it("leaves alone what is there already, and can be repeated", async () => {
    const from = await fill(createMemoryStore());
    const to = createMemoryStore();
    await copyStore(from, to, { clock });
    const before = await everything(to);
    expect(await copyStore(from, to, { clock })).toMatchObject({
      threads: { copied: 0 },
      runs: { all: 3, copied: 0 },
      files: { copied: 0 },
      events: 0,
      faults: [],
    });
    expect(await everything(to)).toEqual(before);
  });

  it("goes on after an interruption at any step, whether that step was carried out or not", async () => {
    const from = await fill(createMemoryStore());
    const wanted = await everything(from);
    for (const isCarriedOut of [true, false]) {
      let steps = 1;
      for (let isBroken = true; isBroken; steps += 1) {
        const to = createMemoryStore();
        isBroken = await copyStore(from, breaking(to, steps, isCarriedOut), { clock }).then(
          () => false,
          () => true,
        );
        expect((await copyStore(from, to, { clock })).faults).toEqual([]);
        expect(await everything(to)).toEqual(wanted);
      }
      expect(steps).toBeGreaterThan(14);
    }
  });

  it("ends at its signal, and goes on afterwards", async () => {
    const from = await fill(createMemoryStore());
    for (let steps = 1; steps < 20; steps += 1) {
      const to = createMemoryStore();
      const controller = new AbortController();
      let seen = 0;
      const onProgress = (): void => {
        seen += 1;
        if (seen === steps) controller.abort();
      };
      await expect(copyStore(from, to, { clock, signal: controller.signal, onProgress })).rejects.toThrow("abort");
      expect((await copyStore(from, to, { clock })).faults).toEqual([]);
      expect(await everything(to)).toEqual(await everything(from));
    }
  });

  it("resumes logs in the middle, and follows a source that has gone on since", async () => {
    const from = await fill(createMemoryStore());
    const to = createMemoryStore();
    await to.createRun({ id: "alone", createdAt: 5 });
    await to.append("alone", endedLog("alone").slice(0, 2));
    await copyStore(from, to, { clock });
    const { length } = waitingLog("waiting");
    const more = closeRunLog(
      [...ask("c-1"), ...ask("c-2"), noticeItem("parked", { until: 900 }), noticeItem("status", {})],
      "waiting",
    ).slice(length);
    await from.append("waiting", more, { at: 80, messages: [say("m-4", "done")], usage: [] });
    await from.createRun({ id: "next", createdAt: 90, threadId: "t-1", tenant: TENANT }, [say("m-5", "again")]);
    await from.append("next", waitingLog("next"));
    await from.keepFile("sessions/x.jsonl", new Uint8Array([1, 2, 3, 4]));
    const copied = await copyStore(from, to, { clock });
    expect(copied).toMatchObject({ threads: { copied: 1 }, runs: { copied: 2 }, files: { copied: 1 }, faults: [] });
    expect(await everything(to)).toEqual(await everything(from));
  });

  it("keeps what else the target has, and its audit in the order of time", async () => {
    const from = await fill(createMemoryStore());
    const to = createMemoryStore();
    await to.createThread({ id: "own", tenant: TENANT, title: "Own", target: "offline", createdAt: 1 });
    await to.addAudit({ at: -5, tenant: TENANT, action: "own-early" });
    await to.addAudit({ at: 99, tenant: TENANT, action: "own-late" });
    for (let time = 0; time < 2; time += 1) {
      expect((await copyStore(from, to, { clock })).faults).toEqual([]);
      expect((await to.listAudit(TENANT)).map(({ action }) => action)).toEqual([
        "own-early",
        "permission-allowed",
        "thread-removed",
        "own-late",
      ]);
    }
    expect(await to.findThread(TENANT, "own")).toBeDefined();
  });

  it.each<[string, RegExp, (to: Store) => Promise<unknown>]>([
    ["run", /run alone is another one there/, (to) => to.createRun({ id: "alone", createdAt: 6 })],
    [
      "run of another tenant",
      /run alone is another one/,
      (to) => to.createRun({ id: "alone", createdAt: 5, tenant: "z" }),
    ],
    [
      "log",
      /run alone has other events there/,
      async (to) => {
        await to.createRun({ id: "alone", createdAt: 5 });
        await to.append("alone", closeRunLog([noticeItem("status", {})], "alone").slice(0, 1));
      },
    ],
    [
      "thread",
      /thread t-1 is another one, or was changed there/,
      (to) => to.createThread({ id: "t-1", tenant: "b", title: "", target: "offline", createdAt: 10 }),
    ],
    [
      "file",
      /file sessions\/x\.jsonl has another content there/,
      (to) => to.keepFile("sessions/x.jsonl", new Uint8Array([9])),
    ],
  ])("refuses a target that has another %s of an id, and writes nothing", async (_, message, prepare) => {
    const from = await fill(createMemoryStore());
    const to = createMemoryStore();
    await prepare(to);
    const before = await everything(to);
    await expect(copyStore(from, to, { clock })).rejects.toThrow(message);
    expect(await everything(to)).toEqual(before);
  });

  it("refuses a target that was used after it was copied", async () => {
    const from = await fill(createMemoryStore());
    const changes: [RegExp, (to: Store) => Promise<unknown>][] = [
      [
        /run waiting has other answers there/,
        (to) => to.addAnswer("waiting", { callId: "c-2", at: 1, decision: { allow: false } }),
      ],
      [
        /run waiting has more events there/,
        (to) =>
          to.append("waiting", [{ ...waitingLog("waiting")[0], seq: waitingLog("waiting").length } as AgentEvent]),
      ],
      [/thread t-1 is another one, or was changed/, (to) => to.renameThread(TENANT, "t-1", { title: "x", at: 999 })],
    ];
    for (const [message, change] of changes) {
      const to = createMemoryStore();
      await copyStore(from, to, { clock });
      await change(to);
      await expect(copyStore(from, to, { clock })).rejects.toThrow(message);
    }
  });

  it("refuses a source with runs that somebody works on, and says what to do", async () => {
    const working: ((from: Store) => Promise<unknown>)[] = [
      (from) => from.createRun({ id: "busy", createdAt: 1 }),
      async (from) => {
        await from.createRun({ id: "busy", createdAt: 1 });
        await from.append("busy", waitingLog("busy"));
        await from.claim?.("busy", { worker: "node-7", at: 1 });
      },
    ];
    for (const prepare of working) {
      const from = createMemoryStore();
      await prepare(from);
      const to = createMemoryStore();
      await expect(copyStore(from, to, { clock })).rejects.toThrow(
        /neither over nor waiting.*: busy.*Stop every server.*--stopped/,
      );
      expect(await to.listRuns()).toEqual([]);
      // The claim belongs to the workers of the source.
      expect((await copyStore(from, to, { clock, isStopped: true })).faults).toEqual([]);
      const [{ claim: _, ...run } = {}] = await from.listRuns();
      expect(await to.listRuns()).toEqual([run]);
    }
  });

  it("refuses a source in which the end of a run is kept apart from its log", async () => {
    const from = createMemoryStore();
    const run = { id: "ending", createdAt: 1 };
    await from.createRun(run);
    await from.keepEnd?.({ run, events: [] });
    const copied = copyStore(from, createMemoryStore(), { clock, isStopped: true });
    await expect(copied).rejects.toThrow(/not in its log yet.*: ending\. Start millrace serve on the source/);
  });

  it("refuses to copy a store to itself, whatever its name", async () => {
    const store = await fill(createMemoryStore());
    const before = await everything(store);
    await expect(copyStore(store, new Proxy(store, {}), { clock })).rejects.toThrow("the same store");
    expect(await everything(store)).toEqual(before);
  });

  it("refuses a driver that cannot be copied", async () => {
    const { listTenants: _, ...lacking } = createMemoryStore();
    await expect(copyStore(lacking, createMemoryStore(), { clock })).rejects.toThrow("no listTenants");
  });

  it("reports progress in three phases, each up to its total", async () => {
    const seen: CopyProgress[] = [];
    const onProgress = (progress: CopyProgress): void => void seen.push(progress);
    await copyStore(await fill(createMemoryStore()), createMemoryStore(), { clock, onProgress });
    expect([...new Set(seen.map(({ phase }) => phase))]).toEqual(["comparing", "copying", "checking"]);
    for (const phase of ["comparing", "copying", "checking"]) {
      const steps = seen.filter((one) => one.phase === phase);
      expect(steps.map(({ done }) => done)).toEqual(steps.map(({ done }) => done).toSorted((a, b) => a - b));
      expect(steps.at(-1)?.done).toBe(steps.at(-1)?.total);
    }
  });

  it("says what a target lacks or has otherwise", async () => {
    const from = await fill(createMemoryStore());
    const lossy = (change: (store: Store) => Partial<Store>): Store => {
      const to = createMemoryStore();
      return { ...to, ...change(to) };
    };
    const faultsOf = async (to: Store) => (await copyStore(from, to, { clock })).faults;
    expect(
      await faultsOf(
        lossy((to) => ({
          append: async (id, events) => to.append(id, id === "alone" ? events.slice(0, -1) : events),
        })),
      ),
    ).toEqual([expect.stringMatching(/^run alone has \d events instead of \d$/)]);
    expect(await faultsOf(lossy(() => ({ addAnswer: async () => true })))).toEqual([
      "run waiting has 0 stored answers instead of 1",
      "run waiting has 2 open questions instead of 1",
    ]);
    expect(
      await faultsOf(
        lossy((to) => ({ restoreThread: async (thread) => to.restoreThread?.({ ...thread, messages: [] }) })),
      ),
    ).toEqual(["thread t-1 has 0 messages instead of 3"]);
    expect(await faultsOf(lossy(() => ({ replaceAudit: async () => undefined })))).toEqual([
      "the audit of tenant a has 1 entries instead of 2, or other ones",
      "the audit of tenant only-audit has 0 entries instead of 1, or other ones",
    ]);
    expect(
      await faultsOf(lossy((to) => ({ keepFile: async (name) => to.keepFile(name, new Uint8Array([7])) }))),
    ).toEqual(["file empty differs", "file sessions/x.jsonl differs"]);
  });
});
