import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ModelBackend } from "#backends";
import { type AgentEvent, isStartError } from "#domain";
import type { EmulatorScript } from "#emulator";
import {
  agent,
  agentTool,
  command,
  explainIn,
  type RunOptions,
  startRun,
  startSession,
  swarm,
  systemWorld,
  type Target,
  type World,
} from "#runtime";
import { assertRunLog, createScriptedBackend } from "#testing";
import { tool } from "#tools";
import { systemClock, systemRandom } from "#transports";
import { SUPPORT_COLUMNS, type SupportColumn } from "../../src/runtime/option-row.ts";
import { supportOf } from "../../src/runtime/option-support.ts";
import { OPTION_SUPPORT, type SupportedOption } from "../../src/runtime/option-table.ts";
import { makeBackend } from "../../src/runtime/providers.ts";
import { openPlace, type Place } from "../claude-code/place.ts";
import { describeRealCli } from "../real-cli.ts";
import { createTestWorld, runToEnd } from "./model-backends.ts";
import { MODELS, PROOFS } from "./option-proofs.ts";
import { SAMPLES } from "./option-samples.ts";

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);

const reads = tool("read", "Read it", {}, () => "", { readOnly: true });

const OPTIONS = Object.keys(PROOFS) as SupportedOption[];
const PROVIDERS = ["anthropic", "openai", "openrouter", "deepseek", "vllm", "modal", "google"] as const;

/** What does not hold, said a second time and without the table: both must be changed on purpose. */
const NOT_ON_MODELS = [
  "session.resume",
  "session.continue",
  "session.fork",
  "session.orReplay",
  "cwd",
  "env",
  "claudeCode",
];
const NOT_ON_AGENTS = [
  "toolChoice",
  "parallelToolCalls",
  "temperature",
  "retry.totalMs",
  "retry.afterFirstToken",
  "fallback",
  // The backends of these tests are made by hand, with options of their own.
  "claudeCode",
  // The CLI's own choice of a model is one that thinks as it sees fit.
  "thinkingTokens",
];
/** Without a price a limit of cost cannot be kept, which is known, and warned of, after the first reply only. */
const WITHOUT_PRICES = ["openrouter", "modal", "vllm"];
const NOT_ELSEWHERE: Readonly<Partial<Record<SupportColumn, readonly string[]>>> = {
  deepseek: ["thinkingTokens", "parallelToolCalls"],
  vllm: ["thinkingTokens", "parallelToolCalls"],
  modal: ["thinkingTokens", "parallelToolCalls"],
  google: ["parallelToolCalls"],
};

function isExpectedToHold(option: string, column: SupportColumn): boolean {
  const [group = ""] = option.split(".");
  if ((PROVIDERS as readonly string[]).includes(group)) return group === column;
  if (column in MODELS) return ![...NOT_ON_MODELS, ...(NOT_ELSEWHERE[column] ?? [])].includes(option);
  return !NOT_ON_AGENTS.includes(option);
}

/** What is named when an option does not hold: what is said of the whole is not said of its parts. */
function namesOf(option: string): readonly string[] {
  const [group = ""] = option.split(".");
  if (option === "session.fork") return ["session.continue", "session.fork"];
  if (option === "session.orReplay") return ["session.resume", "session.orReplay"];
  return (PROVIDERS as readonly string[]).includes(group) ? [group] : [option];
}

function modelWorld(): ReturnType<typeof createTestWorld> {
  const place = createTestWorld();
  const hosts = Object.fromEntries(
    ["DEEPSEEK", "VLLM", "MODAL"].flatMap((name) => [
      [`${name}_BASE_URL`, "http://offline.test/v1"],
      [`${name}_API_KEY`, "test-key"],
    ]),
  );
  const env = { ...place.world.env, ...hosts };
  // At their own addresses, where prices are known; the server without a socket answers at any.
  for (const name of ["ANTHROPIC", "OPENAI", "DEEPSEEK", "GOOGLE_GEMINI"]) delete env[`${name}_BASE_URL`];
  return { ...place, world: { ...place.world, env } };
}

/** The same backend, which does not say how much it uses. */
const withoutUsage = (backend: ModelBackend): ModelBackend => ({
  ...backend,
  async *stream(...given) {
    for await (const chunks of backend.stream(...given)) {
      yield chunks.map((chunk) => (chunk.type === "message" ? { ...chunk, usage: {} } : chunk));
    }
  },
});

const ignoredIn = (log: readonly AgentEvent[]): unknown[] =>
  log.flatMap((event) =>
    event.type === "warning" && event.code === "option-ignored"
      ? [(event.context as { readonly option: string }).option]
      : [],
  );

function refusalOf(start: () => unknown): string | undefined {
  try {
    start();
    return undefined;
  } catch (error) {
    if (!isStartError(error)) throw error;
    return `${error.code}: ${error.message}`;
  }
}

describe.each(Object.entries(MODELS))("F-C2: on %s", (column, target) => {
  const judged = OPTIONS.filter((option) => option !== "limits.costUsd" || !WITHOUT_PRICES.includes(column));
  it.each(judged)("%s works, or causes a warning by name and is rejected with strict", async (option) => {
    const place = modelWorld();
    const options = SAMPLES[option];
    const expected = isExpectedToHold(option, column as SupportColumn) ? [] : namesOf(option);
    const log = await runToEnd(target, "Say hello", options, place);
    expect(ignoredIn(log)).toEqual(expected);
    expect(explainIn(target, options, place.world).ignored).toEqual(expected);
    const refusal = refusalOf(() => startRun(target, "Say hello", { ...options, strict: true }, place.world));
    if (expected.length === 0) expect(refusal).toBeUndefined();
    else expect(refusal).toMatch(new RegExp(`^feature-unavailable: ${expected[0]} is not available on ${column}: `));
  });

  const told: readonly [SupportedOption, RegExp][] = [
    ["instructions", /Be brief\./],
    ["tools", /Add two numbers/],
    ["toolChoice", /tool_choice|functionCallingConfig/],
    ["parallelToolCalls", /parallel/],
    ["maxTokens", /4321/],
    ["temperature", /0\.25/],
    ["thinkingTokens", /2345|reasoning_effort/],
  ];
  it.each(told.filter(([option]) => isExpectedToHold(option, column as SupportColumn) && column !== "offline"))(
    "%s reaches the model",
    async (option, trace) => {
      const place = modelWorld();
      await runToEnd(target, "Say hello", SAMPLES[option], place);
      expect(JSON.stringify(place.emulator.requests[0]?.body)).toMatch(trace);
    },
  );
});

describe("F-C2: what depends on other options", () => {
  it.each([
    ["toolChoice without tools", "offline", { toolChoice: "required" }, ["toolChoice"]],
    ["temperature beside thinking", MODELS.anthropic, { temperature: 1, thinkingTokens: 2000 }, ["temperature"]],
    [
      "thinking beside a forced tool",
      MODELS.anthropic,
      { thinkingTokens: 2000, tools: [add], toolChoice: { name: "add" } },
      ["thinkingTokens"],
    ],
    ["a provider that is a fallback", MODELS.anthropic, { fallback: MODELS.openai, openai: { apiKey: "k" } }, []],
    ["parallel calls that are allowed", MODELS.google, { parallelToolCalls: true }, []],
    ["a mode of output without a guard on it", "offline", { outputMode: "buffer" }, ["outputMode"]],
  ] as const)("%s", async (_, target, options, expected) => {
    expect(ignoredIn(await runToEnd(target, "Say hello", options as RunOptions, modelWorld()))).toEqual(expected);
  });

  it("options for a backend created in code cause a warning, because it has its own", async () => {
    const { world } = modelWorld();
    const backend = makeBackend("openai", "gpt-5", { apiKey: "k" }, world);
    const options: RunOptions = { openai: { headers: { "x-a": "b" } } };
    const { warnings } = await startRun(backend, "hello", options, world).result();
    expect(warnings).toMatchObject([{ code: "option-ignored", context: { option: "openai" } }]);
    expect(warnings[0]?.message).toMatch(/created in code and has its own options\. Pass these options there/);
    expect(refusalOf(() => startRun(backend, "hello", { ...options, strict: true }, world))).toMatch(/created in code/);
  });

  const named = "claude-code";
  it.each<[string, Target, RunOptions, readonly string[]]>([
    ["given by name", named, { claudeCode: { effort: "low" } }, []],
    ["a fork of nothing", named, { session: { fork: true } }, ["session.fork"]],
    ["two sessions", named, { session: { resume: "a", continue: true } }, ["session.continue"]],
    ["two models", "claude-code/sonnet", { claudeCode: { model: "opus" } }, ["claudeCode.model"]],
    ["the same model twice", "claude-code/sonnet", { claudeCode: { model: "sonnet" } }, []],
    ["two limits", named, { limits: { turns: 2 }, claudeCode: { maxTurns: 3 } }, ["claudeCode.maxTurns"]],
    ["a limit for calls that come one by one", named, { tools: [add], toolConcurrency: 4 }, ["toolConcurrency"]],
    ["a limit of one", named, { tools: [add], toolConcurrency: 1 }, []],
    ["a limit for calls of a readOnly tool", named, { tools: [reads], toolConcurrency: 4 }, []],
    ["two folders", named, { cwd: "/a", claudeCode: { cwd: "/b" } }, ["claudeCode.cwd"]],
    ["two schemas", named, { output: { a: "number" }, claudeCode: { jsonSchema: {} } }, ["claudeCode.jsonSchema"]],
    [
      "two prompts",
      named,
      { claudeCode: { systemPrompt: "a", appendSystemPrompt: "b" } },
      ["claudeCode.appendSystemPrompt"],
    ],
    ["a fork of the CLI's of nothing", named, { claudeCode: { forkSession: true } }, ["claudeCode.forkSession"]],
    ["a filter of nothing", named, { claudeCode: { toolFilter: "both" } }, ["claudeCode.toolFilter"]],
  ])("of mutually exclusive options of Claude Code, the ignored one is named: %s", (_, target, options, expected) => {
    const { world } = modelWorld();
    expect(explainIn(target, options, world).ignored).toEqual(expected);
    const refusal = refusalOf(() => startRun(target, "hi", { ...options, strict: true }, world));
    if (expected.length > 0)
      expect(refusal).toMatch(new RegExp(`^feature-unavailable: ${expected[0]} is not available`));
  });

  it("in a swarm only the agent that does not support it gets a warning, and strict rejects the whole run", async () => {
    const { world } = modelWorld();
    const first = agent({ name: "first", backend: "offline", handoffs: ["second"] });
    const second = agent({ name: "second", backend: MODELS.google, limits: { costUsd: 1 } });
    const both = swarm([first, second]);
    const log: AgentEvent[] = [];
    const options: RunOptions = { parallelToolCalls: false };
    for await (const event of startRun(both, "hand over to second: hello", options, world)) log.push(event);
    const warned = log.filter((event) => event.type === "warning" && event.code === "option-ignored");
    expect(warned.map(({ agent: name }) => name)).not.toContain("first");
    expect(explainIn(both, options, world).ignored).toContain("parallelToolCalls");
    expect(refusalOf(() => startRun(both, "hello", { ...options, strict: true }, world))).toMatch(
      /parallelToolCalls is not available on google/,
    );
    expect(refusalOf(() => startRun(both, "hello", { strict: true }, world))).toMatch(
      /limits\.costUsd is not available/,
    );
  });

  it("in a run with several backends, an option that one of them supports is neither warned about nor rejected", async () => {
    const { world } = modelWorld();
    const options: RunOptions = {
      strict: true,
      openai: { headers: { "x-a": "1" } },
      google: { headers: { "x-b": "1" } },
    };
    const helper = agent({ name: "helper", backend: MODELS.google });
    const first = agent({ name: "first", backend: MODELS.openai, handoffs: ["helper"] });
    const nested = agent({ name: "first", backend: MODELS.openai, tools: [agentTool(helper)] });
    const among: RunOptions = { ...options, tools: [agentTool(helper)] };
    for (const [target, given] of [
      [swarm([first, helper]), options],
      [nested, options],
      [MODELS.openai, among],
    ] as const) {
      expect(explainIn(target, given, world).ignored).toEqual([]);
      const result = await startRun(target, "helper, say hello", given, world).result();
      expect(result.warnings).toEqual([]);
    }
    const places: RunOptions = { strict: true, cwd: "/tmp", env: { A: "1" }, claudeCode: { model: "sonnet" } };
    const cli = agent({ name: "helper", backend: "claude-code" });
    expect(explainIn(swarm([first, cli]), places, world).ignored).toEqual([]);
    expect(explainIn(MODELS.openai, { ...places, tools: [agentTool(cli)] }, world).ignored).toEqual([]);
    expect(refusalOf(() => explainIn(MODELS.openai, places, world))).toMatch(/cwd is not available on openai/);
  });

  it("a backend created in code causes a warning for options under its name that it does not use", () => {
    const { world } = modelWorld();
    const own = agent({
      name: "own",
      backend: makeBackend("openai", "gpt-5", { apiKey: "k" }, world),
      handoffs: ["named"],
    });
    const named = agent({ name: "named", backend: MODELS.openai });
    expect(explainIn(swarm([own, named]), { openai: { headers: {} } }, world).ignored).toEqual(["openai"]);
  });

  it("strict rejects an option that an agent among the tools does not support, before anything starts", () => {
    const { world } = modelWorld();
    const tools = [agentTool(agent({ name: "helper", backend: "claude-code" }))];
    expect(refusalOf(() => startRun("offline", "hi", { tools, temperature: 0.5, strict: true }, world))).toMatch(
      /temperature is not available on claude-code/,
    );
  });

  it("the folder of a model's run is where its path rules start; without such rules it causes a warning", () => {
    const { world } = modelWorld();
    const ignored = (permissions: RunOptions["permissions"]): readonly string[] =>
      explainIn("offline", { cwd: "/tmp", ...(permissions && { permissions }) }, world).ignored;
    expect(ignored({ deny: ["Read(private/*)"] })).toEqual([]);
    expect(ignored({ deny: ["Read"] })).toEqual(["cwd"]);
  });

  it("a time limit for tools applies to our own tools, which Claude Code may have", () => {
    const { world } = modelWorld();
    const limits = { toolMs: 1000 };
    expect(explainIn("claude-code", { limits, tools: [add] }, world).ignored).toEqual([]);
    expect(explainIn("claude-code", { limits }, world).ignored).toEqual(["limits.toolMs"]);
  });

  it("a limit on something that a backend does not report causes one warning with the name of the limit", async () => {
    const limits = { costUsd: 1, tokens: 10_000 };
    const silent = withoutUsage(createScriptedBackend([{ text: "hello" }]));
    const plain = command([process.execPath, "-e", "console.log('hello')"], { format: "text" });
    const helper = agentTool(agent({ name: "helper", backend: silent }));
    for (const [target, more] of [
      [silent, {}],
      [plain, {}],
      ["offline", { tools: [helper] }],
    ] as const) {
      const result = await startRun(target, "helper, say hello", { limits, ...more }, systemWorld()).result();
      expect(result.status).toBe("success");
      const ignored = result.warnings.map(({ code, context }) => `${code} ${JSON.stringify(context)}`);
      expect(ignored.toSorted()).toEqual([
        'option-ignored {"option":"limits.costUsd"}',
        'option-ignored {"option":"limits.tokens"}',
      ]);
    }
  });

  it("a session warns and rejects as a run does", async () => {
    const { world } = modelWorld();
    const session = startSession("offline", { cwd: "/tmp" }, world);
    const result = await session.send("hello").result();
    expect(result.warnings.map(({ context }) => context)).toEqual([{ option: "cwd", backend: "offline" }]);
    await session.close();
    expect(refusalOf(() => startSession("offline", { cwd: "/tmp", strict: true }, world))).toMatch(
      /^feature-unavail.*cwd/,
    );
  });

  it("a third-party model is judged by what it declares to ignore", async () => {
    const backend = {
      ...createScriptedBackend([{ text: "hello" }, { text: "hello" }]),
      ignores: ["temperature"],
    } as const;
    const { world } = modelWorld();
    const result = await startRun(backend, "hello", { temperature: 1, maxTokens: 5, cwd: "/" }, world).result();
    expect(new Set(result.warnings.map(({ context }) => (context as { option: string }).option))).toEqual(
      new Set(["temperature", "cwd"]),
    );
  });
});

describeRealCli("F-C2: on the real Claude Code CLI", () => {
  let place: Place;
  let rules: EmulatorScript["rules"] = [];
  let world: World;
  beforeAll(async () => {
    place = await openPlace({
      get rules() {
        return rules;
      },
    });
    world = { ...createTestWorld().world, clock: systemClock, random: systemRandom };
  });
  afterAll(() => place.close());

  const logOf = async (options: RunOptions, mode: "plain" | "control" = "plain"): Promise<readonly AgentEvent[]> => {
    const log: AgentEvent[] = [];
    for await (const event of startRun(place.backend({ mode }), "Say hello", options, world)) log.push(event);
    assertRunLog(log);
    return log;
  };
  const asked = (): readonly { readonly model: unknown; readonly body: string }[] =>
    place.emulator.requests
      .filter(({ path }) => path.startsWith("/v1/messages"))
      .map(({ body }) => ({ model: (body as { model?: unknown }).model, body: JSON.stringify(body) }));

  it.each(["plain", "control"] as const)("in %s mode everything unsupported is warned about at once", async (mode) => {
    const lost = OPTIONS.filter((option) => !isExpectedToHold(option, `claude-code (${mode})`));
    const { tools: _, ...options } = Object.assign({}, ...lost.map((option) => SAMPLES[option])) as RunOptions;
    const whole = { ...options, retry: { totalMs: 7, afterFirstToken: true }, toolChoice: "none" } as const;
    const names = new Set(lost.flatMap(namesOf));
    expect(new Set(ignoredIn(await logOf(whole, mode)))).toEqual(names);
    expect(new Set(explainIn(place.backend({ mode }), whole, world).ignored)).toEqual(names);
  });

  it.each(OPTIONS)("%s is rejected with strict before anything starts, exactly if it is not supported", (option) => {
    const count = place.emulator.requests.length;
    for (const mode of ["control", "plain"] as const) {
      // A forced mode that leaves a feature out is told in that feature's own words.
      const needsControl = ["tools", "hooks", "permission", "permissions", "guards", "outputMode", "toolChoice"];
      if (mode === "plain" && needsControl.includes(option)) continue;
      if (mode === "plain" && (SAMPLES[option].tools ?? []).length > 0) continue;
      const backend = place.backend({ mode });
      const explained = explainIn(backend, SAMPLES[option], world).ignored;
      const holds = isExpectedToHold(option, `claude-code (${mode})`);
      expect(explained).toEqual(holds ? [] : namesOf(option));
      if (holds) continue;
      const refusal = refusalOf(() => startRun(backend, "hi", { ...SAMPLES[option], strict: true }, world));
      expect(refusal).toMatch(
        new RegExp(`^feature-unavailable: ${namesOf(option)[0]} is not available on claude-code: `),
      );
    }
    expect(place.emulator.requests).toHaveLength(count);
  });

  it("thinkingTokens and maxTokens reach the model", async () => {
    rules = [];
    const from = asked().length;
    const backend = place.backend({ model: "claude-sonnet-4-6" });
    const result = await startRun(backend, "Say hello", { thinkingTokens: 2345, maxTokens: 4321 }, world).result();
    expect(result.warnings).toEqual([]);
    const [first] = asked().slice(from);
    expect(first?.body).toMatch(/"budget_tokens":2345/);
    expect(first?.body).toMatch(/"max_tokens":4321/);
  });

  it.each([
    ["false", false, 1],
    ["{ attempts: 2 }", { attempts: 2 }, 2],
  ] as const)("retry: %s determines how often the model is called", async (_, retry, count) => {
    rules = [{ fault: { status: 500 } }];
    const from = asked().length;
    await logOf({ retry, env: { CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: "1" } });
    expect(asked().length - from).toBe(count);
  });

  it("fallback names the model that is called if the first one is overloaded", async () => {
    rules = [{ match: { model: "claude-first" }, fault: { status: 529 } }];
    const from = asked().length;
    const log: AgentEvent[] = [];
    const backend = place.backend({ model: "claude-first" });
    const options: RunOptions = { fallback: ["claude-code/claude-second"], retry: { attempts: 4 } };
    for await (const event of startRun(backend, "Say hello", options, world)) log.push(event);
    expect(
      asked()
        .slice(from)
        .map(({ model }) => model),
    ).toContain("claude-second");
    expect(log.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
  });
});

describe("F-C2: the table", () => {
  it("has an answer for every option and every column", () => {
    for (const option of Object.keys(OPTION_SUPPORT) as SupportedOption[]) {
      for (const column of SUPPORT_COLUMNS) expect(supportOf(OPTION_SUPPORT[option], column)).toBeDefined();
    }
  });
});
