import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../../test/effort.ts";
import { tool } from "../tool.ts";
import { createToolServer, MCP_VERSIONS, type ServerCall, type ServerOutcome } from "./tool-server.ts";

const RUNS = fuzzRuns(2000);

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);

function serve(call: (call: ServerCall) => Promise<ServerOutcome> = async () => ({ output: 42, isError: false })) {
  return createToolServer({ name: "millrace", version: "1.2.3", tools: [add], call });
}

const request = (method: string, params?: unknown, id: string | number = 1) => ({ jsonrpc: "2.0", id, method, params });

describe("a tool server", () => {
  it.each([...MCP_VERSIONS, "2099-01-01"])("answers initialize for %s with a version it supports", async (version) => {
    const answer = await serve().receive(request("initialize", { protocolVersion: version, capabilities: {} }));
    expect(answer).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: {
        protocolVersion: version === "2099-01-01" ? MCP_VERSIONS[0] : version,
        capabilities: { tools: {} },
        serverInfo: { name: "millrace", version: "1.2.3" },
      },
    });
  });

  it("AT-35: lists its tools with their schemas, always loaded", async () => {
    expect(await serve().receive(request("tools/list"))).toMatchObject({
      result: {
        tools: [
          {
            name: "add",
            description: "Add two numbers",
            inputSchema: { type: "object", required: ["a", "b"] },
            _meta: { "anthropic/alwaysLoad": true },
          },
        ],
      },
    });
  });

  it("F-D3: says which tools are read-only, so that the peer may make their calls at the same time", async () => {
    const named = (name: string, readOnly = false) => tool(name, "d", {}, () => 1, { readOnly });
    const tools = [named("write"), named("read", true)];
    const server = createToolServer({
      name: "s",
      version: "1",
      tools,
      call: async () => ({ output: 1, isError: false }),
    });
    const listed = await server.receive(request("tools/list"));
    expect(listed).toMatchObject({
      result: { tools: [{ name: "write" }, { name: "read", annotations: { readOnlyHint: true } }] },
    });
    expect(JSON.stringify(listed).match(/annotations/g)).toHaveLength(1);
  });

  it("AT-35: calls a tool with its arguments and the accompanying text", async () => {
    const calls: ServerCall[] = [];
    const server = serve(async (call) => {
      calls.push(call);
      return { output: 42, isError: false };
    });
    const params = { name: "add", arguments: { a: 25, b: 17 }, _meta: { "claudecode/toolUseId": "t1" } };
    expect(await server.receive(request("tools/call", params))).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: { content: [{ type: "text", text: "42" }] },
    });
    expect(calls).toMatchObject([{ name: "add", input: { a: 25, b: 17 }, meta: { "claudecode/toolUseId": "t1" } }]);
  });

  it("AT-35: concurrent calls are answered with their own ids, in any order", async () => {
    const waiting: (() => void)[] = [];
    const server = serve(
      ({ input }) => new Promise((resolve) => waiting.push(() => resolve({ output: input, isError: false }))),
    );
    const answers = [1, 2, 3].map((id) =>
      server.receive(request("tools/call", { name: "add", arguments: { id } }, id)),
    );
    for (const finish of waiting.reverse()) finish();
    expect(await Promise.all(answers)).toMatchObject(
      [1, 2, 3].map((id) => ({ id, result: { content: [{ type: "text", text: JSON.stringify({ id }) }] } })),
    );
  });

  it.each([
    ["text", "plain", [{ type: "text", text: "plain" }]],
    ["an empty text", "", [{ type: "text", text: "" }]],
    ["a value", { deep: [1] }, [{ type: "text", text: '{"deep":[1]}' }]],
    ["an empty list", [], [{ type: "text", text: "[]" }]],
    [
      "blocks",
      [
        { type: "text", text: "look" },
        { type: "image", mediaType: "image/png", data: "AAAA" },
      ],
      [
        { type: "text", text: "look" },
        { type: "image", mimeType: "image/png", data: "AAAA" },
      ],
    ],
    [
      "a list with one odd block",
      [{ type: "text", text: "x" }, 7],
      [{ type: "text", text: '[{"type":"text","text":"x"},7]' }],
    ],
  ])("returns %s as content", async (_, output, content) => {
    const server = serve(async () => ({ output, isError: false }));
    expect(await server.receive(request("tools/call", { name: "add" }))).toMatchObject({ result: { content } });
  });

  it("marks failures, and answers a call of an unknown tool so that the model can read it", async () => {
    const failing = serve(async () => ({ output: "No order 17.", isError: true }));
    expect(await failing.receive(request("tools/call", { name: "add" }))).toMatchObject({
      result: { isError: true, content: [{ text: "No order 17." }] },
    });
    expect(await failing.receive(request("tools/call", { name: "ad" }))).toMatchObject({
      result: { isError: true, content: [{ text: 'There is no tool "ad". Use one of: add.' }] },
    });
  });

  it("a call that throws is a failed answer without internal details", async () => {
    const server = serve(async () => {
      throw new Error("password=hunter2");
    });
    const answer = await server.receive(request("tools/call", { name: "add" }));
    expect(answer).toMatchObject({ result: { isError: true } });
    expect(JSON.stringify(answer)).not.toContain("hunter2");
  });

  it("R13: a cancelled call is aborted and not answered", async () => {
    let signal: AbortSignal | undefined;
    const server = serve(
      (call) =>
        new Promise((resolve) => {
          signal = call.signal;
          call.signal.addEventListener("abort", () => resolve({ output: "late", isError: false }));
        }),
    );
    const answer = server.receive(request("tools/call", { name: "add" }, 7));
    expect(await server.receive({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } })).toBe(
      undefined,
    );
    expect(await answer).toBe(undefined);
    expect(signal?.aborted).toBe(true);
  });

  it("close cancels every call", async () => {
    const server = serve(
      (call) => new Promise((_, reject) => call.signal.addEventListener("abort", () => reject(new Error()))),
    );
    const answer = server.receive(request("tools/call", { name: "add" }));
    server.close();
    expect(await answer).toMatchObject({ result: { isError: true } });
  });

  it.each([
    ["an unknown method", request("resources/list"), -32601],
    ["no name", request("tools/call", {}), -32602],
    ["arguments that are no object", request("tools/call", { name: "add", arguments: [1] }), -32602],
    ["no protocol version", request("initialize", {}), -32602],
    ["params that are a list", request("tools/list", [1]), -32600],
    ["no object at all", "hello", -32600],
    ["a list", [], -32600],
    ["no method", { jsonrpc: "2.0", id: 3 }, -32600],
    ["an id that is null", { jsonrpc: "2.0", id: null, method: "ping" }, -32600],
  ])("R13: %s is an error, not a failure of the server", async (_, message, code) => {
    expect(await serve().receive(message)).toMatchObject({ error: { code } });
  });

  it("ping is answered; notifications and answers are not", async () => {
    expect(await serve().receive(request("ping"))).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    expect(await serve().receive({ jsonrpc: "2.0", method: "notifications/initialized" })).toBe(undefined);
    expect(await serve().receive({ jsonrpc: "2.0", id: 9, result: {} })).toBe(undefined);
  });

  it("R1: never rejects, and answers every request exactly once, whatever the input", async () => {
    const names = fc.constantFrom(
      "initialize",
      "tools/list",
      "tools/call",
      "ping",
      "notifications/cancelled",
      "__proto__",
      "constructor",
    );
    const messages = fc.oneof(
      fc.jsonValue(),
      fc.record(
        {
          jsonrpc: fc.constant("2.0"),
          id: fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
          method: names,
          params: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
    );
    await fc.assert(
      fc.asyncProperty(messages, async (message) => {
        const answer = await serve().receive(message);
        expect(answer === undefined || "result" in answer || "error" in answer).toBe(true);
        expect(({} as Record<string, unknown>)["polluted"]).toBe(undefined);
      }),
      { numRuns: RUNS },
    );
  });
});
