import type { Chunk } from "#domain";
import { checkFormat, closeRunLog, findViolation } from "#testing";
import { createSseFramer } from "#wire";
import { describe, expect, it } from "vitest";
import { gemini } from "./decode.ts";

const chunk = (parts: readonly object[], finishReason?: string): string =>
  `data: ${JSON.stringify({
    candidates: [
      { content: { parts, role: "model" }, ...(finishReason === undefined ? {} : { finishReason }), index: 0 },
    ],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 7, totalTokenCount: 12 },
    modelVersion: "gemini-x",
    responseId: "r7",
  })}\r\n\r\n`;

/** Streams as Gemini sends them: the last frame completes them. */
const STREAMS: Readonly<Record<string, readonly string[]>> = {
  text: [
    chunk([{ text: "Hm, 東京 🙂", thought: true }]),
    chunk([{ text: "na" }]),
    chunk([{ text: 'ïve "quoted"\r\n' }]),
    chunk([{ text: "", thoughtSignature: "c2ln" }], "STOP"),
  ],
  tools: [
    chunk([{ text: "Let me see." }]),
    chunk([{ functionCall: { name: "add", args: { a: 1 } }, thoughtSignature: "c2ln" }]),
    chunk([{ functionCall: { name: "say", args: { text: "}🙂{" } } }, { functionCall: { name: "now" } }]),
    chunk([{ text: "" }], "STOP"),
  ],
};

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

function decode(pieces: readonly Uint8Array[]): Chunk[] {
  const framer = createSseFramer();
  const adapter = gemini.createAdapter();
  const chunks = pieces.flatMap((piece) => adapter.feed(framer.push(piece)));
  return [...chunks, ...adapter.feed(framer.end()), ...adapter.flush()];
}

describe.each(Object.entries(STREAMS))("a stream of %s", (_, frames) => {
  const bytes = encode(frames.join(""));

  it("keeps the guarantees of the format contract", { timeout: 60_000 }, async () => {
    expect(await checkFormat(gemini, { bytes })).toEqual([]);
  });

  it("R9 I4: cut at any byte before its end, it is never a success and never a tool call", () => {
    const wrong: number[] = [];
    for (let at = 0; at < bytes.length - 4; at++) {
      const chunks = decode([bytes.subarray(0, at)]);
      const last = chunks.at(-1);
      const isCut = last?.type === "error" && last.code === "stream-cut" && last.terminal;
      if (!isCut || chunks.some((item) => item.type === "message" || item.type === "tool-call")) wrong.push(at);
      if (findViolation(closeRunLog(chunks)) !== undefined) wrong.push(at);
    }
    expect(wrong).toEqual([]);
  });

  it("without the blank line at its very end it is still complete", () => {
    expect(decode([bytes.subarray(0, bytes.length - 4)])).toEqual(decode([bytes]));
  });
});
