import type { Block, Message } from "#domain";
import { describe, expect, it } from "vitest";
import type { ModelRequest } from "../shared/model-request.ts";
import { DEFAULT_MAX_TOKENS, encodeAnthropicRequest } from "./request.ts";

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

const read = (body: unknown) => JSON.parse(body as string) as Record<string, unknown>;
const encode = (request: Partial<ModelRequest> = {}) =>
  read(encodeAnthropicRequest({ model: "claude" }, { messages: [user(text("Hi"))], tools: [], ...request }));
const messagesOf = (...messages: Message[]) => encode({ messages }).messages;

const image: Block = { type: "image", mediaType: "image/jpeg", data: "AAAA" };
const document: Block = { type: "document", data: "AAAA", title: "Bill" };
const own: Block = { type: "thinking", text: "Hm.", signature: "sig", vendor: "anthropic" };
const foreign: Block = { type: "thinking", text: "Hm.", signature: "sig", vendor: "google" };
const redacted: Block = { type: "unknown", raw: { type: "redacted_thinking", data: "xyz" } };
const unknown: Block = { type: "unknown", raw: { type: "server_tool_use", id: "s" } };

describe("the body for the Messages API", () => {
  it("is small for a small request", () => {
    expect(encode()).toEqual({
      model: "claude",
      max_tokens: DEFAULT_MAX_TOKENS,
      stream: true,
      messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    });
  });

  it("S2-33: instructions are the system field; empty ones are omitted", () => {
    expect(encode({ instructions: "Be brief." }).system).toBe("Be brief.");
    expect(encode({ instructions: "" })).not.toHaveProperty("system");
  });

  it("limits and temperature are sent as given", () => {
    expect(encode({ maxTokens: 17, temperature: 0 })).toMatchObject({ max_tokens: 17, temperature: 0 });
  });

  it.each<[string, Block, unknown[]]>([
    ["text", text("Hello"), [{ type: "text", text: "Hello" }]],
    ["text of blanks, which the vendor refuses", text(" \n"), []],
    ["inline image", image, [{ type: "image", source: { type: "base64", media_type: "image/jpeg", data: "AAAA" } }]],
    [
      "image at an address",
      { type: "image", url: "https://x.test/a.png" },
      [{ type: "image", source: { type: "url", url: "https://x.test/a.png" } }],
    ],
    [
      "document without a media type",
      document,
      [{ type: "document", source: { type: "base64", media_type: "application/pdf", data: "AAAA" }, title: "Bill" }],
    ],
    ["thinking, which is no user's", own, []],
    ["tool call, which is no user's", call("c1"), []],
    ["unknown block", unknown, []],
  ])("in a user's message: %s", (_, block, expected) => {
    const [message] = messagesOf(user(text("Look:"), block)) as { content: unknown[] }[];
    expect(message?.content.slice(1)).toEqual(expected);
  });

  it.each<[string, Block, unknown[]]>([
    ["text", text("Hello"), [{ type: "text", text: "Hello" }]],
    ["empty text", text(""), []],
    ["its own signed thinking", own, [{ type: "thinking", thinking: "Hm.", signature: "sig" }]],
    ["another vendor's thinking", foreign, []],
    ["thinking without a signature", { type: "thinking", text: "Hm.", vendor: "anthropic" }, []],
    ["thinking of nobody", { type: "thinking", text: "Hm.", signature: "sig" }, []],
    ["redacted thinking", redacted, [{ type: "redacted_thinking", data: "xyz" }]],
    ["unknown block", unknown, []],
    [
      "image, which a reply cannot hold here",
      image,
      [{ type: "text", text: "[image/jpeg image left out: this host takes replies of text and calls alone.]" }],
    ],
    [
      "document, which a reply cannot hold here",
      document,
      [{ type: "text", text: "[document left out: this host takes replies of text and calls alone.]" }],
    ],
    ["tool result, which is no assistant's", result("c1", 1), []],
  ])("in a reply: %s", (_, block, expected) => {
    const [, message] = messagesOf(user(text("Hi")), assistant(text("So:"), block), user(text("Go on"))) as {
      content: unknown[];
    }[];
    expect(message?.content.slice(1)).toEqual(expected);
  });

  it.each<[string, unknown, boolean, object]>([
    ["text", "fine", false, { content: "fine" }],
    ["empty text", "", false, { content: "" }],
    ["JSON", { sum: 42 }, false, { content: '{"sum":42}' }],
    ["a number", 42, false, { content: "42" }],
    ["a list that is no content", [1, "a"], false, { content: '[1,"a"]' }],
    ["an error", "No such order.", true, { content: "No such order.", is_error: true }],
    ["an error without words, which the vendor refuses", "", true, { content: "The tool failed.", is_error: true }],
    [
      "content blocks with an image",
      [text("A dot:"), image],
      false,
      {
        content: [
          { type: "text", text: "A dot:" },
          { type: "image", source: { type: "base64", media_type: "image/jpeg", data: "AAAA" } },
        ],
      },
    ],
  ])("a tool result: %s", (_, output, isError, expected) => {
    const messages = messagesOf(user(text("Hi")), assistant(call("c1")), user(result("c1", output, isError)));
    expect(messages).toEqual([
      { role: "user", content: [{ type: "text", text: "Hi" }] },
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "add", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", ...expected }] },
    ]);
  });

  it.each([
    ["an object", { a: 1 }, { a: 1 }],
    ["text a model wrote badly (S2-13)", '{"a": 1', {}],
    ["a list", [1], {}],
    ["null", null, {}],
    ["a key called __proto__", JSON.parse('{"__proto__": 1}'), JSON.parse('{"__proto__": 1}')],
  ])("the input of a call is always an object: %s", (_, input, expected) => {
    const [, reply] = messagesOf(user(text("Hi")), assistant(call("c1", input)), user(result("c1", ""))) as {
      content: { input: unknown }[];
    }[];
    expect(JSON.stringify(reply?.content[0]?.input)).toBe(JSON.stringify(expected));
  });

  it("adjacent messages of one role are joined, and an empty message is omitted", () => {
    expect(
      messagesOf(user(text("a")), user(text("b")), assistant(foreign), user(text("c")), assistant(text("d")), user()),
    ).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
          { type: "text", text: "c" },
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "d" }] },
    ]);
  });

  it("a conversation that begins with the assistant gets a user message first", () => {
    const messages = messagesOf(assistant(text("Hello, what can I do?")), user(text("Nothing")));
    expect(messages).toMatchObject([{ role: "user" }, { role: "assistant" }, { role: "user" }]);
  });

  it("results come first, even if the same message contains text of the user", () => {
    const messages = messagesOf(
      user(text("Hi")),
      assistant(call("c1"), call("c2")),
      user(text("And?"), result("c1", 1), result("c2", 2)),
    ) as { content: { type: string }[] }[];
    expect(messages[2]?.content.map(({ type }) => type)).toEqual(["tool_result", "tool_result", "text"]);
  });

  it("call ids and names of other vendors are converted, in calls and results alike, and each id is used once", () => {
    const messages = messagesOf(
      user(text("Hi")),
      assistant(call("functions.add:0", {}, "my tool!"), call("call_1"), call("call_1")),
      user(result("functions.add:0", 1), result("call_1", 2)),
      assistant(call("call_1", {}, "9lives")),
      user(result("call_1", 3)),
    );
    expect(messages).toMatchObject([
      {},
      {
        content: [
          { id: "call_2", name: "my_tool_" },
          { id: "call_1", name: "add" },
        ],
      },
      { content: [{ tool_use_id: "call_2" }, { tool_use_id: "call_1" }] },
      { content: [{ id: "call_3", name: "_9lives" }] },
      { content: [{ tool_use_id: "call_3", content: "3" }] },
    ]);
  });

  it.each([
    ["auto", { type: "auto" }],
    ["none", { type: "none" }],
    ["required", { type: "any" }],
    [{ name: "add" }, { type: "tool", name: "add" }],
  ] as const)("tool choice %j", (toolChoice, expected) => {
    expect(encode({ tools: [add], toolChoice })).toMatchObject({
      tools: [{ name: "add", description: "Add", input_schema: add.inputSchema }],
      tool_choice: expected,
    });
    expect(encode({ toolChoice }), "without tools there is no choice").not.toHaveProperty("tool_choice");
  });

  it("S2-21: parallel calls are disabled, except where no call is wanted anyway", () => {
    const choice = (request: Partial<ModelRequest>) =>
      encode({ tools: [add], parallelToolCalls: false, ...request }).tool_choice;
    expect(choice({})).toEqual({ type: "auto", disable_parallel_tool_use: true });
    expect(choice({ toolChoice: "required" })).toEqual({ type: "any", disable_parallel_tool_use: true });
    expect(choice({ toolChoice: "none" })).toEqual({ type: "none" });
    expect(encode({ tools: [add], parallelToolCalls: true })).not.toHaveProperty("tool_choice");
  });

  it("a schema that consists of references still states that it is an object", () => {
    const anyOf = [{ type: "object" }];
    expect(encode({ tools: [{ ...add, inputSchema: { anyOf } }] })).toMatchObject({
      tools: [{ input_schema: { type: "object", anyOf } }],
    });
  });

  it("thinking leaves room for the answer, and sets its own temperature", () => {
    expect(encode({ thinkingTokens: 10_000, temperature: 0.5 })).toMatchObject({
      max_tokens: DEFAULT_MAX_TOKENS + 10_000,
      thinking: { type: "enabled", budget_tokens: 10_000 },
    });
    expect(encode({ thinkingTokens: 10_000, temperature: 0.5 })).not.toHaveProperty("temperature");
    expect(encode({ thinkingTokens: 2000, maxTokens: 50_000 }).max_tokens).toBe(52_000);
  });

  it("thinking is not requested where the vendor would reject it", () => {
    const thinking = (request: Partial<ModelRequest>) =>
      encode({ tools: [add], thinkingTokens: 2000, ...request }).thinking;
    const asked = [user(text("Hi"))];
    expect(thinking({ messages: asked })).toBeDefined();
    expect(thinking({ messages: asked, toolChoice: "required" })).toBeUndefined();
    expect(thinking({ messages: asked, toolChoice: { name: "add" } })).toBeUndefined();
    const turn = (...blocks: Block[]) => [...asked, assistant(...blocks, call("c1")), user(result("c1", 1))];
    expect(thinking({ messages: turn(own) }), "begun with its own thinking").toBeDefined();
    expect(thinking({ messages: turn(redacted) }), "begun with hidden thinking").toBeDefined();
    expect(thinking({ messages: turn(foreign) }), "begun by another vendor's model").toBeUndefined();
    expect(thinking({ messages: turn() }), "begun without thinking").toBeUndefined();
    expect(thinking({ messages: [...turn(), assistant(text("2")), user(text("And?"))] }), "a new turn").toBeDefined();
  });

  it("structured output has its own field, with the schema as the vendor expects it", () => {
    const schema = { type: "object", properties: { a: { type: "integer", minimum: 1 } }, required: ["a"] };
    expect(encode({ output: { name: "answer", schema } }).output_config).toEqual({
      format: {
        type: "json_schema",
        schema: {
          type: "object",
          properties: { a: { type: "integer", description: "minimum: 1" } },
          required: ["a"],
          additionalProperties: false,
        },
      },
    });
    expect(encode()).not.toHaveProperty("output_config");
  });
});

describe("F-D5: the limit of a reply", () => {
  const limitOf = (request: Partial<ModelRequest>, maxOutputTokens?: number) =>
    read(
      encodeAnthropicRequest(
        { model: "claude", maxOutputTokens },
        { messages: [user(text("Hi"))], tools: [], ...request },
      ),
    ).max_tokens;

  it.each([
    ["the model's own maximum when nothing is asked for", {}, 64_000, 64_000],
    ["a stated default for a model nobody knows", {}, undefined, DEFAULT_MAX_TOKENS],
    ["what was asked for", { maxTokens: 100 }, 64_000, 100],
    ["thinking on top of what was asked for", { maxTokens: 100, thinkingTokens: 2000 }, 64_000, 2100],
    ["thinking on top of the default", { thinkingTokens: 2000 }, undefined, DEFAULT_MAX_TOKENS + 2000],
    ["never more than the model can give", { maxTokens: 63_000, thinkingTokens: 5000 }, 64_000, 64_000],
    ["the maximum, with thinking inside it", { thinkingTokens: 5000 }, 64_000, 64_000],
    ["room for an answer in any case", { thinkingTokens: 64_000 }, 64_000, 64_001],
  ])("%s", (_, request, maximum, limit) => {
    expect(limitOf(request, maximum)).toBe(limit);
  });
});
