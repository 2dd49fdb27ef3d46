import { expect } from "vitest";
import { describeStrict, schema, type Suite, user } from "./suite.ts";

const use = (id: string) => ({ type: "tool_use", id, name: "add", input: { a: 1, b: 2 } });
const outcome = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "3" });
const assistant = (...content: object[]) => ({ role: "assistant", content });
const from = (...content: object[]) => ({ role: "user", content });

const form = (fields: object, more: object = {}) => ({
  output_config: {
    format: { type: "json_schema", schema: { type: "object", additionalProperties: false, ...fields }, ...more },
  },
});

const anthropic: Suite = {
  vendor: "anthropic",
  path: "/v1/messages",
  good: { model: "m", max_tokens: 100, messages: [user] },
  expectShape({ json }, status) {
    const type = status === 401 ? "authentication_error" : status === 404 ? "not_found_error" : "invalid_request_error";
    expect(json).toEqual({
      type: "error",
      error: { type, message: expect.any(String) },
      request_id: expect.stringMatching(/^req_/),
    });
  },
  accepted: [
    {
      name: "a form of the answer",
      body: form({ properties: { a: { type: "array", items: { type: "string" }, minItems: 1 } }, required: ["a"] }),
    },
    {
      name: "a form with definitions",
      body: form({ properties: { a: { $ref: "#/$defs/b" } }, $defs: { b: { enum: ["x", 1] } } }),
    },
    { name: "an effort without a form", body: { output_config: { effort: "low" } } },
    { name: "a plain question" },
    { name: "two messages of the user in a row", body: { messages: [user, user] } },
    { name: "a call and its result", body: { messages: [user, assistant(use("a")), from(outcome("a"))] } },
    {
      name: "two calls, and their results in two messages of the user, in any order",
      body: {
        messages: [
          user,
          assistant(use("a"), use("b")),
          from(outcome("b")),
          from(outcome("a"), { type: "text", text: "go on" }),
        ],
      },
    },
    { name: "an empty reply at the end", body: { messages: [user, { role: "assistant", content: "" }] } },
    {
      name: "notes between the turns, when the beta that allows them is named",
      body: { messages: [user, { role: "system", content: "note" }], anything: 1 },
      headers: { "anthropic-beta": "claude-code-20250219,mid-conversation-system-2026-04-07" },
    },
    {
      name: "a note behind a turn of the user, by a model that takes one without a beta",
      body: { model: "claude-opus-5-5", messages: [user, { role: "system", content: "note" }] },
    },
    {
      name: "a vendor's own tool, which has no schema",
      body: { tools: [{ type: "web_search_20250305", name: "web_search" }] },
    },
    {
      name: "a block that a beta may have added",
      body: { messages: [from({ type: "something_new" }, { type: "text", text: "x" })] },
      headers: { "anthropic-beta": "something-2030-01-01" },
    },
    { name: "a bearer instead of a key", headers: { "x-api-key": undefined, authorization: "Bearer x" } },
  ],
  refused: [
    { name: "a form of another type", body: form({}, { type: "json_object" }), says: /json_schema/ },
    { name: "a form with a name", body: form({}, { name: "x" }), says: /format\.name/ },
    { name: "a form without a schema", body: form({}, { schema: null }), says: /schema/ },
    { name: "a form that is open", body: form({ additionalProperties: true }), says: /additionalProperties/ },
    {
      name: "a form with an open object in it",
      body: form({ properties: { a: { type: "object" } } }),
      says: /properties\.a: .*additionalProperties/,
    },
    {
      name: "a form with a limit on a number",
      body: form({ properties: { a: { type: "number", minimum: 1 } } }),
      says: /minimum/,
    },
    {
      name: "a form with a least number of items",
      body: form({ properties: { a: { type: "array", items: { type: "string" }, minItems: 2 } } }),
      says: /minItems/,
    },
    { name: "a form without a type", body: form({ properties: { a: {} } }), says: /type/ },
    { name: "a form that refers to itself", body: form({ properties: { a: { $ref: "#" } } }), says: /themselves/ },
    {
      name: "a form that goes round in a circle",
      body: form({
        properties: { a: { $ref: "#/$defs/b" } },
        $defs: { b: { type: "array", items: { $ref: "#/$defs/b" } } },
      }),
      says: /themselves/,
    },
    {
      name: "a form that refers to nothing",
      body: form({ properties: { a: { $ref: "#/$defs/b" } } }),
      says: /\$defs\/b/,
    },
    { name: "no key", headers: { "x-api-key": undefined }, status: 401 },
    { name: "an empty key", headers: { "x-api-key": " " }, status: 401 },
    { name: "no version", headers: { "anthropic-version": undefined }, says: /anthropic-version/ },
    { name: "another content type", headers: { "content-type": "text/plain" }, says: /content-type/ },
    { name: "no max_tokens", body: { max_tokens: undefined }, says: /max_tokens/ },
    { name: "max_tokens 0", body: { max_tokens: 0 }, says: /max_tokens/ },
    { name: "no model", body: { model: undefined }, says: /model/ },
    { name: "no messages", body: { messages: [] }, says: /messages/ },
    { name: "an unknown field", body: { max_completion_tokens: 5 }, says: /max_completion_tokens/ },
    { name: "an unknown role", body: { messages: [{ role: "tool", content: "x" }] }, says: /messages\.0\.role/ },
    ...["claude-3-5-haiku-latest", "claude-opus-4-7", "claude-sonnet-4-5-20250929", "claude-opus-4-20250514"].map(
      (model) => ({
        name: `a system message inside the list for ${model}`,
        body: { model, messages: [user, { role: "system", content: "be kind" }] },
        says: /messages\.1\.role.*system/,
      }),
    ),
    {
      name: "a system message at the head of the list",
      body: { messages: [{ role: "system", content: "be kind" }, user] },
      says: /messages\.0\.role.*system/,
    },
    {
      name: "a system message behind a reply",
      body: { messages: [user, { role: "assistant", content: "hi" }, { role: "system", content: "be kind" }, user] },
      says: /messages\.2\.role.*system/,
    },
    {
      name: "a first message that is not the user's",
      body: { messages: [{ role: "assistant", content: "hi" }, user] },
      says: /first/,
    },
    { name: "empty content", body: { messages: [{ role: "user", content: "" }] }, says: /empty/ },
    { name: "an empty list of blocks", body: { messages: [from(), user] }, says: /empty/ },
    { name: "a block of blanks", body: { messages: [from({ type: "text", text: " \n" })] }, says: /blanks/ },
    { name: "an unknown block", body: { messages: [from({ type: "tool-result" })] }, says: /block type/ },
    {
      name: "a tool call without result, at the end",
      body: { messages: [user, assistant(use("a"))] },
      says: /without tool_result.*a/,
    },
    {
      name: "a tool call without result, in between",
      body: { messages: [user, assistant(use("a")), user] },
      says: /without tool_result/,
    },
    {
      name: "one of two results missing",
      body: { messages: [user, assistant(use("a"), use("b")), from(outcome("a"))] },
      says: /: b\./,
    },
    {
      name: "a result that comes after the text",
      body: { messages: [user, assistant(use("a")), from({ type: "text", text: "so" }, outcome("a"))] },
      says: /without tool_result/,
    },
    {
      name: "a result that does not come directly after the call",
      body: {
        messages: [user, assistant(use("a")), user, assistant({ type: "text", text: "hm" }), from(outcome("a"))],
      },
      says: /tool_result/,
    },
    { name: "a result without call", body: { messages: [from(outcome("a"))] }, says: /unexpected/ },
    {
      name: "a result for another call",
      body: { messages: [user, assistant(use("a")), from(outcome("b"))] },
      says: /unexpected/,
    },
    {
      name: "two results for one call",
      body: { messages: [user, assistant(use("a")), from(outcome("a"), outcome("a"))] },
      says: /twice/,
    },
    {
      name: "duplicate ids in one reply",
      body: { messages: [user, assistant(use("a"), use("a")), from(outcome("a"))] },
      says: /unique/,
    },
    {
      name: "duplicate ids in two replies",
      body: { messages: [user, assistant(use("a")), from(outcome("a")), assistant(use("a")), from(outcome("a"))] },
      says: /unique/,
    },
    {
      name: "an id with a blank",
      body: { messages: [user, assistant(use("a b")), from(outcome("a b"))] },
      says: /match/,
    },
    { name: "a call by the user", body: { messages: [from(use("a"))] }, says: /replies/ },
    { name: "a result by the model", body: { messages: [user, assistant(outcome("a"))] }, says: /user/ },
    {
      name: "arguments that are no object",
      body: { messages: [user, assistant({ ...use("a"), input: "{}" }), from(outcome("a"))] },
      says: /input/,
    },
    {
      name: "a thought that another model signed",
      body: {
        messages: [
          user,
          assistant({ type: "thinking", thinking: "hm", signature: "Eo8C" }, { type: "text", text: "x" }),
          user,
        ],
      },
      says: /signature/,
    },
    { name: "a tool without schema", body: { tools: [{ name: "add" }] }, says: /input_schema/ },
    {
      name: "a tool whose schema is no object's",
      body: { tools: [{ name: "add", input_schema: { type: "string" } }] },
      says: /object/,
    },
    {
      name: "a tool name with a blank",
      body: { tools: [{ name: "a b", input_schema: schema }] },
      says: /tools\.0\.name/,
    },
    {
      name: "two tools of one name",
      body: {
        tools: [
          { name: "add", input_schema: schema },
          { name: "add", input_schema: schema },
        ],
      },
      says: /twice/,
    },
    { name: "a choice without tools", body: { tool_choice: { type: "any" } }, says: /tool_choice/ },
    {
      name: "a choice of a tool that is not offered",
      body: { tools: [{ name: "add", input_schema: schema }], tool_choice: { type: "tool", name: "sub" } },
      says: /sub/,
    },
    {
      name: "a thinking budget over the limit",
      body: { thinking: { type: "enabled", budget_tokens: 2000 } },
      says: /less than max_tokens/,
    },
    { name: "a temperature of 2", body: { temperature: 2 }, says: /temperature/ },
    { name: "a model that is missing", body: { model: "missing-1" }, status: 404 },
  ],
};

describeStrict(anthropic);
