import { describe, expect, it } from "vitest";
import {
  type AgentEvent,
  type Chunk,
  errorItem,
  handoffItem,
  messageItem,
  noticeItem,
  permissionItem,
  resultItem,
  retractNotice,
  startItem,
  textDelta,
  thinkingDelta,
  toolCallItem,
  toolInputDelta,
  toolResultItem,
  warningItem,
} from "#domain";
import { closeRunLog } from "#testing";
import { createRunnerEvents, type RunnerEvent, toRunnerEvents } from "./runner-events.ts";
import { toRunnerSse } from "./runner-sse.ts";

const add = { callId: "c1", name: "add" };
const handoff = handoffItem({ from: "a", to: "b", message: "go" });
const verdict = resultItem({ subtype: "success", isError: false, usage: {} });

function runnerEvents(events: readonly AgentEvent[]): RunnerEvent[] {
  const view = createRunnerEvents();
  return [...events.flatMap((event) => view.next(event)), ...view.end()];
}

/** Everything except the completion, which is checked to be single and last. */
function stepsOf(...chunks: Chunk[]): RunnerEvent[] {
  return stepsOfLog(closeRunLog(chunks));
}

function stepsOfLog(log: readonly AgentEvent[]): RunnerEvent[] {
  const events = runnerEvents(log);
  expect(events.filter((event) => event.type === "RunCompleteEvent")).toEqual([events.at(-1)]);
  return events.slice(0, -1);
}

async function all<Out>(source: AsyncIterable<Out>): Promise<Out[]> {
  const out: Out[] = [];
  for await (const value of source) out.push(value);
  return out;
}

describe("toRunnerEvents", () => {
  it("S2-17 S2-18 S2-23: text, tool call, tool result and message", () => {
    const input = { a: 25, b: 17 };
    const log = closeRunLog([
      textDelta("m", 0, "Let me "),
      textDelta("m", 0, "add."),
      messageItem({
        id: "m",
        role: "assistant",
        blocks: [
          { type: "text", text: "Let me add." },
          { type: "tool-call", ...add, input },
        ],
      }),
      toolCallItem({ ...add, input, executedBy: "millrace" }),
      toolResultItem({ ...add, output: { sum: 42 }, isError: false }),
      verdict,
    ]);
    const steps = stepsOfLog(log.map((event) => ({ ...event, agent: "triage" })));
    const call = { id: "c1", type: "function", function: { name: "add", arguments: '{"a":25,"b":17}' } };
    expect(steps).toEqual([
      { type: "RawResponseEvent", content: "Let me " },
      { type: "RawResponseEvent", content: "add." },
      {
        type: "RunItemEvent",
        name: "message",
        data: { id: "m", role: "assistant", content: "Let me add.", tool_calls: [call], agent: "triage" },
      },
      { type: "RunItemEvent", name: "tool_call", data: call },
      {
        type: "RunItemEvent",
        name: "tool_result",
        data: { call_id: "c1", tool_name: "add", output: '{"sum":42}', is_error: false },
      },
    ]);
  });

  it("S2-13: arguments that were never JSON stay text", () => {
    const [step] = stepsOf(toolCallItem({ ...add, input: '{"a": ', executedBy: "millrace" }));
    expect(step).toMatchObject({ data: { function: { arguments: '{"a": ' } } });
  });

  it("a log of items only still gives the text", () => {
    const steps = stepsOf(messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "hi" }] }));
    expect(steps[0]).toEqual({ type: "RawResponseEvent", content: "hi" });
  });

  it("a sub-agent's steps are items with its parent; its text is not the answer's", () => {
    const steps = stepsOf(
      textDelta("s", 0, "aside", "c1"),
      messageItem({ id: "s", role: "assistant", blocks: [{ type: "text", text: "aside" }], parent: "c1" }),
      toolCallItem({ callId: "c2", name: "read", input: {}, executedBy: "backend", parent: "c1" }),
      toolResultItem({ callId: "c2", name: "read", output: "x", isError: true, parent: "c1" }),
    );
    expect(steps.map((step) => (step.type === "RunItemEvent" ? step.name : step.type))).toEqual([
      "message",
      "tool_call",
      "tool_result",
    ]);
    for (const step of steps) expect(step).toMatchObject({ data: { parent: "c1" } });
  });

  it("a user's text is a message; a message with only tool results is not repeated", () => {
    const results = [{ type: "tool-result", callId: "c1", output: "x", isError: false } as const];
    expect(stepsOf(messageItem({ id: "u", role: "user", blocks: results }))).toEqual([]);
    expect(stepsOf(messageItem({ id: "u", role: "user", blocks: [{ type: "text", text: "hello" }] }))).toEqual([
      { type: "RunItemEvent", name: "message", data: { id: "u", role: "user", content: "hello" } },
    ]);
  });

  it("retracted text is marked with an empty piece of text", () => {
    const steps = stepsOf(textDelta("m", 0, "wrong"), retractNotice({ messageId: "m" }), textDelta("m", 0, "right"));
    expect(steps).toEqual([
      { type: "RawResponseEvent", content: "wrong" },
      { type: "RawResponseEvent", content: "", retracted: { message_id: "m", text: "wrong" } },
      { type: "RawResponseEvent", content: "right" },
    ]);
  });

  it("S2-19: a failed run completes, too, with the reason in its result", () => {
    const error = errorItem({ code: "timeout", message: "too long", terminal: true });
    const last = runnerEvents(closeRunLog([textDelta("m", 0, "par"), error])).at(-1);
    expect(last).toMatchObject({ type: "RunCompleteEvent", result: { status: "error", subtype: "timeout" } });
  });

  it("S2-19: an incomplete log completes as interrupted, with the text so far", () => {
    expect(runnerEvents([])).toMatchObject([{ type: "RunCompleteEvent", result: { status: "interrupted", text: "" } }]);
    const log = closeRunLog([textDelta("m", 0, "half")]).slice(0, -1);
    expect(runnerEvents(log).at(-1)).toMatchObject({ result: { status: "interrupted", text: "half" } });
  });

  it("nothing follows the completion", () => {
    const log = closeRunLog([textDelta("m", 0, "a")]);
    expect(runnerEvents([...log, ...log])).toHaveLength(2);
  });
});

describe("the five lessons", () => {
  it("S2-27: one canonical stream: the async form is the same as the synchronous one", async () => {
    const log = closeRunLog([textDelta("m", 0, "a"), toolCallItem({ ...add, input: {}, executedBy: "millrace" })]);
    expect(await all(toRunnerEvents(log))).toEqual(runnerEvents(log));
  });

  it("S2-28: one kind of tool call: the item and the message in the transcript have the same shape", () => {
    const steps = stepsOf(
      messageItem({ id: "m", role: "assistant", blocks: [{ type: "tool-call", ...add, input: { a: 1 } }] }),
      toolCallItem({ ...add, input: { a: 1 }, executedBy: "millrace" }),
    );
    const [message, call] = steps;
    if (message?.type !== "RunItemEvent" || message.name !== "message") throw new Error("no message");
    expect(message.data.tool_calls).toEqual([call?.type === "RunItemEvent" && call.data]);
  });

  it("S2-29: three events, not nine, whatever the run does", () => {
    const events = runnerEvents(
      closeRunLog([
        startItem({ backend: "x", mode: "http" }),
        textDelta("m", 0, "a"),
        thinkingDelta("m", 1, "b"),
        toolInputDelta("m", 2, add, "{}"),
        toolCallItem({ ...add, input: {}, executedBy: "millrace" }),
        permissionItem({ ...add, state: "allowed", by: "rule" }),
        toolResultItem({ ...add, output: null, isError: false }),
        handoff,
        noticeItem("status", {}),
        warningItem({ code: "feature-ignored", message: "m" }),
        errorItem({ code: "json-decode", message: "m", terminal: false }),
        messageItem({ id: "m", role: "assistant", blocks: [] }),
        verdict,
      ]),
    );
    expect(new Set(events.map((event) => event.type))).toEqual(
      new Set(["RawResponseEvent", "RunItemEvent", "RunCompleteEvent"]),
    );
    const names = events.flatMap((event) => (event.type === "RunItemEvent" ? [event.name] : []));
    expect(names).toEqual(["tool_call", "tool_result", "handoff", "message"]);
  });

  it("S2-30: outcomes are typed: a call skipped by a handoff is an ordinary result", () => {
    const [step] = stepsOf(toolResultItem({ ...add, output: "skipped", isError: true, skipped: "handoff" }));
    expect(step).toEqual({
      type: "RunItemEvent",
      name: "tool_result",
      data: { call_id: "c1", tool_name: "add", output: "skipped", is_error: true },
    });
  });

  it("S2-31 S2-24: a leg's result and a handoff never complete the run", () => {
    const events = runnerEvents(
      closeRunLog([textDelta("m1", 0, "a"), verdict, handoff, textDelta("m2", 0, "b"), verdict]),
    );
    expect(events.map((event) => event.type)).toEqual([
      "RawResponseEvent",
      "RunItemEvent",
      "RawResponseEvent",
      "RunCompleteEvent",
    ]);
    expect(events[1]).toEqual({ type: "RunItemEvent", name: "handoff", data: { from: "a", to: "b", message: "go" } });
  });
});

describe("toRunnerSse", () => {
  it("S2-26: one frame per event, named by its type, then done", async () => {
    const log = closeRunLog([
      textDelta("m", 0, "two\nlines\u2028and a half"),
      toolResultItem({ ...add, output: "x", isError: false }),
      retractNotice({ messageId: "m" }),
    ]);
    const frames = await all(toRunnerSse(log, { completion: "empty" }));
    expect(frames).toEqual([
      'event: RawResponseEvent\ndata: {"content":"two\\nlines\\u2028and a half"}\n\n',
      'event: RunItemEvent\ndata: {"name":"tool_result","data":{"call_id":"c1","tool_name":"add","output":"x","is_error":false}}\n\n',
      'event: RawResponseEvent\ndata: {"content":"","retracted":{"message_id":"m","text":"two\\nlines\\u2028and a half"}}\n\n',
      "event: RunCompleteEvent\ndata: {}\n\n",
      "event: done\ndata: {}\n\n",
    ]);
  });

  it("C8: the completion has a summary of the result, without the transcript", async () => {
    const log = closeRunLog([
      messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "hi" }] }),
      verdict,
    ]);
    const frames = await all(toRunnerSse(log));
    const { result } = JSON.parse(frames.at(-2)?.split("data: ")[1] ?? "") as { result: Record<string, unknown> };
    expect(result).toMatchObject({ status: "success", text: "hi" });
    expect(result).not.toHaveProperty("messages");
  });

  it("AT-62: even an empty stream ends with done, once", async () => {
    expect((await all(toRunnerSse([]))).map((frame) => frame.split("\n")[0])).toEqual([
      "event: RunCompleteEvent",
      "event: done",
    ]);
  });
});
