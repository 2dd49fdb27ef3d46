import type { AgentEvent } from "#domain";
import { startRun, startSession, type Target, type World } from "#runtime";
import { createEventLog, createUnstoredEnds, type Store } from "#sessions";
import { closeInterruptedRuns } from "../close-interrupted-runs.ts";
import {
  createMemoryFiles,
  createScriptedSpawn,
  createSeededRandom,
  createVirtualClock,
  findViolation,
  type VirtualClock,
} from "#testing";
import { createClaudeCodeBackend } from "../../src/backends/claude-code/backend.ts";
import { createSimulatedAgent } from "./agent-process.ts";
import { createDice, type Dice } from "./dice.ts";
import { createSimulatedHost } from "./host.ts";
import { findReaderFault, type SimulatedReader, startReader } from "./reader.ts";
import { createScenario, createTeam, type Scenario, TOOL_NAMES } from "./scenario.ts";
import { createShakyStore } from "./shaky-store.ts";

/** What came of one seed. */
export interface Simulation {
  readonly seed: number;
  /** What was promised and not kept. */
  readonly violations: readonly string[];
  /** The logs, as readers could see them: the same seed gives the same text. */
  readonly trace: string;
  /** What happened in it, for the account of what a series has tried. */
  readonly kinds: readonly string[];
}

/** No run may take longer, in virtual time: every wait of a run has a bound below it. */
const LONGEST_MS = 3_600_000;
const STEP_MS = 1000;

const KEYS = {
  ANTHROPIC_API_KEY: "test-key",
  ANTHROPIC_BASE_URL: "http://offline.test",
  OPENAI_API_KEY: "test-key",
  OPENAI_BASE_URL: "http://offline.test/v1",
  GEMINI_API_KEY: "test-key",
  GOOGLE_GEMINI_BASE_URL: "http://offline.test",
};

const MODELS = ["anthropic/test", "openai/test", "google/test"] as const;

// Loaded on use, in real time; a simulation knows none.
await import("../../src/runtime/price-table.ts");

/** Carries out one seed: whole runs with their tools, policy, log and readers, and nothing outside of it. */
export async function simulate(seed: number): Promise<Simulation> {
  const dice = createDice(seed);
  const clock = createVirtualClock(1_000_000);
  const scenario = createScenario(dice.fork(), clock);
  const place = createPlace(dice, clock, seed);
  const violations: string[] = [];
  const kinds = [place.kind];
  const traces: string[] = [];
  const report = (what: string): void => void violations.push(what);

  const runs = place.start(scenario);
  for (const run of runs) {
    const logged = await carryOut(run, { dice: dice.fork(), clock, scenario });
    kinds.push(...logged.kinds);
    traces.push(JSON.stringify(logged.log));
    for (const fault of logged.faults) report(fault);
    for (const fault of findFaults(logged.log, scenario, place.isHopeless())) report(fault);
  }
  await place.close(clock);
  return { seed, violations, trace: traces.join("\n"), kinds };
}

type Run = ReturnType<typeof startRun>;

interface Place {
  readonly kind: string;
  start(scenario: Scenario): Iterable<Run>;
  /** The model or the agent can bring no run to a good end. */
  isHopeless(): boolean;
  close(clock: VirtualClock): Promise<void>;
}

function createPlace(dice: Dice, clock: VirtualClock, seed: number): Place {
  const host = createSimulatedHost(dice.fork(), clock, TOOL_NAMES);
  const agent = createSimulatedAgent(dice.fork(), clock, TOOL_NAMES);
  const world: World = {
    clock,
    random: createSeededRandom(seed),
    fetch: host.fetch,
    env: KEYS,
    spawn: createScriptedSpawn([]),
    files: createMemoryFiles(),
    onListenerError: () => undefined,
  };
  const claudeCode = createClaudeCodeBackend(
    { skipVersionCheck: true, mode: "control" },
    {
      ...world,
      spawn: agent.spawn,
      probe: async () => "executable",
      env: { PATH: "/usr/bin" },
      cwd: "/work",
      temporaryFolder: "/tmp",
      processes: undefined,
    },
  );
  const model = dice.pick(MODELS);
  const kind = dice.pick(["model", "model", "fallback", "team", "session", "claude-code", "claude-code"] as const);
  const single = (target: Target, options: Scenario["options"]) => [startRun(target, "Go.", options, world)];
  const never = async (): Promise<void> => undefined;
  switch (kind) {
    case "model":
      return { kind, start: ({ options }) => single(model, options), isHopeless: () => host.isHopeless, close: never };
    case "fallback":
      return {
        kind,
        start: ({ options }) => single(model, { ...options, fallback: dice.pick(MODELS) }),
        isHopeless: () => host.isHopeless,
        close: never,
      };
    case "team":
      return {
        kind,
        start: ({ options }) => single(createTeam([model, dice.percent(50) ? claudeCode : dice.pick(MODELS)]), options),
        isHopeless: () => host.isHopeless,
        close: never,
      };
    case "claude-code":
      return {
        kind,
        start: ({ options }) => single(claudeCode, options),
        isHopeless: () => agent.isHopeless,
        close: never,
      };
    default:
      return createSessionPlace(model, world, () => host.isHopeless);
  }
}

/** Two messages of one conversation, the second after the first is over, however that ended. */
function createSessionPlace(target: Target, world: World, isHopeless: () => boolean): Place {
  let session: ReturnType<typeof startSession> | undefined;
  return {
    kind: "session",
    *start({ options }) {
      const { signal: _, record: __, ...rest } = options;
      session = startSession(target, rest, world);
      for (const text of ["Go.", "Go on."]) yield session.send(text) as Run;
    },
    isHopeless,
    async close(clock) {
      const closing = session?.close();
      await clock.advance(STEP_MS);
      await closing;
    },
  };
}

interface Carried {
  /** The log as it stands in the store in the end. */
  readonly log: readonly AgentEvent[];
  readonly kinds: readonly string[];
  readonly faults: readonly string[];
}

interface Surroundings {
  readonly dice: Dice;
  readonly clock: VirtualClock;
  readonly scenario: Scenario;
}

/** Has a run written into a log and followed by readers, on virtual time, to its end. */
async function carryOut(run: Run, { dice, clock, scenario }: Surroundings): Promise<Carried> {
  const faults: string[] = [];
  const kinds: string[] = [];
  const shaky = createShakyStore(dice.fork(), clock);
  const stub = { id: run.id, createdAt: clock.now() };
  const ends = createUnstoredEnds({ store: shaky.store, clock });
  const log = createEventLog({ store: ends.store, clock });
  await shaky.reopen().createRun(stub);
  answerQuestions(run, scenario, clock);
  const readers = Array.from({ length: 1 + dice.upTo(2) }, () =>
    startReader(dice.fork(), { log, runId: run.id, clock }),
  );
  const written = log.write(run, {
    onStoreFailure: {
      stop: () => void run.abort("The log cannot be written."),
      hold: (events, settlement) => ends.hold(stub, events, settlement),
    },
  });
  if (scenario.abortAtMs !== undefined) clock.after(scenario.abortAtMs, () => void run.abort("enough"));
  const crashAtMs = dice.percent(10) ? dice.upTo(20_000) : undefined;

  let isWritten = false;
  const noteWritten = (): void => {
    isWritten = true;
  };
  written.then(noteWritten, noteWritten);
  const until = clock.now() + LONGEST_MS;
  const startedAt = clock.now();
  let hasCrashed = false;
  for (;;) {
    if (crashAtMs !== undefined && !hasCrashed && !isWritten && clock.now() - startedAt >= crashAtMs) {
      hasCrashed = true;
      kinds.push("crash");
      await restart(shaky, run, { clock, readers });
    }
    if ((isWritten || hasCrashed) && (await areOver(readers, clock))) break;
    if (clock.now() >= until) {
      faults.push(`Something hangs: ${isWritten ? "a reader" : "the run"} is not over after an hour.`);
      break;
    }
    await clock.advance(STEP_MS);
  }
  const failure = hasCrashed ? undefined : await written;
  if (failure !== undefined) kinds.push("disk");
  const reading = (hasCrashed ? shaky.reopen() : ends.store).read(run.id);
  await clock.advance(STEP_MS);
  const whole = await reading;
  for (const { seen } of readers) {
    const fault = findReaderFault(seen, whole);
    if (fault !== undefined) faults.push(fault);
  }
  if (whole.some(({ type }) => type === "handoff")) kinds.push("handoff");
  kinds.push(statusOf(whole));
  return { log: whole, kinds, faults };
}

/** The process is gone; another one opens the store, closes what was open, and serves the same readers. */
async function restart(
  shaky: ReturnType<typeof createShakyStore>,
  run: Run,
  { clock, readers }: { readonly clock: VirtualClock; readonly readers: readonly SimulatedReader[] },
): Promise<void> {
  shaky.crash();
  run.abort("The process is gone.").catch(() => undefined);
  const store: Store = shaky.reopen();
  await closeInterruptedRuns(store, clock);
  const server = createEventLog({ store, clock });
  for (const reader of readers) reader.moveTo(server);
}

async function areOver(readers: readonly SimulatedReader[], clock: VirtualClock): Promise<boolean> {
  let left = readers.length;
  for (const reader of readers) {
    const noteOver = (): void => {
      left -= 1;
    };
    reader.over.then(noteOver, noteOver);
  }
  await clock.advance(0);
  return left === 0;
}

function answerQuestions(run: Run, { person }: Scenario, clock: VirtualClock): void {
  run.on("permission", (event) => {
    if (event.state !== "asked" || person === undefined) return;
    const decision = person.decision.allow ? ({ allow: true } as const) : { allow: false as const, reason: "No." };
    clock.after(person.delayMs, () => run.answer(event.callId, decision));
  });
}

function statusOf(log: readonly AgentEvent[]): string {
  const last = log.at(-1);
  return last?.type === "done" ? last.result.status : "no end";
}

/** The promises about one log and what was really carried out. */
function findFaults(log: readonly AgentEvent[], scenario: Scenario, isHopeless: boolean): string[] {
  const faults: string[] = [];
  const violation = findViolation(log);
  if (violation !== undefined) faults.push(`${violation.invariant}: ${violation.message}`);
  if (isHopeless && statusOf(log) === "success") faults.push("I4: a stream without its end became a success.");
  for (const [callId, times] of scenario.executed) {
    if (times > 1) faults.push(`I5: the call ${callId} was carried out ${times} times.`);
  }
  const allowed = new Set<string>();
  for (const event of log) {
    if (event.type === "permission" && event.state === "allowed") allowed.add(event.callId);
    if (event.type !== "tool-call" || !scenario.executed.has(event.callId)) continue;
    if (scenario.denied.has(event.name)) faults.push(`I6: ${event.name} ran although it is denied.`);
  }
  for (const event of log) {
    if (event.type !== "tool-call" || !scenario.asked.has(event.name) || !scenario.executed.has(event.callId)) continue;
    if (!allowed.has(event.callId)) faults.push(`I6: ${event.name} ran although nobody allowed it.`);
  }
  return faults;
}
