import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AgentEvent, type Fetch, isStartError, type ProcessRequest, type RunResult } from "#domain";
import type { Run } from "#run";
import { agent, type RunOptions, startRun, startSession, swarm, type Target, type World } from "#runtime";
import { loadTelemetry } from "#sinks";
import { assertRunLog, createScriptedBackend, type SpawnStep } from "#testing";
import { createClaudeCodeBackend } from "../../src/backends/claude-code/backend.ts";
import { CLAUDE_CODE_ROWS } from "../../src/runtime/claude-code-option-table.ts";
import type { SupportColumn } from "../../src/runtime/option-row.ts";
import { supportOf } from "../../src/runtime/option-support.ts";
import { OPTION_SUPPORT, type SupportedOption } from "../../src/runtime/option-table.ts";
import { startStored } from "../../src/runtime/stored-run.ts";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { greet, INIT, openScripted, result, says, writes } from "../claude-code/scripted.ts";
import { createTestWorld } from "./model-backends.ts";
import {
  CLI_PROOFS,
  type CliProof,
  marks,
  MODELS,
  type Played,
  type Proof,
  PROOFS,
  RUN_ON_CLI,
  TAPE,
} from "./option-proofs.ts";

// So that the first run with telemetry need not wait for its library.
beforeAll(async () => void (await loadTelemetry()));
afterAll(() => rmSync(TAPE, { force: true }));

/** Who is given the options: a run, a session whose first message is the prompt, or a run that is handed over first. */
type Via = "a run" | "a session" | "a swarm";

/** A run that hands over for ever, where handoffs are what is looked at; in a swarm, one that hands over first. */
function targetOf(option: string, backend: string, via: Via): { readonly target: Target; readonly prompt: string } {
  const prompt = "What is 25 + 17?";
  if (option === "limits.handoffs") {
    const back = { calls: [{ name: "handoff", input: { to: "first", message: "hand over to second" } }] };
    const first = agent({ name: "first", backend, handoffs: ["second"] });
    const second = agent({ name: "second", backend: createScriptedBackend([back]), handoffs: ["first"] });
    return { target: swarm([first, second]), prompt: "hand over to second" };
  }
  if (via !== "a swarm") return { target: backend, prompt };
  const hand = { calls: [{ name: "handoff", input: { to: "second", message: prompt } }] };
  // What a tape answers is given by name.
  const giver = option.startsWith("replay") ? "offline" : createScriptedBackend([hand]);
  const first = agent({ name: "first", backend: giver, handoffs: ["second"] });
  return { target: swarm([first, agent({ name: "second", backend })]), prompt: `hand over to second: ${prompt}` };
}

async function play(
  option: string,
  column: string,
  { script, isStored }: Proof,
  options: RunOptions,
  via: Via = "a run",
): Promise<Played> {
  marks.length = 0;
  const place = createTestWorld(script);
  const requests: string[] = [];
  const fetch: Fetch = async (request) => {
    const body = typeof request.body === "string" ? request.body : new TextDecoder().decode(request.body);
    requests.push(`${request.url} ${JSON.stringify(request.headers)} ${body}`);
    // A host of one's own may be asked without a key; this one insists on some.
    return place.emulator.fetch({ ...request, headers: { authorization: "Bearer any", ...request.headers } });
  };
  rmSync(TAPE, { force: true });
  const hosts = Object.fromEntries(
    ["DEEPSEEK", "VLLM", "MODAL"].flatMap((name) => [
      [`${name}_BASE_URL`, "http://offline.test/v1"],
      [`${name}_API_KEY`, "test-key"],
    ]),
  );
  const env: Record<string, string | undefined> = { ...place.world.env, ...hosts };
  // At their own addresses, where prices are known; the server without a socket answers at any.
  for (const name of ["ANTHROPIC", "OPENAI", "DEEPSEEK", "GOOGLE_GEMINI"]) delete env[`${name}_BASE_URL`];
  const real: World = { ...place.world, env, fetch };
  // The built-in model is asked where a tape would listen to it.
  const tap = {
    real,
    around: (source: never) => source,
    exchange: () => fetch,
    take: (_: string, of: (w: World) => unknown) => of(real),
  };
  const world: World =
    column === "offline" && !/^(?:telemetry|record|replay)/.test(option) ? { ...real, tap: tap as never } : real;
  const { target, prompt } = targetOf(option, MODELS[column as keyof typeof MODELS], via);
  if (option.startsWith("replay")) await makeTape(option, target, { world: real, clock: place.clock });
  const log: AgentEvent[] = [];
  let ended: RunResult | undefined;
  let refusal: string | undefined;
  try {
    const run =
      via === "a session"
        ? startSession(target, options, world).send(prompt)
        : isStored === true
          ? startStored(createMemoryStore(), target, prompt, options, world)
          : startRun(target, prompt, options, world);
    const reading = (async () => {
      for await (const event of run) log.push(event);
    })();
    await drive(run, place.clock);
    await reading;
    ended = await run.result();
    if (ended.status !== "waiting") assertRunLog(log);
    await run.closed;
    // Telemetry is loaded when it is first needed, and hears of the run after it.
    if (options.telemetry !== undefined)
      await until(() => marks.some((mark) => mark.startsWith("span invoke")), 50_000);
  } catch (error) {
    if (!isStartError(error)) throw error;
    refusal = error.message;
  }
  return { log, result: ended, refusal, requests, marks: [...marks], hasTape: existsSync(TAPE) };
}

type Place = Pick<ReturnType<typeof createTestWorld>, "world" | "clock">;

/** Moves time on until the run is over. */
async function drive(run: Run<unknown>, clock: Place["clock"]): Promise<void> {
  for (let step = 0; !run.isComplete(); step += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (step > 50 && !run.isComplete() && clock.pending() > 0) await clock.advance(1000);
  }
}

/** A tape of another question, cut or changed where that is what is looked at. */
async function makeTape(option: string, target: Target, { world, clock }: Place): Promise<void> {
  const other = "What is 1 + 1?";
  const run = startRun(
    target,
    typeof target === "string" ? other : `hand over to second: ${other}`,
    { record: TAPE },
    world,
  );
  await drive(run, clock);
  await run.closed;
  const text = readFileSync(TAPE, "utf8");
  if (option === "replay.allowTorn") writeFileSync(TAPE, text.slice(0, -20));
  if (option === "replay.allowEdited") writeFileSync(TAPE, text.replace("1 + 1", "1 + 3"));
}

async function until(isTrue: () => boolean, turns: number): Promise<void> {
  for (let turn = 0; turn < turns && !isTrue(); turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** The options without the one in question. */
function without(options: RunOptions, option: string): RunOptions {
  const [group, member] = option.split(".") as [string, string?];
  const { [group as keyof RunOptions]: whole, ...rest } = options;
  // A schema is all of what asks for output, and a tape of what asks for a replay; the rest alone asks for nothing.
  if (member === undefined || group === "output" || option === "replay.tape") return rest;
  const { [member]: _, ...others } = whole as Readonly<Record<string, unknown>>;
  return { ...rest, [group]: others };
}

const isShown = ({ told, shows }: Proof, played: Played): boolean =>
  told === undefined ? shows?.(played) === true : played.requests.some((request) => told.test(request));

/** Whether the table says that an option works on a column, with its own conditions met by the sample. */
function holds(option: SupportedOption, column: SupportColumn): boolean {
  const support = supportOf(OPTION_SUPPORT[option], column);
  if (option.split(".")[0] !== column && (option.split(".")[0] as string) in MODELS) return false;
  return support === "works" || (typeof support === "object" && "judge" in support);
}

const NOT_TOLD: Readonly<Record<string, readonly string[]>> = {
  deepseek: ["thinkingTokens", "parallelToolCalls"],
  vllm: ["thinkingTokens", "parallelToolCalls"],
  modal: ["thinkingTokens", "parallelToolCalls"],
  google: ["parallelToolCalls"],
};

describe.each(Object.keys(MODELS) as SupportColumn[])("F-C2: on %s", (column) => {
  const options = (Object.keys(OPTION_SUPPORT) as SupportedOption[]).filter(
    (option) => holds(option, column) && NOT_TOLD[column]?.includes(option) !== true,
  );
  it.each(options)("%s has an effect that a run without it does not have", async (option) => {
    const proof = PROOFS[option];
    expect(proof?.told ?? proof?.shows, `${option} has no proof`).toBeDefined();
    if (proof.unseen?.[column] !== undefined) return;
    expect(isShown(proof, await play(option, column, proof, proof.options))).toBe(true);
    expect(isShown(proof, await play(option, column, proof, without(proof.options, option)))).toBe(false);
  });
});

/** What only one run can have. */
const NOT_IN_SESSIONS = ["signal", "record", "replay", "limits.parkMs"];
const COLUMNS = ["offline", "anthropic", "openai", "google"] as const;

describe.each(["a session", "a swarm"] as const)("F-C2: in %s", (via) => {
  describe.each(COLUMNS)("on %s", (column) => {
    const options = (Object.keys(OPTION_SUPPORT) as SupportedOption[]).filter(
      (option) =>
        holds(option, column) &&
        NOT_TOLD[column]?.includes(option) !== true &&
        !(via === "a session" && NOT_IN_SESSIONS.some((name) => name === option || name === option.split(".")[0])),
    );
    it.each(options)("%s has an effect that one without it does not have", async (option) => {
      const proof = PROOFS[option];
      if (proof.unseen?.[column] !== undefined) return;
      expect(isShown(proof, await play(option, column, proof, proof.options, via))).toBe(true);
      expect(isShown(proof, await play(option, column, proof, without(proof.options, option), via))).toBe(false);
    });
  });
});

async function startCli(
  mode: "plain" | "control",
  proof: CliProof,
  given: CliProof["given"],
  options: RunOptions = {},
) {
  const notes: string[] = [];
  const place = openScripted((request: ProcessRequest): readonly SpawnStep[] => {
    if (request.args.includes("--version")) {
      return [{ write: `${proof.version ?? "2.1.197 (Claude Code)"}\n` }, { exit: 0 }];
    }
    const answer = writes(INIT, says("m1", "Hello."), result("Hello."));
    const exit = { exit: proof.exit ?? 0 };
    const remark = { stderr: "a remark\n" };
    return request.args.includes("--input-format")
      ? [greet, { waitForInput: "line" }, remark, answer, { waitForInput: "end" }, exit]
      : [{ waitForInput: "end" }, remark, answer, exit];
  });
  const watchdog = {
    follow: () => undefined,
    guard: async () => void notes.push("watchdog guard"),
    release: () => undefined,
    close: () => undefined,
  };
  const backend = createClaudeCodeBackend(
    { executable: "/usr/bin/claude", ...(proof.given.mode === undefined && { mode }), ...proof.beside, ...given },
    { ...place.world, watchdog },
  );
  const { clock, random, spawn, files, env } = place.world;
  const world: World = { ...createTestWorld().world, clock, random, spawn, files, env };
  await files.write("/work/.git/config", new TextEncoder().encode("[core]\n\tfsmonitor = ./evil\n"));
  const log: AgentEvent[] = [];
  const run = startRun(backend, proof.prompt ?? "hello", options, world);
  const reading = (async () => {
    for await (const event of run) log.push(event);
    await run.closed;
  })();
  let isOver = false;
  reading.then(() => (isOver = true)).catch(() => undefined);
  for (let step = 0; !isOver && step < 600; step += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (step > 50) await place.clock.advance(100);
  }
  await reading;
  const starts = place.spawn.calls.map(({ args, executable, cwd, env: variables, stdin }) =>
    JSON.stringify({ executable, args: args.join(" "), cwd, env: variables, stdin }),
  );
  return { log, starts, notes };
}

describe.each(["plain", "control"] as const)("F-C2: on claude-code in %s mode", (mode) => {
  it.each(Object.entries(CLI_PROOFS))(
    "%s has an effect that a start without it does not have",
    async (option, proof) => {
      if (proof.unseen?.[mode] !== undefined) return;
      const support = supportOf(CLAUDE_CODE_ROWS[option as keyof typeof CLAUDE_CODE_ROWS], `claude-code (${mode})`);
      if (typeof support === "string" && support !== "works") return;
      const isShownBy = ({ log, starts, notes }: Awaited<ReturnType<typeof startCli>>): boolean => {
        // The one that is asked for its version is started by itself.
        const own = [...starts.filter((start) => !start.includes("--version")), ...notes];
        if (proof.started !== undefined) return own.some((start) => proof.started?.test(start) === true);
        if (proof.notStarted !== undefined) return !own.some((start) => proof.notStarted?.test(start) === true);
        return proof.shows?.({ log, starts }) === true;
      };
      expect(isShownBy(await startCli(mode, proof, proof.given))).toBe(true);
      expect(isShownBy(await startCli(mode, proof, {}))).toBe(false);
    },
  );
});

describe.each(["plain", "control"] as const)("F-C2: options of a run on claude-code in %s mode", (mode) => {
  const told = Object.entries(RUN_ON_CLI).filter(([, proof]) => proof.mode === undefined || proof.mode === mode);
  it.each(told)("%s is passed to the CLI, and is absent in a run without it", async (option, { options, started }) => {
    const proof: CliProof = { given: {}, beside: { model: "claude-sonnet-4-6" } };
    const isTold = ({ starts }: Awaited<ReturnType<typeof startCli>>): boolean =>
      starts.some((start) => !start.includes("--version") && started.test(start));
    expect(isTold(await startCli(mode, proof, {}, options))).toBe(true);
    expect(isTold(await startCli(mode, proof, {}, without(options, option)))).toBe(false);
  });
});

describe("F-C2: no option is without a proof", () => {
  it.each(Object.keys({ ...OPTION_SUPPORT, ...CLAUDE_CODE_ROWS }))("%s", (option) => {
    const all: Readonly<Record<string, Proof | CliProof>> = { ...PROOFS, ...CLI_PROOFS };
    expect(all[option]).toBeDefined();
  });
});
