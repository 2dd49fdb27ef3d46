import { describe, expect, it } from "vitest";
import { findSaying } from "./saying.ts";

const chunk = (delta: unknown, choice: object = {}, more: object = {}): unknown => ({
  id: "c",
  choices: [{ index: 0, delta, finish_reason: null, ...choice }],
  ...more,
});
const TEXT = { content: "a" };

describe("what a chunk says", () => {
  it.each([
    ["text", chunk(TEXT), { key: "content", to: "text" }],
    ["text with a role and empty fields", chunk({ role: "assistant", ...TEXT, refusal: null }), { to: "text" }],
    ["text with a usage still to come", chunk(TEXT, {}, { usage: null }), { to: "text" }],
    ["text with padding", chunk(TEXT, {}, { obfuscation: "x" }), { to: "text", noiseKey: "obfuscation" }],
    ["thinking", chunk({ reasoning_content: "a" }), { key: "reasoning_content", to: "thinking" }],
    ["thinking by its other name", chunk({ content: null, reasoning: "a" }), { key: "reasoning", to: "thinking" }],
    [
      "arguments",
      chunk({ tool_calls: [{ index: 3, function: { arguments: "a" } }] }),
      { key: "arguments", to: "call", fragment: { index: 3 } },
    ],
  ])("%s", (_, value, expected) => {
    expect(findSaying(value, "")).toMatchObject({ said: "a", ...expected });
  });

  it.each([
    ["no object", 1],
    ["an error", chunk(TEXT, {}, { error: { message: "x" } })],
    ["an object that is an error", chunk(TEXT, {}, { object: "error" })],
    ["an error of the choice", chunk(TEXT, { error: {} })],
    ["counts", chunk(TEXT, {}, { usage: {} })],
    ["no choice", { choices: [] }],
    [
      "two choices",
      {
        choices: [
          { index: 0, delta: TEXT },
          { index: 0, delta: TEXT },
        ],
      },
    ],
    ["another choice", chunk(TEXT, { index: 1 })],
    ["the end", chunk(TEXT, { finish_reason: "stop" })],
    ["an empty text", chunk({ content: "" })],
    ["content in parts", chunk({ content: [{ text: "a" }] })],
    ["a refusal", chunk({ refusal: "a" })],
    ["text and thinking", chunk({ ...TEXT, reasoning: "b" })],
    ["text and something unknown", chunk({ ...TEXT, audio: {} })],
    ["two calls", chunk({ tool_calls: [{ function: { arguments: "a" } }, { function: { arguments: "b" } }] })],
    ["arguments that are no text", chunk({ tool_calls: [{ function: { arguments: {} } }] })],
    ["a call of the older form", chunk({ function_call: { arguments: "a" } })],
  ])("%s is looked at in full", (_, value) => {
    expect(findSaying(value, "")).toBeUndefined();
  });

  it("an event named error is looked at in full", () => {
    expect(findSaying(chunk(TEXT), "error")).toBeUndefined();
  });
});
