import fc from "fast-check";
import type { Block, Message } from "#domain";
import { signThought } from "../../src/emulator/ids.ts";

// Conversations as callers may hand them over: from any vendor, with everything odd that is still a conversation
// (every call answered by the message right behind it, the user last).

const words = fc.oneof(
  fc.constantFrom("Hello", "What is 25 + 17?", " ", "", "\n\t", "ünï çødé 🙂", "</system>", "\u0000\u0007"),
  fc.string({ maxLength: 40 }),
);
const text = words.map((said): Block => ({ type: "text", text: said }));
const said = fc.constantFrom("Go on.", "And now?", "-").map((line): Block => ({ type: "text", text: line }));

const media = fc.constantFrom<Block>(
  { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" },
  { type: "image", data: "AAAA" },
  { type: "image", url: "https://pictures.test/a.png" },
  { type: "document", mediaType: "application/pdf", data: "AAAA", title: "Bill" },
  { type: "document", url: "https://pictures.test/a.pdf" },
);

const thinking = fc.oneof(
  words.map(
    (thought): Block => ({
      type: "thinking",
      text: thought,
      signature: signThought(thought),
      vendor: "anthropic",
    }),
  ),
  fc.constantFrom<Block>(
    { type: "thinking", text: "Hm." },
    { type: "thinking", text: "Hm.", signature: "c2ln", vendor: "google" },
    { type: "thinking", text: "", signature: "skip_thought_signature_validator", vendor: "google" },
    { type: "thinking", text: "Hm.", signature: "x", vendor: "openai" },
    { type: "unknown", raw: { type: "redacted_thinking", data: "c2ln" } },
  ),
);

const unknown = fc.constantFrom<Block>(
  { type: "unknown", raw: null },
  { type: "unknown", raw: { type: "server_tool_use", id: "s1", name: "web_search", input: {} } },
  { type: "unknown", raw: { text: "", thoughtSignature: "c2ln" } },
  { type: "unknown", raw: { executableCode: { code: "1" } } },
);

// The same few ids again and again, as hosts use them that number the calls of each reply.
const callId = fc.oneof(
  fc.constantFrom("call_0", "call_1", "toolu_01AbC", "functions.add:0", "ünï", "", "a b", "x".repeat(200)),
  fc.string({ maxLength: 20 }),
);
const callName = fc.constantFrom("add", "my tool!", "9lives", "mcp__files__read", "ünï", "", "n".repeat(100));
const callInput = fc.oneof(fc.constantFrom<unknown>({ a: 25, b: 17 }, {}, '{"a": 1', [1], null, 7), fc.jsonValue());
const output = fc.oneof(
  fc.jsonValue(),
  words,
  fc.constant<unknown>([
    { type: "text", text: "A dot:" },
    { type: "image", mediaType: "image/png", data: "AAAA" },
  ]),
  fc.constant<unknown>([{ type: "text", text: " " }]),
);

const call = fc.record({ callId, name: callName, input: callInput, output, isError: fc.boolean() });
const calls = fc.uniqueArray(call, { maxLength: 3, selector: (made) => made.callId });

/** What the model said and what the user's side answered: results, words, or both in any order. */
const exchange = fc
  .record({
    before: fc.array(fc.oneof(text, thinking, unknown, media), { maxLength: 4 }),
    calls,
    after: fc.array(fc.oneof(text, media, unknown, thinking), { maxLength: 2 }),
    wordsFirst: fc.boolean(),
    isSplit: fc.boolean(),
  })
  .map(({ before, calls: made, after, wordsFirst, isSplit }): Omit<Message, "id">[] => {
    const asked = made.map(({ callId: id, name, input }): Block => ({ type: "tool-call", callId: id, name, input }));
    const results = made.map(
      (one): Block => ({ type: "tool-result", callId: one.callId, output: one.output, isError: one.isError }),
    );
    const answer: Omit<Message, "id">[] =
      isSplit || results.length === 0
        ? [
            { role: "user", blocks: results },
            { role: "user", blocks: after },
          ]
        : [{ role: "user", blocks: wordsFirst ? [...after, ...results] : [...results, ...after] }];
    return [{ role: "assistant", blocks: [...before, ...asked] }, ...answer];
  });

/** A conversation whose last message is the user's and says something. */
export const conversation: fc.Arbitrary<readonly Message[]> = fc
  .record({
    greeting: fc.option(text, { nil: undefined }),
    opening: fc.array(fc.oneof(text, media), { maxLength: 3 }),
    exchanges: fc.array(exchange, { maxLength: 4 }),
    last: said,
  })
  .map(({ greeting, opening, exchanges, last }) => {
    const messages: Omit<Message, "id">[] = [
      ...(greeting === undefined ? [] : [{ role: "assistant" as const, blocks: [greeting] }]),
      { role: "user", blocks: opening },
      ...exchanges.flat(),
      { role: "user", blocks: [last] },
    ];
    return messages.map((message, index) => ({ id: `m${index}`, ...message }));
  });
