import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { AgentBackend, AgentSettings, Backend } from "#backends";
import {
  type AgentEvent,
  isStartError,
  messageItem,
  resultItem,
  type RunResult,
  startItem,
  toolCallItem,
} from "#domain";
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
import { loadTelemetry } from "#sinks";
import { assertRunLog, createScriptedBackend } from "#testing";
import { tool } from "#tools";
import type { SupportColumn } from "../../src/runtime/option-row.ts";
import { supportOf } from "../../src/runtime/option-support.ts";
import { OPTION_SUPPORT, type SupportedOption } from "../../src/runtime/option-table.ts";
import { startStored } from "../../src/runtime/stored-run.ts";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { SAMPLES } from "./option-samples.ts";
import { createSpanNotes } from "./span-notes.ts";

// F-C2 on what is no model and not Claude Code: a foreign command, run for real, and an agent of somebody else's.

const marks: string[] = [];
const { telemetry } = createSpanNotes(marks);
const home = temporaryFolder("agents");
const tape = join(home, "run.tape");
beforeAll(async () => {
  await loadTelemetry();
});

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, (_, { context }) => {
  marks.push(`ran with ${JSON.stringify(context)}`);
  return 42;
});
const slow = tool("slow", "Takes its time", { a: "number", b: "number" }, async () => {
  marks.push("begin");
  await new Promise((resolve) => setImmediate(resolve));
  marks.push("end");
  return 42;
});
const never = tool("add", "Add two numbers", { a: "number", b: "number" }, (_, { signal }) => {
  return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
});

/** The settings that the agent of somebody else's was opened with. */
let opened: AgentSettings | undefined;

/** An agent that calls the first of our tools, as one behind any protocol would, and says what came of it. */
const createOther = (announces: boolean): AgentBackend => ({
  kind: "agent",
  name: "somebody-elses",
  model: "m",
  explain: (settings) => ({
    backend: "somebody-elses",
    mode: "control",
    features: settings.features,
    requiresControl: false,
    override: undefined,
    reasons: [],
    ignored: [],
    text: "",
  }),
  async open(settings) {
    opened = settings;
    let turns = 0;
    return {
      async send(messages, link) {
        turns += 1;
        marks.push(`sent ${messages.length}`);
        const [offered] = settings.tools;
        await link.write([startItem({ backend: "somebody-elses", mode: "control" })]);
        if (offered !== undefined) {
          const call = { callId: `c${turns}`, name: offered.name, input: { a: 25, b: 17 } };
          if (announces) await link.write([toolCallItem({ ...call, executedBy: "millrace" })]);
          const verdict = await link.policy.checkCall({ ...call, executedBy: "millrace" });
          if (verdict.kind === "run" && verdict.grant.redeem(verdict.input)) {
            const again = { ...call, callId: `${call.callId}-again` };
            await Promise.all((offered === slow ? [call, again] : [call]).map((one) => link.runTool(one)));
          }
        }
        if (link.signal.aborted) return;
        const blocks = [{ type: "text", text: '{"total":"many"}' }] as const;
        const usage = { inputTokens: 10, outputTokens: 10 };
        await link.write([messageItem({ id: `m${turns}`, role: "assistant", blocks, usage })]);
        await link.write([
          resultItem({ subtype: "success", isError: false, text: '{"total":"many"}', usage, costUsd: 1 }),
        ]);
      },
      interrupt: async () => undefined,
      setModel: async () => undefined,
      setPermissionMode: async () => undefined,
      sessionId: "s",
      close: async () => undefined,
    };
  },
});
const other = createOther(false);
/** Only a call that is in the log can wait there. */
const announcing = createOther(true);

interface Seen {
  readonly log: readonly AgentEvent[];
  readonly result: RunResult | undefined;
  readonly refusal: string | undefined;
  readonly marks: readonly string[];
  readonly opened: AgentSettings | undefined;
}

/** With a key for the model that some samples fall back to. */
const createWorld = (): World => ({ ...systemWorld(), env: { ...process.env, OPENAI_API_KEY: "test-key" } });

async function play(target: Target, options: RunOptions, isStored = false): Promise<Seen> {
  const world = createWorld();
  marks.length = 0;
  opened = undefined;
  const log: AgentEvent[] = [];
  try {
    const run = isStored
      ? startStored(createMemoryStore(), target, "hello", options, world)
      : startRun(target, "hello", options, world);
    for await (const event of run) log.push(event);
    const result = await run.result();
    if (result.status !== "waiting") assertRunLog(log);
    await run.closed;
    // Telemetry hears of a run after it.
    for (let turn = 0; options.telemetry !== undefined && turn < 1000; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (marks.some((mark) => mark.startsWith("span invoke"))) break;
    }
    return { log, result, refusal: undefined, marks: [...marks], opened };
  } catch (error) {
    if (!isStartError(error)) throw error;
    return { log, result: undefined, refusal: error.message, marks: [...marks], opened };
  }
}

interface Proof {
  readonly options: () => RunOptions;
  /** The same without the option, where leaving its name out does not do it. */
  readonly against?: () => RunOptions;
  readonly target?: () => Target;
  /** It is an option of runs in a store. */
  readonly isStored?: true;
  readonly shows: (seen: Seen) => boolean;
}

/** A command that is a line of JavaScript. Its folder is its own: a run may name another. */
const node = (code: string, format = "text"): Backend => command([process.execPath, "-e", code], { format });
/** Started some five hundred times, which is why it is no JavaScript. */
const echo = (): Backend => command(["cat"], { format: "text" });
/** Says where it is and what it was given. */
const tells = (): Backend => node("console.log(process.cwd() + ' ' + process.env.PROOF)");
/** Answers what is no number, however often it is asked. */
const many = (): Backend => node(`console.log('{"total":"many"}')`);
const hangs = (): Backend => node("setInterval(() => undefined, 1000)");
/** Speaks as Claude Code does: two messages with what they have used, and a verdict with its cost. */
const counts = (): Backend => {
  const says = (id: string): object => ({
    type: "assistant",
    message: {
      id,
      role: "assistant",
      content: [{ type: "text", text: id }],
      usage: { input_tokens: 10, output_tokens: 10 },
    },
  });
  const verdict = {
    type: "result",
    subtype: "success",
    is_error: false,
    result: "m2",
    total_cost_usd: 3,
    num_turns: 2,
  };
  const lines = [{ type: "system", subtype: "init", session_id: "s" }, says("m1"), says("m2"), verdict];
  return node(`for (const line of ${JSON.stringify(lines)}) console.log(JSON.stringify(line))`, "claude-code");
};

const ended =
  (how: RegExp) =>
  ({ result }: Seen): boolean =>
    result !== undefined && how.test(`${result.subtype} ${result.error?.code ?? ""}`);
const noted =
  (pattern: RegExp) =>
  ({ marks: all }: Seen): boolean =>
    all.some((mark) => pattern.test(mark));
const isGuarded = (
  place: "input" | "output",
  answer?: { readonly deny: string },
): NonNullable<RunOptions["guards"]> => [
  {
    name: "g",
    place,
    check: ({ context }) => {
      marks.push(`guard ${JSON.stringify(context)}`);
      return answer;
    },
  },
];
const picky = {
  "~standard": { version: 1, vendor: "test", validate: () => ({ issues: [{ message: "not good enough" }] }) },
} as const;
const picked = { type: "object", properties: { total: { type: "string" } } } as const;
const repaired = ({ log }: Seen): boolean =>
  log.some((event) => event.type === "message" && event.source === "millrace");
const withTelemetry = (more: Parameters<typeof telemetry>[0]) => () => telemetry(more);

/** What does the same on both: it is kept by the run, whoever carries it out. */
const shared = (target: () => Target): { readonly [Option in SupportedOption]?: Proof } => ({
  output: { options: () => ({ output: { total: "number" } }), shows: ended(/structured/), target },
  "output.schema": {
    options: () => ({ output: { schema: { total: "string" }, repairs: 0 } }),
    against: () => ({ output: { schema: { total: "number" }, repairs: 0 } }),
    shows: ({ result }) => JSON.stringify(result?.structured) === '{"total":"many"}',
    target,
  },
  // A schema that cannot be written as one needs it.
  "output.jsonSchema": {
    options: () => ({ output: { schema: picky, jsonSchema: picked, repairs: 0 } }),
    against: () => ({ output: { schema: picky, repairs: 0 } as never }),
    shows: ({ refusal }) => refusal === undefined,
    target,
  },
  "output.repairs": {
    options: () => ({ output: { schema: picky, jsonSchema: picked, repairs: 1 } }),
    against: () => ({ output: { schema: picky, jsonSchema: picked, repairs: 0 } }),
    shows: repaired,
    target,
  },
  guards: { options: () => ({ guards: isGuarded("input", { deny: "no" }) }), shows: ended(/guard-denied/), target },
  outputMode: {
    options: () => ({ guards: isGuarded("output"), outputMode: "buffer" }),
    shows: ({ result }) => result !== undefined,
    target,
  },
  context: {
    options: () => ({ guards: isGuarded("input"), context: { tenant: 7 } }),
    shows: noted(/^guard \{"tenant":7\}$/),
    target,
  },
  signal: {
    options: () => ({ signal: AbortSignal.abort() }),
    shows: ({ result }) => result?.status === "aborted",
    target,
  },
  keepRaw: {
    options: () => ({ keepRaw: true }),
    shows: ({ log }) => log.some(({ raw }) => raw !== undefined && raw.json !== ""),
    target,
  },
  strict: {
    options: () => ({ strict: true, temperature: 1 }),
    against: () => ({ temperature: 1 }),
    shows: ({ refusal }) => refusal !== undefined,
    target,
  },
  "limits.replyBytes": { options: () => ({ limits: { replyBytes: 4 } }), shows: ended(/reply/), target },
  "limits.handoffs": {
    options: () => ({ limits: { handoffs: 1 } }),
    shows: ended(/handoffs/),
    target: () => {
      const hand = (to: string) =>
        createScriptedBackend([{ calls: [{ name: "handoff", input: { to, message: "go" } }] }]);
      return swarm([
        agent({ name: "first", backend: hand("second"), handoffs: ["second"] }),
        agent({ name: "second", backend: hand("third"), handoffs: ["third"] }),
        agent({ name: "third", backend: target() as Backend }),
      ]);
    },
  },
  telemetry: { options: withTelemetry({}), shows: noted(/^span/), target },
  "telemetry.tracer": { options: withTelemetry({}), shows: noted(/^span/), target },
  "telemetry.attributes": {
    options: withTelemetry({ attributes: { tenant: "seven" } }),
    against: withTelemetry({}),
    shows: noted(/"tenant":"seven"/),
    target,
  },
  "telemetry.meter": {
    options: withTelemetry({ meter: true }),
    against: withTelemetry({}),
    shows: noted(/^measured/),
    target,
  },
  "telemetry.recordContent": {
    options: withTelemetry({ recordContent: true }),
    against: withTelemetry({}),
    shows: noted(/hello/),
    target,
  },
});

const COMMAND: { readonly [Option in SupportedOption]?: Proof } = {
  ...shared(many),
  // What it has cost is known with its verdict: nothing that costs more is begun behind it.
  "limits.costUsd": {
    options: () => ({ limits: { costUsd: 1 }, output: { schema: picky, jsonSchema: picked, repairs: 1 } }),
    shows: (seen) => seen.result !== undefined && !repaired(seen),
    target: counts,
  },
  "limits.tokens": { options: () => ({ limits: { tokens: 1 } }), shows: ended(/tokens/), target: counts },
  "limits.timeoutMs": {
    options: () => ({ limits: { timeoutMs: 300 } }),
    against: () => ({ limits: { timeoutMs: 100_000, idleMs: 300 } }),
    shows: ended(/timeout/),
    target: hangs,
  },
  "limits.idleMs": {
    options: () => ({ limits: { idleMs: 300 } }),
    against: () => ({ limits: { idleMs: 100_000, timeoutMs: 300 } }),
    shows: ended(/stalled/),
    target: hangs,
  },
  cwd: {
    options: () => ({ cwd: home }),
    shows: ({ result }) => result?.text.startsWith(`${home} `) === true,
    target: tells,
  },
  env: {
    options: () => ({ env: { PROOF: "given" } }),
    shows: ({ result }) => result?.text.includes(" given") === true,
    target: tells,
  },
  record: {
    options: () => {
      rmSync(tape, { force: true });
      return { record: tape };
    },
    against: () => {
      rmSync(tape, { force: true });
      return {};
    },
    shows: () => readTape() !== undefined,
    target: echo,
  },
  replay: { options: replayOf("whole"), against: () => ({}), shows: ended(/tape-difference/), target: echo },
  "replay.tape": {
    options: () => ({ replay: { tape: replayOf("whole")().replay as string, onDifference: "warn" } }),
    against: () => ({}),
    shows: ({ result }) => result?.text === "recorded",
    target: echo,
  },
  "replay.onDifference": {
    options: () => ({ replay: { tape: replayOf("whole")().replay as string, onDifference: "warn" } }),
    against: replayOf("whole"),
    shows: ({ result }) => result?.status === "success",
    target: echo,
  },
  "replay.allowTorn": {
    options: () => ({ replay: { tape: replayOf("torn")().replay as string, onDifference: "warn", allowTorn: true } }),
    against: replayOf("torn"),
    shows: ({ refusal }) => refusal === undefined,
    target: echo,
  },
  "replay.allowEdited": {
    options: () => ({
      replay: { tape: replayOf("edited")().replay as string, onDifference: "warn", allowEdited: true },
    }),
    against: replayOf("edited"),
    shows: ({ refusal }) => refusal === undefined,
    target: echo,
  },
};

const OTHER: { readonly [Option in SupportedOption]?: Proof } = {
  ...shared(() => other),
  instructions: {
    options: () => ({ instructions: "Be brief." }),
    shows: (seen) => seen.opened?.instructions === "Be brief.",
  },
  tools: { options: () => ({ tools: [add] }), shows: noted(/^ran/) },
  toolConcurrency: {
    options: () => ({ tools: [slow], toolConcurrency: 1 }),
    shows: (seen) => seen.marks.filter((mark) => mark === "begin" || mark === "end").join() === "begin,end,begin,end",
  },
  context: { options: () => ({ tools: [add], context: { tenant: 7 } }), shows: noted(/^ran with \{"tenant":7\}$/) },
  hooks: {
    options: () => ({ tools: [add], hooks: { "before-tool": [() => void marks.push("hook")] } }),
    shows: noted(/^hook$/),
  },
  permission: {
    options: () => ({ tools: [add], permission: ({ name }) => ({ allow: marks.push(`asked ${name}`) > 0 }) as never }),
    shows: noted(/^asked add$/),
  },
  permissions: {
    options: () => ({ tools: [add], permissions: { deny: ["add"] } }),
    shows: (seen) => !noted(/^ran/)(seen),
  },
  "permissions.deny": {
    options: () => ({ tools: [add], permissions: { deny: ["add"] } }),
    shows: (seen) => !noted(/^ran/)(seen),
  },
  "permissions.allow": {
    options: () => ({ tools: [add], permissions: { allow: ["add"], otherwise: "deny" } }),
    against: () => ({ tools: [add], permissions: { otherwise: "deny" } }),
    shows: noted(/^ran/),
  },
  "permissions.ask": {
    options: () => ({
      tools: [add],
      permissions: { ask: ["add"] },
      permission: ({ reason }) => ({ allow: marks.push(`because ${reason}`) > 0 }) as never,
    }),
    shows: noted(/^because .*requires a person to decide/),
  },
  "permissions.otherwise": {
    options: () => ({ tools: [add], permissions: { otherwise: "deny" } }),
    shows: (seen) => !noted(/^ran/)(seen),
  },
  // What it keeps is its own affair; it is told that it should.
  keepRaw: { options: () => ({ keepRaw: true }), shows: (seen) => seen.opened?.keepRaw === true },
  "limits.turns": { options: () => ({ limits: { turns: 7 } }), shows: (seen) => seen.opened?.turns === 7 },
  "limits.costUsd": { options: () => ({ limits: { costUsd: 7 } }), shows: (seen) => seen.opened?.costUsd === 7 },
  "limits.tokens": { options: () => ({ limits: { tokens: 1 } }), shows: ended(/tokens/) },
  "limits.idleMs": { options: () => ({ limits: { idleMs: 777 } }), shows: (seen) => seen.opened?.idleMs === 777 },
  "limits.timeoutMs": {
    options: () => ({ tools: [never], limits: { timeoutMs: 300 } }),
    against: () => ({ tools: [add] }),
    shows: ended(/timeout/),
  },
  "limits.toolMs": {
    options: () => ({ tools: [never], limits: { toolMs: 300 } }),
    against: () => ({ tools: [never], limits: { timeoutMs: 300 } }),
    shows: ended(/success/),
  },
  "limits.permissionMs": {
    options: () => ({ tools: [add], limits: { permissionMs: 1000 }, permission: () => new Promise(() => undefined) }),
    against: () => ({ tools: [add], limits: { timeoutMs: 300 }, permission: () => new Promise(() => undefined) }),
    shows: ended(/success/),
  },
  "limits.parkMs": {
    options: () => ({ tools: [add], permissions: { ask: ["add"] }, limits: { parkMs: 100, timeoutMs: 2000 } }),
    isStored: true,
    target: () => announcing,
    shows: ({ result }) => result?.status === "waiting",
  },
  "session.resume": {
    options: () => ({ session: { resume: "a" } }),
    shows: ({ opened: settings }) => settings?.resume?.kind === "resume" && settings.resume.sessionId === "a",
  },
  "session.continue": {
    options: () => ({ session: { continue: true } }),
    shows: (seen) => seen.opened?.resume?.kind === "continue",
  },
  "session.fork": {
    options: () => ({ session: { resume: "a", fork: true } }),
    against: () => ({ session: { resume: "a" } }),
    shows: (seen) => seen.opened?.resume?.fork === true,
  },
  "session.orReplay": {
    options: () => ({ session: { resume: "a", orReplay: true } }),
    shows: ({ opened: settings }) => settings?.resume?.kind === "resume" && settings.resume.orReplay === true,
  },
  cwd: { options: () => ({ cwd: "/tmp" }), shows: (seen) => seen.opened?.cwd === "/tmp" },
  env: { options: () => ({ env: { PROOF: "given" } }), shows: (seen) => seen.opened?.env["PROOF"] === "given" },
};

function readTape(): string | undefined {
  try {
    return readFileSync(tape, "utf8");
  } catch {
    return undefined;
  }
}

let recorded: string | undefined;

/** A tape of another prompt: whole, cut, or changed. */
function replayOf(kind: "whole" | "torn" | "edited"): () => RunOptions {
  return () => {
    const text = recorded as string;
    const path = join(home, `${kind}.tape`);
    const changed =
      kind === "torn" ? text.slice(0, -20) : kind === "edited" ? text.replace("recorded", "Recorded") : text;
    writeFileSync(path, changed);
    return { replay: path };
  };
}

/** The options without the one in question. */
function without(options: RunOptions, option: string): RunOptions {
  const [group, member] = option.split(".") as [keyof RunOptions, string?];
  const { [group]: whole, ...rest } = options;
  if (member === undefined || group === "output") return rest;
  const { [member]: _, ...others } = whole as Readonly<Record<string, unknown>>;
  return { ...rest, [group]: others };
}

const COLUMNS = [
  ["command", echo, COMMAND],
  ["another agent", () => other, OTHER],
] as const;

/** What does not hold, said a second time and without the table: both must be changed on purpose. */
const NOWHERE = [
  "toolChoice",
  "parallelToolCalls",
  "retry",
  "fallback",
  "maxTokens",
  "temperature",
  "thinkingTokens",
  "claudeCode",
  ...["anthropic", "openai", "openrouter", "deepseek", "vllm", "modal", "google"],
];
const NOT_THERE: Readonly<
  Record<string, { readonly ignored: readonly string[]; readonly refused: readonly string[] }>
> = {
  command: {
    ignored: [
      ...NOWHERE,
      "instructions",
      "tools",
      "toolConcurrency",
      "limits.turns",
      "limits.toolMs",
      "limits.permissionMs",
      "limits.parkMs",
      "session",
    ],
    refused: ["hooks", "permission", "permissions"],
  },
  "another agent": { ignored: NOWHERE, refused: ["record", "replay"] },
};

const isAmong = (option: string, names: readonly string[]): boolean =>
  names.includes(option) || names.includes(option.split(".")[0] as string);

const refusalOf = (start: () => unknown): string | undefined => {
  try {
    start();
    return undefined;
  } catch (error) {
    if (!isStartError(error)) throw error;
    return error.message;
  }
};

it("F-D12: an agent that is a tool gets the remaining cost limit of the run around it", async () => {
  const helper = agentTool(agent({ name: "helper", backend: other }));
  const run = startRun("offline", "helper, help", { tools: [helper], limits: { costUsd: 7 } }, systemWorld());
  expect((await run.result()).toolCalls[0]).toMatchObject({ name: "helper", isError: false });
  expect(opened?.costUsd).toBe(7);
});

describe.each(COLUMNS)("F-C2: on %s", (column, target, proofs) => {
  const all = Object.keys(OPTION_SUPPORT) as SupportedOption[];
  const { ignored, refused } = NOT_THERE[column] as (typeof NOT_THERE)[string];
  const holding = all.filter((option) => !isAmong(option, [...ignored, ...refused]));

  beforeAll(async () => {
    const run = startRun(echo(), "recorded", { record: tape }, systemWorld());
    await run.result();
    await run.closed;
    recorded = readTape();
  });

  it("every option is in the table as it is here", () => {
    for (const option of all) {
      const support = supportOf(OPTION_SUPPORT[option], column as SupportColumn);
      const isRefusal = typeof support === "object" && "refused" in support;
      expect([option, isRefusal]).toEqual([option, isAmong(option, refused)]);
      const isHeld = support === "works" || (typeof support === "object" && "judge" in support);
      // Conditions that only what happens anyway can meet.
      const isMet = !["toolChoice", "parallelToolCalls"].includes(option);
      expect([option, isHeld && isMet]).toEqual([option, holding.includes(option)]);
    }
  });

  it.each(holding)("%s has an effect that a run without it does not have", async (option) => {
    const proof = proofs[option] as Proof;
    expect(proof, "it has no proof").toBeDefined();
    const one = proof.target ?? target;
    const seen = await play(one(), proof.options(), proof.isStored);
    const { subtype, error, text } = seen.result ?? {};
    expect(proof.shows(seen), JSON.stringify([seen.refusal, subtype, error, text, seen.marks])).toBe(true);
    const less = proof.against?.() ?? without(proof.options(), option);
    expect(proof.shows(await play(one(), less, proof.isStored)), "without it").toBe(false);
  });

  it.each(all.filter((option) => isAmong(option, ignored)))(
    "%s causes a warning by name, in a run, a session and a swarm, and is rejected with strict",
    async (option) => {
      const options = SAMPLES[option];
      const isNamed = (names: readonly string[]): boolean =>
        names.some((name) => option.startsWith(name) || name.startsWith(option));
      const world = createWorld();
      expect(isNamed(explainIn(target(), options, world).ignored)).toBe(true);
      const warned = ({ log }: Pick<Seen, "log">): string[] =>
        log.flatMap((event) =>
          event.type === "warning" && event.code === "option-ignored"
            ? [(event.context as { readonly option: string }).option]
            : [],
        );
      expect(isNamed(warned(await play(target(), options)))).toBe(true);
      const giver = createScriptedBackend([{ calls: [{ name: "handoff", input: { to: "second", message: "go" } }] }]);
      const both = swarm([
        agent({ name: "first", backend: giver, handoffs: ["second"] }),
        agent({ name: "second", backend: target() }),
      ]);
      expect(isNamed(warned(await play(both, options)))).toBe(true);
      for (const one of [target(), both]) {
        const refusal = refusalOf(() => startRun(one, "hello", { ...options, strict: true }, world));
        expect(refusal).toMatch(/is not available on/);
      }
      const session = startSession(target(), options, world);
      const sent = await session.send("hello").result();
      expect(isNamed(sent.warnings.map(({ context }) => String((context as { option?: unknown }).option)))).toBe(true);
      await session.close();
      expect(refusalOf(() => startSession(target(), { ...options, strict: true }, world))).toMatch(
        /is not available on/,
      );
    },
  );

  it.each(all.filter((option) => isAmong(option, refused)))("%s is rejected, strict or not", (option) => {
    const given = {
      record: { record: join(home, "refused.tape") },
      replay: { replay: tape },
    };
    const [group] = option.split(".") as [keyof typeof given];
    const options: RunOptions = given[group] ?? SAMPLES[option];
    expect(refusalOf(() => startRun(target(), "hello", options, systemWorld()))).toMatch(
      /is not available on|created in code|cannot be/,
    );
  });
});
