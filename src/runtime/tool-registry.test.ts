import { describe, expect, it } from "vitest";
import { isToolFailure } from "#domain";
import { createVirtualClock } from "#testing";
import { tool } from "#tools";
import { run } from "./run.ts";
import { createToolRegistry, createToolRegistryIn } from "./tool-registry.ts";
import { systemWorld } from "./world.ts";

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);
const fails = tool("fails", "Fails", {}, () => {
  throw new Error("no luck");
});

describe("S3-23: a registry of tools", () => {
  it("runs a registered tool to a text, and provides its tools to runs", async () => {
    const registry = createToolRegistry();
    registry.register(add);
    expect(await registry.execute("add", { a: 25, b: 17 })).toBe("42");
    const { toolCalls } = await run("offline", "What is 25 + 17?", { tools: registry.tools }).result();
    expect(toolCalls).toMatchObject([{ name: "add", output: 42 }]);
  });

  it("other results are written as JSON, and undefined is an empty text", async () => {
    const registry = createToolRegistry([
      tool("list", "A list", {}, () => [1, { two: 2 }]),
      tool("nothing", "Nothing", {}, () => undefined),
    ]);
    expect(await registry.execute("list", {})).toBe('[1,{"two":2}]');
    expect(await registry.execute("nothing", {})).toBe("");
  });

  it.each([
    ["an unknown tool", "ad", {}, 'There is no tool "ad". Did you mean "add"? Registered tools: add, fails.'],
    ["arguments that do not fit", "add", { a: "x" }, 'The arguments do not fit the tool "add"'],
    ["a tool that throws", "fails", {}, 'The tool "fails" failed: no luck'],
  ])("rejects with a ToolFailure for %s", async (_, name, input, message) => {
    const failure = await createToolRegistry([add, fails])
      .execute(name, input)
      .catch((error: unknown) => error);
    expect(isToolFailure(failure)).toBe(true);
    expect(String(failure)).toContain(message);
  });

  it("passes on the context and the signal, and keeps the deadline of the tool", async () => {
    const clock = createVirtualClock();
    const seen: unknown[] = [];
    const slow = tool(
      "slow",
      "Never answers",
      {},
      (_, { context, signal }) => {
        seen.push(context);
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve("late")));
      },
      { timeoutMs: 1000 },
    );
    const registry = createToolRegistryIn([slow], { ...systemWorld(), clock });
    const executing = registry.execute("slow", {}, { context: "mine" }).catch(String);
    await clock.advance(1000);
    expect(await executing).toContain('The tool "slow" did not answer within 1000 ms (its timeoutMs).');
    expect(seen).toEqual(["mine"]);
    const abort = new AbortController();
    abort.abort();
    await expect(registry.execute("slow", {}, { signal: abort.signal })).rejects.toThrow("aborted");
  });

  it("rejects a duplicate name, and then registers nothing of that call", () => {
    const registry = createToolRegistry([add]);
    expect(() => registry.register(fails, add)).toThrow('There is a tool "add" already.');
    expect(registry.tools).toEqual([add]);
    expect(registry.unregister("add")).toBe(true);
    expect(registry.unregister("add")).toBe(false);
    registry.register(fails, add);
    expect(registry.get("fails")).toBe(fails);
  });
});
