import { describe, expect, expectTypeOf, it } from "vitest";
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
import { createStreamingEvents, type StreamingEvent, toStreamingEvents, type Visibility } from "./streaming-events.ts";
import { createStreamingResult, type StreamingResult, toStreamingResult } from "./streaming-result.ts";
import { asEvent } from "../../test/events.ts";

const calc = { callId: "t1", name: "calculate" };
const handoff = handoffItem({ from: "a", to: "b", message: "go" });
const everything: Chunk[] = [
  startItem({ backend: "x", mode: "plain", model: "opus", raw: { json: "{}", bytes: new Uint8Array(2) } }),
  thinkingDelta("m", 0, "Analyzing..."),
  textDelta("m", 1, "Here is "),
  textDelta("m", 1, "the answer"),
  toolInputDelta("m", 2, calc, "{}"),
  toolCallItem({ ...calc, input: { expr: "2+2" }, executedBy: "backend" }),
  permissionItem({ ...calc, state: "allowed", by: "rule" }),
  toolResultItem({ ...calc, output: "4", isError: false }),
  messageItem({
    id: "m",
    role: "assistant",
    blocks: [
      { type: "thinking", text: "Analyzing..." },
      { type: "text", text: "Here is the answer" },
    ],
  }),
  handoff,
  noticeItem("status", {}),
  warningItem({ code: "feature-ignored", message: "odd" }),
  errorItem({ code: "json-decode", message: "bad line", terminal: false }),
  resultItem({ subtype: "success", isError: false, usage: { inputTokens: 50, outputTokens: 25 }, ms: 12 }),
];

function streaming(events: readonly AgentEvent[], options?: Visibility): StreamingEvent[] {
  const view = createStreamingEvents(options);
  return [...events.flatMap((event) => view.next(event)), ...view.end()];
}

const shownTypes = (options?: Visibility): Set<string> =>
  new Set(streaming(closeRunLog(everything), options).map((event) => event.type));

describe("toStreamingEvents", () => {
  it("S4-20 S4-24: every kind of event, under hyphenated names", () => {
    const types = shownTypes({ showAll: true });
    expect(types).toEqual(
      new Set([
        "streaming:metadata",
        "streaming:thinking",
        "streaming:message",
        "streaming:tool-use",
        "streaming:tool-result",
        "streaming:error",
      ]),
    );
    for (const type of types) expect(type).not.toContain("_");
  });

  const rows: [Chunk, unknown][] = [
    [textDelta("m", 0, "a"), { type: "streaming:message", chunk: "a", role: "assistant", timestamp: 0 }],
    [thinkingDelta("m", 0, "a"), { type: "streaming:thinking", text: "a", timestamp: 0 }],
    [
      toolCallItem({ ...calc, input: 1, executedBy: "backend", parent: "p" }),
      { type: "streaming:tool-use", id: "t1", name: "calculate", input: 1, parent: "p", timestamp: 0 },
    ],
    [
      toolResultItem({ ...calc, output: 4, isError: true, parent: "p" }),
      { type: "streaming:tool-result", toolUseId: "t1", result: 4, success: false, parent: "p", timestamp: 0 },
    ],
    [
      errorItem({ code: "aborted", message: "stopped", terminal: true }),
      { type: "streaming:error", message: "stopped", code: "aborted", terminal: true, timestamp: 0 },
    ],
  ];
  it.each(rows)("S4-20 S4-26: %o", (chunk, expected) => {
    expect(streaming(closeRunLog([chunk]), { showAll: true })[0]).toEqual(expected);
  });

  it("S4-20: usage, model and timing are metadata; raw frames are excluded", () => {
    const metadata = streaming(closeRunLog(everything), { showMetadata: true }).filter(
      (event) => event.type === "streaming:metadata",
    );
    expect(metadata.map((event) => event.kind)).toEqual([
      "start",
      "permission",
      "handoff",
      "notice",
      "warning",
      "result",
      "done",
    ]);
    expect(metadata[0]).toMatchObject({ model: "opus", event: { type: "start", backend: "x" } });
    expect(metadata[0]?.event).not.toHaveProperty("raw");
    expect(metadata[5]).toMatchObject({ usage: { inputTokens: 50, outputTokens: 25 }, timing: { durationMs: 12 } });
  });

  const always = ["streaming:message", "streaming:error"];
  const visibility: [Visibility, string[]][] = [
    [{}, []],
    [{ showThinking: true }, ["streaming:thinking"]],
    [{ showTools: true }, ["streaming:tool-use", "streaming:tool-result"]],
    [{ showMetadata: true }, ["streaming:metadata"]],
    [
      { showAll: true, showTools: false },
      ["streaming:thinking", "streaming:tool-use", "streaming:tool-result", "streaming:metadata"],
    ],
  ];
  it.each(visibility)("S4-32 AT-59: %o shows messages, errors and %o", (options, extra) => {
    expect(shownTypes(options)).toEqual(new Set([...always, ...extra]));
  });

  it("a sub-agent's text is not a message; its finished message is metadata", () => {
    const log = closeRunLog([
      textDelta("s", 0, "aside", "p"),
      messageItem({ id: "s", role: "assistant", blocks: [{ type: "text", text: "aside" }], parent: "p" }),
    ]);
    expect(streaming(log)).toEqual([]);
    expect(streaming(log, { showMetadata: true })[0]).toMatchObject({ kind: "message", event: { parent: "p" } });
  });

  it("retracted text is reported, always visible", () => {
    const log = closeRunLog([textDelta("m", 0, "wrong"), retractNotice({ messageId: "m" })]);
    expect(streaming(log)[1]).toEqual({
      type: "streaming:message",
      chunk: "",
      role: "assistant",
      retracted: { messageId: "m", text: "wrong" },
      timestamp: 1,
    });
  });

  it("the async form gives the same, and works on an empty stream", async () => {
    const log = closeRunLog(everything);
    const events: StreamingEvent[] = [];
    for await (const event of toStreamingEvents(log, { showAll: true })) events.push(event);
    expect(events).toEqual(streaming(log, { showAll: true }));
    expect((await toStreamingEvents([]).next()).done).toBe(true);
  });
});

describe("toStreamingResult", () => {
  const expected: StreamingResult = {
    text: "Here is the answer",
    thinking: "Analyzing...",
    toolCalls: [{ id: "t1", name: "calculate", input: { expr: "2+2" }, result: "4", success: true }],
    usage: { inputTokens: 50, outputTokens: 25 },
    errors: [{ message: "bad line", code: "json-decode" }],
  };

  it("S4-21 S4-25 S4-26: flat, filled by default, results next to their calls", async () => {
    expect(await toStreamingResult(closeRunLog(everything))).toEqual(expected);
  });

  it("S4-22: events are kept only on request, whatever is shown", async () => {
    const log = closeRunLog(everything);
    const kept = await toStreamingResult(log, { keepRawEvents: true });
    expect(kept).toEqual({ ...expected, events: streaming(log, { showAll: true }) });
  });

  it("S4-21: accumulate: false fills nothing", async () => {
    const log = closeRunLog(everything);
    expect(await toStreamingResult(log, { accumulate: false })).toEqual({});
    const kept = await toStreamingResult(log, { accumulate: false, keepRawEvents: true });
    expect(Object.keys(kept)).toEqual(["events"]);
  });

  it("S4-25: a finished run result gives the same at once", () => {
    const done = closeRunLog(everything).at(-1);
    if (done?.type !== "done") throw new Error("no done");
    const result = { ...done.result, thinking: "Analyzing..." };
    expect(toStreamingResult(result)).toEqual(expected);
    expect(toStreamingResult(result, { accumulate: false })).toEqual({});
    expectTypeOf(toStreamingResult(result)).toEqualTypeOf<StreamingResult>();
  });

  it("S4-26: a call without an answer has neither result nor success; an answer without a call is ignored", async () => {
    const log = closeRunLog([
      toolResultItem({ callId: "x", name: "x", output: 1, isError: false }),
      toolCallItem({ ...calc, input: 1, executedBy: "backend" }),
    ]).slice(0, 2);
    expect(await toStreamingResult(log)).toEqual({ toolCalls: [{ id: "t1", name: "calculate", input: 1 }] });
  });

  it("no events give an empty result; the accumulator can be read at any time", async () => {
    expect(await toStreamingResult([])).toEqual({});
    const accumulator = createStreamingResult();
    accumulator.add(asEvent(textDelta("m", 0, "a")));
    expect(accumulator.result()).toEqual({ text: "a" });
    accumulator.add(asEvent(textDelta("m", 0, "b")));
    expect(accumulator.result()).toEqual({ text: "ab" });
    accumulator.add(asEvent(retractNotice({ messageId: "m" })));
    expect(accumulator.result()).toEqual({});
  });
});
