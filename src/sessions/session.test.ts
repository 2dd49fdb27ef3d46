import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Run, RunWriter } from "#run";
import { type AgentEvent, type Message, messageItem, resultItem, type RunResult, StartError, textDelta } from "#domain";
import { assertRunLog, createSeededRandom, createVirtualClock } from "#testing";
import { fuzzRuns } from "../../test/effort.ts";
import type { Conversation } from "./conversation.ts";
import { createSession, type SessionSeams } from "./session.ts";

const numRuns = Math.min(fuzzRuns(150), 3000);

interface Turn {
  readonly input: string;
  readonly writer: RunWriter;
  /** Answers with a text and ends the turn. */
  answer(text?: string): void;
  /** Ends the turn without a verdict. */
  drop(): void;
  fail(error: Error): void;
}

/** A conversation whose turns the test ends by hand. It obeys an abort unless it is created as stubborn. */
function scriptConversation(more: Partial<Conversation> & { readonly stubborn?: boolean } = {}) {
  const turns: Turn[] = [];
  const notes: RunResult[] = [];
  const calls: string[] = [];
  let atWork = 0;
  let mostAtWork = 0;
  const transcript: Message[] = [];
  const conversation: Conversation = {
    sessionId: undefined,
    messages: () => [...transcript],
    turn: (input, writer) =>
      new Promise<void>((resolve, reject) => {
        atWork += 1;
        mostAtWork = Math.max(mostAtWork, atWork);
        const last = input.at(-1) as Message;
        void writer.write([messageItem({ id: last.id, role: "user", blocks: last.blocks })]);
        let isOver = false;
        const end = (settle: () => void = resolve): void => {
          if (isOver) return;
          isOver = true;
          atWork -= 1;
          settle();
        };
        if (more.stubborn !== true) writer.signal.addEventListener("abort", () => end(), { once: true });
        const block = last.blocks[0];
        turns.push({
          input: block?.type === "text" ? block.text : "",
          writer,
          answer(text = "ok") {
            if (isOver) return;
            const id = `reply-${turns.length}-${writer.runId}`;
            void writer.write([
              textDelta(id, 0, text),
              messageItem({ id, role: "assistant", blocks: [{ type: "text", text }] }),
              resultItem({ subtype: "success", isError: false, text, usage: {} }),
            ]);
            end();
          },
          drop: () => end(),
          fail: (error) => end(() => reject(error)),
        });
      }),
    note(result) {
      notes.push(result);
      transcript.splice(0, transcript.length, ...result.messages);
    },
    setModel: async (model) => void calls.push(`model ${model}`),
    setAgent: async (agent) => void calls.push(`agent ${agent}`),
    setPermissionMode: async (mode) => void calls.push(`mode ${mode}`),
    mcpStatus: async () => [{ name: "files", status: "connected" }],
    warmUp: async () => calls.push("warm up") > 0,
    close: async () => void calls.push("close"),
    ...more,
  };
  return {
    conversation,
    turns,
    notes,
    calls,
    get mostAtWork() {
      return mostAtWork;
    },
    turn(at: number): Turn {
      const turn = turns[at];
      if (turn === undefined) throw new Error(`Turn ${at} has not begun.`);
      return turn;
    },
  };
}

function setUp(more: Parameters<typeof scriptConversation>[0] = {}, seams: Partial<SessionSeams> = {}) {
  const clock = createVirtualClock(1000);
  const script = scriptConversation(more);
  const errors: unknown[] = [];
  const session = createSession(script.conversation, {
    clock,
    random: createSeededRandom(7),
    onListenerError: (error) => errors.push(error),
    ...seams,
  });
  return { clock, script, session, errors, settle: () => clock.advance(0) };
}

async function logOf(run: Run): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of run) events.push(event);
  assertRunLog(events);
  expect(events.every((event) => event.runId === run.id)).toBe(true);
  return events;
}

describe("a session", () => {
  it("S0-37 S0-38 S0-39 AT-14: the second input is passed on only after the first run has ended", async () => {
    const { script, session, settle } = setUp();
    const first = session.send("one");
    const second = session.send("two");
    await settle();
    expect(script.turns.map((turn) => turn.input)).toEqual(["one"]);
    expect(second.isComplete()).toBe(false);
    script.turn(0).answer("first");
    await settle();
    expect(script.turns.map((turn) => turn.input)).toEqual(["one", "two"]);
    script.turn(1).answer("second");
    expect((await first.result()).text).toBe("first");
    expect((await second.result()).text).toBe("second");
    await logOf(first);
    await logOf(second);
  });

  it("AT-14 S0-41: five concurrent inputs run one after the other, and each sees only its own turn", async () => {
    const { script, session, settle } = setUp();
    const runs = ["a", "b", "c", "d", "e"].map((text) => session.send(text));
    const logs = runs.map(logOf);
    for (let at = 0; at < runs.length; at += 1) {
      await settle();
      expect(script.turns).toHaveLength(at + 1);
      script.turn(at).answer(`answer to ${script.turn(at).input}`);
    }
    const texts = (await Promise.all(logs)).map((events) =>
      events.flatMap((event) => (event.type === "text-delta" ? [event.text] : [])).join(""),
    );
    expect(texts).toEqual(["a", "b", "c", "d", "e"].map((text) => `answer to ${text}`));
    expect(script.mostAtWork).toBe(1);
  });

  it("S0-40: each run's text starts empty, and its messages include the conversation before", async () => {
    const { script, session, settle } = setUp();
    const first = session.send("one");
    const second = session.send("two");
    await settle();
    script.turn(0).answer("1");
    await settle();
    script.turn(1).answer("2");
    const result = await second.result();
    expect(result.text).toBe("2");
    expect(result.messages.map((message) => message.role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(new Set(result.messages.map((message) => message.id)).size).toBe(4);
    expect((await first.result()).messages).toHaveLength(2);
    expect(session.messages()).toEqual(result.messages);
  });

  it("S0-43 AT-15: leaving the loop of the active run lets the next one start", async () => {
    const { script, session, settle } = setUp();
    const first = session.send("one");
    const second = session.send("two");
    const leave = (async () => {
      for await (const _ of first) break;
    })();
    await settle();
    await leave;
    expect((await first.result()).status).toBe("aborted");
    await settle();
    script.turn(1).answer();
    expect((await second.result()).status).toBe("success");
  });

  it("S0-43 AT-15: a reader that stops pulling and never leaves holds up no other run", async () => {
    const { script, session, settle } = setUp({}, { runLimits: { queueEvents: 4 } });
    const first = session.send("one");
    const reader = first[Symbol.asyncIterator]();
    const pulled = reader.next();
    await settle();
    await pulled;
    const { writer } = script.turn(0);
    for (let at = 0; at < 10; at += 1) void writer.write([textDelta("m", 0, "x")]);
    const room = writer.write([textDelta("m", 0, "x")]);
    expect(room).toBeInstanceOf(Promise);
    const second = session.send("two");
    await room;
    expect(writer.write([textDelta("m", 0, "x")])).toBeUndefined();
    script.turn(0).drop();
    await settle();
    // The same for one that was sent before the first began to lag.
    script.turn(1).answer();
    expect((await second.result()).status).toBe("success");
  });

  it("S0-45 AT-17: events from before the first reader are not lost", async () => {
    const { script, session, clock } = setUp();
    const run = session.send("one");
    await clock.advance(0);
    script.turn(0).answer("early");
    await clock.advance(200);
    const events = await logOf(run);
    expect(events.map((event) => event.type)).toEqual(["message", "text-delta", "message", "result", "done"]);
  });

  it("AT-18: a failed run leaves the session unchanged, however it failed", async () => {
    const { script, session, settle } = setUp();
    const runs = ["thrown", "no verdict", "error result", "well"].map((text) => session.send(text));
    await settle();
    script.turn(0).fail(new Error("lost"));
    await settle();
    script.turn(1).drop();
    await settle();
    void script
      .turn(2)
      .writer.write([resultItem({ subtype: "error_during_execution", isError: true, text: "no", usage: {} })]);
    script.turn(2).drop();
    await settle();
    script.turn(3).answer("fine");
    const results = await Promise.all(runs.map((run) => run.result()));
    expect(results.map((result) => [result.status, result.subtype])).toEqual([
      ["error", "source-failed"],
      ["error", "no-result"],
      ["error", "error_during_execution"],
      ["success", "success"],
    ]);
    for (const run of runs) await logOf(run);
  });

  it("a waiting run can be aborted: it never starts, ends at once, and its log has only the end", async () => {
    const { script, session, settle } = setUp();
    const first = session.send("one");
    const second = session.send("two");
    const third = session.send("three");
    await second.abort("no longer needed");
    const result = await second.result();
    expect([result.status, result.error?.message]).toEqual(["aborted", "no longer needed"]);
    expect((await logOf(second)).map((event) => event.type)).toEqual(["done"]);
    await settle();
    script.turn(0).answer();
    await settle();
    expect(script.turns.map((turn) => turn.input)).toEqual(["one", "three"]);
    script.turn(1).answer();
    await third.result();
    expect(script.notes).toHaveLength(2);
    expect((await first.result()).status).toBe("success");
  });

  it("a signal aborts a waiting run; one that had already fired prevents the start", async () => {
    const { script, session, settle } = setUp();
    session.send("one");
    const controller = new AbortController();
    const second = session.send("two", { signal: controller.signal });
    const third = session.send("three", { signal: AbortSignal.abort("too late") });
    controller.abort("changed my mind");
    expect((await second.result()).status).toBe("aborted");
    expect((await third.result()).status).toBe("aborted");
    await settle();
    script.turn(0).answer();
    await settle();
    expect(script.turns).toHaveLength(1);
    const fourth = session.send("four", { signal: AbortSignal.abort() });
    expect((await fourth.result()).status).toBe("aborted");
    const fifth = session.send("five");
    await settle();
    script.turn(1).answer();
    expect((await fifth.result()).status).toBe("success");
  });

  it("S0-80: interrupt ends the current turn with its text so far, does nothing without one, and the session continues", async () => {
    const { script, session, settle } = setUp();
    await session.interrupt();
    const first = session.send("one");
    const second = session.send("two");
    await settle();
    void script.turn(0).writer.write([textDelta("half", 0, "half an ans")]);
    await session.interrupt();
    const result = await first.result();
    expect([result.status, result.text]).toEqual(["aborted", "half an ans"]);
    await settle();
    script.turn(1).answer();
    expect((await second.result()).status).toBe("success");
    await logOf(first);
  });

  it("a turn that ignores the abort is closed anyway, and does not block the queue", async () => {
    const { script, session, clock } = setUp({ stubborn: true }, { runLimits: { abortGraceMs: 100 } });
    const first = session.send("one");
    const second = session.send("two");
    await clock.advance(0);
    void first.abort();
    await clock.advance(99);
    expect(script.turns).toHaveLength(1);
    await clock.advance(1);
    expect((await first.result()).errors.map((error) => error.code)).toEqual(["cleanup-timeout"]);
    await clock.advance(0);
    script.turn(1).answer("mine");
    // What the first one still writes is dropped.
    script.turn(0).answer("not mine");
    expect((await second.result()).text).toBe("mine");
    expect((await first.result()).text).toBe("");
    await logOf(first);
    await logOf(second);
  });

  it("S0-65: close ends the active run and the waiting ones as aborted, and accepts no more", async () => {
    const { script, session, settle } = setUp();
    const runs = [session.send("one"), session.send("two"), session.send("three")];
    await settle();
    const closing = session.close();
    expect(() => session.send("four")).toThrow(expect.objectContaining({ code: "session-closed" }));
    await closing;
    for (const run of runs) {
      expect(run.isComplete()).toBe(true);
      expect((await run.result()).status).toBe("aborted");
      await logOf(run);
    }
    expect(script.turns).toHaveLength(1);
    expect(script.calls).toEqual(["close"]);
    await session.close();
    await session[Symbol.asyncDispose]();
    await session.interrupt();
    expect(script.calls).toEqual(["close"]);
    await expect(session.setModel("x")).rejects.toMatchObject({ code: "session-closed" });
  });

  it("close waits for a turn that ends slowly, and for what the conversation owns", async () => {
    let closed = (): void => undefined;
    const { script, session, clock } = setUp({
      stubborn: true,
      close: () => new Promise<void>((resolve) => (closed = resolve)),
    });
    session.send("one");
    await clock.advance(0);
    let over = false;
    void session.close().then(() => (over = true));
    await clock.advance(0);
    closed();
    await clock.advance(0);
    expect(over).toBe(false);
    script.turn(0).drop();
    await clock.advance(0);
    expect(over).toBe(true);
    expect(clock.pending()).toBe(0);
  });

  it("a failure to close is reported to every caller, without an unhandled rejection", async () => {
    const failing = () => {
      throw new Error("stuck");
    };
    const { session } = setUp({ close: failing });
    void session.close();
    await expect(session.close()).rejects.toThrow("stuck");
  });

  it("wrong input throws before there is a run, and takes no place in the queue", async () => {
    const refuse = (input: readonly Message[]) => {
      if (input.length > 1) throw new Error("too much");
    };
    const { script, session, settle } = setUp({}, { checkInput: refuse });
    expect(() => session.send("  ")).toThrow(expect.objectContaining({ code: "invalid-input" }));
    expect(() => session.send([{ role: "assistant", text: "hm" }])).toThrow(
      expect.objectContaining({ code: "invalid-input" }),
    );
    expect(() => session.send([null] as never)).toThrow(expect.objectContaining({ code: "invalid-input" }));
    expect(() =>
      session.send([
        { role: "user", text: "a" },
        { role: "user", text: "b" },
      ]),
    ).toThrow("too much");
    session.send("well");
    await settle();
    expect(script.turns.map((turn) => turn.input)).toEqual(["well"]);
  });

  it("messages without an id get one, those with an id keep it", async () => {
    const { script, session, settle } = setUp();
    const run = session.send([
      { id: "mine", role: "user", text: "a" },
      { role: "assistant", text: "b" },
      { role: "user", text: "c" },
    ]);
    await settle();
    script.turn(0).answer();
    const ids = (await run.result()).messages.map((message) => message.id);
    expect(ids.slice(0, 3)).toEqual(["mine", `${run.id}-input-2`, `${run.id}-input-3`]);
  });

  const setters = [
    ["setModel", "model"],
    ["setAgent", "agent"],
    ["setPermissionMode", "mode"],
  ] as const;

  it.each(setters)(
    "S0-79 S0-80: %s passes the name on to the conversation, and its rejection back",
    async (set, word) => {
      const { script, session } = setUp();
      await session[set]("big");
      await session[set]("small");
      expect(script.calls).toEqual([`${word} big`, `${word} small`]);
      const refusing = setUp({ [set]: async () => Promise.reject(new StartError("unknown-agent", "There is none.")) });
      await expect(refusing.session[set]("big")).rejects.toMatchObject({ code: "unknown-agent" });
    },
  );

  it.each(setters)("S0-79 S0-80: %s rejects an invalid name, and passes nothing on", async (set) => {
    const { script, session } = setUp();
    for (const name of ["", " ", undefined, null, 7, {}] as never[]) {
      await expect(session[set](name)).rejects.toMatchObject({ code: "invalid-option", message: /Give its name/ });
    }
    expect(script.calls).toEqual([]);
  });

  it("S0-80: the conversation is warmed up and asked for its tool servers; a closed session rejects every control", async () => {
    const { script, session } = setUp();
    expect(await session.warmUp()).toBe(true);
    expect(await session.mcpStatus()).toEqual([{ name: "files", status: "connected" }]);
    await session.close();
    expect(script.calls).toEqual(["warm up", "close"]);
    const controls = [session.warmUp(), session.mcpStatus(), ...setters.map(([set]) => session[set]("x"))];
    for (const control of controls) await expect(control).rejects.toMatchObject({ code: "session-closed" });
    expect(script.calls).toEqual(["warm up", "close"]);
  });

  it("S0-66 AT-16: the backend's id, or a typed error as long as there is none", () => {
    expect(() => setUp().session.sessionId()).toThrow(expect.objectContaining({ code: "session-id-unknown" }));
    expect(setUp({ sessionId: "abc" }).session.sessionId()).toBe("abc");
    expect(setUp({}, { id: "ours" }).session.id).toBe("ours");
  });

  it("S0-104: reports how many runs wait, and a watcher that throws affects nothing", async () => {
    const lengths: number[] = [];
    const runs: string[] = [];
    const { script, session, settle, errors } = setUp(
      {},
      {
        onQueueLength(waiting) {
          lengths.push(waiting);
          throw new Error("watcher");
        },
        onRun: (run) => void runs.push(run.id),
      },
    );
    const sent = [session.send("a"), session.send("b"), session.send("c")];
    expect(lengths).toEqual([0, 1, 2]);
    expect(runs).toEqual(sent.map((run) => run.id));
    expect(errors).toHaveLength(3);
    await settle();
    script.turn(0).answer();
    expect((await sent[0]?.result())?.status).toBe("success");
  });

  it("a conversation that cannot record a run is reported, and the next run starts nevertheless", async () => {
    const { script, session, settle, errors } = setUp({
      note() {
        throw new Error("full");
      },
    });
    session.send("one");
    const second = session.send("two");
    await settle();
    script.turn(0).answer();
    await settle();
    script.turn(1).answer();
    expect((await second.result()).status).toBe("success");
    expect(errors).toHaveLength(2);
  });
});

/** What may happen to a session, in any order. */
type Step =
  | { readonly kind: "send" | "finish" | "fail" | "interrupt" | "close" | "settle" }
  | { readonly kind: "abort" | "leave" | "stall"; readonly at: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Step>({ kind: "send" }) },
  { weight: 4, arbitrary: fc.constantFrom<Step>({ kind: "finish" }, { kind: "settle" }) },
  { weight: 2, arbitrary: fc.constantFrom<Step>({ kind: "fail" }, { kind: "interrupt" }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom("abort", "leave", "stall"), at: fc.nat(9) }) as fc.Arbitrary<Step>,
  },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: "close" }) },
);

describe("S0-43 S0-44: whatever happens to a session", () => {
  it("one turn at a time, in order, every run ends once, and nothing is left", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { clock, script, session, errors } = setUp({}, { runLimits: { queueEvents: 2 } });
        const runs: Run[] = [];
        for (const given of steps) {
          const at = "at" in given ? runs[given.at] : undefined;
          switch (given.kind) {
            case "send":
              try {
                runs.push(session.send(`input ${runs.length}`));
              } catch {
                expect(script.calls).toEqual(["close"]);
              }
              break;
            case "finish":
              script.turns.at(-1)?.answer();
              break;
            case "fail":
              script.turns.at(-1)?.fail(new Error("lost"));
              break;
            case "interrupt":
              void session.interrupt();
              break;
            case "close":
              void session.close();
              break;
            case "settle":
              await clock.advance(0);
              break;
            case "abort":
              void at?.abort();
              break;
            case "leave":
              if (at !== undefined) {
                const reader = at[Symbol.asyncIterator]();
                void reader.next().then(() => reader.return?.());
              }
              break;
            case "stall":
              void at?.[Symbol.asyncIterator]().next();
              break;
          }
        }
        await clock.advance(0);
        // An active run ends in the ordinary way; the queue empties by itself.
        for (let rest = 0; rest <= runs.length; rest += 1) {
          const turn = script.turns.at(-1);
          if (turn !== undefined && !turn.writer.signal.aborted) turn.answer();
          await clock.advance(0);
        }
        expect(runs.every((run) => run.isComplete())).toBe(true);
        expect(script.mostAtWork).toBeLessThanOrEqual(1);
        const order = script.turns.map((turn) => Number(turn.input.slice(6)));
        expect(order).toEqual(order.toSorted((left, right) => left - right));
        expect(new Set(order).size).toBe(order.length);
        for (const run of runs) await logOf(run);
        await session.close();
        expect(clock.pending()).toBe(0);
        expect(errors).toEqual([]);
      }),
      { numRuns },
    );
  });
});
