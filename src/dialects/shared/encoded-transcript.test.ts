import type { Block, Message } from "#domain";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../../test/effort.ts";
import { encodeAnthropicRequest, type Written } from "../anthropic/request.ts";
import { encodeOpenaiRequest } from "../openai-chat/request.ts";
import { PROFILES } from "../openai-chat/profile.ts";
import { EncodedTranscript } from "./encoded-transcript.ts";
import { type RequestText, writeBody } from "./request-text.ts";

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

type Encode = (messages: readonly Message[]) => RequestText;

/** Creates an encoder that caches what it has encoded. */
const ENCODERS: Readonly<Record<string, () => Encode>> = {
  anthropic() {
    const known = new EncodedTranscript<Written | undefined>();
    return (messages) =>
      encodeAnthropicRequest(
        { model: "m" },
        { messages, tools: [], instructions: "Be brief.", thinkingTokens: 1024 },
        known,
      );
  },
  openai() {
    const known = new EncodedTranscript();
    return (messages) =>
      encodeOpenaiRequest("m", { messages, tools: [], instructions: "Be brief." }, PROFILES.openai, known);
  },
};

describe("a transcript that was already encoded", () => {
  it.each(Object.entries(ENCODERS))(
    "%s: gives the same body as one that was not encoded, turn after turn",
    (_, make) => {
      fc.assert(
        fc.property(fc.array(message, { maxLength: 8 }), fc.array(message, { maxLength: 3 }), (messages, others) => {
          const encode = make();
          const check = (turn: readonly Message[]): void => expect(encode(turn)).toBe(make()(turn));
          const growing: Message[] = [];
          for (const one of messages) {
            // One list that grows, as in a leg.
            growing.push(one);
            check(growing);
          }
          check([]);
          for (let end = 0; end <= messages.length; end += 1) {
            check(messages.slice(0, end));
            // Two conversations that diverge here, in turn.
            check([...messages.slice(0, end), ...others]);
          }
          // The same messages in another order, and without one of them.
          check([...messages.slice(1), ...messages.slice(0, 1)]);
          check(messages.filter((_one, at) => at !== 1));
          check([...messages, ...messages]);
        }),
        { numRuns: fuzzRuns(500) },
      );
    },
  );

  it("a body is JSON with or without other fields", () => {
    expect(writeBody({}, "messages", "[1]")).toBe('{"messages":[1]}');
    expect(writeBody({ a: 1 }, 'odd"name', "[]")).toBe('{"a":1,"odd\\"name":[]}');
  });
});
