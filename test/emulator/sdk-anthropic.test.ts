import Anthropic from "@anthropic-ai/sdk";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createEmulator, FAULT_HEADER } from "#emulator";
import { ADD, MULTIPLY } from "./support.ts";

const emulator = createEmulator();
const tools = [ADD, MULTIPLY].map(({ name, description, schema }) => ({
  name,
  description,
  input_schema: schema as Anthropic.Tool.InputSchema,
}));
let sdk: Anthropic;

beforeAll(async () => {
  const { url } = await emulator.listen();
  sdk = new Anthropic({ baseURL: url, apiKey: "offline", maxRetries: 0 });
});
afterAll(() => emulator.close());

const ask = (content: string): Anthropic.MessageParam[] => [{ role: "user", content }];
const textOf = (message: Anthropic.Message): string =>
  message.content.map((block) => (block.type === "text" ? block.text : "")).join("");

describe("@anthropic-ai/sdk against the offline server", () => {
  it("gets a text in one piece", async () => {
    const message = await sdk.messages.create({
      model: "offline",
      max_tokens: 500,
      messages: ask("What is 25 + 17?"),
    });
    expect(textOf(message)).toBe("25 + 17 = 42.");
    expect(message.stop_reason).toBe("end_turn");
    expect(message.usage.output_tokens).toBeGreaterThan(0);
  });

  it("gets a text as a stream, the same one", async () => {
    const pieces: string[] = [];
    const stream = sdk.messages.stream({ model: "offline", max_tokens: 500, messages: ask("What is 25 + 17?") });
    stream.on("text", (text) => pieces.push(text));
    const message = await stream.finalMessage();
    expect(textOf(message)).toBe("25 + 17 = 42.");
    expect(pieces.length).toBeGreaterThan(2);
  });

  it("calls a tool, sends its result back and gets the answer", async () => {
    const messages = ask("What is 25 + 17?");
    const first = await sdk.messages.stream({ model: "offline", max_tokens: 500, tools, messages }).finalMessage();
    const call = first.content.find((block) => block.type === "tool_use");
    expect(call).toMatchObject({ name: "add", input: { a: 25, b: 17 } });
    expect(first.stop_reason).toBe("tool_use");
    const second = await sdk.messages.create({
      model: "offline",
      max_tokens: 500,
      tools,
      messages: [
        ...messages,
        { role: "assistant", content: first.content },
        { role: "user", content: [{ type: "tool_result", tool_use_id: call?.id ?? "", content: "42" }] },
      ],
    });
    expect(textOf(second)).toBe("25 + 17 = 42.");
  });

  it("gets several calls in one reply, and only the first if several are forbidden", async () => {
    const body = { model: "offline", max_tokens: 500, tools, messages: ask("What is 25 + 17 and what is 6 * 7?") };
    const message = await sdk.messages.create(body);
    const calls = message.content.filter((block) => block.type === "tool_use");
    expect(calls.map(({ name, input }) => ({ name, input }))).toEqual([
      { name: "add", input: { a: 25, b: 17 } },
      { name: "multiply", input: { a: 6, b: 7 } },
    ]);
    expect(new Set(calls.map((call) => call.id)).size).toBe(2);
    const single = await sdk.messages.create({
      ...body,
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
    });
    expect(single.content.filter((block) => block.type === "tool_use")).toHaveLength(1);
  });

  it("gets a signed thought only when it asks for one, and may send it back", async () => {
    const body = { model: "offline", max_tokens: 4000, tools, messages: ask("What is 25 + 17?") };
    expect((await sdk.messages.create(body)).content.some((block) => block.type === "thinking")).toBe(false);
    const thinking = { type: "enabled", budget_tokens: 2000 } as const;
    const first = await sdk.messages.stream({ ...body, thinking }).finalMessage();
    expect(first.content[0]).toMatchObject({ type: "thinking", signature: expect.stringMatching(/.{20}/) });
    const call = first.content.find((block) => block.type === "tool_use");
    const second = await sdk.messages.create({
      ...body,
      thinking,
      messages: [
        ...body.messages,
        { role: "assistant", content: first.content },
        { role: "user", content: [{ type: "tool_result", tool_use_id: call?.id ?? "", content: "42" }] },
      ],
    });
    expect(textOf(second)).toBe("25 + 17 = 42.");
  });

  it("gets an answer that fits the schema the SDK made, in one piece and as a stream", async () => {
    const Answer = z.object({
      answer: z.number().int().min(0),
      unit: z.enum(["apples", "pears"]),
      note: z.string().optional(),
    });
    const body = {
      model: "offline",
      max_tokens: 500,
      messages: ask("How many pears are 25 + 17?"),
      output_config: { format: zodOutputFormat(Answer) },
    };
    expect((await sdk.messages.parse(body)).parsed_output).toEqual({ answer: 42, unit: "pears" });
    expect(JSON.parse(textOf(await sdk.messages.stream(body).finalMessage()))).toEqual({ answer: 42, unit: "pears" });
  });

  it("counts tokens and lists models", async () => {
    const { input_tokens } = await sdk.messages.countTokens({ model: "offline", messages: ask("What is 25 + 17?") });
    expect(input_tokens).toBeGreaterThan(0);
    expect((await sdk.models.list()).data.map((model) => model.id)).toEqual(["offline"]);
    expect(await sdk.models.retrieve("claude-x")).toMatchObject({ id: "claude-x", type: "model" });
  });

  it("throws the SDK's own errors, with status, message and request id", async () => {
    const missing = sdk.messages.create({ model: "missing-model", max_tokens: 5, messages: ask("hi") });
    await expect(missing).rejects.toBeInstanceOf(Anthropic.NotFoundError);
    await expect(missing).rejects.toMatchObject({
      status: 404,
      requestID: expect.stringMatching(/^req_/),
      message: expect.stringContaining("missing-model"),
    });
    const bad = sdk.messages.create({ model: "offline", max_tokens: 5, messages: [] });
    await expect(bad).rejects.toBeInstanceOf(Anthropic.BadRequestError);
    await expect(bad).rejects.toMatchObject({ status: 400, error: { error: { type: "invalid_request_error" } } });
    const headers = { [FAULT_HEADER]: JSON.stringify({ status: 529, retryAfter: 3 }) };
    const busy = sdk.messages.create({ model: "offline", max_tokens: 5, messages: ask("hi") }, { headers });
    await expect(busy).rejects.toMatchObject({ status: 529, error: { error: { type: "overloaded_error" } } });
  });

  it("throws when an error event comes in the middle of a stream", async () => {
    const headers = { [FAULT_HEADER]: JSON.stringify({ errorEventAfterEvents: 4 }) };
    const stream = sdk.messages.stream(
      { model: "offline", max_tokens: 500, messages: ask("What is 25 + 17?") },
      { headers },
    );
    await expect(stream.finalMessage()).rejects.toThrow(/overloaded_error/);
  });

  it("fails as often as configured, then succeeds: the SDK's own retry works", async () => {
    const headers = {
      [FAULT_HEADER]: JSON.stringify({ status: 503, retryAfter: 0, times: 1, key: "anthropic-retry" }),
    };
    const patient = sdk.withOptions({ maxRetries: 1 });
    const message = await patient.messages.create(
      { model: "offline", max_tokens: 500, messages: ask("What is 1 + 1?") },
      { headers },
    );
    expect(textOf(message)).toBe("1 + 1 = 2.");
  });
});
