import { type AgentEvent, type Chunk, noticeItem, permissionItem, toolCallItem } from "#domain";
import type { KeptEnd, Store, StoredAnswer } from "#sessions";
import { closeRunLog } from "./close-run-log.ts";
import { expectSame, expectThat, type Trial } from "./conformance.ts";
import { refused } from "./store-threads.ts";

const RUN = { id: "run-1", createdAt: 20, tenant: "a" };
const THREAD = { id: "thread-1", tenant: "a", title: "First", target: "offline", createdAt: 10 };

/** More than a store should handle in one piece. */
const LONG = `${"é\0\ud83d\ude00".repeat(70_000)}end`;

const ask = (callId: string): Chunk[] => [
  toolCallItem({ callId, name: "rm", input: {}, executedBy: "millrace" }),
  permissionItem({ callId, name: "rm", state: "asked", by: "rule", input: {} }),
];
const park = (data: object = {}): Chunk => noticeItem("parked", data);
const allow = (callId: string, at = 1): StoredAnswer => ({ callId, at, decision: { allow: true } });
const askedIn = async (store: Store): Promise<readonly string[]> =>
  (await store.listQuestions("a")).map(({ callId }) => callId);
const callsIn = async (store: Store, runId = RUN.id): Promise<readonly string[]> =>
  (await store.listAnswers(runId)).map(({ callId }) => callId);

async function expectFile(store: Store, name: string, data: Uint8Array | undefined, what: string): Promise<void> {
  const found = await store.findFile(name);
  const isSame =
    found === undefined || data === undefined
      ? found === data
      : found instanceof Uint8Array && found.length === data.length && found.every((byte, at) => byte === data[at]);
  expectThat(isSame, `${what}: ${found?.length} bytes instead of ${data?.length}, or other ones`);
}

/** Every byte value, in no regular order. */
function bytes(length: number, start = 7): Uint8Array {
  let state = start;
  return Uint8Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state >> 16;
  });
}

/** The contract of `Store` for runs that outlive their process. */
export const WAITING_TRIALS: readonly Trial<Store>[] = [
  [
    "ends that could not be stored are kept as they are, one for each run, until they are removed",
    async (store) => {
      if (store.keepEnd === undefined || store.listEnds === undefined || store.removeEnd === undefined) return;
      expectSame(await store.listEnds(), [], "ends at first");
      const ends = ["R", "r"].map(endOf);
      for (const end of ends) await store.keepEnd({ ...end, events: end.events.slice(1) });
      for (const end of ends) await store.keepEnd(end);
      expectSame(sortEnds(await store.listEnds()), ends, "ends");
      expectSame(await store.listRuns(), [], "runs");
      await store.removeEnd("R");
      await store.removeEnd("R");
      expectSame(await store.listEnds(), ends.slice(1), "the end that is left");
    },
  ],
  [
    "the settings of a run come back with it, whatever JSON they are",
    async (store) => {
      const all = [{ input: LONG, "": [null, 1e300, "\ud800"] }, [LONG], ["x"], "text", 0, false, null];
      for (const [at, settings] of all.entries()) {
        const run = { ...RUN, id: `r-${at}`, createdAt: 100 - at, settings };
        await store.createRun(run);
        expectSame(await store.findRun("a", run.id), { ...run, lastSeq: -1, isOver: false }, `settings ${at}`);
        await store.append(run.id, closeRunLog([], run.id));
        expectSame((await store.findRun("a", run.id))?.settings, settings, `settings ${at} of a run that is over`);
      }
      expectSame(
        (await store.listRuns()).map(({ settings }) => settings),
        all,
        "settings of the runs",
      );
      await store.createRun(RUN);
      const found = await store.findRun("a", RUN.id);
      expectThat(found !== undefined && !("settings" in found), "a run without settings has some");
      const circle: Record<string, unknown> = {};
      circle["self"] = circle;
      const broken = store.createRun({ ...RUN, id: "run-2", settings: circle });
      await refused(broken, "invalid-run", "settings that cannot be JSON");
      expectThat((await store.findRun("a", "run-2")) === undefined, "a refused run is there");
    },
  ],
  [
    "a run is waiting while its last event is its parked notice, and wakes at the time that it says",
    async (store) => {
      const chunks = [park({ until: 5000 }), noticeItem("status", {}), noticeItem("status", {}), park()];
      const events = closeRunLog(chunks, RUN.id);
      await store.createRun(RUN);
      await store.createRun({ ...RUN, id: "other", createdAt: 10 });
      const expectWaiting = async (isWaiting: boolean, more: object, what: string): Promise<void> => {
        const [shown, waiting, working] = [
          await store.findRun("a", RUN.id),
          await store.listRuns({ isWaiting: true }),
          await store.listRuns({ isWaiting: false }),
        ];
        expectSame(shown, { ...RUN, isOver: false, ...more }, what);
        expectThat(shown !== undefined && "isWaiting" in shown === isWaiting, `${what}: isWaiting is there or missing`);
        expectSame(waiting, isWaiting ? [shown] : [], `${what}: runs that wait`);
        expectSame(
          working.map(({ id }) => id),
          isWaiting ? ["other"] : [RUN.id, "other"],
          `${what}: runs that do not`,
        );
      };
      await expectWaiting(false, { lastSeq: -1 }, "a new run");
      await store.append(RUN.id, events.slice(0, 1));
      await expectWaiting(true, { lastSeq: 0, isWaiting: true, wakeAt: 5000 }, "a parked run");
      await store.append(RUN.id, []);
      await expectWaiting(true, { lastSeq: 0, isWaiting: true, wakeAt: 5000 }, "an append of nothing");
      await store.append(RUN.id, events.slice(1, 2));
      await expectWaiting(false, { lastSeq: 1 }, "a run that goes on");
      await store.append(RUN.id, events.slice(2, 4));
      await expectWaiting(true, { lastSeq: 3, isWaiting: true }, "a run that was parked again, with other events");
      expectSame((await store.listRuns({ isOver: false, isWaiting: true })).length, 1, "unfinished runs that wait");
      expectSame(await store.listRuns({ isOver: true, isWaiting: true }), [], "finished runs that wait");
      await store.append(RUN.id, events.slice(4));
      const over = await store.findRun("a", RUN.id);
      expectSame(over, { ...RUN, lastSeq: 4, isOver: true, status: "success" }, "a run that is over");
      expectSame(await store.listRuns({ isWaiting: true }), [], "runs that wait in the end");
    },
  ],
  [
    "a parked notice that is not the last event of its batch does not make its run wait, nor does a wrong time wake it",
    async (store) => {
      const chunks = [park({ until: 1 }), noticeItem("status", {}), park({ until: "soon" })];
      const events = closeRunLog(chunks, RUN.id);
      await store.createRun(RUN);
      await store.append(RUN.id, events.slice(0, 2));
      expectSame(await store.findRun("a", RUN.id), { ...RUN, lastSeq: 1, isOver: false }, "the run");
      await store.append(RUN.id, events.slice(2, 3));
      const parked = { ...RUN, lastSeq: 2, isOver: false, isWaiting: true };
      expectSame(await store.findRun("a", RUN.id), parked, "the parked run");
    },
  ],
  [
    "waiting runs are found by thread, and a thread with one is busy",
    async (store) => {
      await store.createThread(THREAD);
      await store.createRun({ ...RUN, threadId: THREAD.id });
      await store.append(RUN.id, closeRunLog([park()], RUN.id).slice(0, 1));
      expectSame((await store.listRuns({ threadId: THREAD.id, isWaiting: true })).length, 1, "runs of the thread");
      expectSame(await store.listRuns({ threadId: "other", isWaiting: true }), [], "runs of another thread");
      const found = await store.listRuns({ id: RUN.id, threadId: THREAD.id, isOver: false, isWaiting: true });
      expectSame(found, await store.listRuns(), "the run with this id");
      for (const other of [{ id: "run-2" }, { threadId: "other" }, { isOver: true }, { isWaiting: false }]) {
        expectSame(await store.listRuns({ id: RUN.id, ...other }), [], `the run, wanted with ${JSON.stringify(other)}`);
      }
      await refused(store.createRun({ ...RUN, id: "run-2", threadId: THREAD.id }), "thread-busy", "another run");
      await refused(store.removeThread("a", THREAD.id), "thread-busy", "removing it");
    },
  ],
  [
    "a question of a waiting run stays open until it has a stored answer, is decided, or the run is over",
    async (store) => {
      const decided = permissionItem({ callId: "c-2", name: "rm", state: "denied", by: "user" });
      const chunks = [...["c-1\0", "c-2", "c-3"].flatMap(ask), park(), decided, park()];
      const events = closeRunLog(chunks, RUN.id);
      await store.createRun(RUN);
      await store.append(RUN.id, events.slice(0, 7));
      expectSame(await askedIn(store), ["c-1\0", "c-2", "c-3"], "questions of a waiting run");
      expectSame(await store.addAnswer(RUN.id, allow("c-1\0")), true, "an answer");
      expectSame(await askedIn(store), ["c-2", "c-3"], "questions after an answer");
      await store.append(RUN.id, events.slice(7, 9));
      expectSame(await askedIn(store), ["c-3"], "questions after a decision");
      expectSame(await callsIn(store), ["c-1\0"], "answers, which stay until the run is over");
      await store.append(RUN.id, events.slice(9));
      expectSame(await askedIn(store), [], "questions of a run that is over");
    },
  ],
  [
    "a question that is asked after its answer was stored is not open",
    async (store) => {
      await store.createRun(RUN);
      await store.addAnswer(RUN.id, allow("c-1"));
      await store.append(RUN.id, closeRunLog([...ask("c-1"), ...ask("c-2")], RUN.id).slice(0, 4));
      expectSame(await askedIn(store), ["c-2"], "questions");
    },
  ],
  [
    "answers come back whole, the oldest first, and the first answer to a call stays",
    async (store) => {
      const answers: readonly StoredAnswer[] = [
        { callId: "late", at: 9, decision: { allow: false, reason: "no\0", input: { path: "\ud800" } } },
        { callId: "'; DROP TABLE answers; --", at: 3, result: { output: [null, { "": LONG }], isError: true } },
        { callId: "__proto__", at: 3, result: { output: LONG, isError: false } },
        allow("c-1\0", 4),
        allow("c-1", 4),
      ];
      await store.createRun(RUN);
      await store.createRun({ ...RUN, id: "other" });
      for (const answer of answers) expectSame(await store.addAnswer(RUN.id, answer), true, "an answer");
      const sorted = [...answers.slice(1), answers[0]];
      expectSame(await store.listAnswers(RUN.id), sorted, "answers");
      for (const { callId } of answers) {
        const second = { callId, at: 1, result: { output: LONG, isError: false } };
        expectSame(await store.addAnswer(RUN.id, second), false, "a second, large answer");
        expectSame(await store.addAnswer(RUN.id, allow(callId, 1)), false, "a second answer");
      }
      expectSame(await store.listAnswers(RUN.id), sorted, "answers afterwards");
      expectSame(await store.listAnswers("other"), [], "answers of another run");
      expectSame(await store.addAnswer("other", allow("late")), true, "the same call of another run");
    },
  ],
  [
    "of several answers to a call at the same time exactly one is stored",
    async (store) => {
      await store.createRun(RUN);
      const outputs = ["a", LONG, "b", LONG, "c"];
      const added = await Promise.all(
        outputs.map((output) => store.addAnswer(RUN.id, { callId: "c", at: 1, result: { output, isError: false } })),
      );
      expectSame(added.filter(Boolean).length, 1, "answers that were stored");
      const first = outputs[added.indexOf(true)];
      expectSame((await store.listAnswers(RUN.id))[0]?.result?.output, first, "the answer");
    },
  ],
  [
    "a run that is over or unknown takes no answer and has none, and its thread takes them along",
    async (store) => {
      const large = { callId: "large", at: 2, result: { output: LONG, isError: false } };
      await store.createThread(THREAD);
      await store.createRun({ ...RUN, threadId: THREAD.id });
      for (const id of ["run-2", "", "__proto__"]) {
        expectSame(await store.addAnswer(id, allow("c")), false, `an answer to run ${id}`);
        expectSame(await store.addAnswer(id, large), false, `a large answer to run ${id}`);
        expectSame(await store.listAnswers(id), [], `answers of run ${id}`);
      }
      await store.addAnswer(RUN.id, allow("c"));
      await store.addAnswer(RUN.id, large);
      expectSame(await callsIn(store), ["c", "large"], "answers");
      await store.append(RUN.id, closeRunLog([], RUN.id));
      expectSame(await callsIn(store), [], "answers of a run that is over");
      expectSame(await store.addAnswer(RUN.id, allow("c")), false, "an answer to a run that is over");
      expectSame(await store.addAnswer(RUN.id, large), false, "a large answer to a run that is over");
      await store.removeThread("a", THREAD.id);
      await store.createRun(RUN);
      expectSame(await callsIn(store), [], "answers of a new run with the id");
    },
  ],
  [
    "an answer that could not be found again, or cannot be JSON, is refused",
    async (store) => {
      const circle: unknown[] = [];
      circle.push(circle);
      await store.createRun(RUN);
      const wrong = [
        { callId: "", at: 1 },
        { callId: 1 as never, at: 1 },
        { callId: "c", at: Number.NaN },
        { callId: "c", at: 1, result: { output: circle, isError: false } },
        { callId: "c", at: 1, result: { output: [LONG, circle], isError: false } },
      ];
      for (const [at, answer] of wrong.entries()) {
        await refused(store.addAnswer(RUN.id, answer), "invalid-answer", `wrong answer ${at}`);
      }
      expectSame(await store.listAnswers(RUN.id), [], "answers");
    },
  ],
  [
    "files come back byte for byte, and are replaced and removed by name",
    async (store) => {
      const [small, large] = [bytes(256), bytes(700_001)];
      // A part of a larger buffer.
      const part = small.subarray(10, 20);
      await expectFile(store, "a/b.jsonl", undefined, "a file that was never kept");
      for (const data of [small, large, part, new Uint8Array(), bytes(49_152), large]) {
        await store.keepFile("a/b.jsonl", data);
        await expectFile(store, "a/b.jsonl", data, "the file");
      }
      await store.keepFile("A/b.jsonl", small);
      await expectFile(store, "a/b.jsonl", large, "the file next to one with a similar name");
      const found = await store.findFile("A/b.jsonl");
      found?.fill(0);
      await expectFile(store, "A/b.jsonl", bytes(256), "a file whose copy was changed");
      expectSame(await store.removeFile("a/b.jsonl"), true, "removing it");
      expectSame(await store.removeFile("a/b.jsonl"), false, "removing it again");
      await expectFile(store, "a/b.jsonl", undefined, "a removed file");
      await expectFile(store, "A/b.jsonl", bytes(256), "the other file");
    },
  ],
  [
    "of several files of one name at the same time the last is kept, and a reader gets one of them whole",
    async (store) => {
      const files = [bytes(400_000, 1), bytes(3, 2), bytes(500_000, 3), bytes(5, 4)];
      const kept = files.map((data) => store.keepFile("f", data));
      const read = await Promise.all(files.map(() => store.findFile("f")));
      await Promise.all(kept);
      const lengths = files.map(({ length }) => length);
      for (const data of read) expectThat(data === undefined || lengths.includes(data.length), "a part of a file");
      await expectFile(store, "f", files[3], "the file");
    },
  ],
  [
    "a file name that could mean something elsewhere is refused",
    async (store) => {
      const names = ["", "/", "a/", "/a", "a//b", ".", "..", "a/../b", "./a", "a b", "a\n", "a\0", "é", "a\\b", "*"];
      for (const name of [...names, "a".repeat(257), undefined as never]) {
        const shown = JSON.stringify(name);
        await refused(store.keepFile(name, bytes(1)), "invalid-file", `keeping ${shown}`);
        await refused(store.findFile(name), "invalid-file", `finding ${shown}`);
        await refused(store.removeFile(name), "invalid-file", `removing ${shown}`);
      }
      for (const name of ["a".repeat(256), "A-b_c.9/...x/-/_", "__proto__"]) {
        await store.keepFile(name, bytes(3));
        await expectFile(store, name, bytes(3), name);
      }
    },
  ],
];

function endOf(id: string, at: number): KeptEnd {
  const run = { ...RUN, id, threadId: "t", settings: { limits: {} } };
  const settlement = { at, messages: [], usage: [] };
  return { run, events: closeRunLog([noticeItem("status", { text: "é\u2028\0\ud800" })], id), settlement };
}

function sortEnds(ends: readonly KeptEnd[]): readonly KeptEnd[] {
  return [...ends].sort((left, right) => (left.run.id < right.run.id ? -1 : 1));
}

export function reopeningWaiting(reopen: (store: Store) => Promise<Store>): Trial<Store> {
  return [
    "waiting runs, their settings, questions and answers, and files are there after the store was opened again",
    async (store) => {
      const settings = { input: LONG };
      const events: readonly AgentEvent[] = closeRunLog([...ask("c-1"), ...ask("c-2"), park({ until: 7 })], RUN.id);
      const large = { callId: "c-1", at: 1, result: { output: LONG, isError: false } };
      await store.createRun({ ...RUN, settings });
      await store.append(RUN.id, events.slice(0, 5));
      await store.addAnswer(RUN.id, large);
      await store.addAnswer(RUN.id, allow("c-3", 2));
      await store.keepFile("f", bytes(1));
      await store.keepFile("f", bytes(300_000));
      await store.keepFile("g", bytes(3));
      await store.removeFile("g");
      await store.keepEnd?.(endOf("kept", 1));
      const again = await reopen(store);
      try {
        const waiting = { ...RUN, settings, lastSeq: 4, isOver: false, isWaiting: true, wakeAt: 7 };
        expectSame(await again.listRuns({ isWaiting: true }), [waiting], "runs that wait");
        expectSame(await askedIn(again), ["c-2"], "questions");
        expectSame(await again.listAnswers(RUN.id), [large, allow("c-3", 2)], "answers");
        expectSame(await again.addAnswer(RUN.id, allow("c-1")), false, "a second answer");
        await expectFile(again, "f", bytes(300_000), "the file");
        await expectFile(again, "g", undefined, "the removed file");
        if (again.keepEnd !== undefined) expectSame(await again.listEnds?.(), [endOf("kept", 1)], "kept ends");
        await again.append(RUN.id, events.slice(5));
        expectSame(await callsIn(again), [], "answers of a run that is over");
        expectSame(await again.listRuns({ isWaiting: true }), [], "runs that wait in the end");
      } finally {
        await again.close();
      }
    },
  ];
}
