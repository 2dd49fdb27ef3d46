import { describe, expect, it } from "vitest";
import { createEmulator } from "#emulator";
import { HEADERS, post } from "../support.ts";
import { describeStrict, schema, type Suite } from "./suite.ts";

const asked = { role: "user", parts: [{ text: "What is 25 + 17?" }] };
const functionCall = (name = "add", more: object = {}) => ({ functionCall: { name, args: {}, ...more } });
const functionResponse = (name = "add", more: object = {}) => ({
  functionResponse: { name, response: { result: 3 }, ...more },
});
const model = (...parts: object[]) => ({ role: "model", parts });
const userParts = (...parts: object[]) => ({ role: "user", parts });
const declaration = (fields: object) => ({ tools: [{ functionDeclarations: [{ name: "add", ...fields }] }] });

const gemini: Suite = {
  vendor: "google",
  path: "/v1beta/models/gemini-2.5-pro:generateContent",
  good: { contents: [asked] },
  expectShape({ json }, status) {
    const name = status === 403 ? "PERMISSION_DENIED" : status === 404 ? "NOT_FOUND" : "INVALID_ARGUMENT";
    expect(json).toEqual({ error: { code: status, message: expect.any(String), status: name } });
  },
  accepted: [
    {
      name: "a form of the answer",
      body: {
        generationConfig: {
          responseMimeType: "application/json",
          responseJsonSchema: {
            type: "object",
            properties: { a: { $ref: "#/$defs/b" } },
            $defs: { b: { type: "string" } },
          },
        },
      },
    },
    { name: "a plain question, without a role", body: { contents: [{ parts: [{ text: "hi" }] }] } },
    {
      name: "fields in snake case",
      body: { generation_config: { max_output_tokens: 50 }, system_instruction: { parts: [{ text: "x" }] } },
    },
    {
      name: "calls and their results",
      body: {
        contents: [asked, model(functionCall(), functionCall()), userParts(functionResponse(), functionResponse())],
      },
    },
    {
      name: "an empty text with a signature",
      body: { contents: [asked, model({ text: "", thoughtSignature: "x" }), asked] },
    },
  ],
  refused: [
    {
      name: "a form beside functions, before Gemini 3",
      body: { generationConfig: { responseMimeType: "application/json" }, ...declaration({}) },
      says: /Function calling/,
    },
    {
      name: "a form in both ways",
      body: {
        generationConfig: { responseMimeType: "application/json", responseSchema: {}, responseJsonSchema: {} },
      },
      says: /not both/,
    },
    {
      name: "a form with something beside a reference",
      body: {
        generationConfig: {
          responseMimeType: "application/json",
          responseJsonSchema: { type: "object", properties: { a: { $ref: "#/$defs/b", description: "x" } } },
        },
      },
      says: /\$ref/,
    },
    { name: "no key", headers: { "x-goog-api-key": undefined }, status: 403 },
    { name: "an empty key", headers: { "x-goog-api-key": "" }, status: 403 },
    { name: "no contents", body: { contents: [] }, says: /contents/ },
    { name: "an unknown field", body: { messages: [] }, says: /messages/ },
    { name: "an unknown role", body: { contents: [{ role: "assistant", parts: [{ text: "x" }] }] }, says: /role/ },
    {
      name: "a system message inside the contents",
      body: { contents: [{ role: "system", parts: [{ text: "x" }] }, asked] },
      says: /role/,
    },
    { name: "no parts", body: { contents: [{ role: "user", parts: [] }] }, says: /parts/ },
    { name: "a part without anything", body: { contents: [userParts({})] }, says: /exactly one/ },
    {
      name: "a tool call without result, at the end",
      body: { contents: [asked, model(functionCall())] },
      says: /no function responses/,
    },
    {
      name: "a tool call without result, in between",
      body: { contents: [asked, model(functionCall()), asked] },
      says: /equal/,
    },
    {
      name: "one result for two calls",
      body: { contents: [asked, model(functionCall(), functionCall()), userParts(functionResponse())] },
      says: /equal/,
    },
    {
      name: "results in two contents",
      body: {
        contents: [
          asked,
          model(functionCall(), functionCall()),
          userParts(functionResponse()),
          userParts(functionResponse()),
        ],
      },
      says: /equal/,
    },
    {
      name: "a result without call",
      body: { contents: [asked, model({ text: "x" }), userParts(functionResponse())] },
      says: /equal/,
    },
    {
      name: "a result of another tool",
      body: { contents: [asked, model(functionCall()), userParts(functionResponse("sub"))] },
      says: /answers no/,
    },
    {
      name: "a result for another call",
      body: {
        contents: [asked, model(functionCall("add", { id: "a" })), userParts(functionResponse("add", { id: "b" }))],
      },
      says: /answers no/,
    },
    {
      name: "duplicate ids",
      body: {
        contents: [
          asked,
          model(functionCall("add", { id: "a" }), functionCall("add", { id: "a" })),
          userParts(functionResponse(), functionResponse()),
        ],
      },
      says: /unique/,
    },
    {
      name: "calls before the user said anything",
      body: { contents: [model(functionCall()), userParts(functionResponse())] },
      says: /right after/,
    },
    {
      name: "a result that is no object",
      body: { contents: [asked, model(functionCall()), userParts(functionResponse("add", { response: "3" }))] },
      says: /object/,
    },
    { name: "a function of a wrong name", body: declaration({ name: "a b" }), says: /name/ },
    {
      name: "two functions of one name",
      body: { tools: [{ functionDeclarations: [{ name: "add" }, { name: "add" }] }] },
      says: /twice/,
    },
    { name: "parameters that are no object's", body: declaration({ parameters: { type: "STRING" } }), says: /object/ },
    {
      name: "JSON Schema where OpenAPI belongs",
      body: declaration({ parameters: { type: "object", additionalProperties: false } }),
      says: /additionalProperties/,
    },
    {
      name: "both kinds of schema",
      body: declaration({ parameters: schema, parametersJsonSchema: schema }),
      says: /either/,
    },
    { name: "an unknown mode", body: { toolConfig: { functionCallingConfig: { mode: "MAYBE" } } }, says: /mode/ },
    {
      name: "a schema for an answer that is no JSON",
      body: { generationConfig: { responseSchema: schema } },
      says: /response_mime_type/,
    },
  ],
};

describeStrict(gemini);

describe("strict mode for Gemini 3", () => {
  it("asks Gemini 3 requests for the signature of a call, and takes the text that stands for a foreign one", async () => {
    const emulator = createEmulator();
    const path = "/v1beta/models/gemini-3-pro:generateContent";
    const send = async (signature: object) =>
      (
        await post(
          emulator,
          path,
          { contents: [asked, model({ ...functionCall(), ...signature }), userParts(functionResponse())] },
          HEADERS.google,
        )
      ).status;
    expect(await send({})).toBe(400);
    expect(await send({ thoughtSignature: "made-up" })).toBe(400);
    expect(await send({ thoughtSignature: "skip_thought_signature_validator" })).toBe(200);
  });
});
