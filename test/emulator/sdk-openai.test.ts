import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEmulator, FAULT_HEADER } from "#emulator";
import { ADD, MULTIPLY } from "./support.ts";

const emulator = createEmulator();
const chatTools = [ADD, MULTIPLY].map(({ name, description, schema }) => ({
  type: "function" as const,
  function: { name, description, parameters: schema },
}));
const responseTools = [ADD, MULTIPLY].map(({ name, description, schema }) => ({
  type: "function" as const,
  name,
  description,
  parameters: schema,
  strict: false,
}));
let sdk: OpenAI;

beforeAll(async () => {
  const { url } = await emulator.listen();
  sdk = new OpenAI({ baseURL: `${url}/v1`, apiKey: "offline", maxRetries: 0 });
});
afterAll(() => emulator.close());

const ask = (content: string): OpenAI.ChatCompletionMessageParam[] => [{ role: "user", content }];
const faulty = (fault: object) => ({ headers: { [FAULT_HEADER]: JSON.stringify(fault) } });

describe("openai (chat completions) against the offline server", () => {
  it("gets a text in one piece", async () => {
    const reply = await sdk.chat.completions.create({ model: "offline", messages: ask("What is 25 + 17?") });
    expect(reply.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { role: "assistant", content: "25 + 17 = 42." },
    });
    expect(reply.usage?.total_tokens).toBe((reply.usage?.prompt_tokens ?? 0) + (reply.usage?.completion_tokens ?? 0));
  });

  it("gets the same text as a stream, with the usage in the last chunk when it asks for it", async () => {
    const body = { model: "offline", messages: ask("What is 25 + 17?"), stream: true } as const;
    const texts: string[] = [];
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of await sdk.chat.completions.create({
      ...body,
      stream_options: { include_usage: true },
    })) {
      texts.push(chunk.choices[0]?.delta.content ?? "");
      usage = chunk.usage;
    }
    expect(texts.join("")).toBe("25 + 17 = 42.");
    expect(texts.filter((text) => text !== "").length).toBeGreaterThan(2);
    expect(usage?.completion_tokens).toBeGreaterThan(0);
    for await (const chunk of await sdk.chat.completions.create(body)) expect(chunk).not.toHaveProperty("usage");
  });

  it("calls a tool, sends its result back and gets the answer", async () => {
    const messages = ask("What is 25 + 17?");
    const stream = sdk.chat.completions.stream({ model: "offline", tools: chatTools, messages });
    const first = (await stream.finalChatCompletion()).choices[0]?.message;
    const [call] = first?.tool_calls ?? [];
    expect(call).toMatchObject({ type: "function", function: { name: "add", arguments: '{"a":25,"b":17}' } });
    const second = await sdk.chat.completions.create({
      model: "offline",
      tools: chatTools,
      messages: [
        ...messages,
        first as OpenAI.ChatCompletionMessageParam,
        { role: "tool", tool_call_id: call?.id ?? "", content: "42" },
      ],
    });
    expect(second.choices[0]?.message.content).toBe("25 + 17 = 42.");
  });

  it("gets several calls in one reply, and one when parallel calls are switched off", async () => {
    const body = { model: "offline", tools: chatTools, messages: ask("add 2 and 3, and multiply 6 by 7") };
    const reply = await sdk.chat.completions.create(body);
    const calls = reply.choices[0]?.message.tool_calls ?? [];
    expect(calls.map((call) => call.type === "function" && [call.function.name, call.function.arguments])).toEqual([
      ["add", '{"a":2,"b":3}'],
      ["multiply", '{"a":6,"b":7}'],
    ]);
    expect(reply.choices[0]?.finish_reason).toBe("tool_calls");
    const single = await sdk.chat.completions.create({ ...body, parallel_tool_calls: false });
    expect(single.choices[0]?.message.tool_calls).toHaveLength(1);
  });

  it("fills the schema of a structured answer", async () => {
    const schema = {
      type: "object",
      properties: { city: { type: "string" }, degrees: { type: "integer" }, sky: { enum: ["grey", "blue"] } },
      required: ["city", "degrees", "sky"],
      additionalProperties: false,
    };
    const reply = await sdk.chat.completions.create({
      model: "offline",
      messages: ask("It is 21 degrees and blue in Paris."),
      response_format: { type: "json_schema", json_schema: { name: "weather", strict: true, schema } },
    });
    expect(JSON.parse(reply.choices[0]?.message.content ?? "")).toEqual({ city: "Paris", degrees: 21, sky: "blue" });
  });

  it("throws the SDK's own errors, with status, message and code", async () => {
    const missing = sdk.chat.completions.create({ model: "missing-model", messages: ask("hi") });
    await expect(missing).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(missing).rejects.toMatchObject({
      status: 404,
      code: "model_not_found",
      message: expect.stringContaining("missing-model"),
    });
    const bad = sdk.chat.completions.create({ model: "offline", messages: [] });
    await expect(bad).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    await expect(bad).rejects.toMatchObject({ param: "messages", type: "invalid_request_error" });
    const limited = sdk.chat.completions.create({ model: "offline", messages: ask("hi") }, faulty({ status: 429 }));
    await expect(limited).rejects.toBeInstanceOf(OpenAI.RateLimitError);
  });

  it("throws when an error comes in the middle of a stream", async () => {
    const stream = await sdk.chat.completions.create(
      { model: "offline", messages: ask("What is 25 + 17?"), stream: true },
      faulty({ errorEventAfterEvents: 2, message: "too busy" }),
    );
    await expect(
      (async () => {
        for await (const _ of stream);
      })(),
    ).rejects.toThrow(/too busy/);
  });

  it("lists models", async () => {
    expect((await sdk.models.list()).data.map((model) => model.id)).toEqual(["offline"]);
    expect(await sdk.models.retrieve("gpt-x")).toMatchObject({ id: "gpt-x", object: "model" });
  });
});

describe("openai (responses) against the offline server", () => {
  it("gets a text in one piece", async () => {
    const reply = await sdk.responses.create({ model: "offline", input: "What is 25 + 17?" });
    expect(reply.output_text).toBe("25 + 17 = 42.");
    expect(reply.status).toBe("completed");
    expect(reply.usage?.output_tokens).toBeGreaterThan(0);
  });

  it("gets the same text as a stream", async () => {
    const stream = sdk.responses.stream({ model: "offline", input: "What is 25 + 17?" });
    const deltas: string[] = [];
    stream.on("response.output_text.delta", (event) => deltas.push(event.delta));
    const reply = await stream.finalResponse();
    expect(deltas.join("")).toBe("25 + 17 = 42.");
    expect(reply.output_text).toBe("25 + 17 = 42.");
  });

  it("calls a tool, sends its result back and gets the answer, with the items or with the id of the reply", async () => {
    const stream = sdk.responses.stream({ model: "offline", tools: responseTools, input: "What is 25 + 17?" });
    const first = await stream.finalResponse();
    const call = first.output.find((item) => item.type === "function_call");
    expect(call).toMatchObject({ name: "add", arguments: '{"a":25,"b":17}' });
    const output = { type: "function_call_output" as const, call_id: call?.call_id ?? "", output: "42" };
    const withItems = await sdk.responses.create({
      model: "offline",
      tools: responseTools,
      input: [
        { role: "user", content: "What is 25 + 17?" },
        ...(first.output as OpenAI.Responses.ResponseInput),
        output,
      ],
    });
    expect(withItems.output_text).toBe("25 + 17 = 42.");
    const withId = await sdk.responses.create({
      model: "offline",
      tools: responseTools,
      previous_response_id: first.id,
      input: [output],
    });
    expect(withId.output_text).toBe("25 + 17 = 42.");
    const unknown = sdk.responses.create({ model: "offline", previous_response_id: "resp_none", input: "hi" });
    await expect(unknown).rejects.toMatchObject({ status: 400, code: "previous_response_not_found" });
  });

  it("gets several calls in one reply, and a summary of the thought it asked for", async () => {
    const reply = await sdk.responses.create({
      model: "offline",
      tools: responseTools,
      input: "What is 25 + 17 and what is 6 * 7?",
      reasoning: { effort: "low", summary: "auto" },
    });
    expect(reply.output.map((item) => item.type)).toEqual(["reasoning", "message", "function_call", "function_call"]);
  });

  it("throws the SDK's own errors, also in the middle of a stream", async () => {
    await expect(sdk.responses.create({ model: "missing-model", input: "hi" })).rejects.toBeInstanceOf(
      OpenAI.NotFoundError,
    );
    await expect(sdk.responses.create({ model: "offline", input: [] })).rejects.toMatchObject({
      status: 400,
      param: "input",
    });
    const stream = await sdk.responses.create(
      { model: "offline", input: "hi", stream: true },
      faulty({ errorEventAfterEvents: 3 }),
    );
    const types: string[] = [];
    await expect(
      (async () => {
        for await (const event of stream) types.push(event.type);
        if (types.at(-1) === "error") throw new Error("error event");
      })(),
    ).rejects.toThrow();
  });
});
