import { type Chunk, type Message, noticeItem, permissionItem, toolCallItem } from "#domain";
import { isStoreError, type NewThread, type Store, type StoreErrorCode } from "#sessions";
import { closeRunLog } from "./close-run-log.ts";
import { expectSame, expectThat, rejection, type Trial } from "./conformance.ts";

const THREAD: NewThread = { id: "thread-1", tenant: "a", title: "First", target: "offline", createdAt: 10 };
const RUN = { id: "run-1", createdAt: 20, threadId: THREAD.id, tenant: "a" };

/** Strings that often break stores. */
const HOSTILE = ["'; DROP TABLE threads; --", "\0x", "a\ud800", "%_\\", '"}', "é\u2028", "${1}", "__proto__"];

const say = (text: string, id = "m-1", role: Message["role"] = "user"): Message => ({
  id,
  role,
  blocks: [{ type: "text", text }],
});

/** Expects a rejection with exactly this code. */
export async function refused(promise: Promise<unknown>, code: StoreErrorCode, what: string): Promise<void> {
  const error = await rejection(promise, what);
  expectThat(
    isStoreError(error) && error.code === code,
    `${what} was refused with ${String(error)} instead of ${code}`,
  );
}

/** The contract of `Store` for threads and their data. */
export const THREAD_TRIALS: readonly Trial<Store>[] = [
  [
    "a thread comes back as it was made, to its own tenant only",
    async (store) => {
      await store.createThread(THREAD);
      const shown = { ...THREAD, updatedAt: 10, usage: {} };
      expectSame(await store.findThread("a", THREAD.id), shown, "the thread");
      expectSame(await store.listThreads({ tenant: "a" }), { threads: [shown] }, "the threads");
      if (store.countThreads !== undefined) expectSame(await store.countThreads("a"), 1, "how many threads there are");
      for (const tenant of ["b", "A", "", "a ", "__proto__"]) {
        if (store.countThreads !== undefined) expectSame(await store.countThreads(tenant), 0, `threads of ${tenant}`);
        expectThat((await store.findThread(tenant, THREAD.id)) === undefined, `tenant ${tenant} found the thread`);
        expectSame(await store.listThreads({ tenant }), { threads: [] }, `the threads of ${tenant}`);
        expectSame(await store.listMessages(tenant, THREAD.id), [], `the messages for ${tenant}`);
        expectSame(await store.renameThread(tenant, THREAD.id, { title: "x", at: 99 }), false, `renaming by ${tenant}`);
        expectSame(await store.removeThread(tenant, THREAD.id), false, `removing by ${tenant}`);
      }
      await refused(
        store.createThread({ ...THREAD, tenant: "b" }),
        "thread-exists",
        "the id of another tenant's thread",
      );
      expectSame(await store.findThread("a", THREAD.id), shown, "the thread afterwards");
    },
  ],
  [
    "a thread that could not be found again is refused",
    async (store) => {
      const wrong: Partial<NewThread>[] = [
        ...["", "../x", "a/b", "a\n", "a\0", "a".repeat(65), "é"].flatMap((id) => [{ id }, { tenant: id }]),
        { title: "x".repeat(501) },
        { target: "" },
        { target: "x".repeat(201) },
        { createdAt: Number.NaN },
      ];
      for (const change of wrong) {
        await refused(store.createThread({ ...THREAD, ...change }), "invalid-thread", JSON.stringify(change));
      }
      expectSame(await store.listThreads({ tenant: "a" }), { threads: [] }, "threads");
    },
  ],
  [
    "titles, targets and messages may hold any text",
    async (store) => {
      for (const [at, text] of HOSTILE.entries()) {
        const id = `t-${at}`;
        await store.createThread({ ...THREAD, id, title: text, target: text });
        await store.createRun({ id: `r-${at}`, createdAt: 20, threadId: id, tenant: "a" }, [say(text)]);
        const found = await store.findThread("a", id);
        expectSame([found?.title, found?.target], [text, text], "title and target");
        expectSame(await store.listMessages("a", id), [say(text)], "messages");
        await store.renameThread("a", id, { title: `${text}!`, at: 30 });
        expectSame((await store.findThread("a", id))?.title, `${text}!`, "the new title");
      }
    },
  ],
  [
    "threads are listed by their last change, page by page, and none is lost or shown twice",
    async (store) => {
      const ids = ["a", "b", "c", "d", "e"];
      for (const [at, id] of ids.entries()) await store.createThread({ ...THREAD, id, createdAt: at < 3 ? 5 : at });
      await store.renameThread("a", "b", { title: "b", at: 50 });
      const seen: string[] = [];
      let before: string | undefined;
      for (let page = 0; page < 10; page += 1) {
        const { threads, next } = await store.listThreads({
          tenant: "a",
          limit: 2,
          ...(before !== undefined && { before }),
        });
        seen.push(...threads.map(({ id }) => id));
        if (next === undefined) break;
        before = next;
      }
      expectSame(seen, ["b", "a", "c", "e", "d"], "threads");
      for (const cursor of ["", "x", "_a", "1_", "1_../x", "NaN_a", "1e999_a", "1_a' OR 1=1"]) {
        await refused(store.listThreads({ tenant: "a", before: cursor }), "invalid-cursor", `before ${cursor}`);
      }
      for (const limit of [0, -1, 1.5, Number.NaN, 1001]) {
        await refused(store.listThreads({ tenant: "a", limit }), "invalid-cursor", `limit ${limit}`);
      }
    },
  ],
  [
    "a search looks into titles and messages, takes every character as itself, and sees capitals alike",
    async (store) => {
      await store.createThread({ ...THREAD, id: "one", title: "About Ökologie" });
      await store.createThread({ ...THREAD, id: "two", title: "100% sure_thing" });
      await store.createThread({ ...THREAD, id: "else", tenant: "b", title: "ökologie" });
      await store.createRun({ ...RUN, threadId: "two" }, [say("The NEEDLE is here")]);
      const search = async (text: string): Promise<readonly string[]> =>
        (await store.listThreads({ tenant: "a", search: text })).threads.map(({ id }) => id).toSorted();
      expectSame(await search("ÖKO"), ["one"], "a title");
      expectSame(await search("needle"), ["two"], "a message");
      expectSame(await search("%"), ["two"], "a percent sign");
      expectSame(await search("_"), ["two"], "an underscore");
      expectSame(await search("' OR '1'='1"), [], "an injection");
      expectSame(await search(""), ["one", "two"], "nothing");
    },
  ],
  [
    "a thread has one run at a time, and its messages are added with the run",
    async (store) => {
      await store.createThread(THREAD);
      await refused(store.createRun({ ...RUN, threadId: "none" }, [say("x")]), "unknown-thread", "an unknown thread");
      await refused(store.createRun({ ...RUN, tenant: "b" }, [say("x")]), "unknown-thread", "another's thread");
      expectSame(await store.listMessages("a", THREAD.id), [], "messages after refusals");
      const tries = ["run-1", "run-2", "run-3"].map((id) => store.createRun({ ...RUN, id }, [say(id, id)]));
      const outcomes = await Promise.allSettled(tries);
      expectSame(outcomes.filter(({ status }) => status === "fulfilled").length, 1, "runs that began");
      const [run, ...others] = await store.listRuns({ threadId: THREAD.id });
      expectThat(run !== undefined && others.length === 0, "there must be exactly one run");
      const id = run?.id ?? "";
      expectSame(await store.listMessages("a", THREAD.id), [say(id, id)], "messages");
      expectSame((await store.findThread("a", THREAD.id))?.runId, id, "the run that goes on");
      expectSame((await store.findThread("a", THREAD.id))?.updatedAt, 20, "updatedAt");
      await refused(store.createRun({ ...RUN, id: "run-4" }), "thread-busy", "a second run");
      await refused(store.removeThread("a", THREAD.id), "thread-busy", "removing it while a run goes on");
      await store.append(id, closeRunLog([], id));
      expectThat((await store.findThread("a", THREAD.id))?.runId === undefined, "the run is over and still named");
      await store.createRun({ ...RUN, id: "run-4" });
    },
  ],
  [
    "what a run adds to its thread is stored with its done, and is added up by model",
    async (store) => {
      await store.createThread(THREAD);
      const book = async (id: string, model: string, costUsd?: number): Promise<void> => {
        await store.createRun({ ...RUN, id }, [say("?", `${id}-q`)]);
        const line = { model, usage: { inputTokens: 3 }, ...(costUsd !== undefined && { costUsd }) };
        await store.append(id, closeRunLog([], id), {
          at: 40,
          messages: [say("!", `${id}-a`, "assistant")],
          usage: [line, { model: "small\0", usage: { outputTokens: 1 } }],
        });
      };
      await book("run-1", "big");
      expectThat((await store.findThread("a", THREAD.id))?.costUsd === undefined, "an unknown cost");
      await book("run-2", "big", 0.5);
      const thread = await store.findThread("a", THREAD.id);
      expectSame(thread?.usage, { inputTokens: 6, outputTokens: 2 }, "the thread's usage");
      expectSame([thread?.costUsd, thread?.updatedAt], [0.5, 40], "cost and updatedAt");
      expectSame(
        await store.listUsage("a", THREAD.id),
        [
          { model: "big", usage: { inputTokens: 6 }, costUsd: 0.5, runs: 2 },
          { model: "small\0", usage: { outputTokens: 2 }, runs: 2 },
        ],
        "the usage by model",
      );
      expectSame(
        (await store.listMessages("a", THREAD.id)).map(({ id }) => id),
        ["run-1-q", "run-1-a", "run-2-q", "run-2-a"],
        "messages",
      );
      const late = store.append("run-2", closeRunLog([], "run-2"), { at: 99, messages: [say("late")], usage: [] });
      await refused(late, "run-over", "a second done");
      expectSame((await store.listMessages("a", THREAD.id)).length, 4, "messages after a refusal");
      expectSame(await store.listUsage("b", THREAD.id), [], "usage for another tenant");
    },
  ],
  [
    "questions are pending until they are decided or the run is over, and every decision is noted once",
    async (store) => {
      await store.createThread(THREAD);
      await store.createRun(RUN);
      const chunks: Chunk[] = ["c-1", "c-2\0", "c-3"].flatMap((callId) => [
        toolCallItem({ callId, name: "rm", input: { path: "x" }, executedBy: "millrace" }),
        permissionItem({ callId, name: "rm", state: "asked", by: "rule", input: { path: "x" }, reason: "risky" }),
      ]);
      const decision = permissionItem({ callId: "c-1", name: "rm", state: "allowed", by: "user" });
      const denial = permissionItem({ callId: "c-2\0", name: "rm", state: "denied", by: "user", reason: "no" });
      const events = closeRunLog([...chunks, decision, denial, noticeItem("status", {})], RUN.id);
      await store.append(RUN.id, events.slice(0, 6));
      const asked = await store.listQuestions("a");
      expectSame(
        asked.map(({ callId, name, input, reason, runId, threadId }) => [callId, name, input, reason, runId, threadId]),
        ["c-1", "c-2\0", "c-3"].map((callId) => [callId, "rm", { path: "x" }, "risky", RUN.id, THREAD.id]),
        "questions",
      );
      expectSame(await store.listQuestions("b"), [], "another tenant's questions");
      await store.append(RUN.id, events.slice(6, 9));
      expectSame(
        (await store.listQuestions("a")).map(({ callId }) => callId),
        ["c-3"],
        "questions left",
      );
      await store.append(RUN.id, events.slice(9));
      expectSame(await store.listQuestions("a"), [], "questions of a run that is over");
      await store.addAudit({ at: 1, tenant: "a", action: "run-aborted", runId: RUN.id });
      expectSame(
        (await store.listAudit("a")).map(({ action, callId, by, detail }) => [action, callId, by, detail]),
        [
          ["permission-allowed", "c-1", "user", "rm"],
          ["permission-denied", "c-2\0", "user", "rm: no"],
          ["run-aborted", undefined, undefined, undefined],
        ],
        "the audit",
      );
      expectSame(await store.listAudit("b"), [], "another tenant's audit");
    },
  ],
  [
    "removing a thread takes everything with it but the audit",
    async (store) => {
      await store.createThread(THREAD);
      await store.createThread({ ...THREAD, id: "thread-2" });
      await store.createRun(RUN, [say("gone")]);
      await store.append(RUN.id, closeRunLog([], RUN.id), {
        at: 1,
        messages: [],
        usage: [{ model: "m", usage: { inputTokens: 1 } }],
      });
      await store.addAudit({ at: 1, tenant: "a", action: "thread-removed", threadId: THREAD.id });
      expectSame(await store.removeThread("a", THREAD.id), true, "removing");
      expectSame(await store.removeThread("a", THREAD.id), false, "removing again");
      expectThat((await store.findThread("a", THREAD.id)) === undefined, "the thread is still there");
      expectThat((await store.findRun("a", RUN.id)) === undefined, "its run is still there");
      await refused(store.read(RUN.id), "unknown-run", "reading its events");
      expectSame(await store.listThreads({ tenant: "a", search: "gone" }), { threads: [] }, "a search for its message");
      expectSame(
        (await store.listThreads({ tenant: "a" })).threads.map(({ id }) => id),
        ["thread-2"],
        "threads",
      );
      expectSame((await store.listAudit("a")).length, 1, "audit entries");
      await store.createThread(THREAD);
      expectSame(await store.listMessages("a", THREAD.id), [], "messages of a new thread with the id");
      expectSame(await store.listUsage("a", THREAD.id), [], "usage of a new thread with the id");
    },
  ],
  [
    "what a tenant keeps is counted when it is stored, and no more when it is removed",
    async (store) => {
      if (store.countBytes === undefined) return;
      const text = "é".repeat(5000);
      const count = async (tenant = "a"): Promise<number> => (await store.countBytes?.(tenant)) ?? 0;
      await store.createThread({ ...THREAD, id: "thread-2" });
      await store.createThread(THREAD);
      const before = await count();
      await store.createRun(RUN, [say(text)]);
      const withMessage = await count();
      expectThat(withMessage - before >= text.length, `a message of ${text.length} characters was not counted`);
      await store.append(RUN.id, closeRunLog([noticeItem("status", { text })], RUN.id).slice(0, 1));
      const withEvent = await count();
      expectThat(withEvent - withMessage >= text.length, `an event of ${text.length} characters was not counted`);
      const end = closeRunLog([noticeItem("status", { text })], RUN.id).slice(1);
      await store.append(RUN.id, end, { at: 1, messages: [say(text, "m-2", "assistant")], usage: [] });
      const all = await count();
      expectThat(all - withEvent >= text.length, "what a run leaves in its thread was not counted");
      expectThat(all - before < 10 * text.length, `${all - before} bytes were counted for 15 000 characters`);
      for (const tenant of ["b", "local", "__proto__"]) expectSame(await count(tenant), 0, `bytes of ${tenant}`);
      await store.removeThread("a", THREAD.id);
      expectSame(await count(), before, "bytes after everything was removed");
    },
  ],
  [
    "runs are found by their tenant, and listed by thread and by whether they are over",
    async (store) => {
      await store.createThread(THREAD);
      await store.createRun(RUN);
      await store.createRun({ id: "alone", createdAt: 30 });
      await store.append("alone", closeRunLog([], "alone"));
      const going = { ...RUN, lastSeq: -1, isOver: false };
      expectSame(await store.findRun("a", RUN.id), going, "the run");
      for (const tenant of ["b", "local", ""]) {
        expectThat((await store.findRun(tenant, RUN.id)) === undefined, `tenant ${tenant} found the run`);
      }
      expectSame((await store.findRun("local", "alone"))?.status, "success", "a run without tenant");
      expectSame(await store.listRuns({ isOver: false }), [going], "runs that go on");
      expectSame(
        (await store.listRuns({ isOver: true })).map(({ id }) => id),
        ["alone"],
        "runs that are over",
      );
      expectSame(
        (await store.listRuns({ threadId: THREAD.id })).map(({ id }) => id),
        [RUN.id],
        "runs of the thread",
      );
      expectSame(await store.listRuns({ threadId: THREAD.id, isOver: true }), [], "runs of the thread that are over");
    },
  ],
];
