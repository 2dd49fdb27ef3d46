import { describe, expect, it } from "vitest";
import { isStartError, type StartErrorCode } from "#domain";
import {
  createScriptedBackend,
  createScriptedFetch,
  createSeededRandom,
  createVirtualClock,
  createMemoryFiles,
  createScriptedSpawn,
} from "#testing";
import { tool } from "#tools";
import { agent } from "./agent.ts";
import type { Target } from "./plan-run.ts";
import { startRun } from "./run.ts";
import type { World } from "./world.ts";

// R16: bad input is reported before anything starts, with the field, the value and the remedy.

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);
const backend = createScriptedBackend([]);
const KEYS = { ANTHROPIC_API_KEY: "key", OPENAI_API_KEY: "key", GEMINI_API_KEY: "key", OPENROUTER_API_KEY: "key" };

function worldWith(env: Record<string, string | undefined> = KEYS): World {
  return {
    clock: createVirtualClock(),
    random: createSeededRandom(1),
    fetch: createScriptedFetch([]),
    env,
    spawn: createScriptedSpawn([]),
    files: createMemoryFiles(),
    onListenerError: () => undefined,
  };
}

interface Given {
  readonly target?: unknown;
  readonly input?: unknown;
  readonly options?: unknown;
  readonly env?: Record<string, string | undefined>;
}

/** What starting a run throws. Anything but a `StartError` fails the test. */
function refusal({ target = "offline", input = "hi", options = {}, env = KEYS }: Given): {
  code: StartErrorCode;
  message: string;
} {
  try {
    void startRun(target as Target, input as string, options as object, worldWith(env)).abort();
  } catch (error) {
    if (isStartError(error)) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error("nothing was refused");
}

const circular: Record<string, unknown> = {};
circular["self"] = circular;

describe("R16 S3-3: an invalid target", () => {
  it.each<[string, unknown, StartErrorCode, RegExp]>([
    [
      "an unknown name",
      "nowhere/model",
      "unknown-backend",
      /no backend "nowhere\/model".*Known: claude-code, offline, anthropic/,
    ],
    ["a slip of the pen", "antropic/claude", "unknown-backend", /Did you mean "anthropic"\?/],
    ["another slip", "opnai", "unknown-backend", /Did you mean "openai"\?/],
    ["nothing", "", "unknown-backend", /no backend "".*Known: /],
    ["a key of every object", "constructor/x", "unknown-backend", /no backend/],
    ["__proto__", "__proto__", "unknown-backend", /no backend/],
    ["a very long name", "x".repeat(100_000), "unknown-backend", /^.{0,400}$/],
    ["a host without a default model", "openrouter", "unknown-backend", /Write openrouter\/<model>/],
    ["the same with a slash", "vllm/", "unknown-backend", /Write vllm\/<model>/],
    ["null", null, "invalid-option", /The target is null\. Give a backend such as "offline"/],
    ["a number", 42, "invalid-option", /The target is 42\./],
    ["a function", () => 1, "invalid-option", /The target is a function\./],
    ["a list", [], "invalid-option", /The target is \[\]/],
    ["an object that knows itself", circular, "invalid-option", /The target is an object/],
    ["a big number", 10n, "invalid-option", /The target is 10n/],
    ["half a backend", { kind: "model" }, "invalid-option", /The target is/],
    ["an agent without a name", { backend: "offline" }, "invalid-option", /agent name undefined is not valid/],
    [
      "an agent with a bad name",
      { name: "a b", backend: "offline" },
      "invalid-option",
      /agent name "a b" is not valid/,
    ],
    ["an agent whose backend is none", { name: "a", backend: 7 }, "invalid-option", /agent "a": backend is 7/],
    [
      "an agent with a slip in a field",
      { name: "a", backend: "offline", instruction: "Be brief." },
      "invalid-option",
      /no field of an agent called instruction\. Did you mean instructions\?/,
    ],
    ["an agent with a bad backend", { name: "a", backend: "nowhere" }, "unknown-backend", /no backend "nowhere"/],
    [
      "an agent with bad tools",
      { name: "a", backend: "offline", tools: [{}] },
      "invalid-option",
      /tools\[0\] is not a tool/,
    ],
    [
      "an agent with bad limits",
      { name: "a", backend: "offline", limits: { turns: 0 } },
      "invalid-option",
      /limits\.turns is 0/,
    ],
  ])("%s", (_, target, code, message) => {
    const refused = refusal({ target });
    expect(refused.code).toBe(code);
    expect(refused.message).toMatch(message);
  });

  it("agent() itself reports it", () => {
    expect(() => agent({ name: "", backend: "offline" })).toThrow(/agent name "" is not valid/);
    expect(() => agent({ name: "clerk" } as never)).toThrow(/agent "clerk" has no backend/);
    expect(() => agent(null as never)).toThrow(/The agent is null/);
    expect(agent({ name: "clerk", backend })).toEqual({ name: "clerk", backend });
  });
});

describe("R16 S3-3: a missing or wrong key or address", () => {
  it.each([
    ["anthropic/x", "ANTHROPIC_API_KEY"],
    ["openai/x", "OPENAI_API_KEY"],
    ["openrouter/x", "OPENROUTER_API_KEY"],
    ["deepseek/x", "DEEPSEEK_API_KEY"],
    ["modal/x", "MODAL_API_KEY"],
    ["google/x", "GEMINI_API_KEY or GOOGLE_API_KEY"],
  ])("%s without a key names %s, the option and the way without a key", (target, variable) => {
    for (const env of [{}, { [variable]: " " }]) {
      const { code, message } = refusal({ target, env });
      expect(code).toBe("missing-key");
      expect(message).toContain(`${variable} is not set`);
      expect(message).toContain(`${target.slice(0, -2)}: { apiKey }`);
      expect(message).toContain('"offline"');
    }
  });

  it.each<[string, Given, RegExp]>([
    ["a key with a line in it", { env: { OPENAI_API_KEY: "sk\n-1" } }, /^OPENAI_API_KEY has a blank or a special/],
    ["a key with a quote", { options: { openai: { apiKey: "“sk”" } } }, /^The option openai\.apiKey has a blank/],
    [
      "an address without a host",
      { env: { ...KEYS, OPENAI_BASE_URL: "localhost" } },
      /^OPENAI_BASE_URL is "localhost"/,
    ],
    ["a file", { options: { openai: { baseUrl: "file:///etc/passwd" } } }, /^The option openai\.baseUrl is "file:/],
    ["an empty address", { options: { openai: { baseUrl: "" } } }, /^The option openai\.baseUrl is ""/],
    ["an address with a query", { options: { openai: { baseUrl: "https://x.test/?key=1" } } }, /has a \? or # in it/],
    ["no text", { options: { openai: { baseUrl: 7 } } }, /^openai\.baseUrl is 7\. Give a string/],
    ["a key that is no text", { options: { openai: { apiKey: 123456 } } }, /^openai\.apiKey is not text/],
    ["headers that are none", { options: { openai: { headers: "a: b" } } }, /^openai\.headers is "a: b"/],
    [
      "a header that is no text",
      { options: { openai: { headers: { "x-a": 1 } } } },
      /^openai\.headers\.x-a is not text/,
    ],
    ["a slip", { options: { openai: { apikey: "k" } } }, /no openai\.apikey\. Did you mean apiKey\?/],
    ["a text for options", { options: { openai: "sk-1" } }, /^openai is "sk-1"\. Give an object/],
  ])("%s", (_, given, message) => {
    const refused = refusal({ target: "openai/x", ...given });
    expect(refused.code).toBe("invalid-option");
    expect(refused.message).toMatch(message);
  });

  it("SEC16: no key and no password is ever shown", () => {
    const shown = [
      refusal({ target: "openai/x", env: { OPENAI_API_KEY: "sk canary" } }),
      refusal({ target: "openai/x", options: { openai: { apiKey: "canary\n1" } } }),
      refusal({ target: "openai/x", options: { openai: { baseUrl: "ftp://me:canary@host" } } }),
      refusal({ target: "openai/x", options: { openai: { apiKey: { canary: 1 } } } }),
    ];
    expect(JSON.stringify(shown)).not.toContain("canary");
  });

  it("a provider without a common address requires yours", () => {
    expect(refusal({ target: "modal/x", env: { MODAL_API_KEY: "k" } }).message).toMatch(
      /^MODAL_BASE_URL is not set, and modal has no common address/,
    );
  });
});

describe("R16: options", () => {
  it.each<[string, unknown, RegExp]>([
    ["null", null, /^options is null\. Give an object/],
    ["a list", [], /^options is \[\]/],
    ["a slip", { toolz: [] }, /^There is no option toolz\. Did you mean tools\?/],
    ["another slip", { instruction: "x" }, /Did you mean instructions\?/],
    ["something unheard of", { zzzzzzzz: 1 }, /Known: instructions, tools,/],
    ["instructions that are no text", { instructions: 7 }, /^instructions is 7\. Give a string/],
    ["limits that are none", { limits: 5 }, /^limits is 5\. Give an object/],
    ["a slip in limits", { limits: { turn: 1 } }, /^There is no limits\.turn\. Did you mean turns\?/],
    ["no turns", { limits: { turns: 0 } }, /^limits\.turns is 0\. Give a number above 0/],
    ["negative time", { limits: { idleMs: -1 } }, /^limits\.idleMs is -1/],
    ["no number", { limits: { toolMs: "5s" } }, /^limits\.toolMs is "5s"/],
    ["not a number", { limits: { turns: Number.NaN } }, /^limits\.turns is NaN/],
    ["half a token", { maxTokens: 0.5 }, /^maxTokens is 0\.5\. Give a whole number above 0/],
    ["endless tokens", { maxTokens: Number.POSITIVE_INFINITY }, /^maxTokens is Infinity/],
    ["negative thinking", { thinkingTokens: -1 }, /^thinkingTokens is -1/],
    ["no concurrency", { toolConcurrency: 0 }, /^toolConcurrency is 0/],
    ["heat", { temperature: 3 }, /^temperature is 3\. Give a number from 0 to 2/],
    ["a word for a flag", { parallelToolCalls: "no" }, /^parallelToolCalls is "no"\. Give true or false/],
    ["an unknown choice", { toolChoice: "always" }, /^toolChoice is "always"\. Give "auto", "none", "required"/],
    ["a choice of a tool that is not there", { toolChoice: { name: "ad" }, tools: [add] }, /Did you mean "add"\?/],
    ["a choice without tools", { toolChoice: { name: "add" } }, /not among tools\. The tools are: none/],
    ["tools that are no list", { tools: add }, /^tools is .*, not a list/],
    ["something that is no tool", { tools: [add, { name: "x" }] }, /^tools\[1\] is not a tool\. Create it with tool\(/],
    ["null for a tool", { tools: [null] }, /^tools\[0\] is not a tool/],
    ["two tools of one name", { tools: [add, add] }, /^tools\[1\]: there are two tools called "add"/],
    [
      "a controller for a signal",
      { signal: new AbortController() },
      /^signal is .*Give the signal of an AbortController/,
    ],
    ["null for a signal", { signal: null }, /^signal is null/],
    ["a number for retry", { retry: 3 }, /^retry is 3\. Give an object/],
    ["a slip in retry", { retry: { attempt: 3 } }, /^There is no retry\.attempt\. Did you mean attempts\?/],
    ["no attempts", { retry: { attempts: 0 } }, /^retry\.attempts is 0/],
    ["negative waiting", { retry: { totalMs: -1 } }, /^retry\.totalMs is -1/],
    ["a fallback that is none", { fallback: [backend, 7] }, /^fallback\[1\] is 7\. Give a backend/],
  ])("%s", (_, options, message) => {
    const refused = refusal({ options });
    expect(refused.code).toBe("invalid-option");
    expect(refused.message).toMatch(message);
  });

  it("an unknown fallback is rejected before any request", () => {
    expect(refusal({ options: { fallback: "nowhere" } })).toMatchObject({ code: "unknown-backend" });
    expect(refusal({ options: { fallback: ["offline", "deepseek/x"] } })).toMatchObject({ code: "missing-key" });
  });

  it("SEC12: hostile names pollute nothing", () => {
    const options = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 1}');
    expect(refusal({ options }).message).toMatch(/^There is no option __proto__/);
    expect(refusal({ options: { limits: JSON.parse('{"__proto__": 1}') } }).code).toBe("invalid-option");
    expect({}).not.toHaveProperty("polluted");
  });
});

describe("R16: input", () => {
  it.each<[string, unknown, RegExp]>([
    ["an empty prompt", "", /^The prompt is empty/],
    ["blanks", " \n\t", /^The prompt is empty/],
    ["an empty list", [], /at least one message/],
    ["null", null, /^The input is null/],
    ["a number", 5, /^The input is a number/],
    [
      "an assistant who speaks last",
      [{ role: "assistant", text: "Hello" }],
      /last message of the input is the assistant's/,
    ],
    ["a system message", [{ role: "system", text: "x" }], /^input\[0\]\.role is "system".*instructions are an option/],
    ["a message that is none", ["hi"], /^input\[0\] is a string, not a message/],
    ["a message without content", [{ role: "user" }], /^input\[0\] has neither text, content nor blocks/],
    ["a last message that says nothing", [{ role: "user", text: " " }], /^The last message of the input is empty/],
    ["a last message without blocks", [{ role: "user", blocks: [] }], /is empty/],
    [
      "results of calls nobody made, and nothing else",
      [
        { role: "user", text: "a" },
        { role: "assistant", text: "b" },
        { role: "user", blocks: [{ type: "tool-result", callId: "x", output: 1, isError: false }] },
      ],
      /"x".*no such call/,
    ],
  ])("%s", (_, input, message) => {
    const refused = refusal({ input });
    expect(refused.code).toBe("invalid-input");
    expect(refused.message).toMatch(message);
  });
});
