import { describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import { isStoreError, StoreError } from "#sessions";
import { checkStore } from "#testing";
import type { Store } from "../store.ts";
import { createMemoryStore } from "./memory-store.ts";

describe("createMemoryStore", () => {
  it("fulfils the store contract", async () => {
    expect(await checkStore(() => createMemoryStore())).toEqual([]);
  });
});

/** Drivers with one fault each, and the rule that `checkStore` must find broken. */
const BROKEN: readonly (readonly [string, string, (store: Store) => Partial<Store>])[] = [
  [
    "takes any sequence number",
    "an append that does not go on where the log ends is refused, and changes nothing",
    (store) => ({
      append: (id, events, settlement) =>
        store
          .append(id, events, settlement)
          .catch((error: unknown) => (isGap(error) ? undefined : Promise.reject(error))),
    }),
  ],
  [
    "adds one event at a time",
    "an append that does not go on where the log ends is refused, and changes nothing",
    (store) => ({
      async append(id, events) {
        for (const event of events) await store.append(id, [event]);
        if (events.length === 0) await store.append(id, []);
      },
    }),
  ],
  [
    "reads from the cursor on",
    "a read begins after its cursor and stops at its limit",
    (store) => ({
      read: (id, options) => store.read(id, { ...options, after: Math.max(-1, (options?.after ?? -1) - 1) }),
    }),
  ],
  [
    "forgets the limit",
    "a read begins after its cursor and stops at its limit",
    (store) => ({ read: (id, { after = -1 } = {}) => store.read(id, { after }) }),
  ],
  [
    "loses bytes",
    "an event with every kind of value comes back whole",
    (store) => ({
      read: async (id, options) => JSON.parse(JSON.stringify(await store.read(id, options))) as AgentEvent[],
    }),
  ],
  [
    "lists the oldest first",
    "runs do not mix, and the latest is listed first",
    (store) => ({ listRuns: async () => (await store.listRuns()).toReversed() }),
  ],
  [
    "gives nothing for a run it does not have",
    "a missing run is reported, and no other is touched",
    (store) => ({
      read: (id, options) =>
        store.read(id, options).catch((error: unknown) => (isUnknown(error) ? [] : Promise.reject(error))),
    }),
  ],
  [
    "shows every tenant everything",
    "a thread comes back as it was made, to its own tenant only",
    (store) => ({ findThread: (_, id) => store.findThread("a", id) }),
  ],
  [
    "takes a second run on a thread",
    "a thread has one run at a time, and its messages are added with the run",
    (store) => ({ createRun: (run, messages) => store.createRun({ ...run, threadId: undefined } as never, messages) }),
  ],
  [
    "forgets what a run leaves behind",
    "what a run adds to its thread is stored with its done, and is added up by model",
    (store) => ({ append: (id, events) => store.append(id, events) }),
  ],
  [
    "keeps asking",
    "questions are pending until they are decided or the run is over, and every decision is noted once",
    (store) => {
      const asked: unknown[] = [];
      return {
        async listQuestions(tenant) {
          asked.push(...(await store.listQuestions(tenant)));
          return asked as never;
        },
      };
    },
  ],
  [
    "counts what is gone",
    "what a tenant keeps is counted when it is stored, and no more when it is removed",
    (store) => {
      let most = 0;
      return {
        async countBytes(tenant) {
          most = Math.max(most, (await store.countBytes?.(tenant)) ?? 0);
          return tenant === "a" ? most : 0;
        },
      };
    },
  ],
  [
    "takes every answer",
    "of several answers to a call at the same time exactly one is stored",
    ({ addAnswer }) => ({ addAnswer: async (id, answer) => (await addAnswer(id, answer), true) }),
  ],
  [
    "asks again what was answered",
    "a question of a waiting run stays open until it has a stored answer, is decided, or the run is over",
    () => ({ addAnswer: async () => true }),
  ],
  [
    "forgets that a run waits",
    "a run is waiting while its last event is its parked notice, and wakes at the time that it says",
    ({ findRun }) => ({
      findRun: async (tenant, id) => {
        const { isWaiting: _, ...run } = (await findRun(tenant, id)) ?? { id, createdAt: 0, lastSeq: 0, isOver: false };
        return run;
      },
    }),
  ],
  [
    "hands out the file itself",
    "files come back byte for byte, and are replaced and removed by name",
    () => {
      const files = new Map<string, Uint8Array>();
      return {
        keepFile: async (name, data) => void files.set(name, data),
        findFile: async (name) => files.get(name),
        removeFile: async (name) => files.delete(name),
      };
    },
  ],
  [
    "ignores the claim of a writer",
    "a worker whose claim was taken can write nothing",
    (store) => ({
      append: async (runId, events, settlement) => {
        const claim = (await store.listRuns()).find(({ id }) => id === runId)?.claim;
        await store.append(runId, events, settlement, claim?.epoch);
      },
    }),
  ],
  [
    "restores a thread without its usage",
    "a thread is restored as it was, with its messages and usage, and may be replaced",
    ({ restoreThread }) => ({ restoreThread: async (thread) => restoreThread?.({ ...thread, usage: [] }) }),
  ],
  [
    "adds to an audit instead of replacing it",
    "the audit of a tenant is replaced as a whole, in order, and that of others is not",
    ({ addAudit }) => ({
      replaceAudit: async (_, entries) => {
        for (const entry of entries) await addAudit(entry);
      },
    }),
  ],
  [
    "stays open",
    "a closed store refuses everything but being closed again",
    () => ({ close: () => Promise.resolve() }),
  ],
];

const isGap = (error: unknown): boolean => isStoreError(error) && error.code === "out-of-sequence";
const isUnknown = (error: unknown): boolean => isStoreError(error) && error.code === "unknown-run";

describe("checkStore", () => {
  it.each(BROKEN)("detects a driver that %s", async (_, behaviour, breakIt) => {
    const failures = await checkStore(() => {
      const store = createMemoryStore();
      return { ...store, ...breakIt(store) };
    });
    expect(failures.map((failure) => failure.behaviour)).toContain(behaviour);
    expect(failures.every(({ message }) => message !== "")).toBe(true);
  });

  it("tests a restart if the driver supports one", async () => {
    const reopen = async () => createMemoryStore();
    const failures = await checkStore(() => createMemoryStore(), { reopen });
    expect(failures).toHaveLength(5);
    for (const { behaviour } of failures) expect(behaviour).toContain("opened again");
  });
});

describe("StoreError", () => {
  it("is recognised by its brand, not by its class", () => {
    expect(isStoreError(new StoreError("run-over", "…"))).toBe(true);
    expect(isStoreError({ [Symbol.for("millrace.StoreError")]: true })).toBe(true);
    expect(isStoreError(new Error("…"))).toBe(false);
    expect(isStoreError(null)).toBe(false);
  });
});
