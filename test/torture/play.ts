import type { AgentEvent } from "#domain";
import { findViolation } from "#testing";
import { createFault, type Fault, ON_PURPOSE, type Strike } from "./fault.ts";
import { createStage, DISTURBANCES, type Stage, type StageOptions } from "./stage.ts";

/** A small program whose every call to the outside may fail. */
export interface Scenario extends StageOptions {
  readonly name: string;
  /** What takes real time, in which virtual time would run away: done before. */
  prepare?(fault: Fault): Promise<unknown>;
  /** Plays it. What it throws has to be a typed error; what it opens it closes. */
  play(stage: Stage, prepared: unknown): Promise<void>;
  /** Seams whose failure is told without its own words: how it is seen that it was noticed. */
  readonly tells?: Readonly<Record<string, (stage: Stage) => boolean>>;
}

/** What came of a scenario with one call failing. */
export interface Trial {
  readonly counts: ReadonlyMap<string, number>;
  readonly problems: readonly string[];
}

/** No wait of a run is longer than this, in virtual time. */
const LONGEST_MS = 1_200_000;
const STEP_MS = 1000;

/** Seams whose failure changes nothing for anybody, each with the reason. */
const QUIET: Readonly<Record<string, string>> = {
  stderr: "It only explains other failures.",
  "stderr of a version check": "It only explains other failures.",
  "watchdog.follow": "Everything is stopped as well without it; it is for our own sudden death.",
  "watchdog.release": "What it still guards is gone.",
  "files.remove": "It is tried again; that nothing is left is seen by itself.",
};

/** Seams whose failure has other words. */
const TELLS: NonNullable<Scenario["tells"]> = {
  // A result holds, whatever becomes of the pipe behind it; without one no run is a success.
  stdout: ({ logs }) => logs.length > 0 && logs.every((log) => endOf(log) === "success"),
  // The version may have been read by then.
  "stdout of a version check": ({ logs }) => logs.every((log) => endOf(log) !== "error"),
  probe: ({ logs, notes }) => [...notes, JSON.stringify(logs)].some((text) => text.includes("CLI was not found")),
};

/** Seams without which nothing can begin: what they throw is thrown on. */
const UNTYPED: ReadonlySet<string> = new Set(["random.id", "random.next"]);

export async function play(scenario: Scenario, strike?: Strike): Promise<Trial> {
  const fault = createFault(strike);
  const stage = createStage(fault, scenario);
  const problems: string[] = [];
  const before = countListeners();
  const stopWatching = watchProcess(problems);
  try {
    const thrown = await carryOut(scenario, stage).then(
      () => undefined,
      (error: unknown) => error ?? new Error("nothing was thrown"),
    );
    // What was left to be stopped after the end of a run may take its time, too.
    for (let step = 0; step < 60 && stage.clock.pending() > 0; step += 1) await stage.clock.advance(STEP_MS);
    await stage.clock.advance(0);
    if (thrown !== undefined) {
      stage.note(thrown);
      if (!isTyped(thrown) && !(UNTYPED.has(strike?.seam ?? "") && isOnPurpose(thrown)))
        problems.push(`an untyped error: ${describe(thrown)}`);
    }
    problems.push(...findBrokenPromises(stage));
    if (strike !== undefined) problems.push(...findSilence(stage, strike, scenario, fault));
    problems.push(...(await stage.leftovers()).map((left) => `left open: ${left}`));
    const after = countListeners();
    if (after !== before) problems.push(`listeners of the process: ${before} before, ${after} after`);
  } finally {
    await new Promise((resolve) => setImmediate(resolve));
    stopWatching();
  }
  return { counts: fault.counts, problems };
}

async function carryOut(scenario: Scenario, stage: Stage): Promise<void> {
  const prepared = await scenario.prepare?.(stage.fault);
  const playing = async (): Promise<void> => scenario.play(stage, prepared);
  await settle(stage, playing());
}

/** Moves virtual time on until it is over. */
async function settle<Value>({ clock }: Stage, work: Promise<Value>): Promise<Value> {
  let isOver = false;
  const note = (): void => void (isOver = true);
  work.then(note, note);
  for (let turn = 0; turn < 50 && !isOver; turn += 1) await clock.advance(0);
  const until = clock.now() + LONGEST_MS;
  while (!isOver && clock.now() < until) await clock.advance(STEP_MS);
  if (!isOver) throw Object.assign(new Error(`It is not over after ${LONGEST_MS} ms.`));
  return work;
}

function isOnPurpose(error: unknown): boolean {
  return error instanceof Error && error.message.endsWith(ON_PURPOSE);
}

function isTyped(error: unknown): boolean {
  return typeof (error as { code?: unknown } | undefined)?.code === "string";
}

function describe(thrown: unknown): string {
  return thrown instanceof Error
    ? (thrown.stack ?? thrown.message).split("\n    at ").slice(0, 4).join(" < ")
    : String(thrown);
}

function findBrokenPromises({ logs }: Stage): string[] {
  return logs.flatMap((log) => {
    const violation = findViolation(log);
    const late = /"(?:ms|waitedMs|silentMs)":-\d+/.exec(JSON.stringify(log));
    return [
      ...(violation === undefined ? [] : [`${violation.invariant}: ${violation.message}`]),
      ...(late === null ? [] : [`a time below 0: ${late[0]}`]),
    ];
  });
}

/** A failure has to be told to somebody. */
function findSilence(stage: Stage, { seam }: Strike, scenario: Scenario, fault: Fault): string[] {
  if (!fault.hasStruck) return ["the call that was to fail was not made: the scenario is not deterministic"];
  if (DISTURBANCES.has(seam) || seam in QUIET || (scenario.tells?.[seam] ?? TELLS[seam])?.(stage) === true) return [];
  const { logs, notes } = stage;
  if (notes.some((note) => note.includes(ON_PURPOSE))) return [];
  if (logs.some((log) => JSON.stringify(log).includes(ON_PURPOSE))) return [];
  const ends = logs.map(endOf);
  // What failed meanwhile is of no concern to somebody who did not want to wait for it.
  if (ends.length > 0 && ends.every((end) => end === "aborted")) return [];
  return [`nobody was told, and the end was: ${ends.join(", ")}`];
}

function endOf(log: readonly AgentEvent[]): string {
  const last = log.at(-1);
  return last?.type === "done" ? last.result.status : "none";
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "exit", "beforeExit", "uncaughtException"] as const;

function countListeners(): number {
  return SIGNALS.reduce((sum, name) => sum + process.listenerCount(name), 0);
}

function watchProcess(problems: string[]): () => void {
  const rejected = (reason: unknown): void => void problems.push(`an unhandled rejection: ${describe(reason)}`);
  const warned = (warning: Error): void => void problems.push(`a warning of the process: ${warning.message}`);
  process.on("unhandledRejection", rejected);
  process.on("warning", warned);
  return () => {
    process.off("unhandledRejection", rejected);
    process.off("warning", warned);
  };
}
