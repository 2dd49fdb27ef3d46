import type { Chunk } from "#domain";
import { checkFormat, closeRunLog, findViolation } from "#testing";
import { createSseFramer } from "#wire";
import { describe, expect, it } from "vitest";
import { openAiChat } from "./decode.ts";

const chunk = (given: object): string =>
  `data: ${JSON.stringify({ id: "chatcmpl-7", object: "chat.completion.chunk", created: 1_763_229_600, model: "gpt-x", ...given })}\n\n`;
const delta = (given: object, reason: string | null = null): string =>
  chunk({ choices: [{ index: 0, delta: given, logprobs: null, finish_reason: reason }] });
const fragment = (index: number, called: object, id?: string): string =>
  delta({ tool_calls: [{ index, ...(id === undefined ? {} : { id, type: "function" }), function: called }] });
const usage = chunk({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } });

/** Streams as hosts send them, each with the frame that completes it. */
const STREAMS: Readonly<Record<string, readonly string[]>> = {
  text: [
    ": a comment\n\n",
    delta({ role: "assistant", content: "", refusal: null }),
    delta({ reasoning_content: "Hm, 東京 🙂" }),
    delta({ content: "na" }),
    delta({ content: 'ïve \u2028 "quoted"\r\n' }),
    delta({}, "stop"),
    usage,
    "data: [DONE]\n\n",
  ],
  tools: [
    delta({ role: "assistant", content: null }),
    fragment(0, { name: "add", arguments: "" }, "call_a"),
    fragment(0, { arguments: '{"a":' }),
    fragment(1, { name: "say", arguments: '{"text":"}🙂' }, "call_b"),
    fragment(0, { arguments: "1}" }),
    fragment(1, { arguments: '{"}' }),
    delta({}, "tool_calls"),
    usage,
    "data: [DONE]\n\n",
  ],
  cutByLength: [
    fragment(0, { name: "add", arguments: '{"a":1}' }, "call_a"),
    fragment(1, { name: "say", arguments: '{"text":"' }, "call_b"),
    delta({}, "length"),
  ],
};

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

function decode(pieces: readonly Uint8Array[]): Chunk[] {
  const framer = createSseFramer();
  const adapter = openAiChat.createAdapter();
  const chunks = pieces.flatMap((piece) => adapter.feed(framer.push(piece)));
  return [...chunks, ...adapter.feed(framer.end()), ...adapter.flush()];
}

const callsOf = (chunks: readonly Chunk[]) => chunks.filter((item) => item.type === "tool-call");

describe.each(Object.entries(STREAMS))("a stream of %s", (_, frames) => {
  const bytes = encode(frames.join(""));
  const ending = frames.findIndex((frame) => /"finish_reason":"/.test(frame));
  const wholeFrom = encode(frames.slice(0, ending + 1).join("")).length;
  const whole = decode([bytes]);

  it("keeps the guarantees of the format contract", { timeout: 60_000 }, async () => {
    expect(await checkFormat(openAiChat, { bytes })).toEqual([]);
  });

  it("R9 I4: cut at any byte before its end it is never a success and never a tool call", () => {
    const wrong: number[] = [];
    // Two line feeds close the frame; without them the framer may still accept the frame, which is complete.
    for (let at = 0; at < wholeFrom - 2; at++) {
      const chunks = decode([bytes.subarray(0, at)]);
      const last = chunks.at(-1);
      const isCut = last?.type === "error" && last.code === "stream-cut" && last.terminal;
      if (!isCut || chunks.some((item) => item.type === "message" || item.type === "tool-call")) wrong.push(at);
      if (findViolation(closeRunLog(chunks)) !== undefined) wrong.push(at);
    }
    expect(wrong).toEqual([]);
  });

  it("R9: cut at any byte after its end it gives the same, with or without [DONE]", () => {
    for (let at = wholeFrom; at <= bytes.length; at++) {
      const chunks = decode([bytes.subarray(0, at)]);
      expect(callsOf(chunks)).toEqual(callsOf(whole));
      expect(chunks.filter((item) => item.type === "message")).toHaveLength(1);
    }
  });

  it("with any single frame lost, a tool call never has other arguments than those sent", () => {
    const sent = new Map(callsOf(whole).map((call) => [call.callId, JSON.stringify(call.input)]));
    for (const lost of frames.keys()) {
      const spoilt = frames.map((frame, at) => (at === lost ? "data: {broken\n\n" : frame));
      const chunks = decode([encode(spoilt.join(""))]);
      const answered = new Set(chunks.flatMap((item) => (item.type === "tool-result" ? [item.callId] : [])));
      const run = callsOf(chunks).filter((call) => !answered.has(call.callId));
      expect(run.map((call) => sent.get(call.callId))).toEqual(run.map((call) => JSON.stringify(call.input)));
    }
  });
});
