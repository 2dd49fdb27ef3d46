import type { Chunk } from "#domain";
import { assertRunLog, closeRunLog } from "#testing";
import { describe, expect, it } from "vitest";
import { createDecoder } from "./shared/decoder.ts";
import { ndjson } from "./ndjson.ts";

function decode(...values: unknown[]): Chunk[] {
  const decoder = createDecoder(ndjson);
  const lines = values.map((value) => `${JSON.stringify(value)}\n`).join("");
  const chunks = [...decoder.push(new TextEncoder().encode(lines)), ...decoder.end()];
  assertRunLog(closeRunLog(chunks));
  return chunks;
}

describe("the generic ndjson format, S4-10", () => {
  it.each([
    [{ text: "x" }],
    [{ content: "x" }],
    [{ message: "x" }],
    [{ data: "x" }],
    [{ type: "text", text: "x" }],
    [{ type: "anything", message: "x" }],
    [{ content: [{ type: "text", text: "x" }] }],
    [{ message: { role: "assistant", content: "x" } }],
    [{ message: { content: [{ text: "x" }] } }],
    [{ message: { text: "x" } }],
    [{ data: { text: "x" } }],
    [{ text: "x", content: "y", message: "z", data: "w" }],
  ])("text of %j", (value) => {
    expect(decode(value)).toMatchObject([
      { type: "text-delta", text: "x" },
      { type: "message", blocks: [{ type: "text", text: "x" }] },
    ]);
  });

  it.each([[{ data: { a: 1 } }], [{ text: 7 }], [{ message: {} }], [{}], [7], [null], [["x"]]])(
    "%j contains no text and is kept as an unknown frame",
    (value) => {
      expect(decode(value)).toMatchObject([{ type: "notice", kind: "unknown:frame", data: value }]);
    },
  );

  it("thinking, tools and errors by their type", () => {
    const chunks = decode(
      { type: "thinking", thinking: "hm" },
      { type: "tool_use", id: "c", name: "Bash", input: { command: "ls" } },
      { type: "tool_result", tool_use_id: "c", content: "ok", is_error: true },
      { type: "error", error: { message: "bad", code: "E1" } },
      { text: "done" },
    );
    expect(chunks.map((chunk) => chunk.type)).toEqual([
      ...["thinking-delta", "message", "tool-call", "tool-result", "error", "text-delta", "message"],
    ]);
    expect(chunks[3]).toMatchObject({ callId: "c", name: "Bash", output: "ok", isError: true });
    expect(chunks[4]).toMatchObject({
      code: "provider-error",
      message: "bad",
      terminal: false,
      diagnostic: { vendorCode: "E1" },
    });
  });

  it("a user's text is the user's, and counts are kept", () => {
    expect(
      decode(
        { role: "user", content: "hi" },
        { role: "assistant", content: "yo", usage: { input_tokens: 3, output_tokens: 1 } },
      ),
    ).toMatchObject([
      { type: "message", role: "user" },
      { type: "text-delta", text: "yo" },
      { type: "message", role: "assistant", usage: { inputTokens: 3, outputTokens: 1 } },
    ]);
  });

  it("a line that is not JSON is an error, and the next one is read", () => {
    const decoder = createDecoder(ndjson);
    const chunks = [...decoder.push(new TextEncoder().encode('warning: slow\n{"text":"x"}\n')), ...decoder.end()];
    expect(chunks.map((chunk) => chunk.type)).toEqual(["error", "text-delta", "message"]);
  });

  it("declares no end: an empty stream is empty, not cut", () => {
    expect(decode()).toEqual([]);
  });
});
