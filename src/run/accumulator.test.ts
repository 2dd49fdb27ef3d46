import { describe, expect, it } from "vitest";
import {
  type Chunk,
  errorItem,
  messageItem,
  numberEvent,
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
import { createAccumulator } from "./accumulator.ts";

function accumulate(
  chunks: readonly Chunk[],
  ending: Parameters<ReturnType<typeof createAccumulator>["result"]>[0] = { ms: 5 },
) {
  const accumulator = createAccumulator();
  const log = chunks.map((chunk, seq) => numberEvent(chunk, seq, { ts: seq, runId: "r" }));
  for (const event of log) accumulator.add(event);
  return accumulator.result(ending, log);
}

const said = (id: string, text: string, more: object = {}): Chunk =>
  messageItem({ id, role: "assistant", blocks: [{ type: "text", text }], ...more });
const success = resultItem({ subtype: "success", isError: false, usage: {} });

describe("the accumulator", () => {
  it.each([
    ["with its counts at its end", {}, { usage: { inputTokens: 3 } }],
    ["with the same counts", { usage: { inputTokens: 3 } }, { usage: { inputTokens: 3 } }],
  ])("F-C4: a message that is emitted twice is one message, one turn and one usage: %s", (_, early, whole) => {
    const result = accumulate([said("a", "so", early), said("a", "so far", whole)]);
    expect(result).toMatchObject({ messages: [{ id: "a" }], turns: 1, usage: { inputTokens: 3 } });
    expect(result.messages).toHaveLength(1);
  });

  it("S4-21: rebuilds the result from items alone", () => {
    const items: Chunk[] = [
      startItem({ backend: "x", mode: "http", model: "m-1", sessionId: "s" }),
      messageItem({
        id: "a",
        role: "assistant",
        blocks: [
          { type: "thinking", text: "hm" },
          { type: "text", text: "Let me add. " },
          { type: "tool-call", callId: "c", name: "add", input: { a: 1 } },
        ],
        usage: { inputTokens: 10, outputTokens: 5 },
      }),
      toolCallItem({ callId: "c", name: "add", input: { a: 1 }, executedBy: "millrace" }),
      toolResultItem({ callId: "c", name: "add", output: 42, isError: false }),
      said("b", "42.", { usage: { inputTokens: 20 }, model: "m-2" }),
      resultItem({
        subtype: "success",
        isError: false,
        usage: { inputTokens: 30, outputTokens: 5 },
        costUsd: 0.5,
        turns: 2,
      }),
    ];
    const deltas: Chunk[] = [thinkingDelta("a", 0, "hm"), textDelta("a", 1, "Let me "), textDelta("a", 1, "add. ")];
    const alone = accumulate(structuredClone(items));
    expect(alone).toEqual(accumulate([...deltas, ...structuredClone(items)]));
    expect(alone).toMatchObject({
      status: "success",
      subtype: "success",
      text: "42.",
      thinking: "hm",
      toolCalls: [{ callId: "c", name: "add", input: { a: 1 }, output: 42, isError: false }],
      usage: { inputTokens: 30, outputTokens: 5 },
      costUsd: 0.5,
      turns: 2,
      model: "m-2",
      sessionId: "s",
      errors: [],
      warnings: [],
    });
    expect(alone.messages.map((message) => [message.id, message.role])).toEqual([
      ["a", "assistant"],
      ["a-results", "user"],
      ["b", "assistant"],
    ]);
  });

  it("puts tool results after the message with their calls, in the order of the calls, whenever they came", () => {
    const call = (callId: string) => ({ type: "tool-call" as const, callId, name: "t", input: {} });
    const result = accumulate([
      toolCallItem({ callId: "1", name: "t", input: {}, executedBy: "backend" }),
      toolCallItem({ callId: "2", name: "t", input: {}, executedBy: "backend" }),
      toolResultItem({ callId: "2", name: "t", output: "two", isError: false }),
      toolResultItem({ callId: "1", name: "t", output: "one", isError: true }),
      messageItem({ id: "a", role: "assistant", blocks: [call("1"), call("2")] }),
      success,
    ]);
    expect(result.messages[1]?.blocks).toEqual([
      { type: "tool-result", callId: "1", output: "one", isError: true },
      { type: "tool-result", callId: "2", output: "two", isError: false },
    ]);
  });

  it("keeps the text of an unfinished message, but never half a tool call", () => {
    const result = accumulate(
      [
        textDelta("a", 0, "half "),
        textDelta("a", 0, "an answ"),
        toolInputDelta("a", 1, { callId: "c", name: "t" }, '{"a":'),
      ],
      { ms: 1, status: "aborted", reason: "enough" },
    );
    expect(result).toMatchObject({
      status: "aborted",
      text: "half an answ",
      toolCalls: [],
      error: { code: "aborted", message: "enough" },
    });
    expect(result.messages).toEqual([{ id: "a", role: "assistant", blocks: [{ type: "text", text: "half an answ" }] }]);
  });

  it("omits what was retracted, from a block on or altogether", () => {
    expect(
      accumulate([textDelta("a", 0, "void"), retractNotice({ messageId: "a" }), said("b", "true"), success]).text,
    ).toBe("true");
    const partly = [
      textDelta("a", 0, "kept"),
      textDelta("a", 1, "void"),
      retractNotice({ messageId: "a", fromIndex: 1 }),
    ];
    expect(accumulate(partly).text).toBe("kept");
  });

  it("C2: the last verdict applies; usage and cost of all of them are added", () => {
    const result = accumulate([
      resultItem({ subtype: "error_during_execution", isError: true, usage: { outputTokens: 1 }, costUsd: 0.25 }),
      said("b", "fine"),
      resultItem({ subtype: "success", isError: false, usage: { outputTokens: 2 }, costUsd: 0.25 }),
    ]);
    expect(result).toMatchObject({ status: "success", usage: { outputTokens: 3 }, costUsd: 0.5 });
  });

  it("S1-13: a verdict may be a failure; a terminal error takes precedence over a verdict", () => {
    const failed = resultItem({ subtype: "error_max_turns", isError: true, usage: {}, text: "Reached 3 turns" });
    expect(accumulate([failed])).toMatchObject({
      status: "error",
      subtype: "error_max_turns",
      error: { code: "failed-result", message: "The run ended with error_max_turns: Reached 3 turns" },
    });
    const cut = errorItem({ code: "stream-cut", message: "cut", terminal: true });
    expect(accumulate([success, cut])).toMatchObject({
      status: "error",
      subtype: "stream-cut",
      error: { code: "stream-cut" },
    });
  });

  it("collects warnings and temporary errors without failing the run", () => {
    const result = accumulate([
      warningItem({ code: "incomplete-last-line", message: "w", context: { text: "x" } }),
      errorItem({ code: "json-decode", message: "e", terminal: false }),
      success,
    ]);
    expect(result).toMatchObject({
      status: "success",
      warnings: [{ code: "incomplete-last-line", message: "w", context: { text: "x" } }],
      errors: [{ code: "json-decode", message: "e", terminal: false }],
    });
  });

  it("excludes messages of sub-agents from text and transcript", () => {
    const result = accumulate([said("s", "inner", { parent: "c" }), said("a", "outer"), success]);
    expect(result.text).toBe("outer");
    expect(result.messages.map((message) => message.id)).toEqual(["a"]);
  });

  it("a message that is emitted again with its id replaces the first one", () => {
    const again = messageItem({
      id: "a",
      role: "assistant",
      blocks: [
        { type: "text", text: "one" },
        { type: "text", text: " two" },
      ],
    });
    expect(accumulate([said("a", "one"), again, success])).toMatchObject({ text: "one two", turns: 1 });
  });
});
