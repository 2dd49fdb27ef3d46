import { describe, expect, it } from "vitest";
import type { Leg } from "#agents";
import type { ModelRequest } from "#backends";
import { errorItem, messageItem, StartError, textDelta } from "#domain";
import { assertRunLog, createScriptedBackend, type ScriptedReply } from "#testing";
import { tool } from "#tools";
import { logOf, openTestSession, shown } from "./support.ts";

const leg = (replies: readonly ScriptedReply[], more: Partial<Leg> = {}) => {
  const backend = createScriptedBackend(replies, more.agent ?? "scripted");
  return { backend, leg: { backend, fallback: [], tools: [], limits: {}, retry: false, ...more } satisfies Leg };
};

/** A reply that shows half a sentence and then waits until it is given up. */
const half: ScriptedReply = async function* (_request: ModelRequest, signal: AbortSignal) {
  yield [textDelta("half", 0, "half an ans")];
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
};

const cut = () => errorItem({ code: "stream-cut", message: "cut", terminal: true });

describe("a session with a model", () => {
  it("S0-37 AT-14: the model is asked the second question only when the first is answered, and knows the first", async () => {
    const { backend, leg: only } = leg([{ text: "one" }, { text: "two" }]);
    const { session } = openTestSession([only]);
    const runs = [session.send("first"), session.send("second")];
    await Promise.all(runs.map(logOf));
    expect(backend.requests.map((request) => shown(request.messages))).toEqual([
      ["user: first"],
      ["user: first", "assistant: one", "user: second"],
    ]);
    expect(shown(session.messages())).toEqual(["user: first", "assistant: one", "user: second", "assistant: two"]);
    await session.close();
  });

  it("AT-14: five at once, each with its own answer only", async () => {
    const words = ["a", "b", "c", "d", "e"];
    const { backend, leg: only } = leg(words.map((text) => ({ text: `answer ${text}` })));
    const { session } = openTestSession([only]);
    const runs = words.map((word) => session.send(word));
    const logs = await Promise.all(runs.map(logOf));
    logs.forEach((events, at) => {
      expect(events.every((event) => event.runId === runs[at]?.id)).toBe(true);
      expect(events.flatMap((event) => (event.type === "text-delta" ? [event.text] : []))).toEqual([
        `answer ${words[at]}`,
      ]);
    });
    expect(backend.requests.map((request) => request.messages.length)).toEqual([1, 3, 5, 7, 9]);
    const ids = session.messages().map((message) => message.id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("AT-15: the reader of the active run leaves; F-B12: the next one is not told half an answer", async () => {
    const { backend, leg: only } = leg([half, { text: "well" }]);
    const { session } = openTestSession([only]);
    const first = session.send("first");
    const second = session.send("second");
    for await (const event of first) if (event.type === "text-delta") break;
    expect((await second.result()).text).toBe("well");
    expect(shown(backend.requests[1]?.messages ?? [])).toEqual(["user: second"]);
    await logOf(first);
  });

  it("AT-18: F-B12: a run that fails leaves the session as it was before its question", async () => {
    const down = [errorItem({ code: "provider-overloaded", message: "busy", terminal: true })];
    const { backend, leg: only } = leg([down, { text: "back" }]);
    const { session } = openTestSession([only]);
    const first = session.send("first");
    const second = session.send("second");
    expect((await first.result()).error?.code).toBe("provider-overloaded");
    expect((await second.result()).status).toBe("success");
    expect(shown(backend.requests[1]?.messages ?? [])).toEqual(["user: second"]);
    for (const run of [first, second]) await logOf(run);
  });

  it.each(["provider-invalid-request", "refused", "content-filtered"] as const)(
    "AT-18: an input that gives %s is not sent again, because it would always be rejected",
    async (code) => {
      const refused = [errorItem({ code, message: "no", terminal: true })];
      const { backend, leg: only } = leg([{ text: "hello" }, refused, { text: "well" }]);
      const { session } = openTestSession([only]);
      await session.send("hi").result();
      const bad = await session.send("bad").result();
      expect(shown(bad.messages)).toContain("user: bad");
      expect((await session.send("good").result()).text).toBe("well");
      expect(shown(backend.requests[2]?.messages ?? [])).toEqual(["user: hi", "assistant: hello", "user: good"]);
    },
  );

  it("an input a hook or a guard has blocked never reaches the model by the next run", async () => {
    const { backend, leg: only } = leg([{ text: "well" }], {
      policy: {
        hooks: [],
        rules: [],
        permission: undefined,
        outputMode: undefined,
        guards: [
          {
            name: "no secrets",
            place: "input",
            check: ({ text }) => (text.includes("secret") ? { deny: "a secret" } : undefined),
          },
        ],
      },
    });
    const { session } = openTestSession([only]);
    const blocked = await session.send("my secret").result();
    expect(blocked.error?.code).toBe("guard-denied");
    await session.send("hello").result();
    expect(shown(backend.requests[0]?.messages ?? [])).toEqual(["user: hello"]);
  });

  it("F-B12: a run aborted in the middle of a tool call leaves the session as it was; retry() sends its message again", async () => {
    const wait = tool("wait", "Waits", {}, (_, { signal }) => {
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve("late"), { once: true }));
    });
    const replies = [{ text: "hello" }, { text: "half", calls: [{ name: "wait", input: {} }] }, { text: "well" }];
    const { backend, leg: only } = leg(replies, { tools: [wait] });
    const { session } = openTestSession([only]);
    await session.send("hi").result();
    const before = session.messages();
    const first = session.send("first");
    expect(() => session.retry()).toThrow(/still being answered/);
    for await (const event of first.detach()) if (event.type === "tool-call") break;
    await session.interrupt();
    expect((await first.result()).status).toBe("aborted");
    expect(session.messages()).toEqual(before);
    expect((await session.retry().result()).text).toBe("well");
    expect(shown(backend.requests[2]?.messages ?? [])).toEqual(["user: hi", "assistant: hello", "user: first"]);
    expect(() => session.retry()).toThrow(/was answered\. Use send\(\)/);
    await logOf(first);
  });

  it.each<[string, ScriptedReply, Partial<Leg>]>([
    ["an error in the middle of the answer", [textDelta("m1", 0, "half"), cut()], {}],
    ["a limit", { text: "half", calls: [{ name: "nothing", input: {} }] }, { limits: { turns: 1 } }],
    ["a refusal", [messageItem({ id: "m1", role: "assistant", blocks: [], stopReason: "refusal" })], {}],
  ])("F-B12: a run that failed by %s leaves no trace in the session", async (_, reply, more) => {
    const { backend, leg: only } = leg([reply, { text: "well" }], { retry: false, ...more });
    const { session } = openTestSession([only]);
    expect((await session.send("first").result()).status).toBe("error");
    expect(session.messages()).toEqual([]);
    expect((await session.send("second").result()).text).toBe("well");
    expect(shown(backend.requests[1]?.messages ?? [])).toEqual(["user: second"]);
  });

  it("F-B12: after a failed handoff the agent that was asked answers again", async () => {
    const handOver: ScriptedReply = { calls: [{ name: "handoff", input: { to: "billing", message: "refund" } }] };
    const triage = leg([handOver, { text: "triage" }], { agent: "triage", handoffs: ["billing"] });
    const billing = leg([[cut()]], { agent: "billing", retry: false });
    const { session } = openTestSession([triage.leg, billing.leg]);
    expect((await session.send("I paid twice").result()).status).toBe("error");
    expect((await session.retry().result()).text).toBe("triage");
    expect(() => openTestSession([triage.leg]).session.retry()).toThrow(/nothing was sent yet/);
  });

  it("S0-79: another model answers from the next run on, the waiting ones included", async () => {
    const small = leg([{ text: "small" }]);
    const big = leg([{ text: "big" }]);
    const { session } = openTestSession(({ models = {} }) => {
      const { "": model = "small" } = models;
      if (model !== "big" && model !== "small") throw new StartError("unknown-backend", `There is no model ${model}.`);
      return [model === "big" ? big.leg : small.leg];
    });
    const first = session.send("one");
    const second = session.send("two");
    await session.setModel("big");
    await expect(session.setModel("bigger")).rejects.toMatchObject({ code: "unknown-backend" });
    await Promise.all([first.result(), second.result()]);
    expect((await second.result()).text).toBe("big");
    expect(shown(big.backend.requests.at(-1)?.messages ?? [])).toContain("user: one");
  });

  it("S2-32: the agent that had the last word answers the next input, unless another was set meanwhile", async () => {
    const handOver: ScriptedReply = { calls: [{ name: "handoff", input: { to: "billing", message: "refund" } }] };
    const triage = leg([handOver, { text: "triage again" }], { agent: "triage", handoffs: ["billing"] });
    const billing = leg([{ text: "refunded" }, { text: "anything else?" }, { text: "no" }], { agent: "billing" });
    const { session } = openTestSession([triage.leg, billing.leg]);
    const first = await session.send("I paid twice").result();
    expect(first.agent).toBe("billing");
    expect((await session.send("thanks").result()).agent).toBe("billing");
    expect(triage.backend.requests).toHaveLength(1);
    const running = session.send("and now?");
    for await (const event of running.detach()) if (event.type === "start") break;
    await session.setAgent("triage");
    expect((await running.result()).agent).toBe("billing");
    expect((await session.send("who is there?").result()).text).toBe("triage again");
  });

  it("resumes from the messages of another session, its gaps closed", async () => {
    const { backend, leg: only } = leg([{ text: "well" }]);
    const earlier = [
      { id: "u1", role: "user" as const, blocks: [{ type: "text" as const, text: "add" }] },
      {
        id: "a1",
        role: "assistant" as const,
        blocks: [{ type: "tool-call" as const, callId: "c1", name: "add", input: {} }],
      },
    ];
    const { session } = openTestSession([only], { messages: earlier });
    await session.send("go on").result();
    expect(shown(backend.requests[0]?.messages ?? [])).toEqual([
      "user: add",
      "assistant: add({})",
      expect.stringMatching(/^user: failed/),
      "user: go on",
    ]);
    const again = openTestSession([leg([{ text: "still here" }]).leg], { messages: session.messages(), seed: 4 });
    const result = await again.session.send("are you there?").result();
    expect(result.messages).toHaveLength(session.messages().length + 2);
    const asked = result.messages.filter((message) => message.role === "user").map((message) => message.id);
    expect(new Set(asked).size).toBe(asked.length);
  });

  it("a model has no session id and no permission modes, and reports it", async () => {
    const { session } = openTestSession([leg([{ text: "x" }]).leg]);
    await session.send("hi").result();
    expect(() => session.sessionId()).toThrow(expect.objectContaining({ code: "session-id-unknown" }));
    await expect(session.setPermissionMode("plan")).rejects.toMatchObject({ code: "feature-unavailable" });
  });

  it("AT-44: ten sessions at once, the first of each closed early: no event of one in another", async () => {
    const sessions = Array.from({ length: 10 }, (_, at) => {
      const { leg: only } = leg([half, { text: `answer ${at}` }]);
      return openTestSession([only], { seed: at + 10 }).session;
    });
    const early = sessions.map((session) => session.send("first"));
    const late = sessions.map((session) => session.send("second"));
    for (const run of early) {
      for await (const event of run) if (event.type === "text-delta") break;
    }
    const logs = await Promise.all(late.map(logOf));
    logs.forEach((events, at) => {
      expect(new Set(events.map((event) => event.runId))).toEqual(new Set([late[at]?.id]));
      const done = events.at(-1);
      expect(done?.type === "done" && done.result.text).toBe(`answer ${at}`);
    });
    expect(new Set(late.map((run) => run.id)).size).toBe(10);
    await Promise.all(sessions.map((session) => session.close()));
  });

  it("a failure to make the turn is an error of that run alone", async () => {
    const { leg: only } = leg([{ text: "well" }]);
    let broken = true;
    const { session } = openTestSession(() => {
      if (broken) throw new Error("no backend today");
      return [only];
    });
    const first = await session.send("one").result();
    expect([first.status, first.error?.message]).toEqual(["error", "no backend today"]);
    broken = false;
    expect((await session.send("two").result()).text).toBe("well");
  });

  it("the check of logs would see a foreign event", () => {
    const foreign = { ...messageItem({ id: "m", role: "user", blocks: [] }), seq: 0, ts: 1, runId: "other" };
    expect(() => assertRunLog([foreign])).toThrow();
  });
});
