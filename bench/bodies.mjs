// What is sent, in the words of each vendor, and what a reader must have seen in the end. Deterministic, so that every
// contender has the same answer to reproduce; one that drops or doubles anything fails.

const WORDS = [
  " the",
  " of",
  " stream",
  " event",
  " token",
  " naïve",
  " 東京",
  " 🙂",
  ' "quoted"',
  " back\\slash",
  " line\n",
  " {json}",
];
export const word = (index) => WORDS[index % WORDS.length];

const sum = (count, of) => {
  let total = 0;
  for (let index = 0; index < count; index += 1) total += of(index);
  return total;
};

export const expectText = (count) => ({ deltas: count, characters: sum(count, (index) => word(index).length) });

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

const openaiFrame = (delta, finish = null) =>
  `data: ${JSON.stringify({ id: "chatcmpl-bench", object: "chat.completion.chunk", created: 1763229600, model: "bench", system_fingerprint: "fp_bench", choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] })}\n\n`;
const openaiEnd = (finish) => [
  openaiFrame({}, finish),
  `data: ${JSON.stringify({ id: "chatcmpl-bench", object: "chat.completion.chunk", created: 1763229600, model: "bench", choices: [], usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } })}\n\n`,
  "data: [DONE]\n\n",
];
const openai = {
  text: (count) => [
    openaiFrame({ role: "assistant", content: "" }),
    ...Array.from({ length: count }, (_, index) => openaiFrame({ content: word(index) })),
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
  /** How many tool results a request shows. */
  results: (body) => body.messages.filter((message) => message.role === "tool").length,
};
function openaiCalls(calls) {
  return [
    openaiFrame({ role: "assistant", content: null }),
    ...calls.flatMap(({ id, name, pieces }, index) => [
      openaiFrame({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
      ...pieces.map((text) => openaiFrame({ tool_calls: [{ index, function: { arguments: text } }] })),
    ]),
    ...openaiEnd("tool_calls"),
  ];
}

// Anthropic Messages

const anthropicFrame = (type, rest) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
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
  anthropicFrame("message_delta", { delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 7 } }),
  anthropicFrame("message_stop", {}),
];
const anthropic = {
  text: (count) => [
    anthropicStart,
    anthropicFrame("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    ...Array.from({ length: count }, (_, index) =>
      anthropicFrame("content_block_delta", { index: 0, delta: { type: "text_delta", text: word(index) } }),
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

// Gemini

const geminiFrame = (text, index, finishReason) =>
  `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text }], role: "model" }, ...(finishReason && { finishReason }), index: 0 }], usageMetadata: { promptTokenCount: 5, candidatesTokenCount: index }, modelVersion: "bench", responseId: "bench" })}\r\n\r\n`;
const gemini = {
  text: (count) => [
    ...Array.from({ length: count }, (_, index) => geminiFrame(word(index), index + 1)),
    geminiFrame("", count, "STOP"),
  ],
};

// Claude Code's stream-json, in the shapes of the captured transcripts

const session = "c7d2f448-e902-4876-81cb-c894f8e73260";
const uuid = (index) => `748f80f0-c9cf-41eb-a49e-${index.toString(16).padStart(12, "0")}`;
const line = (value) => `${JSON.stringify(value)}\n`;
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
export const claudeCode = {
  text(count) {
    const words = Array.from({ length: count }, (_, index) => word(index));
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
        { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 6 } },
        7,
      ),
      ccEvent({ type: "message_stop" }, 8),
      ccResult,
    ];
  },
  huge: (bytes) => [ccInit, ccMessage("h".repeat(bytes)), ccResult],
};

export const bodies = { openai, anthropic, gemini };
