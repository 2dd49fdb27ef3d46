import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Block, Message } from "#domain";
import { encodeAnthropicRequest } from "./anthropic/encode.ts";
import { EncodedTranscript, writeBody } from "./encoded-transcript.ts";
import { encodeOpenaiRequest } from "./openai/encode.ts";
import { PROFILES } from "./openai/profiles.ts";

const callId = fc.constantFrom("call_1", "call_2", "toolu_x", "odd id", "call_1");
const block: fc.Arbitrary<Block> = fc.oneof(
  fc.record({ type: fc.constant("text" as const), text: fc.string() }),
  fc.record({
    type: fc.constant("tool-call" as const),
    callId,
    name: fc.constantFrom("add", "odd name"),
    input: fc.object({ maxDepth: 1 }),
  }),
  fc.record({
    type: fc.constant("tool-result" as const),
    callId,
    output: fc.jsonValue({ maxDepth: 1 }),
    isError: fc.boolean(),
  }),
);
const message: fc.Arbitrary<Message> = fc.record({
  id: fc.string(),
  role: fc.constantFrom("user" as const, "assistant" as const),
  blocks: fc.array(block, { maxLength: 4 }),
});

const ENCODERS = {
  anthropic: (messages: readonly Message[], known?: EncodedTranscript) =>
    encodeAnthropicRequest("m", { messages, tools: [], instructions: "Be brief." }, known),
  openai: (messages: readonly Message[], known?: EncodedTranscript) =>
    encodeOpenaiRequest("m", { messages, tools: [], instructions: "Be brief." }, PROFILES.openai, known),
};

describe("a transcript that was encoded before", () => {
  it.each(Object.entries(ENCODERS))("%s: gives the same body as one that was not, turn after turn", (_, encode) => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), (messages) => {
        const known = new EncodedTranscript();
        for (let end = 0; end <= messages.length; end += 1) {
          const turn = messages.slice(0, end);
          expect(encode(turn, known)).toBe(encode(turn));
        }
        // Also for a conversation that goes another way from the middle on.
        const other = [...messages.slice(1), ...messages.slice(0, 1)];
        expect(encode(other, known)).toBe(encode(other));
      }),
      { numRuns: Number(process.env["MILLRACE_FUZZ_RUNS"] ?? 500) },
    );
  });

  it("a body is JSON with or without other fields", () => {
    expect(writeBody({}, "messages", "[1]")).toBe('{"messages":[1]}');
    expect(writeBody({ a: 1 }, 'odd"name', "[]")).toBe('{"a":1,"odd\\"name":[]}');
  });
});
