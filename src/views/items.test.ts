import { describe, expect, it } from "vitest";
import {
  type AgentEvent,
  type Chunk,
  errorItem,
  handoffItem,
  messageItem,
  noticeItem,
  permissionItem,
  type Raw,
  resultItem,
  retractNotice,
  startItem,
  textDelta,
  thinkingDelta,
  toolCallItem,
  toolInputDelta,
  toolResultItem,
  WARNING_CODES,
  type WarningCode,
  warningItem,
} from "#domain";
import { closeRunLog } from "#testing";
import type { StreamItem } from "./item.ts";
import { createItems, type ItemOptions, toItems } from "./items.ts";

const bash = { callId: "c1", name: "bash" };
const verdict = resultItem({ subtype: "success", isError: false, usage: {} });
const END: StreamItem = { type: "EndOfStream" };

/** The items of a run with these chunks, without the end, which is checked to be the only one. */
function itemsOf(chunks: readonly Chunk[], options?: ItemOptions): StreamItem[] {
  return withoutEnd(closeRunLog(chunks), options);
}

function withoutEnd(events: readonly AgentEvent[], options?: ItemOptions): StreamItem[] {
  const view = createItems(options);
  const items = [...events.flatMap((event) => view.next(event)), ...view.end()];
  expect(items.filter((item) => item.type === "EndOfStream")).toEqual([items.pop()]);
  return items;
}

function rawOf(json: string): Raw {
  return { json, bytes: new TextEncoder().encode(json) };
}

describe("toItems: messages", () => {
  it("S1-65 S1-119: system, assistant, user and result messages, then the end", () => {
    const items = itemsOf([
      startItem({ backend: "claude-code", mode: "plain", model: "opus", sessionId: "s", tools: ["Bash"] }),
      textDelta("m", 0, "Hi"),
      messageItem({
        id: "m",
        role: "assistant",
        blocks: [
          { type: "text", text: "Hi" },
          { type: "tool-call", ...bash, input: { a: 1 } },
        ],
        stopReason: "tool-use",
        usage: { inputTokens: 1 },
        model: "opus",
      }),
      toolCallItem({ ...bash, input: { a: 1 }, executedBy: "backend" }),
      toolResultItem({ ...bash, output: "ok", isError: false }),
      resultItem({
        subtype: "success",
        isError: false,
        text: "Hi",
        structured: { n: 1 },
        usage: { inputTokens: 1, outputTokens: 2 },
        costUsd: 0.5,
        turns: 2,
        ms: 9,
        sessionId: "s",
      }),
    ]);
    expect(items).toEqual([
      {
        type: "Message",
        message: { type: "System", subtype: "init", session_id: "s", model: "opus", tools: ["Bash"] },
      },
      {
        type: "Message",
        message: {
          type: "Assistant",
          message: {
            id: "m",
            role: "assistant",
            content: [
              { type: "TextBlock", text: "Hi" },
              { type: "ToolUseBlock", id: "c1", name: "bash", input: { a: 1 } },
            ],
            model: "opus",
            stop_reason: "tool_use",
            usage: { input_tokens: 1 },
          },
          session_id: "s",
          parent_tool_use_id: null,
        },
      },
      {
        type: "Message",
        message: {
          type: "User",
          message: {
            role: "user",
            content: [{ type: "ToolResultBlock", tool_use_id: "c1", content: "ok", is_error: false }],
          },
          session_id: "s",
          parent_tool_use_id: null,
        },
      },
      {
        type: "Message",
        message: {
          type: "Result",
          subtype: "success",
          is_error: false,
          result: "Hi",
          structured_output: { n: 1 },
          session_id: "s",
          duration_ms: 9,
          num_turns: 2,
          total_cost_usd: 0.5,
          usage: { input_tokens: 1, output_tokens: 2 },
          permission_denials: [],
        },
      },
    ]);
  });

  it("S1-123 S1-128: every kind of block has its name, an unknown one is kept whole", () => {
    const [item] = itemsOf([
      messageItem({
        id: "m",
        role: "assistant",
        blocks: [
          { type: "thinking", text: "hm", signature: "sig" },
          { type: "thinking", text: "oh" },
          { type: "tool-result", callId: "c", output: 1, isError: true },
          { type: "image", url: "u" },
          { type: "unknown", raw: { type: "novelty" } },
        ],
      }),
    ]);
    expect(item).toMatchObject({
      message: {
        message: {
          content: [
            { type: "ThinkingBlock", thinking: "hm", signature: "sig" },
            { type: "ThinkingBlock", thinking: "oh" },
            { type: "ToolResultBlock", tool_use_id: "c", content: 1, is_error: true },
            { type: "UnknownBlock", raw: { type: "image", url: "u" } },
            { type: "UnknownBlock", raw: { type: "novelty" } },
          ],
        },
      },
    });
  });

  it("S1-120: raw frames are exact, and fields we do not model come from them", () => {
    const json = '{ "type":"system", "cwd":"/w", "permissionMode":"plan", "uuid":"u", "__proto__":{"x":1}, "é":1 }';
    const raw = rawOf(json);
    const [item] = itemsOf([startItem({ backend: "claude-code", mode: "plain", raw })]);
    expect(item).toEqual({
      type: "Message",
      message: { type: "System", subtype: "init", cwd: "/w", permission_mode: "plan", uuid: "u", é: 1 },
      raw_json: json,
      raw_bytes: raw.bytes,
    });
  });

  it("S1-120: fields that only the frame has are kept; where both have them, our events take precedence", () => {
    const json = '{"type":"result","subtype":"x","num_turns":9,"usage":{},"terminal_reason":"completed","ttft_ms":5}';
    const given = { subtype: "success", isError: false, usage: { inputTokens: 1 }, turns: 2 };
    const [item] = itemsOf([resultItem({ ...given, raw: rawOf(json) })]);
    expect(item).toMatchObject({
      message: {
        subtype: "success",
        num_turns: 2,
        usage: { input_tokens: 1 },
        terminal_reason: "completed",
        ttft_ms: 5,
      },
    });
  });

  it("S1-120: a frame about something else is not presented as the message's own", () => {
    const blocks = [{ type: "text", text: "a" } as const];
    const raws = ['{"type":"user"}', '{"type":"assistant","message":{"id":"other"}}', "[1]", "no json"].map(rawOf);
    for (const raw of raws) {
      const [item] = itemsOf([messageItem({ id: "m", role: "assistant", blocks, raw })]);
      expect(item).not.toHaveProperty("raw_json");
    }
    const result = toolResultItem({ ...bash, output: "ok", isError: false, raw: rawOf('{"type":"result"}') });
    expect(itemsOf([result])[0]).not.toHaveProperty("raw_json");
    const own = rawOf('{"type":"assistant","message":{"id":"m"},"uuid":"u"}');
    const [item] = itemsOf([messageItem({ id: "m", role: "assistant", blocks, raw: own })]);
    expect(item).toMatchObject({ raw_json: own.json, message: { uuid: "u" } });
  });

  it("S1-124: tool results come once, from the item or from the user's message", () => {
    const blocks = [
      { type: "tool-result", callId: "c1", output: "ok", isError: false } as const,
      { type: "text", text: "and this" } as const,
    ];
    const result = toolResultItem({ ...bash, output: "ok", isError: false });
    const items = itemsOf([result, messageItem({ id: "u", role: "user", blocks }), result]);
    expect(
      items.map((item) =>
        item.type === "Message" && item.message.type === "User" ? item.message.message.content : item,
      ),
    ).toEqual([
      [{ type: "ToolResultBlock", tool_use_id: "c1", content: "ok", is_error: false }],
      [{ type: "TextBlock", text: "and this" }],
    ]);
    const first = blocks.slice(0, 1);
    expect(itemsOf([result, messageItem({ id: "u", role: "user", blocks: first })])).toHaveLength(1);
  });

  it.each([true, false])("S1-125: a result states whether it is an error: %s", (isError) => {
    const [item] = itemsOf([resultItem({ subtype: "success", isError, usage: {} })]);
    expect(item).toMatchObject({ type: "Message", message: { type: "Result", is_error: isError } });
  });

  it("S1-125: denied calls are in the next result", () => {
    const items = itemsOf([
      permissionItem({ ...bash, state: "asked", by: "user" }),
      permissionItem({ ...bash, state: "denied", by: "rule", input: { a: 1 } }),
      permissionItem({ callId: "c2", name: "read", state: "denied", by: "rule" }),
      verdict,
      verdict,
    ]);
    expect(items.map((item) => item.type === "Message" && item.message)).toMatchObject([
      {
        permission_denials: [
          { tool_name: "bash", tool_use_id: "c1", tool_input: { a: 1 } },
          { tool_name: "read", tool_use_id: "c2", tool_input: null },
        ],
      },
      { permission_denials: [] },
    ]);
  });

  it("S1-122: a sub-agent's messages name their parent", () => {
    const [item] = itemsOf([messageItem({ id: "s", role: "assistant", blocks: [], parent: "c1" })]);
    expect(item).toMatchObject({ message: { parent_tool_use_id: "c1" } });
  });

  it("notices and handoffs are system messages; a retraction matters only to readers of deltas", () => {
    const handoff = handoffItem({ from: "a", to: "b", message: "go" });
    const chunks = [noticeItem("status", { status: "x" }), handoff, retractNotice({ messageId: "m" })];
    expect(itemsOf(chunks)).toEqual([
      { type: "Message", message: { type: "System", subtype: "status", data: { status: "x" } } },
      {
        type: "Message",
        message: { type: "System", subtype: "handoff", data: { from: "a", to: "b", message: "go" } },
      },
    ]);
    expect(itemsOf(chunks, { partialMessages: true })).toHaveLength(3);
  });

  it("S0-24 S1-15: deltas appear only on request", () => {
    const chunks = [textDelta("m", 0, "a"), thinkingDelta("m", 1, "b", "c1"), toolInputDelta("m", 2, bash, "{")];
    expect(itemsOf(chunks)).toEqual([]);
    const items = itemsOf(chunks, { partialMessages: true });
    expect(items.map((item) => item.type === "Message" && item.message)).toEqual([
      {
        type: "StreamEvent",
        event: { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "a" } },
        message_id: "m",
        parent_tool_use_id: null,
      },
      {
        type: "StreamEvent",
        event: { type: "content_block_delta", index: 1, delta: { type: "thinking_delta", thinking: "b" } },
        message_id: "m",
        parent_tool_use_id: "c1",
      },
      {
        type: "StreamEvent",
        event: { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: "{" } },
        message_id: "m",
        parent_tool_use_id: null,
      },
    ]);
  });
});

describe("toItems: warnings and errors", () => {
  it("S1-135 S1-136: every warning has its canonical name", () => {
    const names = WARNING_CODES.map((code) => {
      const [item] = itemsOf([warningItem({ code, message: "odd" })]);
      return item?.type === "WarningEvent" ? item.warning.code : undefined;
    });
    const pascal = (code: WarningCode) => code.replace(/(^|-)(.)/g, (_, _dash, letter: string) => letter.toUpperCase());
    expect(names).toEqual(WARNING_CODES.map(pascal));
  });

  it("S1-79 S1-59: a warning has the exit code, or the line it is about", () => {
    const items = itemsOf([
      warningItem({ code: "non-zero-exit-after-result", message: "m", context: { exitCode: 3 }, expected: true }),
      warningItem({ code: "incomplete-last-line", message: "m", context: { text: '{"a' } }),
      warningItem({ code: "option-ignored", message: "m", context: ["x"] }),
    ]);
    expect(items.map((item) => item.type === "WarningEvent" && item.warning)).toEqual([
      { code: "NonZeroExitAfterResult", message: "m", context: '{"exitCode":3}', exit_code: 3, expected: true },
      { code: "IncompleteLastLine", message: "m", context: '{"a' },
      { code: "OptionIgnored", message: "m", context: '["x"]' },
    ]);
  });

  const raw = rawOf('{"type":"novelty"}');
  const errorRows: [string, Chunk, StreamItem][] = [
    [
      "S1-72 a line that is not JSON",
      errorItem({ code: "json-decode", message: "bad", terminal: false, diagnostic: { seen: "oops" } }),
      { type: "JsonDecodeError", line: "oops", error: "bad" },
    ],
    [
      "S1-51 a line that is not UTF-8",
      errorItem(
        { code: "utf8-decode", message: "bad", terminal: false },
        { raw: { json: "", bytes: new Uint8Array([195]) } },
      ),
      { type: "Utf8DecodeError", raw_bytes: new Uint8Array([195]) },
    ],
    [
      "a skipped line that was too long",
      errorItem({ code: "line-too-long", message: "long", terminal: false }),
      { type: "JsonDecodeError", line: "", error: "long" },
    ],
    [
      "S1-73 C27 an unknown frame",
      noticeItem("unknown:novelty", {}, { raw }),
      { type: "UnexpectedMessageError", raw_json: raw.json },
    ],
    [
      "C27 an unknown frame whose bytes were not kept",
      noticeItem("unknown:novelty", { type: "novelty" }),
      { type: "UnexpectedMessageError", raw_json: raw.json },
    ],
    [
      "an unexpected message",
      errorItem({ code: "unexpected-message", message: "m", terminal: false }, { raw }),
      { type: "UnexpectedMessageError", raw_json: raw.json },
    ],
    [
      "an error the run survived and the document has no name for",
      errorItem({ code: "provider-error", message: "m", terminal: false }),
      { type: "UnexpectedMessageError", raw_json: '{"type":"error","code":"provider-error","message":"m"}' },
    ],
    [
      "S1-84 a line over the limit",
      errorItem({ code: "buffer-overflow", message: "m", terminal: true, diagnostic: { limitBytes: 10 } }),
      { type: "BufferOverflow", limit_bytes: 10 },
    ],
    [
      "S1-53 five bad lines",
      errorItem({ code: "too-many-decode-errors", message: "last", terminal: true, diagnostic: { count: 5 } }),
      { type: "TooManyDecodeErrors", count: 5, last_error: "last" },
    ],
    [
      "S1-74 S1-131 a failed process",
      errorItem({
        code: "process-exited",
        message: "exited",
        terminal: true,
        diagnostic: {
          exitCode: 1,
          hint: "Authentication required",
          troubleshooting: "Log in.",
          stdoutWasEmpty: true,
          lastNonJsonLine: "x",
          stderrTail: "err",
        },
      }),
      {
        type: "ProcessError",
        exit_code: 1,
        code: "process-exited",
        diagnostic: {
          last_non_json_line: "x",
          stdout_was_empty: true,
          exit_code_hint: "Authentication required",
          troubleshooting: "Log in.",
          stderr_tail: "err",
        },
      },
    ],
    [
      "S1-44 any other end",
      errorItem({ code: "aborted", message: "stopped", terminal: true }),
      {
        type: "ProcessError",
        exit_code: null,
        code: "aborted",
        diagnostic: { stdout_was_empty: false, exit_code_hint: "stopped", troubleshooting: "" },
      },
    ],
  ];
  it.each(errorRows)("S1-130: %s", (_, chunk, expected) => {
    expect(itemsOf([chunk])).toEqual([expected]);
  });

  it("S1-75 C10: a clean exit without a result is one warning, not an error", () => {
    const cut = errorItem({ code: "no-result", message: "stdout was empty", terminal: true });
    expect(itemsOf([cut])).toEqual([
      { type: "WarningEvent", warning: { code: "CleanExitNoResult", message: "stdout was empty" } },
    ]);
    expect(itemsOf([warningItem({ code: "clean-exit-no-result", message: "m" }), cut])).toHaveLength(1);
  });

  it("S1-77 S1-86: after the result there are warnings, no errors", () => {
    const items = itemsOf([
      verdict,
      noticeItem("unknown:novelty", {}, { raw }),
      errorItem({ code: "json-decode", message: "bad", terminal: false }, { raw: rawOf("oops") }),
      noticeItem("session-state-changed", {}),
    ]);
    expect(items.slice(1).map((item) => (item.type === "WarningEvent" ? item.warning.context : item.type))).toEqual([
      raw.json,
      "oops",
      "Message",
    ]);
  });

  it("C2: with a further turn the stream is back to normal", () => {
    const items = itemsOf([
      verdict,
      messageItem({ id: "m", role: "assistant", blocks: [] }),
      noticeItem("unknown:novelty", {}, { raw }),
      verdict,
    ]);
    expect(items.map((item) => item.type)).toEqual(["Message", "Message", "UnexpectedMessageError", "Message"]);
  });

  it("S1-90: a failed result is a message, and not an error as well", () => {
    const failed = resultItem({ subtype: "error_max_turns", isError: true, usage: {} });
    const error = errorItem({ code: "failed-result", message: "m", terminal: true });
    expect(itemsOf([failed, error]).map((item) => item.type)).toEqual(["Message"]);
    expect(itemsOf([error]).map((item) => item.type)).toEqual(["ProcessError"]);
  });

  it("S1-69: warnings from the start come first", () => {
    const items = itemsOf([warningItem({ code: "unparseable-cli-version", message: "m" }), verdict]);
    expect(items.map((item) => item.type)).toEqual(["WarningEvent", "Message"]);
  });
});

describe("toItems: the end", () => {
  it("S1-66 S1-83: exactly one end, also for an empty or incomplete log, and nothing after it", () => {
    const log = closeRunLog([verdict]);
    expect(withoutEnd([])).toEqual([]);
    expect(withoutEnd(log.slice(0, 1))).toHaveLength(1);
    expect(withoutEnd([...log, ...log])).toHaveLength(1);
  });

  it("S1-63: the async form gives the same, one by one", async () => {
    const items: StreamItem[] = [];
    for await (const item of toItems(closeRunLog([verdict]))) items.push(item);
    expect(items).toEqual([...itemsOf([verdict]), END]);
  });
});
