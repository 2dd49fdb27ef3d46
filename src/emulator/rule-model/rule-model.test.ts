import { describe, expect, it } from "vitest";
import type { Block, Message } from "#domain";
import type { JsonRecord } from "#wire";
import type { ModelPrompt, PromptTool } from "../prompt.ts";
import { answerByRules } from "./rule-model.ts";

const tool = (
  name: string,
  properties: Record<string, JsonRecord>,
  more: { required?: string[]; description?: string } = {},
): PromptTool => ({
  name,
  description: more.description ?? "",
  schema: { type: "object", properties, required: more.required ?? Object.keys(properties) },
});
const number = { type: "number" };
const text = { type: "string" };
const ADD = tool("add", { a: number, b: number });
const MULTIPLY = tool("multiply", { x: number, y: number });

const says = (content: string): Message => ({ id: "m", role: "user", blocks: [{ type: "text", text: content }] });
const called = (
  ...calls: { id: string; name: string; input: unknown; output: unknown; isError?: boolean }[]
): Message[] => [
  {
    id: "m",
    role: "assistant",
    blocks: calls.map(({ id, name, input }): Block => ({ type: "tool-call", callId: id, name, input })),
  },
  {
    id: "m",
    role: "user",
    blocks: calls.map(
      ({ id, output, isError = false }): Block => ({ type: "tool-result", callId: id, output, isError }),
    ),
  },
];

function ask(messages: readonly Message[] | string, more: Partial<ModelPrompt> = {}) {
  return answerByRules({
    protocol: "anthropic",
    model: "m",
    instructions: "",
    messages: typeof messages === "string" ? [says(messages)] : messages,
    tools: [],
    toolChoice: { type: "auto" },
    parallelCalls: true,
    maxTokens: undefined,
    stopSequences: [],
    stream: true,
    thinking: false,
    outputSchema: undefined,
    caches: false,
    ...more,
  });
}

const calls = (reply: ReturnType<typeof ask>) => reply.toolCalls?.map(({ name, input }) => [name, input]);

describe("the offline model and sums", () => {
  it("calls the matching tool, by its name and its schema, with a short sentence", () => {
    const reply = ask("What is 25 + 17?", { tools: [tool("echo", { text }), ADD] });
    expect(calls(reply)).toEqual([["add", { a: 25, b: 17 }]]);
    expect(reply.text).toBe("I will use add.");
  });

  it("answers with what the tool returned", () => {
    for (const output of ["42", "The result is 42", [{ type: "text", text: "42" }], { result: 42 }]) {
      const messages = [says("What is 25 + 17?"), ...called({ id: "1", name: "add", input: { b: 17, a: 25 }, output })];
      expect(ask(messages, { tools: [ADD] })).toEqual({ text: "25 + 17 = 42." });
    }
  });

  it("trusts the tool rather than itself, and repeats a result that is not a number", () => {
    const after = (output: string) =>
      ask([says("What is 2 + 2?"), ...called({ id: "1", name: "add", input: { a: 2, b: 2 }, output })], {
        tools: [ADD],
      });
    expect(after("5").text).toBe("2 + 2 = 5.");
    expect(after("four").text).toBe("2 + 2: four");
  });

  it("computes the sum itself without a matching tool", () => {
    expect(ask("What is 25 + 17?", { tools: [tool("get_weather", { city: text })] })).toEqual({
      text: "25 + 17 = 42.",
    });
    expect(ask("What is 0.1 + 0.2?").text).toBe("0.1 + 0.2 = 0.3.");
    expect(ask("What is 1 / 0?").text).toContain("no value");
  });

  it("makes several calls in one reply, one if that is forbidden, and none twice", () => {
    const tools = [ADD, MULTIPLY];
    const both = [
      ["add", { a: 25, b: 17 }],
      ["multiply", { x: 6, y: 7 }],
    ];
    expect(calls(ask("25 + 17 and 6 * 7", { tools }))).toEqual(both);
    expect(calls(ask("25 + 17 and 6 * 7", { tools, parallelCalls: false }))).toEqual(both.slice(0, 1));
    const first = called({ id: "1", name: "add", input: { a: 25, b: 17 }, output: "42" });
    expect(calls(ask([says("25 + 17 and 6 * 7"), ...first], { tools, parallelCalls: false }))).toEqual(both.slice(1));
    expect(calls(ask("What is 1 + 1 and what is 1 + 1?", { tools }))).toEqual([["add", { a: 1, b: 1 }]]);
  });

  it("splits a sum if each of its steps has a tool", () => {
    const tools = [ADD, MULTIPLY];
    const question = says("What is 12 * (3 + 4)?");
    expect(calls(ask([question], { tools }))).toEqual([["add", { a: 3, b: 4 }]]);
    const first = called({ id: "1", name: "add", input: { a: 3, b: 4 }, output: "7" });
    expect(calls(ask([question, ...first], { tools }))).toEqual([["multiply", { x: 12, y: 7 }]]);
    const second = called({ id: "2", name: "multiply", input: { x: 12, y: 7 }, output: "84" });
    expect(ask([question, ...first, ...second], { tools }).text).toBe("12 * (3 + 4) = 84.");
  });

  it.each<[string, PromptTool, unknown]>([
    ["an expression", tool("calculator", { expression: text }), { expression: "12 * (3 + 4)" }],
    ["a list of numbers", tool("add_numbers", { numbers: { type: "array", items: number } }), { numbers: [3, 4] }],
    [
      "an operation and two numbers",
      tool("calculate", { op: { type: "string", enum: ["add", "multiply"] }, left: number, right: number }),
      { op: "add", left: 3, right: 4 },
    ],
    ["a name in capitals, behind a prefix", tool("mcp__sums__addNumbers", { a: number, b: number }), { a: 3, b: 4 }],
    [
      "a description instead of a name",
      tool("tool_1", { a: number, b: number }, { description: "Adds: the sum of two numbers" }),
      { a: 3, b: 4 },
    ],
  ])("fills %s", (_, offered, expected) => {
    expect(calls(ask("What is 12 * (3 + 4)?", { tools: [offered] }))).toEqual([[offered.name, expected]]);
  });

  it("reports that a tool failed, and stops", () => {
    const failed = called({ id: "1", name: "add", input: { a: 2, b: 2 }, output: "out of paper", isError: true });
    const reply = ask([says("What is 2 + 2?"), ...failed], { tools: [ADD] });
    expect(reply.toolCalls).toBeUndefined();
    expect(reply.text).toContain("add failed: out of paper");
    const spoken = called({ id: "1", name: "add", input: { a: 2, b: 2 }, output: "Error: out of paper" });
    expect(ask([says("What is 2 + 2?"), ...spoken], { tools: [ADD] }).text).toContain("failed");
  });

  it("handles a sum of thousands of steps", () => {
    const long = `What is ${"1 + ".repeat(1500)}1?`;
    expect(ask(long).text).toMatch(/ = 1501\.$/);
    expect(calls(ask(long, { tools: [ADD] }))).toEqual([["add", { a: 1, b: 1 }]]);
    expect(ask(`What is ${"(".repeat(4000)}1 + 1${")".repeat(4000)}?`).text).toBeTypeOf("string");
  });

  it("answers the next question of a conversation, not the last one", () => {
    const before = [says("What is 2 + 2?"), ...called({ id: "1", name: "add", input: { a: 2, b: 2 }, output: "4" })];
    expect(calls(ask([...before, says("And what is 5 + 5?")], { tools: [ADD] }))).toEqual([["add", { a: 5, b: 5 }]]);
    expect(calls(ask([...before, says("What is 2 + 2?")], { tools: [ADD] }))).toEqual([["add", { a: 2, b: 2 }]]);
  });
});

describe("the offline model and other tools", () => {
  const WEATHER = tool(
    "get_weather",
    { city: text, unit: { type: "string", enum: ["celsius", "fahrenheit"] } },
    { required: ["city"] },
  );

  it.each<[string, PromptTool, unknown[]]>([
    ["What is the weather in Paris?", WEATHER, [{ city: "Paris" }]],
    ["weather for new york today", WEATHER, [{ city: "new york" }]],
    ["The weather in New York City, please", WEATHER, [{ city: "New York City" }]],
    ["weather in Paris, London and Rome?", WEATHER, [{ city: "Paris" }, { city: "London" }, { city: "Rome" }]],
    ['Search the docs for "retry policy"', tool("search_docs", { query: text }), [{ query: "retry policy" }]],
    [
      "Refund order 17, amount 12.5",
      tool("refund_order", { id: { type: "integer" }, amount: number }),
      [{ id: 17, amount: 12.5 }],
    ],
    [
      "Set the light to red",
      tool("set_light", { color: { type: "string", enum: ["green", "red"] }, on: { type: "boolean" } }),
      [{ color: "red", on: true }],
    ],
    ["Show me the orders", tool("listOrders", {}), [{}]],
  ])("calls for %j", (question, offered, inputs) => {
    expect(calls(ask(question, { tools: [offered] }))).toEqual(inputs.map((input) => [offered.name, input]));
  });

  it("reports what the tools returned", () => {
    const after = called({ id: "1", name: "get_weather", input: { city: "Paris" }, output: "18 degrees, sunny" });
    expect(ask([says("What is the weather in Paris?"), ...after], { tools: [WEATHER] }).text).toBe(
      "get_weather answered: 18 degrees, sunny",
    );
  });

  it("respects the choice of tools: none, required, one", () => {
    const tools = [WEATHER, ADD];
    expect(ask("What is 1 + 1?", { tools, toolChoice: { type: "none" } })).toEqual({ text: "1 + 1 = 2." });
    expect(calls(ask("Hello", { tools, toolChoice: { type: "required" } }))).toEqual([
      ["get_weather", { city: "Hello" }],
    ]);
    expect(calls(ask("What is 1 + 1?", { tools, toolChoice: { type: "required" } }))).toEqual([
      ["add", { a: 1, b: 1 }],
    ]);
    expect(calls(ask("Hello 5 and 6", { tools, toolChoice: { type: "tool", name: "add" } }))).toEqual([
      ["add", { a: 5, b: 6 }],
    ]);
  });

  it("hands off if the target is named, once, and then answers itself", () => {
    const tools = [tool("transfer_to_billing", { reason: text }), tool("transfer_to_support_agent", {}), WEATHER];
    const question = says("Please give me to billing");
    expect(calls(ask([question], { tools }))?.[0]?.[0]).toBe("transfer_to_billing");
    expect(calls(ask("I need support", { tools }))?.[0]?.[0]).toBe("transfer_to_support_agent");
    const after = called({ id: "1", name: "transfer_to_billing", input: { reason: "x" }, output: "Handed over" });
    expect(ask([question, ...after], { tools }).toolCalls).toBeUndefined();
    const choice = tool("handoff", { agent: { type: "string", enum: ["triage", "sales"] } });
    expect(calls(ask("I want sales", { tools: [choice] }))).toEqual([["handoff", { agent: "sales" }]]);
  });

  it("describes itself if nothing matches, and names the variables for a real model", () => {
    const { text: said = "", toolCalls } = ask("Hello!", { tools: [WEATHER] });
    expect(toolCalls).toBeUndefined();
    for (const word of ["offline model", "get_weather", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"])
      expect(said).toContain(word);
  });

  it("thinks only on request", () => {
    expect(ask("What is 1 + 1?").thinking).toBeUndefined();
    expect(ask("What is 1 + 1?", { thinking: true }).thinking).toBeTypeOf("string");
  });

  it("gives the same answer to the same prompt", () => {
    expect(ask("weather in Paris", { tools: [WEATHER] })).toEqual(ask("weather in Paris", { tools: [WEATHER] }));
  });

  it("handles a question of ten megabytes", () => {
    const huge = `${"word ".repeat(2_000_000)} What is 25 + 17?`;
    expect(ask(huge).text).toBe("25 + 17 = 42.");
    expect(ask("<system-reminder>".repeat(100_000)).text).toContain("offline model");
  });
});

describe("the offline model and coding agents", () => {
  const BASH = tool(
    "Bash",
    { command: text, timeout: number },
    { required: ["command"], description: "Add, write, calculate" },
  );
  const READ = tool("Read", { file_path: text });
  const WRITE = tool("Write", { file_path: text, content: text });
  const tools = [BASH, READ, WRITE];
  const instructions = "- Primary working directory: /home/dev/project\n";

  it.each([
    ["run `echo hi`", [["Bash", { command: "echo hi" }]]],
    ["Please execute the command `ls -la` for me", [["Bash", { command: "ls -la" }]]],
    ["read file notes.txt", [["Read", { file_path: "/home/dev/project/notes.txt" }]]],
    ["Read the file /etc/hosts", [["Read", { file_path: "/etc/hosts" }]]],
  ])("follows explicit instructions: %j", (question, expected) => {
    expect(calls(ask(question, { tools, instructions }))).toEqual(expected);
  });

  it.each(["Write a poem", "Bash is a shell", "What do you read?", "What is 1 + 1?", "run away"])(
    "calls no tool for %j",
    (question) => {
      expect(ask(question, { tools, instructions }).toolCalls).toBeUndefined();
    },
  );

  it("uses what the user added to it", () => {
    const added = tool("mcp__sums__add", { a: number, b: number });
    expect(calls(ask("What is 25 + 17?", { tools: [...tools, added] }))).toEqual([
      ["mcp__sums__add", { a: 25, b: 17 }],
    ]);
  });

  it("does not answer the agent's notes", () => {
    const messages: Message[] = [
      {
        id: "m",
        role: "user",
        blocks: [
          { type: "text", text: "<system-reminder>What is 9 + 9?</system-reminder>" },
          { type: "text", text: "What is 1 + 1?" },
        ],
      },
    ];
    expect(ask(messages, { tools }).text).toBe("1 + 1 = 2.");
  });

  it("does not mistake the agent's notes after a tool result for the result", () => {
    const added = tool("mcp__sums__add", { a: number, b: number });
    const note = "<system-reminder>\n<total_tokens>14999529 tokens left</total_tokens>\n</system-reminder>";
    const call = { id: "c", name: added.name, input: { a: 3, b: 4 } };
    const output = [
      { type: "text", text: "7\n" },
      { type: "text", text: note },
    ];
    const messages = [says("What is 3 + 4?"), ...called({ ...call, output })];
    expect(ask(messages, { tools: [...tools, added] }).text).toBe("3 + 4 = 7.");
  });

  it("gives a conversation a title", () => {
    expect(
      ask("Please fix the login of the shop today", { instructions: "Write a short title for this conversation." })
        .text,
    ).toBe("Please fix the login of the");
  });
});

describe("the offline model and schemas", () => {
  it("answers in the requested shape", () => {
    const outputSchema = { type: "object", properties: { answer: number, said: text }, required: ["answer"] };
    expect(JSON.parse(ask("What is 25 + 17?", { outputSchema }).text ?? "")).toEqual({ answer: 42 });
    expect(JSON.parse(ask("What is 25 + 17?", { outputSchema: {} }).text ?? "")).toEqual({ answer: "25 + 17 = 42." });
  });

  it("the only number in an answer is the requested one", () => {
    const outputSchema = {
      type: "object",
      properties: { unit: { enum: ["cm", "in"] }, length: { type: "integer" }, sure: { type: "boolean" } },
      required: ["unit", "length", "sure"],
    };
    const { text: said = "" } = ask("How many in is 6 * 7?", { outputSchema });
    expect(JSON.parse(said)).toEqual({ unit: "in", length: 42, sure: true });
  });

  const FINAL = tool("final_answer", { answer: number });

  it("gives its answer through the output tool, after the other tools", () => {
    const tools = [FINAL, ADD];
    expect(calls(ask("What is 25 + 17?", { tools: [FINAL] }))).toEqual([["final_answer", { answer: 42 }]]);
    expect(calls(ask("What is 25 + 17?", { tools }))).toEqual([["add", { a: 25, b: 17 }]]);
    const after = called({ id: "1", name: "add", input: { a: 25, b: 17 }, output: 42 });
    expect(calls(ask([says("What is 25 + 17?"), ...after], { tools }))).toEqual([["final_answer", { answer: 42 }]]);
    expect(calls(ask("What is 1 + 1?", { tools: [FINAL], toolChoice: { type: "required" } }))).toEqual([
      ["final_answer", { answer: 2 }],
    ]);
    expect(calls(ask("What is 1 + 1?", { tools, toolChoice: { type: "tool", name: "final_answer" } }))).toEqual([
      ["final_answer", { answer: 2 }],
    ]);
    expect(calls(ask("Give me the final answer", { tools: [FINAL] }))).toEqual([["final_answer", { answer: 1 }]]);
  });

  it("repeats the answer if it was rejected, and is silent if it was accepted", () => {
    const wrong = called({ id: "1", name: "final_answer", input: {}, output: "answer: required", isError: true });
    expect(calls(ask([says("What is 25 + 17?"), ...wrong], { tools: [FINAL] }))).toEqual([
      ["final_answer", { answer: 42 }],
    ]);
    const right = called({ id: "1", name: "final_answer", input: { answer: 42 }, output: "" });
    expect(ask([says("What is 25 + 17?"), ...right], { tools: [FINAL] }).toolCalls).toBeUndefined();
  });

  it("an error about the form of its answer repeats the question", () => {
    const outputSchema = { type: "object", properties: { answer: number }, required: ["answer"] };
    const messages = [
      says("What is 25 + 17?"),
      { id: "m", role: "assistant", blocks: [{ type: "text", text: "Hm." }] } satisfies Message,
      says("Your answer does not fit the schema it has to have: it is not JSON. Give 1 again."),
    ];
    expect(ask(messages, { outputSchema }).text).toBe('{"answer":42}');
  });

  it("calls the tools first", () => {
    const outputSchema = { type: "object", properties: { answer: number }, required: ["answer"] };
    expect(calls(ask("What is 25 + 17?", { outputSchema, tools: [ADD] }))).toEqual([["add", { a: 25, b: 17 }]]);
    const after = called({ id: "1", name: "add", input: { a: 25, b: 17 }, output: 42 });
    expect(ask([says("What is 25 + 17?"), ...after], { outputSchema, tools: [ADD] }).text).toBe('{"answer":42}');
  });
});
