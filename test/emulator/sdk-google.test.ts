import { ApiError, type FunctionCall, GoogleGenAI, ThinkingLevel } from "@google/genai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEmulator, FAULT_HEADER } from "#emulator";
import { ADD, MULTIPLY } from "./support.ts";

const emulator = createEmulator();
const tools = [
  {
    functionDeclarations: [ADD, MULTIPLY].map(({ name, description, schema }) => ({
      name,
      description,
      parametersJsonSchema: schema,
    })),
  },
];
let sdk: GoogleGenAI;
let url: string;

beforeAll(async () => {
  ({ url } = await emulator.listen());
  sdk = new GoogleGenAI({ apiKey: "offline", httpOptions: { baseUrl: url } });
});
afterAll(() => emulator.close());

const faulty = (fault: object) =>
  new GoogleGenAI({
    apiKey: "offline",
    httpOptions: { baseUrl: url, headers: { [FAULT_HEADER]: JSON.stringify(fault) } },
  });
const plain = (calls: FunctionCall[] | undefined) => calls?.map(({ name, args }) => ({ name, args }));

describe("@google/genai against the offline server", () => {
  it("gets a text in one piece", async () => {
    const reply = await sdk.models.generateContent({ model: "gemini-offline", contents: "What is 25 + 17?" });
    expect(reply.text).toBe("25 + 17 = 42.");
    expect(reply.candidates?.[0]?.finishReason).toBe("STOP");
    expect(reply.usageMetadata?.candidatesTokenCount).toBeGreaterThan(0);
  });

  it("gets the same text as a stream", async () => {
    const texts: string[] = [];
    for await (const chunk of await sdk.models.generateContentStream({
      model: "gemini-offline",
      contents: "What is 25 + 17?",
    })) {
      texts.push(chunk.text ?? "");
    }
    expect(texts.join("")).toBe("25 + 17 = 42.");
    expect(texts.length).toBeGreaterThan(2);
  });

  it("calls a tool, sends its result back and gets the answer, also where the signature of the call is needed", async () => {
    for (const model of ["gemini-offline", "gemini-3-offline"]) {
      const question = { role: "user", parts: [{ text: "What is 25 + 17?" }] };
      const first = await sdk.models.generateContent({ model, contents: [question], config: { tools } });
      expect(plain(first.functionCalls)).toEqual([{ name: "add", args: { a: 25, b: 17 } }]);
      const call = first.functionCalls?.[0];
      const answer = { functionResponse: { id: call?.id ?? "", name: "add", response: { result: 42 } } };
      const second = await sdk.models.generateContent({
        model,
        contents: [question, first.candidates?.[0]?.content ?? {}, { role: "user", parts: [answer] }],
        config: { tools },
      });
      expect(second.text).toBe("25 + 17 = 42.");
    }
  });

  it("gets several calls in one reply, streamed or not", async () => {
    const asked = { model: "gemini-offline", contents: "What is 25 + 17 and what is 6 * 7?", config: { tools } };
    const expected = [
      { name: "add", args: { a: 25, b: 17 } },
      { name: "multiply", args: { a: 6, b: 7 } },
    ];
    expect(plain((await sdk.models.generateContent(asked)).functionCalls)).toEqual(expected);
    const streamed: FunctionCall[] = [];
    for await (const chunk of await sdk.models.generateContentStream(asked))
      streamed.push(...(chunk.functionCalls ?? []));
    expect(plain(streamed)).toEqual(expected);
  });

  it("gets thoughts when it asks for them, and an answer that fits a schema", async () => {
    const reply = await sdk.models.generateContent({
      model: "gemini-offline",
      contents: "What is 25 + 17?",
      config: {
        thinkingConfig: { includeThoughts: true, thinkingLevel: ThinkingLevel.LOW },
        responseMimeType: "application/json",
        responseJsonSchema: { type: "object", properties: { answer: { type: "integer" } }, required: ["answer"] },
      },
    });
    expect(reply.candidates?.[0]?.content?.parts?.[0]).toMatchObject({ thought: true });
    expect(JSON.parse(reply.text ?? "")).toEqual({ answer: 42 });
  });

  it("counts tokens and lists models", async () => {
    expect((await sdk.models.countTokens({ model: "gemini-offline", contents: "hello" })).totalTokens).toBeGreaterThan(
      0,
    );
    const names: (string | undefined)[] = [];
    for await (const model of await sdk.models.list()) names.push(model.name);
    expect(names).toEqual(["models/offline"]);
    expect((await sdk.models.get({ model: "gemini-x" })).name).toBe("models/gemini-x");
  });

  it("throws the SDK's own error, with status and message, also in the middle of a stream", async () => {
    const missing = sdk.models.generateContent({ model: "missing-model", contents: "hi" });
    await expect(missing).rejects.toBeInstanceOf(ApiError);
    await expect(missing).rejects.toMatchObject({ status: 404, message: expect.stringContaining("missing-model") });
    const busy = faulty({ status: 503 }).models.generateContent({ model: "gemini-offline", contents: "hi" });
    await expect(busy).rejects.toMatchObject({ status: 503, message: expect.stringContaining("UNAVAILABLE") });
    const stream = await faulty({ errorEventAfterEvents: 2, message: "too busy" }).models.generateContentStream({
      model: "gemini-offline",
      contents: "What is 25 + 17?",
    });
    await expect(
      (async () => {
        for await (const _ of stream);
      })(),
    ).rejects.toThrow(/too busy/);
  });
});
