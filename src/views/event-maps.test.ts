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
  type StopReason,
  startItem,
  textDelta,
  thinkingDelta,
  toolCallItem,
  toolInputDelta,
  toolResultItem,
  warningItem,
} from "#domain";
import { closeRunLog } from "#testing";
import type { EventMap } from "./event-map.ts";
import { createEventMaps, toEventMaps } from "./event-maps.ts";

/** The maps of a run with these chunks. */
function mapsOf(...chunks: Chunk[]): EventMap[] {
  return mapsOfEvents(closeRunLog(chunks));
}

function mapsOfEvents(events: readonly AgentEvent[]): EventMap[] {
  const view = createEventMaps();
  return [...events.flatMap((event) => view.next(event)), ...view.end()];
}

const types = (maps: readonly EventMap[]): string[] => maps.map((map) => map.type);
const handoff = handoffItem({ from: "a", to: "b", message: "go" });
const bash = { callId: "c1", name: "bash" };

describe("toEventMaps", () => {
  it("S0-47..54: one message with thinking, text and a tool call, boundaries derived", () => {
    const maps = mapsOf(
      startItem({ backend: "claude-code", mode: "plain", model: "opus" }),
      thinkingDelta("m", 0, "hm"),
      textDelta("m", 1, "Hel"),
      textDelta("m", 1, "lo"),
      toolInputDelta("m", 2, bash, '{"cmd"'),
      toolInputDelta("m", 2, bash, ':"ls"}'),
      messageItem({
        id: "m",
        role: "assistant",
        blocks: [
          { type: "thinking", text: "hm" },
          { type: "text", text: "Hello" },
          { type: "tool-call", ...bash, input: { cmd: "ls" } },
        ],
        stopReason: "tool-use",
      }),
      toolCallItem({ ...bash, input: { cmd: "ls" }, executedBy: "backend" }),
      toolResultItem({ ...bash, output: "a.txt", isError: false }),
    );
    expect(maps.slice(1)).toEqual([
      { type: "message_start", model: "opus", role: "assistant", usage: {} },
      { type: "thinking_start" },
      { type: "thinking_delta", thinking: "hm" },
      { type: "content_block_stop", final_text: "" },
      { type: "text_block_start" },
      { type: "text_delta", text: "Hel", accumulated: "Hel" },
      { type: "text_delta", text: "lo", accumulated: "Hello" },
      { type: "content_block_stop", final_text: "Hello" },
      { type: "tool_use_start", name: "bash", id: "c1" },
      { type: "tool_input_delta", json: '{"cmd"' },
      { type: "tool_input_delta", json: ':"ls"}' },
      { type: "content_block_stop", final_text: "Hello" },
      { type: "message_delta", stop_reason: "tool_use", stop_sequence: null },
      { type: "message_stop", final_text: "Hello" },
      { type: "tool_complete", tool_name: "bash", result: "a.txt", accumulated: "Hello" },
    ]);
  });

  it("S0-54: accumulated restarts with each message", () => {
    const maps = mapsOf(
      textDelta("m1", 0, "first"),
      messageItem({ id: "m1", role: "assistant", blocks: [{ type: "text", text: "first" }] }),
      textDelta("m2", 0, "second"),
      messageItem({ id: "m2", role: "assistant", blocks: [{ type: "text", text: "second" }] }),
    );
    const accumulated = maps.flatMap((map) => (map.type === "text_delta" ? [map.accumulated] : []));
    expect(accumulated).toEqual(["first", "second"]);
    expect(maps.flatMap((map) => (map.type === "message_stop" ? [map.final_text] : []))).toEqual(["first", "second"]);
  });

  it("S0-40: accumulated restarts with each run of a session", () => {
    const log = closeRunLog([textDelta("m", 0, "hi")]);
    const maps = mapsOfEvents([...log, ...log]);
    expect(maps.flatMap((map) => (map.type === "text_delta" ? [map.accumulated] : []))).toEqual(["hi", "hi"]);
  });

  it("a log of items only gives the same maps, with the usage and model of the message", () => {
    const maps = mapsOf(
      messageItem({
        id: "m",
        role: "assistant",
        blocks: [
          { type: "thinking", text: "hm" },
          { type: "text", text: "Hello" },
          { type: "unknown", raw: { type: "novelty" } },
          { type: "tool-call", ...bash, input: { cmd: "ls" } },
        ],
        stopReason: "tool-use",
        usage: { inputTokens: 3, outputTokens: 5, cacheReadTokens: 7, cacheWriteTokens: 9 },
        model: "opus",
      }),
      toolCallItem({ ...bash, input: { cmd: "ls" }, executedBy: "millrace" }),
      toolResultItem({ ...bash, output: "boom", isError: true }),
    );
    expect(maps).toEqual([
      {
        type: "message_start",
        model: "opus",
        role: "assistant",
        usage: { input_tokens: 3, output_tokens: 5, cache_read_input_tokens: 7, cache_creation_input_tokens: 9 },
      },
      { type: "thinking_start" },
      { type: "thinking_delta", thinking: "hm" },
      { type: "content_block_stop", final_text: "" },
      { type: "text_block_start" },
      { type: "text_delta", text: "Hello", accumulated: "Hello" },
      { type: "content_block_stop", final_text: "Hello" },
      { type: "tool_use_start", name: "bash", id: "c1" },
      { type: "tool_input_delta", json: '{"cmd":"ls"}' },
      { type: "content_block_stop", final_text: "Hello" },
      { type: "message_delta", stop_reason: "tool_use", stop_sequence: null },
      { type: "message_stop", final_text: "Hello" },
      { type: "tool_complete", tool_name: "bash", result: "boom", is_error: true, accumulated: "Hello" },
    ]);
  });

  it("AT-13: a tool call that comes before its message is shown at once, in the message, and only once", () => {
    const maps = mapsOf(
      textDelta("m", 0, "Running: "),
      toolCallItem({ ...bash, input: {}, executedBy: "backend" }),
      toolResultItem({ ...bash, output: "ok", isError: false }),
      messageItem({
        id: "m",
        role: "assistant",
        blocks: [
          { type: "text", text: "Running: " },
          { type: "tool-call", ...bash, input: {} },
        ],
      }),
    );
    expect(types(maps)).toEqual([
      "message_start",
      "text_block_start",
      "text_delta",
      "content_block_stop",
      "tool_use_start",
      "tool_input_delta",
      "content_block_stop",
      "tool_complete",
      "message_delta",
      "message_stop",
    ]);
  });

  it("a message with only a tool call opens with the call", () => {
    const maps = mapsOf(
      toolCallItem({ ...bash, input: {}, executedBy: "backend" }),
      messageItem({ id: "m", role: "assistant", blocks: [{ type: "tool-call", ...bash, input: {} }] }),
    );
    expect(types(maps).slice(0, 6)).toEqual([
      "message_start",
      "tool_use_start",
      "tool_input_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
  });

  it("a message that began with a call is emitted from the next block on", () => {
    const maps = mapsOf(
      toolCallItem({ ...bash, input: {}, executedBy: "backend" }),
      textDelta("m1", 1, "one"),
      textDelta("m2", 0, "two"),
    );
    expect(maps.flatMap((map) => (map.type === "message_stop" ? [map.final_text] : []))).toEqual(["one", "two"]);
  });

  it("S0-59: interleaved fragments of two calls are kept distinct by their starts", () => {
    const second = { callId: "c2", name: "read" };
    const maps = mapsOf(
      toolInputDelta("m", 0, bash, "{"),
      toolInputDelta("m", 1, second, "{"),
      toolInputDelta("m", 0, bash, "}"),
    );
    const seen = maps.flatMap((map) =>
      map.type === "tool_use_start" ? [map.id] : map.type === "tool_input_delta" ? [map.json] : [],
    );
    expect(seen).toEqual(["c1", "{", "c2", "{", "c1", "}"]);
  });

  const stopReasons: [StopReason | undefined, string | null][] = [
    ["end-turn", "end_turn"],
    ["tool-use", "tool_use"],
    ["max-tokens", "max_tokens"],
    ["stop-sequence", "stop_sequence"],
    ["refusal", "refusal"],
    ["content-filter", "content_filter"],
    ["pause", "pause_turn"],
    ["unknown", null],
    [undefined, null],
  ];
  it.each(stopReasons)("S0-53: stop reason %s is %s", (stopReason, expected) => {
    const given = { id: "m", role: "assistant", blocks: [] } as const;
    const maps = mapsOf(messageItem(stopReason === undefined ? given : { ...given, stopReason }));
    expect(maps[1]).toEqual({ type: "message_delta", stop_reason: expected, stop_sequence: null });
  });

  it("S0-57: an error in the middle is an error map and the stream continues", () => {
    const maps = mapsOf(
      textDelta("m", 0, "a"),
      errorItem({ code: "json-decode", message: "bad line", terminal: false }),
      textDelta("m", 0, "b"),
    );
    expect(maps[3]).toEqual({ type: "error", error: "json-decode", message: "bad line", accumulated: "a" });
    expect(maps[4]).toEqual({ type: "text_delta", text: "b", accumulated: "ab" });
  });

  it.each(["timeout", "stalled"] as const)("S0-63 S0-64: %s is one error map 'timeout', the last one", (code) => {
    const maps = mapsOf(textDelta("m", 0, "a"), errorItem({ code, message: "silence", terminal: true }));
    expect(maps.filter((map) => map.type === "error")).toEqual([maps.at(-1)]);
    expect(maps.at(-1)).toEqual({ type: "error", error: "timeout", message: "silence", accumulated: "a" });
  });

  it("a failure that is only in the result is still an error map", () => {
    const maps = mapsOf(resultItem({ subtype: "error_max_turns", isError: true, usage: {} }));
    expect(maps.at(-1)).toMatchObject({ type: "error", error: "error_max_turns" });
  });

  it("S0-62: anything else is a message map with the item itself", () => {
    const chunks = [
      startItem({ backend: "offline", mode: "http" }),
      messageItem({ id: "u", role: "user", blocks: [{ type: "text", text: "hello" }] }),
      permissionItem({ ...bash, state: "asked", by: "user" }),
      handoff,
      noticeItem("status", {}),
      noticeItem("unknown:novelty", {}),
      warningItem({ code: "feature-ignored", message: "odd" }),
      resultItem({ subtype: "success", isError: false, usage: {} }),
    ];
    const maps = mapsOf(...chunks);
    expect(maps.map((map) => (map.type === "message" ? map.message.type : map.type))).toEqual(
      chunks.map((chunk) => chunk.type),
    );
  });

  it("S0-55: events of a sub-agent come whole and do not affect the text", () => {
    const maps = mapsOf(
      textDelta("m", 0, "main"),
      textDelta("s", 0, "aside", "c1"),
      messageItem({ id: "s", role: "assistant", blocks: [{ type: "text", text: "aside" }], parent: "c1" }),
      toolCallItem({ callId: "c2", name: "read", input: {}, executedBy: "backend", parent: "c1" }),
      toolResultItem({ callId: "c2", name: "read", output: "x", isError: false, parent: "c1" }),
      textDelta("m", 0, " text"),
    );
    expect(types(maps)).toEqual([
      "message_start",
      "text_block_start",
      "text_delta",
      "message",
      "message",
      "message",
      "text_delta",
      "content_block_stop",
      "message_stop",
    ]);
    expect(maps[3]).toMatchObject({ message: { parent: "c1" }, accumulated: "main" });
    expect(maps[6]).toMatchObject({ accumulated: "main text" });
  });

  it("a retraction of the whole message resets the text, and the message starts again", () => {
    const maps = mapsOf(
      textDelta("m", 0, "wrong"),
      retractNotice({ messageId: "m" }),
      textDelta("m", 0, "right"),
      messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "right" }] }),
    );
    expect(maps[3]).toEqual({ type: "retract", message_id: "m", from_index: 0, text: "wrong", accumulated: "" });
    expect(types(maps).slice(4, 7)).toEqual(["message_start", "text_block_start", "text_delta"]);
    expect(maps.at(-1)).toEqual({ type: "message_stop", final_text: "right" });
  });

  it("a retraction from a block on keeps the blocks before it", () => {
    const maps = mapsOf(
      textDelta("m", 0, "keep "),
      textDelta("m", 1, "wrong"),
      retractNotice({ messageId: "m", fromIndex: 1 }),
      textDelta("m", 1, "right"),
    );
    expect(maps).toContainEqual({
      type: "retract",
      message_id: "m",
      from_index: 1,
      text: "wrong",
      accumulated: "keep ",
    });
    expect(types(maps).filter((type) => type === "message_start")).toHaveLength(1);
    expect(maps.at(-1)).toEqual({ type: "message_stop", final_text: "keep right" });
  });

  it("a retraction of something that was never shown is silent", () => {
    expect(mapsOf(retractNotice({ messageId: "m" }))).toEqual([]);
  });

  it("a message that is emitted again without new content is silent", () => {
    const item = messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "a" }] });
    expect(types(mapsOf(item, item)).filter((type) => type === "message_start")).toHaveLength(1);
  });

  it("S0-61: the async form gives the same maps and ends", async () => {
    const log = closeRunLog([textDelta("m", 0, "hi")]);
    const maps: EventMap[] = [];
    for await (const map of toEventMaps(log)) maps.push(map);
    expect(maps).toEqual(mapsOfEvents(log));
  });

  it("S0-61: the async form is lazy: it reads nothing before it is pulled, and no more than needed", async () => {
    const log = closeRunLog([textDelta("m", 0, "a"), textDelta("m", 0, "b"), textDelta("m", 0, "c")]);
    let read = 0;
    const source = (async function* () {
      for (const event of log) {
        read += 1;
        yield event;
      }
    })();
    const maps = toEventMaps(source);
    await Promise.resolve();
    expect(read).toBe(0);
    for (let map = await maps.next(); map.value?.type !== "text_delta"; ) map = await maps.next();
    expect(log[read - 1]).toMatchObject({ type: "text-delta", text: "a" });
  });
});
