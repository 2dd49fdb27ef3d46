import { expectOpenaiShape } from "./openai-shape.ts";
import { describeStrict, schema, type Suite, user } from "./suite.ts";

const calls = (...ids: string[]) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "add", arguments: "{}" } })),
});
const toolMessage = (id: string) => ({ role: "tool", tool_call_id: id, content: "3" });
const chatTool = (fields: object) => ({ type: "function", function: { name: "add", parameters: schema, ...fields } });

const form = (fields: object, strict = true) => ({
  response_format: {
    type: "json_schema",
    json_schema: {
      name: "answer",
      strict,
      schema: { type: "object", properties: {}, required: [], additionalProperties: false, ...fields },
    },
  },
});
const field = (a: object) => form({ properties: { a }, required: ["a"] });

const chat: Suite = {
  vendor: "openai",
  path: "/v1/chat/completions",
  good: { model: "m", messages: [user] },
  expectShape: expectOpenaiShape,
  accepted: [
    {
      name: "a strict form of the answer",
      body: field({
        anyOf: [{ type: "string", pattern: "^x" }, { type: "null" }, { type: "array", items: { $ref: "#" } }],
      }),
    },
    { name: "a form that is not strict", body: form({ properties: { a: { minLength: 1 } } }, false) },
    { name: "an effort", body: { reasoning_effort: "medium" } },
    { name: "a plain question" },
    {
      name: "instructions in the list, twice",
      body: { messages: [{ role: "system", content: "x" }, { role: "developer", content: "y" }, user] },
    },
    {
      name: "calls and their results, in any order",
      body: { messages: [user, calls("a", "b"), toolMessage("b"), toolMessage("a"), user] },
    },
    { name: "an empty text of the user", body: { messages: [{ role: "user", content: "" }] } },
  ],
  refused: [
    { name: "a form that is a list", body: form({ type: "array" }, false), says: /"array".*"object"/ },
    { name: "a form with anyOf at the top", body: form({ anyOf: [] }), says: /anyOf/ },
    { name: "a strict form with a length", body: field({ type: "string", minLength: 1 }), says: /minLength/ },
    { name: "a strict form with allOf", body: field({ allOf: [{ type: "string" }] }), says: /allOf/ },
    { name: "a strict form without a type", body: field({}), says: /type/ },
    { name: "a strict form with a list of anything", body: field({ type: "array" }), says: /items/ },
    { name: "a strict form with words beside a reference", body: field({ $ref: "#", title: "x" }), says: /\$ref/ },
    { name: "an unknown effort", body: { reasoning_effort: "much" }, says: /reasoning_effort/ },
    { name: "no key", headers: { authorization: undefined }, status: 401 },
    { name: "an empty key", headers: { authorization: "Bearer " }, status: 401 },
    { name: "another content type", headers: { "content-type": "text/plain" }, says: /content-type/ },
    { name: "no model", body: { model: undefined }, says: /model/ },
    { name: "no messages", body: { messages: [] }, says: /messages/ },
    { name: "an unknown role", body: { messages: [{ role: "model", content: "x" }] }, says: /role/ },
    { name: "no content", body: { messages: [{ role: "user", content: null }] }, says: /content/ },
    {
      name: "a reply without content and calls",
      body: { messages: [user, { role: "assistant", content: null }] },
      says: /content/,
    },
    { name: "a tool call without result, at the end", body: { messages: [user, calls("a")] }, says: /Missing: a/ },
    {
      name: "a tool call without result, in between",
      body: { messages: [user, calls("a", "b"), toolMessage("a"), user] },
      says: /Missing: b/,
    },
    { name: "a result without call", body: { messages: [user, toolMessage("a")] }, says: /right before/ },
    {
      name: "a result after another message",
      body: { messages: [user, calls("a"), toolMessage("a"), user, toolMessage("a")] },
      says: /right before/,
    },
    { name: "a result for another call", body: { messages: [user, calls("a"), toolMessage("b")] }, says: /"b"/ },
    {
      name: "two results for one call",
      body: { messages: [user, calls("a"), toolMessage("a"), toolMessage("a")] },
      says: /"a"/,
    },
    {
      name: "duplicate ids in one reply",
      body: { messages: [user, calls("a", "a"), toolMessage("a")] },
      says: /unique/,
    },
    {
      name: "duplicate ids in two replies",
      body: { messages: [user, calls("a"), toolMessage("a"), calls("a"), toolMessage("a")] },
      says: /unique/,
    },
    {
      name: "arguments that are no text",
      body: {
        messages: [
          user,
          { role: "assistant", tool_calls: [{ id: "a", type: "function", function: { name: "add", arguments: {} } }] },
          toolMessage("a"),
        ],
      },
      says: /arguments/,
    },
    { name: "a tool of another type", body: { tools: [{ name: "add" }] }, says: /type/ },
    { name: "a tool name with a blank", body: { tools: [chatTool({ name: "a b" })] }, says: /name/ },
    { name: "two tools of one name", body: { tools: [chatTool({}), chatTool({})] }, says: /twice/ },
    {
      name: "a tool whose schema is no object's",
      body: { tools: [chatTool({ parameters: { type: "array" } })] },
      says: /object/,
    },
    {
      name: "a strict tool with an open schema",
      body: { tools: [chatTool({ strict: true })] },
      says: /additionalProperties/,
    },
    { name: "a choice without tools", body: { tool_choice: "required" }, says: /tool_choice/ },
    { name: "parallel calls without tools", body: { parallel_tool_calls: false }, says: /parallel_tool_calls/ },
    {
      name: "a choice of a tool that is not offered",
      body: { tools: [chatTool({})], tool_choice: { type: "function", function: { name: "sub" } } },
      says: /sub/,
    },
    { name: "an unknown format of the answer", body: { response_format: { type: "xml" } }, says: /response_format/ },
    {
      name: "a JSON answer of which nothing is said",
      body: { response_format: { type: "json_object" } },
      says: /json/,
    },
    {
      name: "a schema without a name",
      body: { response_format: { type: "json_schema", json_schema: { schema } } },
      says: /name/,
    },
    {
      name: "a strict schema with an optional field",
      body: {
        response_format: {
          type: "json_schema",
          json_schema: {
            name: "x",
            strict: true,
            schema: { type: "object", additionalProperties: false, properties: { a: { type: "string" } } },
          },
        },
      },
      says: /required/,
    },
    { name: "two limits", body: { max_tokens: 5, max_completion_tokens: 5 }, says: /max_tokens/ },
    {
      name: "stream options without a stream",
      body: { stream_options: { include_usage: true } },
      says: /stream_options/,
    },
    { name: "a temperature of 3", body: { temperature: 3 }, says: /temperature/ },
    { name: "a model that is missing", body: { model: "missing-1" }, status: 404 },
  ],
};

describeStrict(chat);
