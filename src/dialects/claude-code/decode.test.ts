import type { Chunk, EventOf } from "#domain";
import type { DataFrame } from "#wire";
import { describe, expect, test } from "vitest";
import { createDecoder } from "../shared/decoder.ts";
import type { AdapterOptions } from "../shared/format.ts";
import { claudeCode } from "./decode.ts";
import { FRAME_NOTICES, SYSTEM_NOTICES } from "./notices.ts";

function frame(value: unknown): DataFrame {
  const text = JSON.stringify(value);
  return { kind: "data", name: "", id: "", text, value };
}

function decode(values: readonly unknown[], options: AdapterOptions = {}): Chunk[] {
  return claudeCode.createAdapter(options).feed(values.map(frame));
}

/** Chunks without their envelopes. */
function bare(chunks: readonly Chunk[]): Record<string, unknown>[] {
  return chunks.map(({ raw: _, ...rest }) => rest);
}

function ofType<Type extends Chunk["type"]>(chunks: readonly Chunk[], type: Type): EventOf<Type>[] {
  return chunks.filter((chunk): chunk is Chunk & EventOf<Type> => chunk.type === type);
}

/** One line per chunk: enough to see the order and the ids. */
function outline(chunks: readonly Chunk[]): string[] {
  return chunks.map((chunk) => {
    switch (chunk.type) {
      case "text-delta":
      case "thinking-delta":
        return `${chunk.messageId}[${chunk.index}] ${chunk.text}`;
      case "tool-input-delta":
        return `${chunk.messageId}[${chunk.index}] ${chunk.json}`;
      case "message":
        return `message ${chunk.id} ${chunk.blocks.map((block) => ("text" in block ? block.text : block.type)).join("|")}`;
      case "notice":
        return chunk.kind === "retract" ? `retract ${JSON.stringify(chunk.data)}` : `notice ${chunk.kind}`;
      case "tool-call":
      case "tool-result":
        return `${chunk.type} ${chunk.callId}`;
      default:
        return chunk.type;
    }
  });
}

const PARENT = "call_agent";
const TEXT = { type: "text", text: "" };
const call = (id: string, input: unknown = {}, name = "Bash") => ({ type: "tool_use", id, name, input });

function assistant(id: string, block: unknown, more: { parent?: string; [field: string]: unknown } = {}) {
  const { parent = null, ...head } = more;
  const message = { id, model: "model-1", stop_reason: null, usage: { input_tokens: 5, output_tokens: 1 }, ...head };
  return { type: "assistant", message: { ...message, content: [block] }, parent_tool_use_id: parent, uuid: `u-${id}` };
}

function user(content: unknown, more: { parent?: string; [field: string]: unknown } = {}) {
  const { parent = null, ...fields } = more;
  return { type: "user", message: { role: "user", content }, parent_tool_use_id: parent, uuid: "user-uuid", ...fields };
}

const answer = (id: string, content: unknown = "ok", is_error?: boolean) => [
  { type: "tool_result", tool_use_id: id, content, ...(is_error !== undefined && { is_error }) },
];

function streamed(event: unknown, more: Record<string, unknown> = {}) {
  return { type: "stream_event", event, parent_tool_use_id: null, ...more };
}

const begin = (id: string) =>
  streamed({ type: "message_start", message: { id, model: "model-1", usage: { input_tokens: 5, output_tokens: 1 } } });
const open = (index: number, content_block: unknown) => streamed({ type: "content_block_start", index, content_block });
const delta = (index: number, change: unknown) => streamed({ type: "content_block_delta", index, delta: change });
const text = (index: number, piece: string) => delta(index, { type: "text_delta", text: piece });
const json = (index: number, piece: string) => delta(index, { type: "input_json_delta", partial_json: piece });
const close = (index: number) => streamed({ type: "content_block_stop", index });
const end = (stop_reason: unknown) =>
  streamed({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 9 } });
const stop = (more: Record<string, unknown> = {}) => streamed({ type: "message_stop" }, more);
const result = { type: "result", subtype: "success", is_error: false, result: "done" };
const init = {
  type: "system",
  subtype: "init",
  model: "model-1",
  session_id: "s-1",
  tools: ["Bash", "mcp__ours__add"],
};

const ownTool = (name: string) => (name.startsWith("mcp__ours__") ? name.slice("mcp__ours__".length) : undefined);

describe("S1-121: init", () => {
  test("the first is a start item, a later one is a notice", () => {
    expect(bare(decode([init, init], { ownTool }))).toEqual([
      {
        type: "start",
        backend: "claude-code",
        mode: "plain",
        model: "model-1",
        sessionId: "s-1",
        tools: ["Bash", "add"],
      },
      { type: "notice", kind: "init", data: init },
    ]);
  });

  test("S1-22: the mode comes from the options, and every field except the subtype is optional", () => {
    const chunks = decode([{ type: "system", subtype: "init" }], { mode: "control" });
    expect(bare(chunks)).toEqual([{ type: "start", backend: "claude-code", mode: "control" }]);
  });
});

describe("S1-122 S1-123: messages without stream events", () => {
  test("C18: a block is shown at once; the message is emitted when the turn continues", () => {
    const values = [
      assistant("m1", { type: "thinking", thinking: "hm", signature: "s" }),
      assistant("m1", { type: "text", text: "Hi" }),
      assistant("m1", { type: "mystery", x: 1 }),
      assistant("m1", call("c1", { a: 1 })),
      user(answer("c1")),
    ];
    expect(bare(decode(values))).toEqual([
      { type: "thinking-delta", messageId: "m1", index: 0, text: "hm" },
      { type: "text-delta", messageId: "m1", index: 1, text: "Hi" },
      {
        type: "message",
        id: "m1",
        role: "assistant",
        blocks: [
          { type: "thinking", text: "hm", signature: "s", vendor: "anthropic" },
          { type: "text", text: "Hi" },
          { type: "unknown", raw: { type: "mystery", x: 1 } },
          { type: "tool-call", callId: "c1", name: "Bash", input: { a: 1 } },
        ],
        usage: { inputTokens: 5, outputTokens: 1 },
        model: "model-1",
      },
      { type: "tool-call", callId: "c1", name: "Bash", input: { a: 1 }, executedBy: "backend" },
      { type: "tool-result", callId: "c1", name: "Bash", output: "ok", isError: false },
    ]);
  });

  const moved: [string, unknown[], string[]][] = [
    ["a message of another id", [assistant("m2", { type: "text", text: "b" })], ["message m1 a", "m2[0] b"]],
    ["a result", [result], ["message m1 a", "result"]],
    ["an init", [init], ["message m1 a", "start"]],
    ["a user's text", [user("stop")], ["message m1 a", "message user-uuid stop"]],
    ["an echo of the user's text does not", [user("again", { isReplay: true })], ["message user-uuid again"]],
    ["a message_start", [begin("m2")], ["message m1 a"]],
  ];
  test.each(moved)("the turn continues with %s", (_, values, expected) => {
    const chunks = decode([assistant("m1", { type: "text", text: "a" }), ...values]);
    expect(outline(chunks)).toEqual(["m1[0] a", ...expected]);
  });

  test("F-C4: the end of a whole message is not marked, so each call is emitted at once, after the message so far", () => {
    const values = [assistant("m1", call("c1")), assistant("m1", call("c2")), user(answer("c2")), user(answer("c1"))];
    expect(outline(decode(values))).toEqual([
      ...["message m1 tool-call", "tool-call c1", "message m1 tool-call|tool-call", "tool-call c2"],
      ...["tool-result c2", "tool-result c1"],
    ]);
  });

  test("after a late block the message is emitted again with all blocks", () => {
    const values = [
      assistant("m1", call("c1")),
      user(answer("c1")),
      assistant("m1", { type: "text", text: "late" }),
      result,
    ];
    expect(outline(decode(values))).toEqual([
      ...[
        "message m1 tool-call",
        "tool-call c1",
        "tool-result c1",
        "m1[1] late",
        "message m1 tool-call|late",
        "result",
      ],
    ]);
  });

  test("a real stop reason and usage in the frame are used", () => {
    const more = { stop_reason: "end_turn", usage: { input_tokens: 7, output_tokens: 8 } };
    const [, message] = decode([assistant("m1", { type: "text", text: "a" }, more), result]);
    expect(message).toMatchObject({ stopReason: "end-turn", usage: { inputTokens: 7, outputTokens: 8 } });
  });

  test("F-F: a message that the CLI wrote itself names no model", () => {
    const [, message] = decode([assistant("m1", { type: "text", text: "a" }, { model: "<synthetic>" }), result]);
    expect(message).toMatchObject({ type: "message", role: "assistant" });
    expect(message).not.toHaveProperty("model");
  });

  test("an id that returns in a later turn is another message", () => {
    const values = [
      assistant("m1", { type: "text", text: "a" }),
      result,
      assistant("m1", { type: "text", text: "b" }),
      result,
    ];
    expect(ofType(decode(values), "message").map(({ id }) => id)).toEqual(["m1", "m1#2"]);
  });
});

describe("S0-55 C1: messages with stream events", () => {
  test("S3-11 S3-15: text is shown by deltas only, and emitted at message_stop with the final usage", () => {
    const values = [
      ...[begin("m1"), open(0, TEXT), text(0, "He"), text(0, ""), text(0, "llo")],
      ...[assistant("m1", { type: "text", text: "Hello" }), close(0), end("end_turn"), stop()],
    ];
    expect(bare(decode(values))).toEqual([
      { type: "text-delta", messageId: "m1", index: 0, text: "He" },
      { type: "text-delta", messageId: "m1", index: 0, text: "llo" },
      {
        type: "message",
        id: "m1",
        role: "assistant",
        blocks: [{ type: "text", text: "Hello" }],
        stopReason: "end-turn",
        usage: { inputTokens: 5, outputTokens: 9 },
        model: "model-1",
      },
    ]);
  });

  test("S3-13 F-C4: a call is emitted after its message, and its answer after the call, even if it arrived earlier", () => {
    const values = [
      ...[begin("m1"), open(0, call("c1")), json(0, '{"a":'), json(0, "1}"), assistant("m1", call("c1", { a: 1 }))],
      ...[close(0), user(answer("c1")), end("tool_use"), stop()],
    ];
    expect(outline(decode(values))).toEqual([
      ...['m1[0] {"a":', "m1[0] 1}", "message m1 tool-call", "tool-call c1", "tool-result c1"],
    ]);
  });

  const corrected: [string, unknown[], unknown, string[]][] = [
    ["the missing rest is shown", [text(0, "He")], "Hello", ["m1[0] He", "m1[0] llo"]],
    ["a wrong text is taken back", [text(0, "Ha")], "Hello", ["m1[0] Ha", 'retract {"messageId":"m1"}', "m1[0] Hello"]],
    ["a text nobody saw is shown", [], "Hello", ["m1[0] Hello"]],
    ["an empty one takes back all", [text(0, "Ha")], "", ["m1[0] Ha", 'retract {"messageId":"m1"}']],
  ];
  test.each(corrected)("C18: the frame is authoritative: %s", (_, deltas, truth, expected) => {
    const values = [begin("m1"), open(0, TEXT), ...deltas, assistant("m1", { type: "text", text: truth })];
    const chunks = decode([...values, close(0), end("end_turn"), stop()]);
    expect(outline(chunks)).toEqual([...expected, `message m1 ${String(truth)}`]);
  });

  test("an input that the CLI changed replaces the one that was shown", () => {
    const values = [begin("m1"), open(0, TEXT), text(0, "a"), assistant("m1", { type: "text", text: "a" }), close(0)];
    values.push(open(1, call("c1")), json(1, '{"a":1}'), assistant("m1", call("c1", { a: 2 })));
    expect(outline(decode([...values, close(1), end("tool_use"), stop()]))).toEqual([
      ...["m1[0] a", 'm1[1] {"a":1}', 'retract {"messageId":"m1","fromIndex":1}', 'm1[1] {"a":2}'],
      ...["message m1 a|tool-call", "tool-call c1"],
    ]);
  });

  test("arguments that are not JSON are emitted as text", () => {
    const packed = call("c1", { __unparsedToolInput: { raw: '{"a": ', len: 6 } });
    const shown = decode([begin("m1"), open(0, call("c1")), json(0, '{"a": "b'), assistant("m1", packed), stop()]);
    expect(ofType(shown, "tool-call")).toMatchObject([{ input: '{"a": "b' }]);
    expect(ofType(decode([assistant("m1", packed)]), "tool-call")).toMatchObject([{ input: '{"a": ' }]);
  });

  test("a block without a frame counts if its message was closed properly", () => {
    const values = [begin("m1"), open(0, TEXT), text(0, "a"), close(0), open(1, call("c1")), json(1, "{}"), close(1)];
    expect(outline(decode([...values, end("tool_use"), stop()]))).toEqual([
      ...["m1[0] a", "m1[1] {}", "message m1 a|tool-call", "tool-call c1"],
    ]);
  });

  test("a message without blocks is still a message", () => {
    expect(outline(decode([begin("m1"), end("end_turn"), stop()]))).toEqual(["message m1 "]);
  });

  test("a note from the CLI between the last block and the end does not break the stream", () => {
    const values = [begin("m1"), open(0, TEXT), text(0, "a"), assistant("m1", { type: "text", text: "a" }), close(0)];
    const note = assistant("note", { type: "text", text: "API Error" });
    const chunks = decode([...values, note, end("refusal"), stop(), result]);
    expect(outline(chunks)).toEqual([
      ...["m1[0] a", "note[0] API Error", "message m1 a", "message note API Error", "result"],
    ]);
    expect(ofType(chunks, "message")[0]).toMatchObject({ stopReason: "refusal" });
  });

  test("an interrupted message comes before the note about it, and is emitted once", () => {
    const values = [begin("m1"), open(0, TEXT), text(0, "a"), assistant("m1", { type: "text", text: "a" })];
    const abandoned = { abandoned_blocks: { api_message_id: "m1", from_block_index: 1 } };
    const chunks = decode([...values, user("[interrupted]"), close(0), end(null), stop(abandoned), result]);
    expect(outline(chunks)).toEqual(["m1[0] a", "message m1 a", "message user-uuid [interrupted]", "result"]);
    // The closing message_delta of the CLI has no stop reason, and its counts are placeholders.
    expect(ofType(chunks, "message")[0]).toMatchObject({ usage: { inputTokens: 5, outputTokens: 1 } });
  });
});

describe("messages that continue after they were emitted", () => {
  const said = [begin("m1"), open(0, TEXT), text(0, "a"), assistant("m1", { type: "text", text: "a" }), close(0)];

  test("a late stop reason is emitted with the message again", () => {
    const messages = ofType(decode([...said, user("hm"), end("end_turn"), stop()]), "message");
    expect(messages.map(({ id, stopReason }) => [id, stopReason])).toEqual([
      ["m1", undefined],
      ["user-uuid", undefined],
      ["m1", "end-turn"],
    ]);
  });

  test("a late block does not restore the counts from the beginning of the message", () => {
    const late = assistant("m1", { type: "text", text: "b" });
    const messages = ofType(decode([...said, end("end_turn"), stop(), late, result]), "message");
    expect(messages.map(({ blocks, usage, stopReason }) => [blocks.length, usage?.outputTokens, stopReason])).toEqual([
      [1, 9, "end-turn"],
      [2, 9, "end-turn"],
    ]);
  });

  test("a message that begins again after it was emitted is another message", () => {
    const again = [...said, end("end_turn"), stop()];
    const messages = ofType(decode([...said, user("hm"), ...again]), "message");
    expect(messages.map(({ id }) => id)).toEqual(["m1", "user-uuid", "m1#2"]);
  });

  test("without a stop reason, the final counts of the CLI are placeholders", () => {
    const abandoned = { abandoned_blocks: { api_message_id: "m1", from_block_index: 1 } };
    const [message] = ofType(decode([...said, end(null), stop(abandoned)]), "message");
    expect(message?.usage).toEqual({ inputTokens: 5, outputTokens: 1 });
  });
});

describe("streams that break", () => {
  const shown = [begin("m1"), open(0, TEXT), text(0, "a")];
  const finished = [...shown, assistant("m1", { type: "text", text: "a" }), close(0)];
  const second = [...finished, open(1, TEXT), text(1, "b")];
  const abandoned = (from: unknown) => stop({ abandoned_blocks: { api_message_id: "m1", from_block_index: from } });
  const void0 = 'retract {"messageId":"m1"}';
  const void1 = 'retract {"messageId":"m1","fromIndex":1}';

  const cases: [string, unknown[], string[]][] = [
    ["abandoned from the first block", [...shown, close(0), abandoned(0)], ["m1[0] a", void0]],
    ["abandoned without saying where", [...shown, close(0), abandoned(null)], ["m1[0] a", void0]],
    [
      "abandoned behind a finished block",
      [...second, close(1), abandoned(1)],
      ["m1[0] a", "m1[1] b", void1, "message m1 a"],
    ],
    [
      "abandoned although its frame was seen",
      [...second, assistant("m1", { type: "text", text: "b" }), close(1), abandoned(1)],
      ["m1[0] a", "m1[1] b", void1, "message m1 a"],
    ],
    ["2.1.197: a new message_start", [...shown, begin("m2")], ["m1[0] a", void0]],
    [
      "2.1.197: a frame of another message",
      [...second, assistant("m2", { type: "text", text: "c" })],
      ["m1[0] a", "m1[1] b", void1, "message m1 a", "m2[0] c"],
    ],
    ["2.1.197: a result", [...second, result], ["m1[0] a", "m1[1] b", void1, "message m1 a", "result"]],
    ["the same message from the beginning", [...second, ...finished], ["m1[0] a", "m1[1] b", void0, "m1[0] a"]],
    ["nothing was shown", [begin("m1"), open(0, TEXT), abandoned(0)], []],
    [
      "a call without its arguments",
      [begin("m1"), open(0, call("c1")), json(0, '{"a'), close(0), abandoned(0)],
      ['m1[0] {"a', void0],
    ],
  ];
  test.each(cases)("%s: unfinished output is retracted", (_, values, expected) => {
    expect(outline(decode(values))).toEqual(expected);
  });

  test("C2 S3-17: the end of the stream closes everything, and is an error without a result", () => {
    const adapter = claudeCode.createAdapter();
    adapter.feed(second.map(frame));
    expect(outline(adapter.flush())).toEqual([void1, "message m1 a", "error"]);
    expect(adapter.flush()).toEqual([]);
    adapter.reset();
    expect(adapter.feed([frame(result)])).toHaveLength(1);
    expect(adapter.flush()).toEqual([]);
  });

  test("the id of a message that was never completed may be used again", () => {
    const again = [...finished, end("end_turn"), stop()];
    expect(outline(decode([...shown, abandoned(0), ...again])).at(-1)).toBe("message m1 a");
  });

  test("blocks after a lost one move up and are shown again", () => {
    const values: unknown[] = [begin("m1"), open(0, TEXT), text(0, "lost"), open(1, call("c1")), json(1, "{}")];
    values.push(assistant("m1", call("c1")), close(1), result);
    expect(outline(decode(values))).toEqual([
      ...["m1[0] lost", "m1[1] {}", void0, "m1[0] {}", "message m1 tool-call", "tool-call c1", "result"],
    ]);
  });

  test("an error event inside the stream is a non-terminal error", () => {
    const [error] = decode([streamed({ type: "error", error: { type: "overloaded_error", message: "Busy" } })]);
    expect(error).toMatchObject({ type: "error", code: "provider-overloaded", terminal: false, message: "Busy" });
  });
});

describe("F-C4: while a message is being written, its calls and everything about them are held back", () => {
  const RUNNING = [begin("m1"), open(0, call("c1")), json(0, "{}"), assistant("m1", call("c1")), close(0)];
  const REST = [open(1, call("c2")), json(1, "{}"), assistant("m1", call("c2")), close(1), end("tool_use"), stop()];
  const SHOWN = ["m1[0] {}", "m1[1] {}", "message m1 tool-call|tool-call", "tool-call c1", "tool-call c2"];
  const SUB = { parent: "c1" };
  const system = (subtype: string, more: object) => ({ type: "system", subtype, tool_use_id: "c1", ...more });

  const about: [string, unknown, string][] = [
    ["an answer", user(answer("c1")), "tool-result c1"],
    ["a denial", system("permission_denied", { tool_name: "Bash" }), "permission"],
    ["a notice", system("task_started", {}), "notice task"],
    ["progress", { type: "tool_progress", tool_use_id: "c1" }, "notice tool-progress"],
    ["what its sub-agent was asked", user("go", SUB), "message user-uuid go"],
  ];
  test.each(about)("%s", (_, value, line) => {
    expect(outline(decode([...RUNNING, value, ...REST]))).toEqual([...SHOWN, line]);
    // A cut stream reports everything, too.
    const cut = outline(decode([...RUNNING, value]));
    expect(cut).toEqual(["m1[0] {}"]);
    const adapter = claudeCode.createAdapter();
    adapter.feed([...RUNNING, value].map(frame));
    expect(outline(adapter.flush())).toEqual(["message m1 tool-call", "tool-call c1", line, "error"]);
  });

  test("output of a sub-agent is not delayed: the message is emitted so far, and again at its end", () => {
    const opened = [open(1, call("c2")), json(1, '{"a"')];
    const sub = assistant("s1", { type: "text", text: "sub" }, SUB);
    const rest = [json(1, ":1}"), assistant("m1", call("c2", { a: 1 })), close(1), end("tool_use"), stop()];
    const chunks = decode([...RUNNING, ...opened, sub, ...rest]);
    expect(outline(chunks)).toEqual([
      ...["m1[0] {}", 'm1[1] {"a"', 'retract {"messageId":"m1","fromIndex":1}', "message m1 tool-call"],
      ...["tool-call c1", 'm1[1] {"a"', "s1[0] sub", "m1[1] :1}", "message m1 tool-call|tool-call", "tool-call c2"],
    ]);
    // The counts and the stop reason come from its end.
    const [early, whole] = ofType(chunks, "message");
    expect([early?.usage, early?.stopReason]).toEqual([undefined, undefined]);
    expect(whole).toMatchObject({ usage: { inputTokens: 5, outputTokens: 9 }, stopReason: "tool-use" });
  });

  const told: [string, unknown[], string[]][] = [
    ["between two blocks", [], ["message m1 tool-call", "tool-call c1"]],
    ["behind an empty text without a frame", [open(1, TEXT), close(1)], ["message m1 tool-call|", "tool-call c1"]],
    [
      "in the middle of a block",
      [open(1, TEXT), text(1, "a")],
      ['retract {"messageId":"m1","fromIndex":1}', "message m1 tool-call", "tool-call c1", "m1[1] a"],
    ],
  ];
  test.each(told)("a caller that cannot wait gets the message emitted %s", (_, values, expected) => {
    const adapter = claudeCode.createAdapter();
    adapter.feed([...RUNNING, ...values].map(frame));
    expect([adapter.isWaiting("c1"), adapter.isWaiting("c2")]).toEqual([true, false]);
    expect(outline(adapter.emitNow("c1"))).toEqual(expected);
    expect(adapter.isWaiting("c1")).toBe(false);
    expect(adapter.emitNow("c1")).toEqual([]);
  });

  test("an unfinished block before the call is retracted", () => {
    const adapter = claudeCode.createAdapter();
    adapter.feed(
      [begin("m1"), open(0, TEXT), text(0, "lost"), open(1, call("c1")), assistant("m1", call("c1"))].map(frame),
    );
    expect(outline(adapter.emitNow("c1"))).toEqual([
      ...['retract {"messageId":"m1"}', "message m1 tool-call", "tool-call c1"],
    ]);
  });

  test("the calls of a message that begins again come after its second beginning", () => {
    const again = [begin("m1"), open(0, call("c1")), json(0, "{}"), assistant("m1", call("c1")), close(0)];
    expect(outline(decode([...RUNNING, user(answer("c1")), ...again, end("tool_use"), stop()]))).toEqual([
      ...["m1[0] {}", 'retract {"messageId":"m1"}', "m1[0] {}", "message m1 tool-call", "tool-call c1"],
      "tool-result c1",
    ]);
  });

  test("a call whose frame arrived is kept, even if its stream was abandoned", () => {
    const abandoned = stop({ abandoned_blocks: { from_block_index: 0 } });
    expect(outline(decode([...RUNNING, abandoned]))).toEqual(["m1[0] {}", "message m1 tool-call", "tool-call c1"]);
  });

  test("the number of chunks held for a call is bounded", () => {
    const progress = Array.from({ length: 300 }, () => ({ type: "tool_progress", tool_use_id: "c1" }));
    const lines = outline(decode([...RUNNING, ...progress]));
    expect(lines.slice(0, 3)).toEqual(["m1[0] {}", "message m1 tool-call", "tool-call c1"]);
    expect(lines).toHaveLength(303);
  });

  test("each chunk keeps the frame it came from", () => {
    const decoder = createDecoder(claudeCode, { keepRaw: true });
    const values = [...RUNNING, user(answer("c1")), end("tool_use"), stop()];
    const lines = values.map((value) => `${JSON.stringify(value)}\n`).join("");
    const chunks = decoder.push(new TextEncoder().encode(lines));
    const kinds = chunks.map(({ type, raw }) => [type, (JSON.parse(raw?.json ?? "{}") as { type?: string }).type]);
    expect(kinds.slice(1)).toEqual([
      ["message", "stream_event"],
      ["tool-call", "assistant"],
      ["tool-result", "user"],
    ]);
  });
});

describe("S1-124: user frames", () => {
  const outputs: [string, unknown, unknown][] = [
    ["text", "a", "a"],
    ["nothing", null, ""],
    ["one text block", [{ type: "text", text: "a" }], "a"],
    [
      "text blocks",
      [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
      "a\nb",
    ],
    ["no blocks", [], ""],
    [
      "other blocks",
      [
        { type: "text", text: "a" },
        { type: "image", source: {} },
      ],
      [
        { type: "text", text: "a" },
        { type: "image", source: {} },
      ],
    ],
  ];
  test.each(outputs)("the output of a tool: %s", (_, content, output) => {
    const [answered] = ofType(decode([assistant("m1", call("c1")), user(answer("c1", content))]), "tool-result");
    expect(answered).toMatchObject({ callId: "c1", name: "Bash", output, isError: false });
  });

  test("a result is an error only if the frame marks it as one", () => {
    const errors = [true, false, undefined].map((flag) => {
      const chunks = decode([assistant("m1", call("c1")), user(answer("c1", "x", flag))]);
      return ofType(chunks, "tool-result")[0]?.isError;
    });
    expect(errors).toEqual([true, false, false]);
  });

  test("the duration of a tool is reported if the CLI measured it", () => {
    const values = [assistant("m1", call("c1")), user(answer("c1"), { tool_use_result: { durationMs: 12 } })];
    expect(ofType(decode(values), "tool-result")[0]?.ms).toBe(12);
  });

  test("an answer without a call, and a second answer, are notices", () => {
    const values = [assistant("m1", call("c1")), user(answer("c1")), user(answer("c1", "again")), user(answer("c9"))];
    const chunks = decode(values);
    expect(ofType(chunks, "tool-result")).toHaveLength(1);
    expect(ofType(chunks, "notice").map(({ kind, data }) => [kind, data])).toEqual([
      ["orphan-tool-result", answer("c1", "again")[0]],
      ["orphan-tool-result", answer("c9")[0]],
    ]);
  });

  test("a call is emitted once, however often its frame arrives", () => {
    expect(ofType(decode([assistant("m1", call("c1")), assistant("m1", call("c1"))]), "tool-call")).toHaveLength(1);
  });

  test("texts and images are a user message, answers next to them are not", () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
    const content = [...answer("c1"), { type: "text", text: "see" }, image, { type: "tool_reference", tool_name: "x" }];
    const chunks = decode([assistant("m1", call("c1")), user(content, { uuid: undefined })]);
    expect(bare(chunks).slice(-2)).toEqual([
      { type: "tool-result", callId: "c1", name: "Bash", output: "ok", isError: false },
      {
        type: "message",
        id: "user-1",
        role: "user",
        blocks: [
          { type: "text", text: "see" },
          { type: "image", mediaType: "image/png", data: "AAAA" },
          { type: "unknown", raw: { type: "tool_reference", tool_name: "x" } },
        ],
      },
    ]);
  });
});

describe("our own tools", () => {
  const values = [
    ...[begin("m1"), open(0, call("c1", {}, "mcp__ours__add")), json(0, "{}")],
    ...[assistant("m1", call("c1", {}, "mcp__ours__add")), close(0), end("tool_use"), stop(), user(answer("c1"))],
    { type: "system", subtype: "permission_denied", tool_use_id: "c1", tool_name: "mcp__ours__add", message: "No." },
  ];

  test("have the caller's name everywhere and are run by us", () => {
    const chunks = decode(values, { ownTool });
    expect(chunks.flatMap((chunk) => ("name" in chunk ? [`${chunk.type} ${chunk.name}`] : []))).toEqual([
      ...["tool-input-delta add", "tool-call add", "tool-result add", "permission add"],
    ]);
    expect(ofType(chunks, "tool-call")[0]?.executedBy).toBe("millrace");
    expect(ofType(chunks, "message")[0]?.blocks).toMatchObject([{ name: "add" }]);
  });

  test("a CLI tool with the same name remains the CLI's", () => {
    const chunks = decode([assistant("m1", call("c1", {}, "add")), assistant("m1", call("c2", {}, "mcp__ours__add"))], {
      ownTool,
    });
    expect(ofType(chunks, "tool-call").map(({ executedBy }) => executedBy)).toEqual(["backend", "millrace"]);
  });
});

describe("sub-agents", () => {
  const sub = (id: string, block: unknown) => assistant(id, block, { parent: PARENT });

  test("their chunks have the call that started them, and their messages do not affect the main one", () => {
    const values = [
      ...[begin("m1"), open(0, TEXT), text(0, "a")],
      ...[user("go", { parent: PARENT }), sub("s1", { type: "text", text: "sub" }), sub("s1", call("c2"))],
      ...[text(0, "b"), user(answer("c2"), { parent: PARENT }), sub("s2", { type: "text", text: "end" })],
      ...[assistant("m1", { type: "text", text: "ab" }), close(0), end("end_turn"), stop()],
    ];
    const chunks = decode(values);
    expect(outline(chunks.filter(({ parent }) => parent === PARENT))).toEqual([
      ...[
        "message user-uuid go",
        "s1[0] sub",
        "message s1 sub|tool-call",
        "tool-call c2",
        "tool-result c2",
        "s2[0] end",
      ],
    ]);
    expect(outline(chunks.filter(({ parent }) => parent === undefined))).toEqual([
      "m1[0] a",
      "m1[0] b",
      "message m1 ab",
    ]);
  });

  const endings: [string, unknown[], string[]][] = [
    ["the answer to the call that began it", [user(answer(PARENT))], ["message s1 sub", `tool-result ${PARENT}`]],
    [
      "its notification",
      [{ type: "system", subtype: "task_notification", tool_use_id: PARENT }],
      ["message s1 sub", "notice task"],
    ],
    ["not a result of the main conversation: it may go on behind it", [result], ["result"]],
  ];
  test.each(endings)("their output is emitted with %s", (_, values, expected) => {
    const begun = [assistant("m0", call(PARENT, {}, "Agent")), sub("s1", { type: "text", text: "sub" })];
    const before = ["message m0 tool-call", `tool-call ${PARENT}`, "s1[0] sub"];
    expect(outline(decode([...begun, ...values]))).toEqual([...before, ...expected]);
  });

  test("two concurrent ones are kept separate", () => {
    const values = ["p1", "p2", "p1", "p2"].map((parent, at) =>
      assistant(`m-${parent}`, { type: "text", text: `${parent}${at}` }, { parent }),
    );
    const adapter = claudeCode.createAdapter();
    adapter.feed(values.map(frame));
    expect(outline(adapter.flush()).slice(0, 2)).toEqual(["message m-p1 p10|p12", "message m-p2 p21|p23"]);
  });

  test("the state of many finished ones does not accumulate", () => {
    const values = Array.from({ length: 300 }, (_, at) =>
      assistant(`m${at}`, { type: "text", text: "a" }, { parent: `p${at}` }),
    );
    expect(ofType(decode(values), "message")).toHaveLength(300 - 256);
  });
});

describe("F-F: a retry is described in the same fields as on every backend", () => {
  const retry = { attempt: 1, max_retries: 10, retry_delay_ms: 507.2 };

  test.each([
    [
      { error_status: 401, error: "authentication_failed" },
      "provider-auth",
      "The host of the model answered 401 (authentication failed).",
    ],
    [
      { error_status: 529, error: "overloaded" },
      "provider-overloaded",
      "The host of the model answered 529 (overloaded).",
    ],
    [{ error_status: 500, error: "unknown" }, "provider-error", "The host of the model answered 500."],
    [{ error_status: null, error: "unknown" }, "provider-unreachable", "The host of the model did not answer."],
    [
      { error_status: null, error: "server_error" },
      "provider-unreachable",
      "The host of the model did not answer (server error).",
    ],
  ])("%j is %s", (failure, code, message) => {
    const frame = { type: "system", subtype: "api_retry", ...retry, ...failure };
    const [notice] = decode([frame]);
    expect(notice).toMatchObject({ kind: "retry", data: { ...frame, attempts: 10, delayMs: 507.2, code, message } });
  });

  test("what the frame leaves out is left out", () => {
    const frame = { type: "system", subtype: "api_retry", attempt: "x", max_retries: "many" };
    expect(bare(decode([frame]))).toEqual([{ type: "notice", kind: "retry", data: frame }]);
  });
});

describe("C27: everything else is a notice", () => {
  test.each([...FRAME_NOTICES])("%s → %s", (type, kind) => {
    const value = { type, x: 1 };
    expect(bare(decode([value]))).toEqual([{ type: "notice", kind, data: value }]);
  });

  test.each([...SYSTEM_NOTICES])("system/%s → %s", (subtype, kind) => {
    const value = { type: "system", subtype, x: 1 };
    expect(bare(decode([value]))).toEqual([{ type: "notice", kind, data: value }]);
  });

  test("a denial by rule is a permission item, and the answer to that call is skipped", () => {
    const denial = {
      type: "system",
      subtype: "permission_denied",
      tool_name: "Bash",
      tool_use_id: "c1",
      message: "No.",
    };
    const chunks = decode([assistant("m1", call("c1")), denial, user(answer("c1", "No.", true))]);
    expect(bare(chunks)[2]).toEqual({
      type: "permission",
      callId: "c1",
      name: "Bash",
      state: "denied",
      by: "rule",
      reason: "No.",
    });
    expect(ofType(chunks, "tool-result")[0]).toMatchObject({ isError: true, skipped: "denied" });
  });

  const unknown: [string, unknown][] = [
    ["unknown:surprise", { type: "surprise" }],
    ["unknown:system/surprise", { type: "system", subtype: "surprise" }],
    ["unknown:system", { type: "system" }],
    ["unknown:system/permission_denied", { type: "system", subtype: "permission_denied" }],
    ["unknown:object", {}],
    ["unknown:object", { type: 7 }],
    ["unknown:array", [1]],
    ["unknown:null", null],
    ["unknown:number", 7],
    ["unknown:string", "x"],
    ["unknown:assistant", { type: "assistant" }],
    ["unknown:assistant", { type: "assistant", message: { content: 7 } }],
    ["unknown:user", { type: "user", message: [] }],
    ["unknown:user", user([])],
    ["unknown:result", { type: "result" }],
    ["unknown:stream_event", { type: "stream_event" }],
    ["unknown:stream_event", streamed({ type: "message_start" })],
    ["unknown:stream_event", text(0, "a delta of no message")],
    ["unknown:stream_event", stop()],
    ["unknown:stream_event/surprise", streamed({ type: "surprise" })],
  ];
  test.each(unknown)("S1-128 C15: %s keeps the frame byte for byte: %j", (kind, value) => {
    const [notice, ...rest] = decode([value]);
    expect(rest).toEqual([]);
    expect(notice).toMatchObject({ type: "notice", kind, data: value, raw: { json: JSON.stringify(value) } });
  });

  test("a delta of an unknown kind is skipped, because its block arrives whole", () => {
    const values = [
      begin("m1"),
      open(0, TEXT),
      delta(0, { type: "odd_delta" }),
      assistant("m1", { type: "text", text: "a" }),
    ];
    expect(outline(decode(values))).toEqual(["m1[0] a"]);
  });

  test("an event of another message is not mixed into the open one", () => {
    const other = { api_message_id: "m0" };
    const event = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "b" } };
    const values = [begin("m1"), open(0, TEXT), text(0, "a"), streamed(event, other), stop(other), text(0, "c")];
    expect(outline(decode(values))).toEqual([
      ...["m1[0] a", "notice unknown:stream_event", "notice unknown:stream_event", "m1[0] c"],
    ]);
  });

  test("a delta after its finished block is not shown", () => {
    const values = [begin("m1"), open(0, TEXT), assistant("m1", { type: "text", text: "a" }), text(0, "b")];
    expect(outline(decode(values))).toEqual(["m1[0] a", "notice unknown:stream_event"]);
  });

  test("a key named __proto__ is an ordinary key", () => {
    const value = JSON.parse(
      '{"type":"assistant","message":{"id":"m1","content":[{"__proto__":{"type":"text","text":"x"}}]}}',
    );
    decode([value]);
    expect(({} as { type?: unknown }).type).toBeUndefined();
    expect(decode([JSON.parse('{"__proto__":{"type":"result","subtype":"success"}}')])).toMatchObject([
      { kind: "unknown:object" },
    ]);
  });
});

describe("F-B2: an unknown stop reason", () => {
  test.each([
    ["streamed", [begin("m1"), open(0, TEXT), text(0, "Hi"), close(0), end("new_reason"), stop(), result]],
    ["whole", [assistant("m1", { type: "text", text: "Hi" }, { stop_reason: "new_reason" }), result]],
  ])("is a warning with the vendor's name for it, once (%s)", (_, values) => {
    const chunks = decode(values);
    expect(ofType(chunks, "message")).toMatchObject([{ stopReason: "unknown", vendorStopReason: "new_reason" }]);
    expect(ofType(chunks, "warning")).toMatchObject([
      { code: "unknown-stop-reason", context: { vendorStopReason: "new_reason" } },
    ]);
  });
});
