import { type AgentEvent, checkOptionNames, type Chunk, errorItem, noticeItem, textDelta } from "#domain";
import type { Store } from "#sessions";
import { closeRunLog } from "./close-run-log.ts";
import { expectSame, expectThat, type Failure, runTrials, type Trial } from "./conformance.ts";
import { CLAIM_TRIALS, reopeningClaims } from "./store-claims.ts";
import { NODE_TRIALS } from "./store-nodes.ts";
import { COPYING_TRIALS, reopeningCopied } from "./store-copying.ts";
import { refused, THREAD_TRIALS } from "./store-threads.ts";
import { reopeningWaiting, WAITING_TRIALS } from "./store-waiting.ts";

/** The options of `checkStore`. */
export interface StoreTrialOptions {
  /**
   * Closes the store and opens another one on the same data, as a restart would. Omit it for a driver that keeps
   * nothing across restarts.
   */
  readonly reopen?: (store: Store) => Promise<Store>;
}

/**
 * Tests a store driver against the contract of `Store` and returns the failures. Works with any test runner.
 *
 * `createStore` is called once per behaviour and returns a store without runs; the suite closes it.
 *
 * @example
 * assert.deepEqual(await checkStore(() => createMemoryStore()), [])
 */
export function checkStore(
  createStore: () => Promise<Store> | Store,
  options: StoreTrialOptions = {},
): Promise<readonly Failure[]> {
  checkOptionNames(options, ["reopen"] satisfies (keyof StoreTrialOptions)[], "checkStore");
  const { reopen } = options;
  const trials = [
    ...TRIALS,
    ...THREAD_TRIALS,
    ...WAITING_TRIALS,
    ...CLAIM_TRIALS,
    ...COPYING_TRIALS,
    ...NODE_TRIALS,
    ...(reopen === undefined
      ? []
      : [
          reopening(reopen),
          recounting(reopen),
          reopeningWaiting(reopen),
          reopeningClaims(reopen),
          reopeningCopied(reopen),
        ]),
  ];
  return runTrials(
    trials.map(
      ([behaviour, attempt]): Trial<Store> => [
        behaviour,
        async (store) => {
          try {
            await attempt(store);
          } finally {
            await store.close();
          }
        },
      ],
    ),
    createStore,
  );
}

const RUN = { id: "run-1", createdAt: 1000 };

/** A log of `count` notices and a `done`. */
function log(count: number, runId = RUN.id): AgentEvent[] {
  return closeRunLog(
    Array.from({ length: count }, (_, number): Chunk => noticeItem("status", { number, text: "é\u2028\0\ud800" })),
    runId,
  );
}

const TRIALS: readonly Trial<Store>[] = [
  [
    "a new run has an empty log",
    async (store) => {
      await store.createRun(RUN);
      expectSame(await store.read(RUN.id), [], "events");
      expectSame(await store.listRuns(), [{ ...RUN, lastSeq: -1, isOver: false }], "runs");
    },
  ],
  [
    "events come back in order, exactly as they were appended",
    async (store) => {
      const events = log(5);
      await store.createRun(RUN);
      await store.append(RUN.id, events.slice(0, 1));
      await store.append(RUN.id, events.slice(1));
      expectSame(await store.read(RUN.id), events, "events");
      expectSame(await store.listRuns(), [{ ...RUN, lastSeq: 5, isOver: true, status: "success" }], "runs");
    },
  ],
  [
    "an event with every kind of value comes back whole",
    async (store) => {
      const raw = { json: "", bytes: new Uint8Array([0, 195, 40, 255]) };
      const events = closeRunLog([
        noticeItem("unknown:x", JSON.parse('{"__proto__":{"a":[null,true,1e300,-0.5,""]},"b":{}}'), { raw }),
        errorItem({
          code: "json-decode",
          message: "'; DROP TABLE runs; --",
          terminal: false,
          diagnostic: { seen: "\u2029" },
        }),
      ]);
      await store.createRun(RUN);
      await store.append(RUN.id, events);
      const [first] = await store.read(RUN.id, { limit: 1 });
      expectSame(first?.type === "notice" ? first.data : undefined, (events[0] as { data?: unknown }).data, "data");
      expectThat(first?.raw?.bytes instanceof Uint8Array, "raw.bytes did not come back as bytes");
      expectSame([...(first?.raw?.bytes ?? [])], [...raw.bytes], "raw.bytes");
    },
  ],
  [
    "a read begins after its cursor and stops at its limit",
    async (store) => {
      const events = log(5);
      await store.createRun(RUN);
      await store.append(RUN.id, events);
      expectSame(await store.read(RUN.id, { after: -1, limit: 2 }), events.slice(0, 2), "the first two");
      expectSame(await store.read(RUN.id, { after: 2 }), events.slice(3), "after 2");
      expectSame(await store.read(RUN.id, { after: 2, limit: 1 }), events.slice(3, 4), "one after 2");
      expectSame(await store.read(RUN.id, { after: 99 }), [], "after the end");
      expectSame(await store.read(RUN.id, { maxCharacters: 1 }), events.slice(0, 1), "one character of events");
      const two = JSON.stringify(events[0]).length + 1;
      expectSame(await store.read(RUN.id, { maxCharacters: two }), events.slice(0, 2), "two events of characters");
    },
  ],
  [
    "a merged delta covers its span, and a cursor inside it still gets it",
    async (store) => {
      const events = closeRunLog([textDelta("m", 0, "a"), textDelta("m", 0, "bcd")]);
      const merged = { ...events[1], seq: 4, firstSeq: 1 } as AgentEvent;
      const end = { ...events[2], seq: 5 } as AgentEvent;
      await store.createRun(RUN);
      await store.append(RUN.id, [events[0] as AgentEvent, merged, end]);
      expectSame(
        (await store.read(RUN.id, { after: 2 })).map(({ seq }) => seq),
        [4, 5],
        "seqs after 2",
      );
      expectSame(
        (await store.read(RUN.id, { after: 4 })).map(({ seq }) => seq),
        [5],
        "seqs after 4",
      );
    },
  ],
  [
    "an append that does not go on where the log ends is refused, and changes nothing",
    async (store) => {
      const events = log(5);
      await store.createRun(RUN);
      await refused(store.append(RUN.id, events.slice(1, 2)), "out-of-sequence", "a log that begins at 1");
      await store.append(RUN.id, events.slice(0, 3));
      await refused(store.append(RUN.id, events.slice(2, 4)), "out-of-sequence", "an event already there");
      await refused(store.append(RUN.id, events.slice(4)), "out-of-sequence", "a gap");
      await refused(store.append(RUN.id, [events[3], events[5]] as AgentEvent[]), "out-of-sequence", "a gap inside");
      expectSame(await store.read(RUN.id), events.slice(0, 3), "events");
      await store.append(RUN.id, events.slice(3));
      expectSame(await store.read(RUN.id), events, "events");
    },
  ],
  [
    "of two writers at the same place exactly one succeeds",
    async (store) => {
      const events = log(3);
      await store.createRun(RUN);
      const attempts = Array.from({ length: 8 }, () => store.append(RUN.id, events.slice(0, 2)));
      const outcomes = await Promise.allSettled(attempts);
      expectSame(outcomes.filter(({ status }) => status === "fulfilled").length, 1, "writers that succeeded");
      expectSame(await store.read(RUN.id), events.slice(0, 2), "events");
    },
  ],
  [
    "nothing is added after done",
    async (store) => {
      const events = log(1);
      await store.createRun(RUN);
      await store.append(RUN.id, events);
      const late = { ...(events[0] as AgentEvent), seq: 2 };
      await refused(store.append(RUN.id, [late]), "run-over", "an event after done");
      expectSame(await store.read(RUN.id), events, "events");
    },
  ],
  [
    "an append of nothing changes nothing",
    async (store) => {
      await store.createRun(RUN);
      await store.append(RUN.id, []);
      expectSame(await store.read(RUN.id), [], "events");
      await store.append(RUN.id, log(1));
      const [over] = await store.listRuns();
      await store.append(RUN.id, []);
      expectSame(await store.listRuns(), [over], "runs");
    },
  ],
  [
    "an event of another run is refused",
    async (store) => {
      await store.createRun(RUN);
      await refused(store.append(RUN.id, log(1, "run-2")), "invalid-event", "an event of another run");
      expectSame(await store.read(RUN.id), [], "events");
    },
  ],
  [
    "runs do not mix, and the latest is listed first",
    async (store) => {
      const ids = ["a", "B", "c_-9"];
      for (const [at, id] of ids.entries()) await store.createRun({ id, createdAt: at === 2 ? 1 : at });
      await Promise.all(ids.map((id, at) => store.append(id, log(at, id))));
      for (const [at, id] of ids.entries()) expectSame(await store.read(id), log(at, id), `events of ${id}`);
      expectSame(
        (await store.listRuns()).map(({ id }) => id),
        ["B", "c_-9", "a"],
        "runs",
      );
    },
  ],
  [
    "a missing run is reported, and no other is touched",
    async (store) => {
      await store.createRun(RUN);
      for (const id of ["run-2", "", "__proto__", "../run-1", "run-1' OR '1'='1"]) {
        await refused(store.read(id), "unknown-run", `reading ${id}`);
        await refused(store.append(id, []), "unknown-run", `appending to ${id}`);
      }
      await refused(store.createRun(RUN), "run-exists", "a second run with the same id");
    },
  ],
  [
    "an id that could mean something elsewhere is refused",
    async (store) => {
      for (const id of ["", "../x", "a/b", "a\n", "a\0", "a".repeat(65), "é"]) {
        await refused(store.createRun({ id, createdAt: 0 }), "invalid-run", `the id ${JSON.stringify(id)}`);
      }
      expectSame(await store.listRuns(), [], "runs");
    },
  ],
  [
    "a cursor or a limit that makes no sense is refused",
    async (store) => {
      await store.createRun(RUN);
      for (const after of [-2, 0.5, Number.NaN])
        await refused(store.read(RUN.id, { after }), "invalid-cursor", `after ${after}`);
      for (const maxCharacters of [0, -1, Number.NaN])
        await refused(store.read(RUN.id, { maxCharacters }), "invalid-cursor", `maxCharacters ${maxCharacters}`);
      for (const limit of [0, -1, 1.5, Number.NaN])
        await refused(store.read(RUN.id, { limit }), "invalid-cursor", `limit ${limit}`);
    },
  ],
  [
    "a closed store refuses everything but being closed again",
    async (store) => {
      await store.createRun(RUN);
      await Promise.all([store.close(), store.close()]);
      await refused(store.createRun({ ...RUN, id: "run-2" }), "store-closed", "createRun");
      await refused(store.append(RUN.id, log(1)), "store-closed", "append");
      await refused(store.read(RUN.id), "store-closed", "read");
      await refused(store.listRuns(), "store-closed", "listRuns");
      await refused(store.listThreads({ tenant: "a" }), "store-closed", "listThreads");
      await refused(store.addAnswer(RUN.id, { callId: "c", at: 1 }), "store-closed", "addAnswer");
      await refused(store.listAnswers(RUN.id), "store-closed", "listAnswers");
      await refused(store.keepFile("f", new Uint8Array()), "store-closed", "keepFile");
      await refused(store.findFile("f"), "store-closed", "findFile");
      await refused(store.removeFile("f"), "store-closed", "removeFile");
    },
  ],
];

function recounting(reopen: (store: Store) => Promise<Store>): Trial<Store> {
  return [
    "what a tenant keeps is known after the store was opened again",
    async (store) => {
      if (store.countBytes === undefined) return;
      const message = { id: "m", role: "user", blocks: [{ type: "text", text: "é".repeat(500) }] } as const;
      await store.createThread({ id: "thread-1", tenant: "a", title: "", target: "offline", createdAt: 1 });
      const settings = { text: "é".repeat(500) };
      await store.createRun({ id: "run-2", createdAt: 1, threadId: "thread-1", tenant: "a", settings }, [message]);
      await store.append("run-2", log(2, "run-2"));
      await store.createRun({ ...RUN, settings });
      await store.append(RUN.id, log(3).slice(0, 2));
      await store.addAnswer(RUN.id, { callId: "c", at: 1, result: { output: settings, isError: false } });
      const counts = async (from: Store) => [await from.countBytes?.("a"), await from.countBytes?.("local")];
      const bytes = await counts(store);
      expectThat(Number(bytes[0]) > 500 && Number(bytes[1]) > 0, "nothing was counted");
      const again = await reopen(store);
      try {
        expectSame(await counts(again), bytes, "bytes of the tenants");
        await again.removeThread("a", "thread-1");
        expectSame((await counts(again))[0], 0, "bytes after everything was removed");
      } finally {
        await again.close();
      }
    },
  ];
}

function reopening(reopen: (store: Store) => Promise<Store>): Trial<Store> {
  return [
    "what was appended is there after the store was opened again, and can be continued",
    async (store) => {
      const events = log(4);
      const thread = { id: "thread-1", tenant: "a", title: "\0é", target: "offline", createdAt: 1 };
      await store.createThread(thread);
      await store.createRun(RUN);
      await store.append(RUN.id, events.slice(0, 3));
      const again = await reopen(store);
      try {
        expectSame(await again.read(RUN.id), events.slice(0, 3), "events");
        expectSame(await again.findThread("a", "thread-1"), { ...thread, updatedAt: 1, usage: {} }, "the thread");
        await refused(again.append(RUN.id, events.slice(0, 1)), "out-of-sequence", "an event already there");
        await again.append(RUN.id, events.slice(3));
        expectSame(await again.listRuns(), [{ ...RUN, lastSeq: 4, isOver: true, status: "success" }], "runs");
      } finally {
        await again.close();
      }
    },
  ];
}
