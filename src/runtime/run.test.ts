import { describe, expect, it, vi } from "vitest";
import type { AgentEvent } from "#domain";
import {
  assertRunLog,
  createScriptedBackend,
  createScriptedFetch,
  createSeededRandom,
  createVirtualClock,
  type FetchScript,
  createMemoryFiles,
  createScriptedSpawn,
} from "#testing";
import { tool } from "#tools";
import { agent } from "./agent.ts";
import { run, startRun } from "./run.ts";
import { systemWorld, type World } from "./world.ts";

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);
const double = tool("double", "Double a number", { a: "number" }, ({ a }) => 2 * a);

function worldWith(script: FetchScript, env: Record<string, string> = {}) {
  const fetch = createScriptedFetch(script);
  const world: World = {
    clock: createVirtualClock(),
    random: createSeededRandom(1),
    fetch,
    env,
    spawn: createScriptedSpawn([]),
    files: createMemoryFiles(),
    onListenerError: () => undefined,
  };
  return { fetch, world };
}

const stream = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
const reply = { body: [stream] };

describe("run", () => {
  it("asks the built-in model without a key, runs the tool and answers", async () => {
    const log: AgentEvent[] = [];
    const answer = run("offline", "What is 25 + 17?", { tools: [add] });
    for await (const event of answer) log.push(event);
    assertRunLog(log);
    const result = await answer.result();
    expect(result).toMatchObject({ status: "success", costUsd: 0, turns: 2 });
    expect(result.text).toContain("42");
    expect(result.toolCalls).toMatchObject([{ name: "add", input: { a: 25, b: 17 }, output: 42, isError: false }]);
  });

  it("F-F offline never answers under the name of another model", async () => {
    const result = await run("offline/offline", "Hello").result();
    expect(result).toMatchObject({ status: "success", model: "offline" });
    expect(() => run("offline/my-model", "Hello")).toThrow('The backend offline is one model and has no "my-model".');
  });

  it("a prompt of 10 MB works", async () => {
    const prompt = `${"All work and no play. ".repeat(480_000)}What is 25 + 17?`;
    expect(prompt.length).toBeGreaterThan(10_000_000);
    const result = await run("offline", prompt, { tools: [add] }).result();
    expect(result).toMatchObject({ status: "success", text: expect.stringContaining("42") });
  });

  it("accepts a backend object unchanged", async () => {
    const backend = createScriptedBackend([{ text: "Hello." }]);
    expect(await run(backend, "Hi").result()).toMatchObject({ status: "success", text: "Hello." });
  });

  it("continues with a conversation", async () => {
    const first = await run("offline", "What is 25 + 17?", { tools: [add] }).result();
    const second = await run("offline", [...first.messages, { role: "user", text: "What is 2 + 2?" }], {
      tools: [add],
    }).result();
    expect(second.text).toContain("4");
    expect(second.messages.slice(0, first.messages.length)).toEqual(first.messages);
  });

  it("uses the settings of an agent unless the run overrides them; tools and limits of both apply", async () => {
    const backend = createScriptedBackend([{ text: "a" }, { text: "b" }]);
    const clerk = agent({ name: "clerk", backend, instructions: "Be brief.", tools: [add], limits: { turns: 1 } });
    const result = await run(clerk, "Hi", { tools: [double], limits: { toolMs: 5 } }).result();
    expect(result).toMatchObject({ status: "success", agent: "clerk" });
    expect(backend.requests[0]).toMatchObject({ instructions: "Be brief." });
    expect(backend.requests[0]?.tools.map(({ name }) => name)).toEqual(["add", "double"]);
    await run(clerk, "Hi", { instructions: "Be long." }).result();
    expect(backend.requests[1]).toMatchObject({ instructions: "Be long." });
    expect(() => run(clerk, "Hi", { tools: [add] })).toThrow(/two tools called "add"/);
  });

  it("the limit of an agent applies in addition to that of the run", async () => {
    const calls = [{ name: "add", input: { a: 1, b: 1 } }];
    const backend = createScriptedBackend([{ calls }, { calls }, { calls }]);
    const clerk = agent({ name: "clerk", backend, tools: [add], limits: { turns: 2 } });
    const result = await run(clerk, "Hi", { limits: { toolMs: 50, turns: undefined } as never }).result();
    expect(result).toMatchObject({ subtype: "error_max_turns", turns: 2 });
  });

  it("an agent may force a tool that the run provides", async () => {
    const backend = createScriptedBackend([{ text: "ok" }]);
    await run(agent({ name: "clerk", backend, tools: [add] }), "Hi", { toolChoice: { name: "add" } }).result();
    expect(backend.requests[0]?.toolChoice).toEqual({ name: "add" });
  });

  it("a signal that has fired starts nothing", async () => {
    const backend = createScriptedBackend([{ text: "never" }]);
    const result = await run(backend, "Hi", { signal: AbortSignal.abort() }).result();
    expect(result).toMatchObject({ status: "aborted", text: "" });
    expect(backend.requests).toHaveLength(0);
  });
});

describe("where the key and the address of a provider come from", () => {
  it("the usual variables", async () => {
    const env = { OPENAI_API_KEY: " key-env ", OPENAI_BASE_URL: "http://models.test/v9/" };
    const { fetch, world } = worldWith([reply], env);
    expect(await startRun("openai/gpt-5", "Hi", {}, world).result()).toMatchObject({ status: "success", text: "Hi" });
    expect(fetch.requests[0]).toMatchObject({
      url: "http://models.test/v9/chat/completions",
      headers: { authorization: "Bearer key-env" },
    });
  });

  it("options take precedence over variables", async () => {
    const env = { OPENAI_API_KEY: "key-env", OPENAI_BASE_URL: "http://models.test/v9" };
    const { fetch, world } = worldWith([reply], env);
    const openai = { apiKey: "key-option", baseUrl: "https://other.test/v1/", headers: { "x-team": "a" } };
    await startRun("openai/gpt-5", "Hi", { openai }, world).result();
    expect(fetch.requests[0]).toMatchObject({
      url: "https://other.test/v1/chat/completions",
      headers: { authorization: "Bearer key-option", "x-team": "a" },
    });
  });

  it("SEC3: a provider gets only its own key and options", async () => {
    const env = { OPENAI_API_KEY: "key-openai", ANTHROPIC_API_KEY: "key-anthropic", GEMINI_API_KEY: "key-google" };
    const { fetch, world } = worldWith([reply], env);
    const anthropic = { headers: { "x-secret": "for-anthropic" } };
    await startRun("openai/gpt-5", "Hi", { anthropic }, world).result();
    const sent = JSON.stringify(fetch.requests);
    expect(sent).toContain("key-openai");
    for (const secret of ["key-anthropic", "key-google", "for-anthropic"]) expect(sent).not.toContain(secret);
  });

  it("S3-2 S3-3: the second variable of Google, and the default model of each provider", async () => {
    const { fetch, world } = worldWith([{ status: 400 }, { status: 400 }, { status: 400 }], {
      GOOGLE_API_KEY: "key-g",
      ANTHROPIC_API_KEY: "key-a",
      OPENAI_API_KEY: "key-o",
    });
    for (const target of ["google", "anthropic", "openai"]) await startRun(target, "Hi", {}, world).result();
    expect(fetch.requests.map(({ url }) => url)).toEqual([
      "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
      "https://api.anthropic.com/v1/messages",
      "https://api.openai.com/v1/chat/completions",
    ]);
    expect(fetch.requests[0]?.headers).toMatchObject({ "x-goog-api-key": "key-g" });
    const models = fetch.requests.slice(1).map(({ body }) => (JSON.parse(body ?? "{}") as { model?: string }).model);
    expect(models).toEqual(["claude-sonnet-4-6", "gpt-5.6-sol"]);
  });

  it("a model's name may have slashes", async () => {
    const { fetch, world } = worldWith([reply], { OPENROUTER_API_KEY: "k" });
    await startRun("openrouter/meta-llama/llama-4:free", "Hi", {}, world).result();
    expect(JSON.parse(fetch.requests[0]?.body ?? "")).toMatchObject({ model: "meta-llama/llama-4:free" });
  });

  it("a host without keys is called without one, or with the one it is given", async () => {
    const { fetch, world } = worldWith([reply, reply]);
    await startRun("vllm/llama", "Hi", {}, world).result();
    await startRun("vllm/llama", "Hi", { vllm: { apiKey: "k" } }, world).result();
    expect(fetch.requests[0]?.url).toBe("http://127.0.0.1:8000/v1/chat/completions");
    expect(fetch.requests[0]?.headers).not.toHaveProperty("authorization");
    expect(fetch.requests[1]?.headers).toMatchObject({ authorization: "Bearer k" });
  });

  it("S3-45: a wrong key ends the run with an error that names the variable and not the key", async () => {
    const { world } = worldWith([{ status: 401, body: ['{"error":{"message":"Bad key sk-canary-1"}}'] }], {
      OPENAI_API_KEY: "sk-canary-1",
    });
    const result = await startRun("openai/gpt-5", "Hi", {}, world).result();
    expect(result.error).toMatchObject({ code: "provider-auth" });
    expect(JSON.stringify(result)).toContain("OPENAI_API_KEY");
    expect(JSON.stringify(result)).not.toContain("sk-canary-1");
  });
});

describe("the world", () => {
  it("clock, random numbers, network and variables come from the one given", async () => {
    const { fetch, world } = worldWith([reply], { OPENAI_API_KEY: "k" });
    const first = startRun("openai/gpt-5", "Hi", {}, world);
    const log: AgentEvent[] = [];
    for await (const event of first) log.push(event);
    expect(fetch.requests).toHaveLength(1);
    expect(first.id).toBe(createSeededRandom(1).id());
    expect(log.every((event) => event.ts === world.clock.now())).toBe(true);
  });

  it("the real one has the variables of this process, and connections that live as long", () => {
    expect(systemWorld().env).toBe(process.env);
    expect(systemWorld().fetch).toBe(systemWorld().fetch);
  });

  it("a listener that fails causes a warning of the process, and nothing else", () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    systemWorld().onListenerError(new Error("my listener"));
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("my listener"), "MillraceWarning");
    warn.mockRestore();
  });
});
