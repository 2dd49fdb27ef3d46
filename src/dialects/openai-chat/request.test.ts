import type { Block, Message } from "#domain";
import { describe, expect, it } from "vitest";
import type { ModelRequest } from "../shared/model-request.ts";
import { PROFILES } from "./profile.ts";
import { encodeOpenaiRequest, mayThink, thinkingNotice } from "./request.ts";
import type { ProviderProfile } from "./types.ts";

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
const encode = (request: Partial<ModelRequest> = {}, profile: ProviderProfile = PROFILES.openai) =>
  read(encodeOpenaiRequest("gpt", { messages: [user(text("Hi"))], tools: [], ...request }, profile));
const messagesOf = (...messages: Message[]) => encode({ messages }).messages as { role: string; content: unknown }[];

const image: Block = { type: "image", mediaType: "image/jpeg", data: "AAAA" };
const imagePart = { type: "image_url", image_url: { url: "data:image/jpeg;base64,AAAA" } };

describe("the body for the chat completions API", () => {
  it("is small for a small request", () => {
    expect(encode()).toEqual({
      model: "gpt",
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: "user", content: "Hi" }],
    });
  });

  it.each(Object.entries(PROFILES))("%s: the host's own names for limit, instructions and usage", (_, profile) => {
    const body = encode({ maxTokens: 99, instructions: "Be brief.", tools: [add], parallelToolCalls: false }, profile);
    expect(body[profile.limitField]).toBe(99);
    expect(Object.keys(body).filter((name) => name.startsWith("max_"))).toEqual([profile.limitField]);
    expect(body.messages).toMatchObject([{ role: profile.instructionsRole, content: "Be brief." }, { role: "user" }]);
    expect(body.stream_options).toEqual(profile.usageInStream ? { include_usage: true } : undefined);
    expect(body.parallel_tool_calls).toBe(profile.parallelToolCalls ? false : undefined);
  });

  it("stream_options is not sent to a host that does not support it", () => {
    expect(encode({}, { ...PROFILES.vllm, usageInStream: false })).not.toHaveProperty("stream_options");
  });

  it("S2-21: parallel calls are disabled only if there are tools, and only on request", () => {
    expect(encode({ parallelToolCalls: false })).not.toHaveProperty("parallel_tool_calls");
    expect(encode({ tools: [add], parallelToolCalls: true })).not.toHaveProperty("parallel_tool_calls");
    expect(encode({ tools: [add] })).not.toHaveProperty("parallel_tool_calls");
  });

  it.each<[string, Block[], unknown]>([
    ["text", [text("Hello")], "Hello"],
    ["several texts", [text("a"), text(""), text("b")], "a\nb"],
    ["an inline image", [text("Look"), image], [{ type: "text", text: "Look" }, imagePart]],
    [
      "an image at an address",
      [{ type: "image", url: "https://x.test/a.png" }],
      [{ type: "image_url", image_url: { url: "https://x.test/a.png" } }],
    ],
    [
      "a document",
      [{ type: "document", data: "AAAA", title: "bill.pdf" }],
      [{ type: "file", file: { filename: "bill.pdf", file_data: "data:application/pdf;base64,AAAA" } }],
    ],
    [
      "a document at an address, which is told to be left out",
      [{ type: "document", url: "https://x.test/a.pdf" }],
      "[document at an address left out: it takes files as data, not by their address. Give the bytes as base64 in data.]",
    ],
    [
      "thinking, a call and an unknown block, which are no user's",
      [
        text("Hi"),
        { type: "thinking", text: "Hm.", signature: "s", vendor: "openai" },
        call("c1"),
        { type: "unknown", raw: { type: "x" } },
      ],
      "Hi",
    ],
  ])("in a user's message: %s", (_, blocks, content) => {
    expect(messagesOf(user(...blocks))).toEqual([{ role: "user", content }]);
  });

  it.each<[string, Block[], unknown[]]>([
    ["text", [text("a"), text("b")], [{ role: "assistant", content: "ab" }]],
    ["nothing but thinking, which is nobody's", [{ type: "thinking", text: "Hm." }], []],
    ["redacted thinking of another vendor", [{ type: "unknown", raw: { type: "redacted_thinking" } }], []],
    ["nothing", [], []],
    [
      "an image, which a reply cannot hold here",
      [text("See"), image],
      [
        {
          role: "assistant",
          content: "See\n[image/jpeg image left out: this host takes replies of text and calls alone.]",
        },
      ],
    ],
    ["a result, which is no assistant's", [text("See"), result("c", 1)], [{ role: "assistant", content: "See" }]],
  ])("in a reply: %s", (_, blocks, expected) => {
    expect(messagesOf(user(text("Hi")), assistant(...blocks), user(text("And?"))).slice(1, -1)).toEqual(expected);
  });

  it.each([
    ["an object", { a: 1 }, '{"a":1}'],
    ["text a model wrote badly stays as it wrote it (S2-13)", '{"a": 1', '{"a": 1'],
    ["nothing", undefined, "{}"],
    ["a list", [1], "[1]"],
  ])("S2-23: the arguments of a call are text: %s", (_, input, expected) => {
    expect(messagesOf(user(text("Hi")), assistant(call("c1", input)), user(result("c1", "")))[1]).toEqual({
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c1", type: "function", function: { name: "add", arguments: expected } }],
    });
  });

  it.each<[string, unknown, boolean, string]>([
    ["text", "fine", false, "fine"],
    ["empty text", "", false, ""],
    ["JSON", { sum: 42 }, false, '{"sum":42}'],
    ["a list that is no content", [1], false, "[1]"],
    ["an error", "No such order.", true, "No such order."],
    ["texts as content", [text("a"), text("b")], false, "a\nb"],
  ])("a tool result: %s", (_, output, isError, content) => {
    expect(messagesOf(user(text("Hi")), assistant(call("c1")), user(result("c1", output, isError))).slice(2)).toEqual([
      { role: "tool", tool_call_id: "c1", content },
    ]);
  });

  it("results are messages directly after their calls, followed by images of tools and the user's text", () => {
    const messages = messagesOf(
      user(text("Hi")),
      assistant(call("c1"), call("c2")),
      user(text("And?"), result("c1", [text("A dot:"), image]), result("c2", [image])),
    );
    expect(messages.slice(2)).toEqual([
      { role: "tool", tool_call_id: "c1", content: "A dot:" },
      { role: "tool", tool_call_id: "c2", content: "The result is in what follows." },
      { role: "user", content: [{ type: "text", text: "And?" }, imagePart, imagePart] },
    ]);
  });

  it("an id of a compatible host is sent back unchanged; one that is too long or already used is replaced", () => {
    const long = "x".repeat(41);
    const messages = messagesOf(
      user(text("Hi")),
      assistant(call("functions.add:0", {}, "a b"), call(long)),
      user(result("functions.add:0", 1), result(long, 2)),
      assistant(call("functions.add:0")),
      user(result("functions.add:0", 3)),
    );
    expect(messages).toMatchObject([
      {},
      { tool_calls: [{ id: "functions.add:0", function: { name: "a_b" } }, { id: "call_1" }] },
      { tool_call_id: "functions.add:0", content: "1" },
      { tool_call_id: "call_1", content: "2" },
      { tool_calls: [{ id: "call_2" }] },
      { tool_call_id: "call_2", content: "3" },
    ]);
  });

  it.each([
    ["auto", "auto"],
    ["none", "none"],
    ["required", "required"],
    [{ name: "add" }, { type: "function", function: { name: "add" } }],
  ] as const)("tool choice %j", (toolChoice, expected) => {
    expect(encode({ tools: [add], toolChoice })).toMatchObject({
      tools: [{ type: "function", function: { name: "add", description: "Add", parameters: add.inputSchema } }],
      tool_choice: expected,
    });
    expect(encode({ toolChoice }), "without tools there is no choice").not.toHaveProperty("tool_choice");
  });

  it("limits, temperature and instructions that were not given are not sent", () => {
    const body = encode({ instructions: "" });
    for (const name of ["max_tokens", "max_completion_tokens", "temperature"]) expect(body).not.toHaveProperty(name);
    expect(body.messages).toHaveLength(1);
    expect(encode({ temperature: 0 }).temperature).toBe(0);
  });

  it.each([
    ["gpt-5", 1024, "low"],
    ["gpt-5", 2048, "low"],
    ["gpt-5.1-mini", 2049, "medium"],
    ["o3", 8192, "medium"],
    ["o4-mini", 8193, "high"],
  ])(
    "%s with %i thinking tokens gets the effort %s, with a warning once per request",
    async (model, tokens, effort) => {
      const request: ModelRequest = { messages: [user(text("Hi"))], tools: [], thinkingTokens: tokens };
      expect(read(encodeOpenaiRequest(model, request, PROFILES.openai))).toMatchObject({ reasoning_effort: effort });
      expect(thinkingNotice(model, request, PROFILES.openai)).toMatchObject({
        kind: "thinking-effort",
        data: { thinkingTokens: tokens, effort },
      });
      const later = { ...request, messages: [...request.messages, assistant(call("1")), user(result("1", 3))] };
      expect(read(encodeOpenaiRequest(model, later, PROFILES.openai))).toMatchObject({ reasoning_effort: effort });
      expect(thinkingNotice(model, later, PROFILES.openai)).toBeUndefined();
    },
  );

  it.each(["gpt-4o", "gpt-4.1", "o1-mini", "gpt-5-chat-latest", "chatgpt-4o-latest"])(
    "%s has no thinking: no effort is sent, and the option is ignored",
    (model) => {
      const request: ModelRequest = { messages: [user(text("Hi"))], tools: [], thinkingTokens: 4096 };
      expect(read(encodeOpenaiRequest(model, request, PROFILES.openai))).not.toHaveProperty("reasoning_effort");
      expect(thinkingNotice(model, request, PROFILES.openai)).toBeUndefined();
      expect(mayThink(model, PROFILES.openai)).toBe(false);
    },
  );

  it("thinking tokens: openrouter gets the number, hosts without such a field get nothing", () => {
    expect(encode({ thinkingTokens: 4096 }, PROFILES.openrouter)).toMatchObject({ reasoning: { max_tokens: 4096 } });
    expect(encode({}, PROFILES.openrouter)).not.toHaveProperty("reasoning");
    for (const host of ["deepseek", "vllm", "modal"] as const) {
      expect(Object.keys(encode({ thinkingTokens: 4096 }, PROFILES[host])).join()).not.toMatch(/reason|think/);
      expect(mayThink("m", PROFILES[host])).toBe(false);
    }
  });

  it("structured output is the response format", () => {
    const schema = { type: "object", properties: {}, required: [], additionalProperties: false };
    expect(encode({ output: { name: "answer", schema } })).toMatchObject({
      response_format: { type: "json_schema", json_schema: { name: "answer", strict: true, schema } },
    });
    expect(encode()).not.toHaveProperty("response_format");
  });
});
