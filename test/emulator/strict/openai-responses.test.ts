import { expectOpenaiShape } from "./openai-shape.ts";
import { describeStrict, schema, type Suite, user } from "./suite.ts";

const from = (...content: object[]) => ({ role: "user", content });
const call = (id: string) => ({ type: "function_call", call_id: id, name: "add", arguments: "{}" });
const output = (id: string) => ({ type: "function_call_output", call_id: id, output: "3" });

const responses: Suite = {
  vendor: "openai",
  path: "/v1/responses",
  good: { model: "m", input: "What is 25 + 17?" },
  expectShape: expectOpenaiShape,
  accepted: [
    { name: "a plain question" },
    { name: "a call and its result", body: { input: [user, call("a"), output("a")] } },
    {
      name: "items of kinds it does not know",
      body: { input: [user, { type: "reasoning", id: "rs_1", summary: [] }] },
    },
  ],
  refused: [
    { name: "no key", headers: { authorization: undefined }, status: 401 },
    { name: "no input", body: { input: undefined }, says: /input/ },
    { name: "an unknown role", body: { input: [{ role: "tool", content: "x" }] }, says: /role/ },
    { name: "a tool call without result", body: { input: [user, call("a")] }, says: /no function_call_output/ },
    { name: "a result without call", body: { input: [user, output("a")] }, says: /no function call/ },
    { name: "a result before its call", body: { input: [user, output("a"), call("a")] }, says: /no function call/ },
    { name: "two results for one call", body: { input: [user, call("a"), output("a"), output("a")] }, says: /twice/ },
    { name: "duplicate ids", body: { input: [user, call("a"), output("a"), call("a"), output("a")] }, says: /unique/ },
    {
      name: "arguments that are no text",
      body: { input: [user, { ...call("a"), arguments: {} }, output("a")] },
      says: /arguments/,
    },
    {
      name: "what the model said in a message of the user",
      body: { input: [from({ type: "output_text", text: "x" })] },
      says: /output_text/,
    },
    {
      name: "a tool name with a blank",
      body: { tools: [{ type: "function", name: "a b", parameters: schema }] },
      says: /name/,
    },
    { name: "a model that is missing", body: { model: "missing-1" }, status: 404 },
  ],
};

describeStrict(responses);
