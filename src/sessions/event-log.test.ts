import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRun } from "#run";
import {
  type AgentEvent,
  type Chunk,
  errorItem,
  messageItem,
  noticeItem,
  permissionItem,
  resultItem,
  startItem,
  textDelta,
  toolCallItem,
  toolInputDelta,
  toolResultItem,
} from "#domain";
import { assertRunLog, checkStore, closeRunLog, createSeededRandom, createVirtualClock } from "#testing";
import { fuzzRuns } from "../../test/effort.ts";
import { createEventLog, type EventLog } from "./event-log.ts";
import { closeInterruptedRuns } from "../../test/close-interrupted-runs.ts";
import { LogReader } from "./event-log-reader.ts";
import { SharedReads } from "./shared-reads.ts";
import { createMemoryStore } from "./stores/memory/memory-store.ts";
import type { Store } from "./stores/store.ts";
import { StoreError } from "./stores/store-error.ts";
import { createUnstoredEnds } from "./unstored-end.ts";

const RUNS = fuzzRuns(200);
const RUN = { id: "run-1", createdAt: 0 };

function fromEvents(events: readonly AgentEvent[], gate?: (event: AgentEvent) => Promise<void> | undefined) {
  return {
    id: RUN.id,
    async *[Symbol.asyncIterator]() {
      for (const event of events) {
        await gate?.(event);
        yield event;
      }
    },
  };
}

async function collect(log: EventLog, after = -1): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const batch of log.follow(RUN.id, { after })) events.push(...batch);
  return events;
}

const words = (count: number): Chunk[] => [
  ...Array.from({ length: count }, (_, at) => textDelta("m", 0, `${at} `)),
  messageItem({
    id: "m",
    role: "assistant",
    blocks: [{ type: "text", text: Array.from({ length: count }, (_, at) => `${at} `).join("") }],
  }),
];

/** Facts that are never merged. */
const steps = (count: number): Chunk[] => Array.from({ length: count }, (_, at) => noticeItem("status", { at }));

/** The next event comes in another turn of the event loop. */
const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function begin(store: Store = createMemoryStore(), clock = createVirtualClock()) {
  await store.createRun(RUN);
  return { store, clock, log: createEventLog({ store, clock }) };
}

describe("createEventLog", () => {
  it("I2: every reader gets the log from its cursor on, during the run and afterwards", async () => {
    const { log, store } = await begin();
    const events = closeRunLog(steps(50));
    const early = collect(log);
    const middle = collect(log, 20);
    expect(await log.write(fromEvents(events))).toBeUndefined();
    const late = collect(log);
    expect(await early).toEqual(events);
    expect(await middle).toEqual(events.slice(21));
    expect(await late).toEqual(events);
    expect(await store.read(RUN.id)).toEqual(events);
    expect(await collect(log, 50)).toEqual([]);
  });

  it("I3: no reader sees an event that the store has not acknowledged", async () => {
    const store = createMemoryStore();
    const stored = new Set<number>();
    const slow: Store = {
      ...store,
      async append(runId, events, settlement) {
        await new Promise((resolve) => setImmediate(resolve));
        await store.append(runId, events, settlement);
        for (const { seq } of events) stored.add(seq);
      },
    };
    const { log } = await begin(slow);
    const events = closeRunLog(words(200));
    const writing = log.write(fromEvents(events));
    for await (const batch of log.follow(RUN.id)) for (const { seq } of batch) expect(stored.has(seq)).toBe(true);
    await writing;
  });

  it("live readers share the same batches, so that encoded frames can be shared", async () => {
    const { log } = await begin();
    const seen: (readonly AgentEvent[])[][] = [[], []];
    const readers = seen.map(async (batches) => {
      for await (const batch of log.follow(RUN.id)) batches.push(batch);
    });
    await log.write(fromEvents(closeRunLog(words(30)), () => new Promise((resolve) => setImmediate(resolve))));
    await Promise.all(readers);
    expect(seen[0]?.length).toBeGreaterThan(1);
    expect(seen[0]?.every((batch, at) => batch === seen[1]?.[at])).toBe(true);
  });

  it("events that come during an append go into one batch", async () => {
    const store = createMemoryStore();
    const sizes: number[] = [];
    const slow: Store = {
      ...store,
      async append(runId, events, settlement) {
        sizes.push(events.length);
        await new Promise((resolve) => setImmediate(resolve));
        await store.append(runId, events, settlement);
      },
    };
    const { log } = await begin(slow);
    await log.write(fromEvents(closeRunLog(steps(5000))));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(5001);
    expect(sizes.length).toBeLessThan(20);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1024);
  });

  it("deltas that come at the same time are stored and sent as one, with the same text", async () => {
    const { log, store } = await begin();
    const events = closeRunLog(words(50));
    await log.write(fromEvents(events, (event) => (event.seq === 20 ? breathe() : undefined)));
    const stored = await store.read(RUN.id);
    assertRunLog(stored);
    expect(stored.slice(0, 2)).toMatchObject([
      { type: "text-delta", firstSeq: 0, seq: 19 },
      { type: "text-delta", firstSeq: 20, seq: 49 },
    ]);
    const said = (log: readonly AgentEvent[]) =>
      log.map((event) => (event.type === "text-delta" ? event.text : "")).join("");
    expect(said(stored)).toBe(said(events));
    expect(await collect(log)).toEqual(stored);
  });

  it("a cursor inside a merged delta gets no more deltas of that block, only its message", async () => {
    const { log } = await begin();
    const [first, second, third, message, done] = closeRunLog([
      textDelta("m", 0, "a"),
      textDelta("m", 0, "bcd"),
      textDelta("m", 0, "e"),
      messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "abcde" }] }),
    ]) as [AgentEvent, AgentEvent, AgentEvent, AgentEvent, AgentEvent];
    const at = (event: AgentEvent, seq: number, firstSeq?: number): AgentEvent =>
      ({ ...event, seq, ...(firstSeq !== undefined && { firstSeq }) }) as AgentEvent;
    const events = [at(first, 0), at(second, 3, 1), at(third, 4), at(message, 5), at(done, 6)];
    await log.write(fromEvents(events, breathe));
    const seqs = async (after: number): Promise<number[]> => (await collect(log, after)).map(({ seq }) => seq);
    expect(await seqs(0)).toEqual([3, 4, 5, 6]);
    expect(await seqs(1)).toEqual([5, 6]);
    expect(await seqs(2)).toEqual([5, 6]);
    expect(await seqs(3)).toEqual([4, 5, 6]);
  });

  it("a reader that leaves, and one whose signal fires, hold up nothing", async () => {
    const { log } = await begin();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const events = closeRunLog(words(3));
    const writing = log.write(fromEvents(events, (event) => (event.seq === 2 ? held : undefined)));
    for await (const batch of log.follow(RUN.id)) {
      expect(batch.length).toBeGreaterThan(0);
      break;
    }
    const controller = new AbortController();
    const waiting = (async () => {
      for await (const _ of log.follow(RUN.id, { after: 1, signal: controller.signal })) expect.fail();
    })();
    controller.abort();
    await waiting;
    release();
    expect(await writing).toBeUndefined();
  });

  it.each(["waits", "has what it wanted", "never began"])(
    "a reader that leaves while it %s is removed",
    async (state) => {
      const store = createMemoryStore();
      await store.createRun(RUN);
      await store.append(RUN.id, closeRunLog(steps(3)).slice(0, 2));
      const inside = new Set<LogReader>();
      const controller = new AbortController();
      const reader = new LogReader(RUN.id, -1, controller.signal, {
        store,
        reads: new SharedReads(store),
        clock: createVirtualClock(),
        tailOf: () => undefined,
        enter: (one) => inside.add(one),
        leave: (one) => inside.delete(one),
      });
      if (state !== "never began") expect((await reader.next()).value).toHaveLength(2);
      const pending = state === "waits" ? reader.next() : undefined;
      expect(inside.size).toBe(state === "never began" ? 0 : 1);
      await breathe();
      controller.abort();
      expect(inside.size).toBe(0);
      expect(await (pending ?? reader.next())).toEqual({ done: true, value: undefined });
      expect(inside.size).toBe(0);
    },
  );

  it("R11: a store that fails briefly is retried, and nothing is lost or duplicated", async () => {
    const store = createMemoryStore();
    let failures = 3;
    const shaky: Store = {
      ...store,
      append: (runId, events, settlement) =>
        failures-- > 0
          ? Promise.reject(new StoreError("store-failed", "locked"))
          : store.append(runId, events, settlement),
    };
    const { log, clock } = await begin(shaky);
    const events = closeRunLog(steps(5));
    const writing = log.write(fromEvents(events));
    await clock.advance(5000);
    expect(await writing).toBeUndefined();
    expect(await store.read(RUN.id)).toEqual(events);
  });

  it("a permanent failure of the store ends the writing with the reason, and the readers without a done", async () => {
    const store = createMemoryStore();
    const broken: Store = { ...store, append: () => Promise.reject(new StoreError("store-failed", "disk full")) };
    const { log, clock } = await begin(broken);
    const reading = collect(log);
    const writing = log.write(fromEvents(closeRunLog(words(5))));
    await clock.advance(10_000);
    expect(await writing).toBe("disk full");
    expect(await reading).toEqual([]);
  });

  it("a replaced writer is stopped by the sequence numbers", async () => {
    const { log, store } = await begin();
    const events = closeRunLog(words(5));
    await store.append(RUN.id, events.slice(0, 2));
    expect(await log.write(fromEvents(events))).toMatch(/continues with seq 2/);
  });

  it("a log that another process writes is followed, too", async () => {
    const { log, store, clock } = await begin();
    const events = closeRunLog(words(3));
    const reading = collect(log);
    for (const event of events) {
      await store.append(RUN.id, [event]);
      await clock.advance(250);
    }
    expect(await reading).toEqual(events);
  });

  it("I22: an end that another process stores while a reader looks for it is shown", async () => {
    const store = createMemoryStore();
    const [done] = closeRunLog([]);
    let isFirst = true;
    const late: Store = {
      ...store,
      async read(...call) {
        const events = await store.read(...call);
        if (isFirst) await store.append(RUN.id, [done as AgentEvent]);
        isFirst = false;
        return events;
      },
    };
    const { log, clock } = await begin(late);
    const seen = collect(log);
    for (let turn = 0; turn < 10; turn += 1) await clock.advance(1000);
    expect(await seen).toEqual([done]);
  });

  it("the tail in memory is bounded, and a slower reader reads the store", async () => {
    const { log } = await begin();
    const text = "x".repeat(300_000);
    const big = closeRunLog(Array.from({ length: 12 }, (_, at) => noticeItem("status", { at, text })));
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const reader = log.follow(RUN.id);
    const seqs: number[] = [];
    const writing = log.write(
      fromEvents(big, async ({ seq }) => {
        await new Promise((resolve) => setImmediate(resolve));
        if (seq === 11) await held;
      }),
    );
    const first = await reader.next();
    seqs.push(...(first.value as AgentEvent[]).map(({ seq }) => seq));
    await new Promise((resolve) => setTimeout(resolve, 20));
    release();
    await writing;
    for await (const batch of reader) seqs.push(...batch.map(({ seq }) => seq));
    expect(seqs).toEqual(big.map(({ seq }) => seq));
  });

  it("a run of a real handle arrives completely, and the handle is not aborted", async () => {
    const { log, store } = await begin();
    const run = createRun(
      async (writer) => {
        for (let at = 0; at < 3000; at += 1) await writer.write([textDelta("m", 0, "x")]);
        await writer.write([
          messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "x".repeat(3000) }] }),
          resultItem({ subtype: "success", isError: false, usage: {} }),
        ]);
      },
      { id: RUN.id, clock: createVirtualClock(), random: createSeededRandom(1), onListenerError: () => undefined },
    );
    await log.write(run);
    const events = await store.read(RUN.id);
    assertRunLog(events);
    expect(events.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
  });

  it("I2 as a property: with any splits and any visits, each of three readers sees a prefix without gaps or duplicates", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 8 }), { minLength: 3, maxLength: 3 }),
        fc.scheduler(),
        async (count, visits, scheduler) => {
          const { log } = await begin();
          const events = closeRunLog(words(count));
          const readers = visits.map(async (takes) => {
            const seen: number[] = [];
            for (const take of [...takes, Number.POSITIVE_INFINITY]) {
              let left = take;
              for await (const batch of log.follow(RUN.id, { after: seen.at(-1) ?? -1 })) {
                for (const { seq } of batch.slice(0, left)) seen.push(seq);
                left -= batch.length;
                if (left <= 0) break;
              }
              if (seen.at(-1) === events.length - 1) break;
            }
            return seen;
          });
          const writing = log.write(fromEvents(events, () => scheduler.schedule(Promise.resolve())));
          await scheduler.waitFor(writing);
          for (const seen of await Promise.all(readers)) expect(seen).toEqual(events.map(({ seq }) => seq));
        },
      ),
      { numRuns: RUNS },
    );
  });
});

const TURN: readonly Chunk[] = [
  startItem({ backend: "b", mode: "http", model: "large" }),
  messageItem({ id: "input", role: "user", blocks: [{ type: "text", text: "Add" }] }),
  textDelta("m1", 0, "I "),
  textDelta("m1", 0, "add."),
  toolInputDelta("m1", 1, { callId: "c1", name: "add" }, "{}"),
  messageItem({
    id: "m1",
    role: "assistant",
    model: "large",
    usage: { inputTokens: 5, outputTokens: 1 },
    blocks: [
      { type: "text", text: "I add." },
      { type: "tool-call", callId: "c1", name: "add", input: {} },
      { type: "tool-call", callId: "c2", name: "rm", input: {} },
    ],
  }),
  toolCallItem({ callId: "c1", name: "add", input: {}, executedBy: "millrace" }),
  toolCallItem({ callId: "c2", name: "rm", input: {}, executedBy: "millrace" }),
  permissionItem({ callId: "c1", name: "add", state: "asked", by: "rule" }),
  permissionItem({ callId: "c1", name: "add", state: "allowed", by: "user" }),
  permissionItem({ callId: "c2", name: "rm", state: "denied", by: "rule" }),
  toolResultItem({ callId: "c1", name: "add", output: 3, isError: false }),
  toolResultItem({ callId: "c2", name: "rm", output: "no", isError: true, skipped: "denied" }),
  textDelta("m2", 0, "It is "),
  noticeItem("retract", { messageId: "m2" }),
  textDelta("m2", 0, "Thr"),
  textDelta("m2", 0, "ee"),
  messageItem({
    id: "m2",
    role: "assistant",
    model: "small",
    usage: { inputTokens: 7 },
    blocks: [{ type: "text", text: "Three" }],
  }),
  resultItem({ subtype: "success", isError: false, usage: { inputTokens: 12, outputTokens: 1 }, costUsd: 0.25 }),
];

describe("a run whose process died", () => {
  const thread = { id: "t", tenant: "a", title: "", target: "x", createdAt: 0 };
  const input = { id: "input", role: "user", blocks: [{ type: "text", text: "Add" }] } as const;
  const before = { id: "old", role: "assistant", blocks: [{ type: "text", text: "Before" }] } as const;

  async function crashAfter(count: number, chunks: readonly Chunk[] = TURN) {
    const store = createMemoryStore();
    const clock = createVirtualClock(5000);
    await store.createThread(thread);
    await store.createRun({ id: "r0", createdAt: 0, threadId: "t", tenant: "a" }, [before]);
    await store.append("r0", closeRunLog([], "r0"));
    await store.createRun({ ...RUN, threadId: "t", tenant: "a" }, [input]);
    const open = closeRunLog(chunks, RUN.id).slice(0, count);
    await store.append(RUN.id, open);
    expect(await closeInterruptedRuns(store, clock)).toBe(1);
    expect(await closeInterruptedRuns(store, clock)).toBe(0);
    return { store, events: await store.read(RUN.id), open };
  }

  it.each(Array.from({ length: TURN.length + 1 }, (_, count) => count))(
    "R4: a log that breaks off after %i events gets a correct end, whatever was open",
    async (count) => {
      const { store, events, open } = await crashAfter(count);
      expect(events.slice(0, count)).toEqual(open);
      assertRunLog(events);
      const done = events.at(-1);
      expect(done).toMatchObject({ type: "done", result: { status: "interrupted", error: { code: "aborted" } } });
      expect(await store.listQuestions("a")).toEqual([]);
      const found = await store.findThread("a", "t");
      expect(found?.runId).toBeUndefined();
      const messages = await store.listMessages("a", "t");
      expect(messages.slice(0, 2)).toEqual([before, input]);
    },
  );

  it("the thread keeps what was written: complete messages, and text as far as it came", async () => {
    const { store } = await crashAfter(16);
    const messages = await store.listMessages("a", "t");
    expect(messages.map(({ id }) => id)).toEqual(["old", "input", "m1", "m1-results", "m2"]);
    expect(messages.at(-1)?.blocks).toEqual([{ type: "text", text: "Thr" }]);
    expect(await store.listUsage("a", "t")).toEqual([
      { model: "large", usage: { inputTokens: 5, outputTokens: 1 }, runs: 1 },
    ]);
  });

  it("S3-34: usage is recorded under the model that answered, and the lines add up to the result", async () => {
    const { store } = await crashAfter(TURN.length);
    expect(await store.listUsage("a", "t")).toEqual([
      { model: "large", usage: { inputTokens: 5, outputTokens: 1 }, runs: 1 },
      { model: "small", usage: { inputTokens: 7 }, costUsd: 0.25, runs: 1 },
    ]);
  });

  it("I6: an open call that was denied is answered as denied, as in a live run, even if its denial came first", async () => {
    const [call, denial] = TURN.filter((chunk) => "callId" in chunk && chunk.callId === "c2");
    for (const about of [[call, denial] as const, [denial, call] as const]) {
      const chunks = [...TURN.slice(0, 6), ...about.filter((chunk) => chunk !== undefined)];
      const { events } = await crashAfter(8, chunks);
      const answers = events.filter(({ type }) => type === "tool-result");
      expect(answers).toMatchObject([{ callId: "c2", isError: true, skipped: "denied" }]);
    }
  });

  it("a run that had failed before it died has the reason", async () => {
    const failed = [...TURN.slice(0, 4), errorItem({ code: "stream-cut", message: "cut", terminal: true })];
    const { events } = await crashAfter(5, failed);
    assertRunLog(events);
    expect(events.at(-1)).toMatchObject({ type: "done", result: { status: "error", subtype: "stream-cut" } });
  });
});

describe("createUnstoredEnds", () => {
  it("F-B14: its store keeps every promise of the store contract", async () => {
    const open = () => createUnstoredEnds({ store: createMemoryStore(), clock: createVirtualClock() }).store;
    expect(await checkStore(open)).toEqual([]);
  });
});

describe("F-B1: late readers of the same log", () => {
  /** A finished log of 2000 events, and the cursors at which it is read. */
  async function beginFinished() {
    const memory = createMemoryStore();
    const cursors: number[] = [];
    const read: Store["read"] = (runId, options) => {
      cursors.push(options?.after ?? -1);
      return memory.read(runId, options);
    };
    const { log } = await begin({ ...memory, read });
    const events = closeRunLog(steps(2000));
    await memory.append(RUN.id, events);
    return { log, memory, events, cursors };
  }

  it("share each read, and receive the same arrays", async () => {
    const { log, events, cursors } = await beginFinished();
    const readers = Array.from({ length: 4 }, () => log.follow(RUN.id));
    const received: AgentEvent[] = [];
    for (;;) {
      const [first, ...others] = await Promise.all(readers.map((reader) => reader.next()));
      for (const other of others) expect(other.value).toBe(first?.value);
      if (first === undefined || first.done === true) break;
      received.push(...first.value);
    }
    expect(received).toEqual(events);
    expect(new Set(cursors).size).toBe(cursors.length);
  });

  it("share what another one still holds, and read anew what nobody holds", async () => {
    const { log, cursors } = await beginFinished();
    const slow = log.follow(RUN.id);
    const held = (await slow.next()).value;
    const other = log.follow(RUN.id);
    expect((await other.next()).value).toBe(held);
    await other.return?.();
    expect(cursors).toEqual([-1]);
    await slow.next();
    await collect(log);
    expect(cursors.filter((after) => after === -1)).toHaveLength(2);
    await slow.return?.();
  });

  it("share the last batch of a log for as long as one of them is occupied with it", async () => {
    const { log, events, cursors } = await beginFinished();
    const after = events.length - 3;
    const slow = log.follow(RUN.id, { after });
    const held = (await slow.next()).value;
    expect(held?.at(-1)).toMatchObject({ type: "done" });
    const other = log.follow(RUN.id, { after });
    expect((await other.next()).value).toBe(held);
    expect(await other.next()).toEqual({ done: true, value: undefined });
    expect(await slow.next()).toEqual({ done: true, value: undefined });
    expect(cursors).toEqual([after]);
    await collect(log, after);
    expect(cursors).toEqual([after, after]);
  });

  it("read again what an earlier read was too early for", async () => {
    const memory = createMemoryStore();
    await memory.createRun(RUN);
    const answers: (() => void)[] = [];
    const reads = new SharedReads({
      ...memory,
      async read(runId, options) {
        const found = await memory.read(runId, options);
        await new Promise<void>((resolve) => answers.push(resolve));
        return found;
      },
    });
    const early = reads.take(RUN.id, -1);
    await breathe();
    const events = closeRunLog(steps(3));
    await memory.append(RUN.id, events);
    expect(reads.take(RUN.id, -1).isNew).toBe(false);
    answers.shift()?.();
    expect(await early.events).toEqual([]);
    const again = reads.take(RUN.id, -1);
    expect(again.isNew).toBe(true);
    await breathe();
    answers.shift()?.();
    expect(await again.events).toEqual(events);
  });
});
