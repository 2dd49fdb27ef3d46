// The bodies in each vendor's format and of each kind (kinds.mjs), and what a reader must have received at the end.
// Deterministic, so that every contender must reproduce the same answer; one that drops or duplicates anything fails.
import { KINDS } from "./kinds.mjs";

/** The words of a regular body. */
export const word = KINDS.regular.word;

const sum = (count, of) => {
  let total = 0;
  for (let index = 0; index < count; index += 1) total += of(index);
  return total;
};

export const expectText = (count, kind = "regular") => ({
  deltas: count,
  characters: sum(count, (index) => KINDS[kind].word(index).length),
});

/** The arguments of one call, cut into `count` fragments. */
const fragments = (call, count) => [
  '{"rows":[',
  ...Array.from(
    { length: count - 2 },
    (_, index) => `${index === 0 ? "" : ","}${JSON.stringify(`row ${call}.${index}`)}`,
  ),
  `],"call":${call}}`,
];
/** The calls of one turn of the agent loop: small, and all of them to `add`. */
const loopFragments = (turn, call) => ['{"a":', String(turn), `,"b":${call}`, "}"];
export const expectLoop = (turns, calls) => ({
  toolRuns: turns * calls,
  sum: sum(turns, (turn) => sum(calls, (call) => turn + call)),
  ...expectText(20),
});

export const expectCalls = (calls, count) => ({
  fragments: calls * count,
  fragmentCharacters: sum(calls, (call) => fragments(call, count).join("").length),
  calls,
  rows: calls * (count - 2),
});

// OpenAI chat completions

function createOpenai(style) {
  let at = 0;
  const openaiEvent = (value) => `data: ${style.openai(value, (at += 1))}\n\n`;
  const openaiFrame = (delta, finish = null) =>
    openaiEvent({
      id: "chatcmpl-bench",
      object: "chat.completion.chunk",
      created: 1763229600,
      model: "bench",
      system_fingerprint: "fp_bench",
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    });
  const openaiEnd = (finish) => [
    openaiFrame({}, finish),
    openaiEvent({
      id: "chatcmpl-bench",
      object: "chat.completion.chunk",
      created: 1763229600,
      model: "bench",
      choices: [],
      usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
    }),
    "data: [DONE]\n\n",
  ];
  return {
    text: (count) => [
      openaiFrame({ role: "assistant", content: "" }),
      ...Array.from({ length: count }, (_, index) => openaiFrame({ content: style.word(index) })),
      ...openaiEnd("stop"),
    ],
    calls: (calls, count) =>
      openaiCalls(
        Array.from({ length: calls }, (_, index) => ({
          id: `call_${index}`,
          name: "save",
          pieces: fragments(index, count),
        })),
      ),
    turn: (turn, calls) =>
      openaiCalls(
        Array.from({ length: calls }, (_, index) => ({
          id: `call_${turn}_${index}`,
          name: "add",
          pieces: loopFragments(turn, index),
        })),
      ),
    /** The number of tool results in a request. */
    results: (body) => body.messages.filter((message) => message.role === "tool").length,
  };
  function openaiCalls(calls) {
    return [
      openaiFrame({ role: "assistant", content: null }),
      ...calls.flatMap(({ id, name, pieces }, index) => [
        openaiFrame({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
        ...pieces.flatMap((text, place) => [
          ...(style.hasTextBetween && place % 5 === 4
            ? [openaiFrame({ content: style.word(index * 100 + place) })]
            : []),
          openaiFrame({ tool_calls: [{ index, function: { arguments: text } }] }),
        ]),
      ]),
      ...openaiEnd("tool_calls"),
    ];
  }
}

// Anthropic Messages

function createAnthropic(style) {
  let at = 0;
  const anthropicFrame = (type, rest) => `event: ${type}\ndata: ${style.anthropic({ type, ...rest }, (at += 1))}\n\n`;
  const anthropicStart = anthropicFrame("message_start", {
    message: {
      id: "msg_bench",
      type: "message",
      role: "assistant",
      model: "bench",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 5, output_tokens: 1 },
    },
  });
  const anthropicEnd = (reason) => [
    anthropicFrame("message_delta", {
      delta: { stop_reason: reason, stop_sequence: null },
      usage: { output_tokens: 7 },
    }),
    anthropicFrame("message_stop", {}),
  ];
  return {
    text: (count) => [
      anthropicStart,
      anthropicFrame("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
      ...Array.from({ length: count }, (_, index) =>
        anthropicFrame("content_block_delta", { index: 0, delta: { type: "text_delta", text: style.word(index) } }),
      ),
      anthropicFrame("content_block_stop", { index: 0 }),
      ...anthropicEnd("end_turn"),
    ],
    calls: (calls, count) =>
      anthropicCalls(
        Array.from({ length: calls }, (_, index) => ({
          id: `call_${index}`,
          name: "save",
          pieces: fragments(index, count),
        })),
      ),
    turn: (turn, calls) =>
      anthropicCalls(
        Array.from({ length: calls }, (_, index) => ({
          id: `call_${turn}_${index}`,
          name: "add",
          pieces: loopFragments(turn, index),
        })),
      ),
    results: (body) =>
      sum(body.messages.length, (index) => {
        const { content } = body.messages[index];
        return Array.isArray(content) ? content.filter((block) => block.type === "tool_result").length : 0;
      }),
  };
  function anthropicCalls(calls) {
    return [
      anthropicStart,
      ...calls.flatMap(({ id, name, pieces }, index) => [
        anthropicFrame("content_block_start", { index, content_block: { type: "tool_use", id, name, input: {} } }),
        ...pieces.map((text) =>
          anthropicFrame("content_block_delta", { index, delta: { type: "input_json_delta", partial_json: text } }),
        ),
        anthropicFrame("content_block_stop", { index }),
      ]),
      ...anthropicEnd("tool_use"),
    ];
  }
}

// Gemini

function createGemini(style) {
  let at = 0;
  const geminiFrame = (text, index, finishReason) =>
    `data: ${style.gemini({ candidates: [{ content: { parts: [{ text }], role: "model" }, ...(finishReason && { finishReason }), index: 0 }], usageMetadata: { promptTokenCount: 5, candidatesTokenCount: index }, modelVersion: "bench", responseId: "bench" }, (at += 1))}\r\n\r\n`;
  return {
    text: (count) => [
      ...Array.from({ length: count }, (_, index) => geminiFrame(style.word(index), index + 1)),
      geminiFrame("", count, "STOP"),
    ],
  };
}

// Claude Code's stream-json, in the form of the captured transcripts

function createClaudeCode(style) {
  const session = "c7d2f448-e902-4876-81cb-c894f8e73260";
  const { uuid } = style;
  let at = 0;
  const line = (value) => `${style.line(value, (at += 1))}\n`;
  const ccInit = line({
    type: "system",
    subtype: "init",
    cwd: "/home/dev/project",
    session_id: session,
    tools: ["Bash", "Read"],
    mcp_servers: [],
    model: "bench",
    permissionMode: "default",
    claude_code_version: "2.1.325",
    uuid: uuid(1),
  });
  const ccEvent = (event, index) =>
    line({
      type: "stream_event",
      event,
      session_id: session,
      parent_tool_use_id: null,
      uuid: uuid(index),
      api_message_id: "msg_bench",
    });
  const ccMessage = (text) =>
    line({
      type: "assistant",
      message: {
        id: "msg_bench",
        type: "message",
        role: "assistant",
        model: "bench",
        content: [{ type: "text", text }],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 5, output_tokens: 1 },
      },
      parent_tool_use_id: null,
      session_id: session,
      uuid: uuid(5),
    });
  const ccResult = line({
    type: "result",
    subtype: "success",
    is_error: false,
    duration_ms: 79,
    num_turns: 1,
    result: "ok",
    session_id: session,
    total_cost_usd: 0.0001,
    usage: { input_tokens: 5, output_tokens: 6 },
    uuid: uuid(2),
  });
  return {
    text(count) {
      const words = Array.from({ length: count }, (_, index) => style.word(index));
      return [
        ccInit,
        ccEvent(
          {
            type: "message_start",
            message: {
              id: "msg_bench",
              type: "message",
              role: "assistant",
              model: "bench",
              content: [],
              stop_reason: null,
              usage: { input_tokens: 5, output_tokens: 1 },
            },
          },
          3,
        ),
        ccEvent({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }, 4),
        ...words.map((text, index) =>
          ccEvent({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }, 10 + index),
        ),
        ccMessage(words.join("")),
        ccEvent({ type: "content_block_stop", index: 0 }, 6),
        ccEvent(
          {
            type: "message_delta",
            delta: { stop_reason: "end_turn", stop_sequence: null },
            usage: { output_tokens: 6 },
          },
          7,
        ),
        ccEvent({ type: "message_stop" }, 8),
        ccResult,
      ];
    },
    huge: (bytes) => [ccInit, ccMessage("h".repeat(bytes)), ccResult],
  };
}

/** By the name that is the first part of a path: `openai` is regular, `openai-real` and `openai-hostile` are not. */
export const bodies = Object.fromEntries(
  Object.entries(KINDS).flatMap(([kind, style]) => {
    const suffix = kind === "regular" ? "" : `-${kind}`;
    return [
      [`openai${suffix}`, createOpenai(style)],
      [`anthropic${suffix}`, createAnthropic(style)],
      [`gemini${suffix}`, createGemini(style)],
      [`claude-code${suffix}`, createClaudeCode(style)],
    ];
  }),
);
export const claudeCode = bodies["claude-code"];
