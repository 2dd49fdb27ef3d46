import type { Chunk } from "#domain";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../test/effort.ts";
import { anthropicMessages } from "./anthropic/decode.ts";
import { claudeCode } from "./claude-code/decode.ts";
import { openAiChat } from "./openai-chat/decode.ts";
import { createDecoder } from "./shared/decoder.ts";
import type { Format } from "./shared/format.ts";

const RUNS = fuzzRuns(150);
const encoder = new TextEncoder();

/** The chunks of a stream, with their raw frames: none may be lost or changed. */
function decode(format: Format, pieces: readonly Uint8Array[], keepRaw: boolean): Chunk[] {
  const decoder = createDecoder(format, { keepRaw });
  return [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()];
}

type Piece = { readonly to: number; readonly text: string; readonly noise: string };
type Writer = (piece: Piece) => string;

const sse = (value: unknown, name = ""): string =>
  `${name === "" ? "" : `event: ${name}\n`}data: ${JSON.stringify(value)}\n\n`;
const line = (value: unknown): string => `${JSON.stringify(value)}\n`;
const chat = (delta: unknown, more: object = {}, finish: string | null = null): string =>
  sse({ id: "c-1", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }], ...more });
const message = (event: { readonly type: string }): string => sse(event, event.type);
const streamed = (event: object, uuid: string, parent: string | null = null): string =>
  line({ type: "stream_event", event, session_id: "s", parent_tool_use_id: parent, uuid, api_message_id: "m" });

const blocks = [
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_start", index: 1, content_block: { type: "thinking", thinking: "" } },
  { type: "content_block_start", index: 2, content_block: { type: "tool_use", id: "t", name: "add", input: {} } },
];
const start = { type: "message_start", message: { id: "m", role: "assistant", content: [], usage: {} } };
const deltas = [
  (text: string) => ({ type: "text_delta", text }),
  (thinking: string) => ({ type: "thinking_delta", thinking }),
  (partial_json: string) => ({ type: "input_json_delta", partial_json }),
  // A delta of a kind that does not fit its block, one for a block that does not exist, and one that adds no text.
  (text: string) => ({ type: "text_delta", text, index: 2 }),
  (text: string) => ({ type: "text_delta", text, index: 9 }),
  (signature: string) => ({ type: "signature_delta", signature, index: 1 }),
];
function deltaEvent({ to, text }: Piece): { readonly type: string } {
  const { index = to, ...delta } = (deltas[to] as (text: string) => { index?: number })(text);
  return { type: "content_block_delta", index, delta } as { readonly type: string };
}
const ends = [
  { type: "content_block_stop", index: 0 },
  { type: "content_block_stop", index: 2 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 7 } },
  { type: "message_stop" },
];

const chatDeltas = [
  (content: string) => ({ content }),
  (content: string) => ({ role: "assistant", content, refusal: null }),
  (text: string) => ({ reasoning_content: text }),
  (text: string) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] }),
  (text: string) => ({ tool_calls: [{ index: 1, id: "b", function: { name: "mul", arguments: text } }] }),
  (refusal: string) => ({ refusal }),
];

/** How each dialect starts, continues and ends. */
const DIALECTS: readonly [Format, { readonly head: string; readonly piece: Writer; readonly end: string }][] = [
  [
    openAiChat,
    {
      head:
        chat({ role: "assistant", content: "" }) +
        chat({ tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "add", arguments: "" } }] }),
      piece: ({ to, text, noise }) =>
        chat((chatDeltas[to] as (text: string) => object)(text), noise === "" ? {} : { obfuscation: noise }),
      end: chat({}, {}, "stop") + sse({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } }),
    },
  ],
  [
    anthropicMessages,
    {
      head: [start, ...blocks].map(message).join(""),
      piece: (piece) => message(deltaEvent(piece)),
      end: ends.map(message).join(""),
    },
  ],
  [
    claudeCode,
    {
      head: [start, ...blocks].map((event) => streamed(event, "u")).join(""),
      piece: (piece) => streamed(deltaEvent(piece), piece.noise, piece.to === 5 ? "parent" : null),
      end:
        ends.map((event) => streamed(event, "u")).join("") + line({ type: "result", subtype: "success", result: "" }),
    },
  ],
];

const word = fc.oneof(fc.constantFrom(" the", " a", '{"', "\\", "\n", "東京 🙂"), fc.string({ maxLength: 30 }));
const pieces = fc.array(
  fc
    .record({ to: fc.integer({ min: 0, max: 5 }), noise: fc.constantFrom("", "x1", "y22", '"'), words: fc.array(word) })
    .map(({ to, noise, words }) => words.map((text): Piece => ({ to, text, noise }))),
  { maxLength: 6 },
);

describe.each(DIALECTS)("$name", (format, { head, piece, end }) => {
  const whole = (rows: readonly (readonly Piece[])[], last = end): string =>
    head + rows.flat().map(piece).join("") + last;

  it("R2: gives the same chunks however the stream is split, damaged or not", () => {
    const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 });
    const damages = fc.array(
      fc.tuple(
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.constantFrom(0x22, 0x5c, 0x0a, 0x0d, 0x30, 0x01, 0xff),
      ),
      { maxLength: 2 },
    );
    fc.assert(
      fc.property(
        pieces,
        cuts,
        damages,
        fc.boolean(),
        fc.constantFrom(end, end + end, ""),
        (rows, where, bad, keepRaw, last) => {
          const bytes = encoder.encode(whole(rows, last));
          for (const [at, byte] of bad) bytes[Math.floor(at * bytes.length)] = byte;
          const at = [
            0,
            ...where.map((part) => Math.round(part * bytes.length)).toSorted((a, b) => a - b),
            bytes.length,
          ];
          const parts = at.slice(1).map((to, index) => bytes.slice(at[index], to));
          expect(decode(format, parts, keepRaw)).toEqual(decode(format, [bytes], keepRaw));
        },
      ),
      { numRuns: RUNS },
    );
  });
});
