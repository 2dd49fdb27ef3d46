import type { Block, Message } from "#domain";
import { describe, expect, it } from "vitest";
import type { ModelRequest } from "../shared/model-request.ts";
import { encodeGeminiRequest } from "./request.ts";

const user = (...blocks: Block[]): Message => ({ id: "u", role: "user", blocks });
const assistant = (...blocks: Block[]): Message => ({ id: "a", role: "assistant", blocks });
const text = (words: string): Block => ({ type: "text", text: words });
const call = (callId: string, input: unknown = {}, name = "add"): Block => ({ type: "tool-call", callId, name, input });
const result = (callId: string, output: unknown, isError = false): Block => ({
  type: "tool-result",
  callId,
  output,
  isError,
});
const add = { name: "add", description: "Add", inputSchema: { type: "object", properties: { a: { type: "number" } } } };

const encode = (request: Partial<ModelRequest> = {}, model = "gemini-2.5-pro") =>
  encodeGeminiRequest(model, { messages: [user(text("Hi"))], tools: [], ...request });
const contentsOf = (...messages: Message[]) => encode({ messages }).contents as { role: string; parts: unknown[] }[];

const image: Block = { type: "image", mediaType: "image/jpeg", data: "AAAA" };
const imagePart = { inlineData: { mimeType: "image/jpeg", data: "AAAA" } };
const mark: Block = { type: "thinking", text: "", signature: "sig", vendor: "google" };

describe("the body for the Gemini API", () => {
  it("is small for a small request", () => {
    expect(encode()).toEqual({ contents: [{ role: "user", parts: [{ text: "Hi" }] }] });
  });

  it("instructions, limit, temperature and thinking have their own fields", () => {
    expect(encode({ instructions: "Be brief.", maxTokens: 9, temperature: 0, thinkingTokens: 500 })).toMatchObject({
      systemInstruction: { parts: [{ text: "Be brief." }] },
      generationConfig: {
        maxOutputTokens: 509,
        temperature: 0,
        thinkingConfig: { thinkingBudget: 500, includeThoughts: true },
      },
    });
    expect(encode({ instructions: "" })).not.toHaveProperty("systemInstruction");
  });

  it.each<[string, Block, unknown[]]>([
    ["text", text("Hello"), [{ text: "Hello" }]],
    ["empty text", text(""), []],
    ["an inline image", image, [imagePart]],
    [
      "a document at an address",
      { type: "document", url: "https://x.test/a.pdf" },
      [{ fileData: { mimeType: "application/pdf", fileUri: "https://x.test/a.pdf" } }],
    ],
    [
      "a document at an address that does not say what it is",
      { type: "document", url: "https://x.test/a" },
      [
        {
          text: "[document at an address left out: its address does not say what it is. Give its mediaType.]",
        },
      ],
    ],
    [
      "an image without a media type",
      { type: "image", data: "AA" },
      [{ inlineData: { mimeType: "image/png", data: "AA" } }],
    ],
    ["thinking, which is no user's", { type: "thinking", text: "Hm.", signature: "s", vendor: "google" }, []],
    ["a call, which is no user's", call("c1"), []],
    ["an unknown block", { type: "unknown", raw: { text: "", thoughtSignature: "s" } }, []],
  ])("in a user's message: %s", (_, block, expected) => {
    expect(contentsOf(user(text("Look:"), block))[0]?.parts.slice(1)).toEqual(expected);
  });

  it.each<[string, Block[], unknown[]]>([
    ["text", [text("Hello")], [{ text: "Hello" }]],
    [
      "its own signed thought",
      [{ type: "thinking", text: "Hm.", signature: "sig", vendor: "google" }],
      [{ text: "Hm.", thought: true, thoughtSignature: "sig" }],
    ],
    ["another vendor's thought", [{ type: "thinking", text: "Hm.", signature: "sig", vendor: "anthropic" }], []],
    ["a thought without a signature", [{ type: "thinking", text: "Hm.", vendor: "google" }], []],
    ["another vendor's redacted thought", [{ type: "unknown", raw: { type: "redacted_thinking" } }], []],
    [
      "the signature of a text",
      [text("a"), { type: "unknown", raw: { text: "", thoughtSignature: "sig" } }],
      [{ text: "a" }, { text: "", thoughtSignature: "sig" }],
    ],
    ["an unknown part", [{ type: "unknown", raw: { executableCode: {} } }], []],
    ["a picture it drew", [image], [imagePart]],
    ["a signed picture", [mark, image], [{ ...imagePart, thoughtSignature: "sig" }]],
    ["a result, which is no model's", [result("c1", 1)], []],
  ])("in a reply: %s", (_, blocks, expected) => {
    const contents = contentsOf(user(text("Hi")), assistant(text("So:"), ...blocks), user(text("Go on")));
    expect(contents[1]).toEqual({ role: "model", parts: [{ text: "So:" }, ...expected] });
  });

  it("the signature of a call is sent back on the call itself, and on no other", () => {
    const contents = contentsOf(
      user(text("Hi")),
      assistant(mark, call("c1"), call("c2")),
      user(result("c1", 1), result("c2", 2)),
    );
    expect(contents[1]?.parts).toEqual([
      { functionCall: { id: "c1", name: "add", args: {} }, thoughtSignature: "sig" },
      { functionCall: { id: "c2", name: "add", args: {} } },
    ]);
  });

  it("from Gemini 3 on, the first call of a reply has a signature, even if another model made it", () => {
    const messages = [user(text("Hi")), assistant(call("c1"), call("c2")), user(result("c1", 1), result("c2", 2))];
    const signatures = (model: string) =>
      (encode({ messages }, model).contents as { parts: { thoughtSignature?: string }[] }[])[1]?.parts.map(
        (part) => part.thoughtSignature,
      );
    expect(signatures("gemini-3-pro-preview")).toEqual(["skip_thought_signature_validator", undefined]);
    expect(signatures("gemini-10-pro")).toEqual(["skip_thought_signature_validator", undefined]);
    expect(signatures("gemini-2.5-pro")).toEqual([undefined, undefined]);
    expect(signatures("gemma-3-27b")).toEqual([undefined, undefined]);
  });

  it.each([
    ["an object", { a: 1 }, { a: 1 }],
    ["text a model wrote badly (S2-13)", '{"a": 1', {}],
    ["a list", [1], {}],
  ])("the arguments of a call are always an object: %s", (_, input, args) => {
    const contents = contentsOf(user(text("Hi")), assistant(call("c1", input)), user(result("c1", "")));
    expect(contents[1]?.parts).toEqual([{ functionCall: { id: "c1", name: "add", args } }]);
  });

  it.each<[string, unknown, boolean, unknown]>([
    ["text", "fine", false, { output: "fine" }],
    ["JSON", { sum: 42 }, false, { output: { sum: 42 } }],
    ["a number", 42, false, { output: 42 }],
    ["an error", "No such order.", true, { error: "No such order." }],
    ["texts as content", [text("a"), text("b")], false, { output: "a\nb" }],
  ])("a tool result: %s", (_, output, isError, response) => {
    const contents = contentsOf(user(text("Hi")), assistant(call("c1")), user(result("c1", output, isError)));
    expect(contents[2]).toEqual({ role: "user", parts: [{ functionResponse: { id: "c1", name: "add", response } }] });
  });

  it("results come first, each with the name of its function, followed by images of tools", () => {
    const contents = contentsOf(
      user(text("Hi")),
      assistant(call("c1"), call("c2", {}, "draw")),
      user(text("And?"), result("c1", 1), result("c2", [image])),
    );
    expect(contents[2]?.parts).toEqual([
      { functionResponse: { id: "c1", name: "add", response: { output: 1 } } },
      { functionResponse: { id: "c2", name: "draw", response: { output: "The result is in what follows." } } },
      imagePart,
      { text: "And?" },
    ]);
  });

  it("adjacent messages of one role are joined, empty ones are omitted, and the user comes first", () => {
    expect(contentsOf(assistant(text("Hello")), user(), user(text("a")), assistant(), user(text("b")))).toEqual([
      { role: "user", parts: [{ text: expect.any(String) }] },
      { role: "model", parts: [{ text: "Hello" }] },
      { role: "user", parts: [{ text: "a" }, { text: "b" }] },
    ]);
  });

  it.each([
    ["auto", { mode: "AUTO" }],
    ["none", { mode: "NONE" }],
    ["required", { mode: "ANY" }],
    [{ name: "add" }, { mode: "ANY", allowedFunctionNames: ["add"] }],
  ] as const)("tool choice %j", (toolChoice, expected) => {
    expect(encode({ tools: [add], toolChoice })).toMatchObject({
      tools: [{ functionDeclarations: [{ name: "add", description: "Add", parametersJsonSchema: add.inputSchema }] }],
      toolConfig: { functionCallingConfig: expected },
    });
    expect(encode({ toolChoice }), "without tools there is no choice").not.toHaveProperty("toolConfig");
  });

  it("structured output is part of the generation settings", () => {
    const schema = { type: "object", properties: { a: { const: "x" } }, required: ["a"] };
    expect(encode({ output: { name: "answer", schema } }).generationConfig).toEqual({
      responseMimeType: "application/json",
      responseJsonSchema: {
        type: "object",
        properties: { a: { type: "string", enum: ["x"] } },
        required: ["a"],
        additionalProperties: false,
      },
    });
  });
});
