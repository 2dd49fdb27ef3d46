import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import {
  type AgentEvent,
  type Chunk,
  errorItem,
  isRunError,
  messageItem,
  numberEvent,
  noticeItem,
  type RunResult,
  resultItem,
  retractNotice,
  startItem,
  textDelta,
  thinkingDelta,
  permissionItem,
  toolCallItem,
  toolResultItem,
} from "#domain";
import { createDeferred } from "#streams";
import { assertRunLog, createSeededRandom, createVirtualClock } from "#testing";
import type { RunSource } from "./run.ts";
import { createRun, type RunHandleOptions } from "./handle.ts";

const success = (text = ""): Chunk => resultItem({ subtype: "success", isError: false, usage: {}, text });

const say = (id: string, text: string): Chunk[] => [
  textDelta(id, 0, text),
  messageItem({ id, role: "assistant", blocks: [{ type: "text", text }], stopReason: "end-turn" }),
];

function start(source: RunSource, more: Partial<RunHandleOptions> = {}) {
  const clock = createVirtualClock();
  const listenerErrors: unknown[] = [];
  const run = createRun(source, {
    clock,
    random: createSeededRandom(1),
    onListenerError: (error) => listenerErrors.push(error),
    ...more,
  });
  return { run, clock, listenerErrors };
}

const write =
  (...chunks: Chunk[]): RunSource =>
  async (writer) => {
    await writer.write(chunks);
  };

async function readAll(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const log: AgentEvent[] = [];
  for await (const event of events) log.push(event);
  return log;
}

/** Waits for the signal, like a source that holds a resource. */
const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

describe("a run handle", () => {
  it("I2: the time of events never runs backwards, whatever the clock does", async () => {
    const clock = createVirtualClock(5000);
    let now = 5000;
    const source: RunSource = async (writer) => {
      for (const chunks of [[noticeItem("status", 1)], say("m", "hi"), [success("hi")]]) {
        now -= 1000;
        await writer.write(chunks);
      }
    };
    const { run } = start(source, { clock: { now: () => now, after: clock.after } });
    const log = await readAll(run);
    const seen = log.map(({ ts }) => ts);
    expect(seen).toEqual(seen.toSorted((one, other) => one - other));
    assertRunLog(log);
  });

  it("an abort does not wait for a reader that lags", async () => {
    let written = 0;
    const { run } = start(
      async (writer) => {
        for (; written < 500; written += 1) await writer.write([noticeItem("status", written)]);
      },
      { limits: { queueEvents: 4 } },
    );
    const reader = run[Symbol.asyncIterator]();
    await reader.next();
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(written).toBeLessThan(500);
    await run.abort();
    expect(written).toBe(500);
  });

  it("I19: after an abort done waits for clean-up; after a verdict it does not", async () => {
    const gone = createDeferred<void>();
    const { run, clock } = start(async (writer) => {
      writer.cleanUp(gone.promise);
      await untilAborted(writer.signal);
    });
    const reading = readAll(run);
    await clock.advance(0);
    const aborting = run.abort("enough");
    await clock.advance(1000);
    expect(run.isComplete()).toBe(false);
    gone.resolve();
    await aborting;
    expect((await reading).at(-1)).toMatchObject({ type: "done", result: { status: "aborted" } });

    const later = createDeferred<void>();
    const judged = start(async (writer) => {
      writer.cleanUp(later.promise);
      await writer.write([success("done")]);
    }).run;
    expect(await judged.result()).toMatchObject({ status: "success" });
    later.resolve();
    await judged.closed;
  });

  it("S1-63: emits every event in order, numbered without gaps, and ends after one done", async () => {
    const { run } = start(write(startItem({ backend: "x", mode: "http" }), ...say("m", "hello"), success("hello")));
    const log = await readAll(run);
    assertRunLog(log);
    expect(log.map((event) => [event.seq, event.type])).toEqual([
      [0, "start"],
      [1, "text-delta"],
      [2, "message"],
      [3, "result"],
      [4, "done"],
    ]);
    expect(await readAll(run)).toEqual(log);
    expect(await run.result()).toMatchObject({ status: "success", text: "hello" });
  });

  it("an event of another run that is written as a chunk gets the numbers of this one", async () => {
    const written = [...say("m", "Hello"), success()].map((chunk, at) =>
      Object.freeze(numberEvent(chunk, 70 + at, { ts: 7, runId: "other" })),
    );
    const { run } = start(write(...written));
    const log = await readAll(run);
    assertRunLog(log);
    expect(log.map(({ seq, runId }) => [seq, runId])).toEqual([0, 1, 2, 3].map((seq) => [seq, run.id]));
    expect(written.map(({ seq }) => seq)).toEqual([70, 71, 72]);
  });

  it("I6: a call that was denied and never answered is reported as denied, whatever ended the run", async () => {
    const call = { callId: "c1", name: "add" };
    const { run } = start(
      write(
        toolCallItem({ ...call, input: {}, executedBy: "millrace" }),
        permissionItem({ ...call, state: "denied", by: "rule" }),
      ),
    );
    const log = await readAll(run);
    assertRunLog(log);
    expect(log.find(({ type }) => type === "tool-result")).toMatchObject({ isError: true, skipped: "denied" });
  });

  it("runs to its end without readers and listeners, and keeps merged deltas for late ones", async () => {
    const text = "x".repeat(10_000);
    const { run } = start(async (writer) => {
      for (const letter of text) await writer.write([textDelta("m", 0, letter)]);
      await writer.write([
        messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text }] }),
        noticeItem("status", "still here"),
        success(),
      ]);
    });
    await run.done();
    const log = await readAll(run);
    assertRunLog(log);
    expect(log.length).toBeLessThan(4000);
    const deltas = log.filter((event) => event.type === "text-delta");
    expect(deltas.map((event) => event.text).join("")).toBe(text);
    expect(log.some((event) => event.firstSeq !== undefined)).toBe(true);
    expect(log.filter((event) => event.type === "notice")).toHaveLength(1);
  });

  it("C20 AT-19: pauses its source while a reader lags, so that memory is bounded by the limit", async () => {
    let written = 0;
    const { run } = start(
      async (writer) => {
        for (; written < 5000; written += 1) await writer.write([textDelta("m", 0, "x")]);
        await writer.write([
          messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "x".repeat(5000) }] }),
          success(),
        ]);
      },
      { limits: { queueEvents: 100 } },
    );
    const reader = run[Symbol.asyncIterator]();
    for (let read = 1; read <= 1000; read += 1) {
      await reader.next();
      expect(written).toBeLessThanOrEqual(read + 101);
    }
    const rest = await readAll(reader);
    expect(rest).toHaveLength(5000 - 1000 + 3);
  });

  it("does not deadlock if a reader awaits the result inside its own loop", async () => {
    const { run } = start(
      async (writer) => {
        for (let index = 0; index < 3000; index += 1) await writer.write([textDelta("m", 0, "x")]);
        await writer.write([
          messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "x".repeat(3000) }] }),
          success(),
        ]);
      },
      { limits: { queueEvents: 10 } },
    );
    const log: AgentEvent[] = [];
    let result: RunResult | undefined;
    for await (const event of run) {
      log.push(event);
      if (event.seq === 5) result = await run.result();
    }
    assertRunLog(log);
    expect(result?.text).toHaveLength(3000);
  });

  it("S4-6: a listener that throws is reported once and affects neither the run nor the others", async () => {
    const { run, listenerErrors } = start(write(...say("m", "hi"), success()));
    const seen: string[] = [];
    run.on("*", () => {
      throw new Error("broken listener");
    });
    run.on("text-delta", (event) => seen.push(event.text));
    expect((await run.result()).status).toBe("success");
    expect(seen).toEqual(["hi"]);
    expect(listenerErrors).toEqual([new Error("broken listener")]);
  });

  it("S4-27 S4-29: on, once and off; a late listener still receives everything from the first event on", async () => {
    const { run } = start(write(...say("m", "a"), ...say("n", "b"), success()));
    const texts: string[] = [];
    const first: string[] = [];
    const never = vi.fn();
    run.once("text-delta", (event) => first.push(event.text));
    run.on("text-delta", never).off("text-delta", never);
    await run.done();
    run.on("text-delta", (event) => texts.push(event.text));
    const done = vi.fn();
    run.once("done", done);
    await Promise.resolve();
    expect(texts).toEqual(["a", "b"]);
    expect(first).toEqual(["a"]);
    expect(done).toHaveBeenCalledOnce();
    expect(never).not.toHaveBeenCalled();
  });

  it("AT-40: leaving the loop aborts the run and waits until the source has cleaned up", async () => {
    const cleaned: string[] = [];
    const { run } = start(async (writer) => {
      await writer.write([textDelta("m", 0, "a"), textDelta("m", 0, "b")]);
      await untilAborted(writer.signal);
      await Promise.resolve();
      cleaned.push("yes");
    });
    for await (const event of run) if (event.seq === 1) break;
    expect(cleaned).toEqual(["yes"]);
    expect(run.isComplete()).toBe(true);
    const result = await run.result();
    expect(result).toMatchObject({ status: "aborted", subtype: "aborted", text: "ab", error: { code: "aborted" } });
    assertRunLog(await readAll(run));
  });

  it("a detached run continues when a reader leaves", async () => {
    const gate = createDeferred<void>();
    const { run } = start(async (writer) => {
      await writer.write([textDelta("m", 0, "a")]);
      await gate.promise;
      await writer.write([
        messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "a" }] }),
        success(),
      ]);
    });
    run.detach();
    for await (const event of run) if (event.type === "text-delta") break;
    gate.resolve();
    expect((await run.result()).status).toBe("success");
  });

  it("leaving after the verdict keeps the verdict", async () => {
    const { run } = start(async (writer) => {
      await writer.write([...say("m", "42"), success("42")]);
      await untilAborted(writer.signal);
    });
    for await (const event of run) if (event.type === "result") break;
    expect(await run.result()).toMatchObject({ status: "success", text: "42" });
  });

  it("S4-31 AT-40: abort is idempotent, answers open tool calls, and has no effect on a complete run", async () => {
    const { run } = start(async (writer) => {
      await writer.write([toolCallItem({ callId: "c1", name: "add", input: {}, executedBy: "millrace" })]);
      await untilAborted(writer.signal);
    });
    await Promise.resolve();
    await Promise.all([run.abort("enough"), run.abort("again")]);
    const log = await readAll(run);
    assertRunLog(log);
    expect(log.find((event) => event.type === "tool-result")).toMatchObject({ callId: "c1", skipped: "aborted" });
    expect(await run.result()).toMatchObject({ status: "aborted", error: { message: "enough" } });
    await run.abort();
    expect(await readAll(run)).toEqual(log);
  });

  it("starts nothing if its signal has already fired", async () => {
    const source = vi.fn();
    const { run } = start(source, { signal: AbortSignal.abort("too late") });
    expect((await run.result()).status).toBe("aborted");
    expect(source).not.toHaveBeenCalled();
    assertRunLog(await readAll(run));
  });

  it("leaves no listener on the caller's signal", async () => {
    const controller = new AbortController();
    const add = vi.spyOn(controller.signal, "addEventListener");
    const remove = vi.spyOn(controller.signal, "removeEventListener");
    await start(write(success()), { signal: controller.signal }).run.done();
    expect(remove).toHaveBeenCalledTimes(add.mock.calls.length);
  });

  it("ends the run despite a source that does not clean up, and reports it", async () => {
    const { run, clock } = start(() => new Promise(() => undefined));
    await Promise.resolve();
    const aborted = run.abort();
    await clock.advance(15_000);
    await aborted;
    const log = await readAll(run);
    assertRunLog(log);
    expect(log.at(-2)).toMatchObject({ type: "error", code: "cleanup-timeout", terminal: true });
    expect((await run.result()).status).toBe("aborted");
  });

  it("S1-88: a source that fails is a terminal error, and what it produced is kept", async () => {
    const { run } = start(async (writer) => {
      await writer.write([
        ...say("m", "so far"),
        toolCallItem({ callId: "c", name: "t", input: {}, executedBy: "backend" }),
      ]);
      throw new Error("socket hang up");
    });
    const log = await readAll(run);
    assertRunLog(log);
    expect(log.at(-2)).toMatchObject({ type: "error", code: "source-failed", message: "socket hang up" });
    expect(await run.result()).toMatchObject({ status: "error", subtype: "source-failed", text: "so far" });
  });

  it("I4: a source that ends without a verdict is never a success", async () => {
    const { run } = start(write(...say("m", "half an answ")));
    const log = await readAll(run);
    assertRunLog(log);
    expect(await run.result()).toMatchObject({ status: "error", subtype: "no-result", text: "half an answ" });
  });

  it("lets nothing but done follow a terminal error", async () => {
    const { run } = start(
      write(
        errorItem({ code: "stream-cut", message: "cut", terminal: true }),
        ...say("m", "late"),
        errorItem({ code: "timeout", message: "again", terminal: true }),
        success(),
      ),
    );
    const log = await readAll(run);
    assertRunLog(log);
    expect(log.map((event) => event.type)).toEqual(["error", "done"]);
  });

  it("I2: time never decreases, even if open calls are answered within a batch while the clock advances", async () => {
    const clock = createVirtualClock();
    const call = toolCallItem({ callId: "c1", name: "add", input: {}, executedBy: "millrace" });
    const failure = errorItem({ code: "provider-error", message: "no", terminal: true });
    const ticking = { ...clock, now: () => clock.now() + (ticks += 1) };
    let ticks = 0;
    const { run } = start(write(startItem({ backend: "b", mode: "http" }), call, failure), { clock: ticking });
    const log = await readAll(run);
    expect(log.map((event) => event.type)).toEqual(["start", "tool-call", "tool-result", "error", "done"]);
    assertRunLog(log);
  });

  it("I5: answers each tool call exactly once, whatever the source writes", async () => {
    const call = toolCallItem({ callId: "c", name: "add", input: {}, executedBy: "millrace" });
    const answer = toolResultItem({ callId: "c", name: "add", output: 1, isError: false });
    const { run } = start(
      write(
        ...[call, { ...call }, answer, { ...answer }, { ...answer, callId: "nobody" }],
        // Answered already: it must not be made, and answered, again.
        ...[{ ...call }, { ...answer }, ...say("m", "ok"), success()],
      ),
    );
    const log = await readAll(run);
    assertRunLog(log);
    expect(log.filter((event) => event.type === "warning").map((event) => event.code)).toEqual(
      Array(5).fill("event-refused"),
    );
  });

  it("text() returns the text and throws if the run did not succeed", async () => {
    const good = start(write(...say("a", "one "), ...say("b", "two"), success())).run;
    const pieces: string[] = [];
    for await (const piece of good.text()) pieces.push(piece);
    expect(pieces).toEqual(["one ", "\n\ntwo"]);

    const bad = start(
      write(textDelta("m", 0, "half"), errorItem({ code: "stream-cut", message: "cut", terminal: true })),
    ).run;
    const got: string[] = [];
    await expect(async () => {
      for await (const piece of bad.text()) got.push(piece);
    }).rejects.toSatisfy((error) => isRunError(error) && error.code === "stream-cut" && error.result?.text === "half");
    expect(got).toEqual(["half"]);
  });

  it("text() yields text exactly once if an answer was restarted with the same text", async () => {
    const { run } = start(
      write(
        textDelta("m1", 0, "the answer"),
        retractNotice({ messageId: "m1" }),
        textDelta("m2", 0, "the ans"),
        textDelta("m2", 0, "wer is 42"),
        messageItem({ id: "m2", role: "assistant", blocks: [{ type: "text", text: "the answer is 42" }] }),
        success(),
      ),
    );
    const pieces: string[] = [];
    for await (const piece of run.text()) pieces.push(piece);
    expect(pieces.join("")).toBe("the answer is 42");
    expect((await run.result()).text).toBe("the answer is 42");
    assertRunLog(await readAll(run));
  });

  it("text() fails if the restarted answer has another text", async () => {
    const { run } = start(
      write(textDelta("m1", 0, "yes"), retractNotice({ messageId: "m1" }), ...say("m2", "no"), success()),
    );
    await expect(async () => {
      for await (const _ of run.text());
    }).rejects.toMatchObject({ code: "text-retracted" });
    expect((await run.result()).text).toBe("no");
  });

  it("text() takes blocks without deltas from their message, and excludes the text of sub-agents", async () => {
    const { run } = start(
      write(
        textDelta("s", 0, "inner", "call-1"),
        messageItem({ id: "s", role: "assistant", blocks: [{ type: "text", text: "inner" }], parent: "call-1" }),
        thinkingDelta("m", 0, "hm"),
        messageItem({
          id: "m",
          role: "assistant",
          blocks: [
            { type: "thinking", text: "hm" },
            { type: "text", text: "outer" },
          ],
        }),
        success(),
      ),
    );
    const pieces: string[] = [];
    for await (const piece of run.text()) pieces.push(piece);
    expect(pieces).toEqual(["outer"]);
    expect(await run.result()).toMatchObject({ text: "outer", thinking: "hm" });
  });

  it("output() returns the text or the structured value, and rejects without ever being unhandled", async () => {
    expect(await start(write(...say("m", "hi"), success())).run.output()).toBe("hi");
    const structured = resultItem({ subtype: "success", isError: false, usage: {}, structured: { n: 42 } });
    expect(await start(write(structured)).run.output()).toEqual({ n: 42 });
    const failing = start(write(resultItem({ subtype: "error_max_turns", isError: true, usage: {} }))).run;
    void failing.output();
    await expect(failing.output()).rejects.toMatchObject({ code: "failed-result" });
    expect(await failing.result()).toMatchObject({ status: "error", subtype: "error_max_turns" });
  });

  it("S0-66 AT-16: the session id is known from the first event that has it; before that the error is typed", async () => {
    const gate = createDeferred<void>();
    const { run } = start(async (writer) => {
      await gate.promise;
      await writer.write([startItem({ backend: "x", mode: "plain", sessionId: "s-1" }), success()]);
    });
    expect(() => run.sessionId()).toThrowError(expect.objectContaining({ code: "session-id-unknown" }));
    gate.resolve();
    await run.done();
    expect(run.sessionId()).toBe("s-1");
    const silent = start(write(success())).run;
    await silent.done();
    expect(() => silent.sessionId()).toThrowError(/cannot be resumed/);
  });

  it("answer() settles a pending question once; a late answer changes nothing; an abort denies", async () => {
    const decisions: unknown[] = [];
    const { run } = start(async (writer) => {
      decisions.push(await writer.ask("c1"));
      decisions.push(await writer.ask("c2"));
    });
    await Promise.resolve();
    expect(run.answer("c1", { allow: true })).toBe(true);
    expect(run.answer("c1", { allow: false })).toBe(false);
    expect(run.answer("nobody", { allow: true })).toBe(false);
    await Promise.resolve();
    await run.abort();
    expect(decisions).toEqual([{ allow: true }, { allow: false, reason: "The run was aborted." }]);
  });

  it("I9: no order of use causes an unhandled rejection, and every order ends in a valid log", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    const uses = ["iterate", "text", "result", "output", "done", "on", "abort", "break", "late", "detach"] as const;
    const endings = ["success", "error", "throw", "nothing", "hang", "terminal"] as const;
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.constantFrom(...uses), { maxLength: 6 }),
          fc.constantFrom(...endings),
          fc.array(fc.constantFrom("delta", "message", "call", "answer", "wait"), { maxLength: 20 }),
          async (order, ending, steps) => {
            const { run } = start(async (writer) => {
              let message = 0;
              let call = 0;
              for (const step of steps) {
                if (step === "delta") await writer.write([textDelta(`m${message}`, 0, "x")]);
                if (step === "wait") await Promise.resolve();
                if (step === "call") {
                  await writer.write([
                    toolCallItem({ callId: `c${call++}`, name: "t", input: 1, executedBy: "millrace" }),
                  ]);
                }
                if (step === "answer") {
                  await writer.write([
                    toolResultItem({ callId: `c${call - 1}`, name: "t", output: 1, isError: false }),
                  ]);
                }
                if (step === "message") {
                  await writer.write([retractNotice({ messageId: `m${message}` }), ...say(`m${message}-again`, "y")]);
                  message += 1;
                }
              }
              await writer.write([retractNotice({ messageId: `m${message}` })]);
              if (ending === "throw") throw new Error("thrown");
              if (ending === "hang") await untilAborted(writer.signal);
              if (ending === "terminal")
                await writer.write([errorItem({ code: "timeout", message: "", terminal: true })]);
              if (ending === "success") await writer.write([success()]);
              if (ending === "error") await writer.write([resultItem({ subtype: "failed", isError: true, usage: {} })]);
            });
            const pending: Promise<unknown>[] = [];
            for (const use of order) {
              if (use === "iterate") pending.push(readAll(run));
              if (use === "text")
                void run
                  .text()
                  .next()
                  .catch(() => undefined);
              if (use === "result") pending.push(run.result());
              if (use === "output") void run.output();
              if (use === "done") pending.push(run.done());
              if (use === "on") run.on("*", () => undefined);
              if (use === "abort") pending.push(run.abort());
              if (use === "detach") run.detach();
              if (use === "late") await Promise.resolve();
              if (use === "break") {
                const reader = run[Symbol.asyncIterator]();
                void reader.next();
                pending.push(Promise.resolve(reader.return?.()));
              }
            }
            await run.abort();
            await Promise.all(pending);
            assertRunLog(await readAll(run));
          },
        ),
        { numRuns: 400 },
      );
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off("unhandledRejection", note);
    }
    expect(unhandled).toEqual([]);
  });
});
