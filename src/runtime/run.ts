import {
  checkSendable,
  type Conversations,
  createRunSource,
  findMissingAgent,
  isWrappedOutput,
  type KeptFiles,
  type RunInput,
  readInput,
  readPastRun,
  type RunPlan,
} from "#agents";
import { createRun, type GivenAnswer, type Run, type RunSource, type StoredMark } from "#run";
import { type AgentEvent, type Message, present, StartError } from "#domain";
import type { SchemaInput } from "#tools";
import { answerFromTape } from "./answer-from-tape.ts";
import { checkOptions } from "./check-options.ts";
import type { RunOptions } from "./options.ts";
import type { OutputOf } from "./output-option.ts";
import { describeTarget, planRun, type Target } from "./plan-run.ts";
import { recordRun } from "./record.ts";
import { coverStartErrors, maskOfPlan } from "./run-secrets.ts";
import { openTelemetry } from "./telemetry.ts";
import { systemWorld, type World } from "./world.ts";

/**
 * Starts a run and returns its handle.
 *
 * Invalid options, an unknown backend or a missing key throw `StartError` synchronously; any later failure is an event.
 *
 * @example
 * const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b)
 * for await (const text of run("offline", "What is 25 + 17?", { tools: [add] }).text()) process.stdout.write(text)
 */
export function run<const Output extends SchemaInput | undefined = undefined>(
  target: Target<Output>,
  input: RunInput,
  options?: RunOptions<Output>,
): Run<OutputOf<Output>> {
  return startRun(target, input, options ?? {}, systemWorld()) as Run<OutputOf<Output>>;
}

/** `run` with its seams and surroundings passed in. */
export function startRun(
  target: Target,
  input: RunInput,
  options: RunOptions,
  world: World,
  surroundings: RunEnvironment = {},
): Run<unknown> {
  return coverStartErrors([target, options], world, () => startPlanned(target, input, options, world, surroundings));
}

/** What precedes, follows or outlives the run. */
export interface RunEnvironment {
  /** Nothing begins before this promise resolves. */
  readonly ready?: Promise<void> | undefined;
  /** Keeps agents' conversations beyond the run. */
  readonly conversations?: Conversations | undefined;
  /** How far the run is stored. Effects wait for it. */
  readonly stored?: StoredMark | undefined;
  /** `done` waits until everything before it is stored. */
  readonly isEndStored?: boolean | undefined;
  /** Where files of agents are kept while a stored run waits. */
  readonly files?: KeptFiles | undefined;
  /** Ends the work on a stored run without ending the run. */
  readonly suspend?: AbortSignal | undefined;
  /** `limits.parkMs`, if the run does not set it. */
  readonly parkMs?: number | undefined;
  /** The run to continue: its id and the events in its log. The input is the one it was started with. */
  readonly resumed?:
    | {
        readonly id: string;
        readonly events: readonly AgentEvent[];
        /** Answers that were stored while no process worked on it. */
        readonly answers?: readonly GivenAnswer[] | undefined;
      }
    | undefined;
}

function startPlanned(
  target: Target,
  input: RunInput,
  options: RunOptions,
  world: World,
  surroundings: RunEnvironment,
): Run<unknown> {
  const { ready, conversations, stored, isEndStored, resumed, parkMs, suspend } = surroundings;
  if (typeof options?.record === "string" && options.replay === undefined) {
    // Other errors are reported before a file is written.
    checkOptions(options);
    return recordRun({ target, input, options, world }, (...call) => startRun(...call, surroundings));
  }
  if (options?.replay !== undefined) {
    checkOptions(options);
    return answerFromTape({ target, input, options, world }, (...call) => startRun(...call, surroundings));
  }
  const plan = planRun(target, options, world);
  const messages = readInput(input);
  checkLast(messages);
  checkSendable(messages, plan);
  // A run of which nothing is stored yet begins: it may have been accepted by one process for another.
  const past = resumed === undefined || resumed.events.length === 0 ? undefined : readPastRun(resumed.events);
  if (past !== undefined) requireAgents(past, plan);
  const source = whenReady(
    createRunSource({ ...plan, conversations, files: surroundings.files }, messages, past),
    ready,
  );
  const run = createRun<unknown>(world.tap?.around(source) ?? source, {
    clock: world.clock,
    random: world.random,
    target: describeTarget(target),
    signal: options.signal,
    isOutputWrapped: plan.legs.some((leg) => leg.output !== undefined && isWrappedOutput(leg.output)),
    history: messages.slice(0, -1),
    limits: { ...present({ parkMs }), ...handleLimits(plan) },
    stored,
    isEndStored,
    suspend,
    ...(resumed !== undefined && { id: resumed.id }),
    past: past && resumed && { events: resumed.events, answers: resumed.answers, activeMs: past.activeMs },
    secrets: () => maskOfPlan(plan, world),
    nextTurn: world.nextTurn,
    onListenerError: world.onListenerError,
    onCleanUpFailure: world.onCleanUpFailure,
  });
  openTelemetry(target, options, world)?.watch(run);
  return run;
}

/** An agent that has gone must not end a run for good: with it, the run can be continued. */
function requireAgents(past: ReturnType<typeof readPastRun>, plan: RunPlan): void {
  const missing = findMissingAgent(past, plan.legs);
  if (missing === undefined) return;
  throw new StartError("unknown-agent", `The agent "${missing}" of this run is not there any more. Add it again.`);
}

/** The limits that the run itself enforces, on every backend. */
export function handleLimits({ limits: { replyBytes, parkMs } }: RunPlan): {
  readonly replyBytes?: number;
  readonly parkMs?: number;
} {
  return present({ replyBytes, parkMs });
}

function whenReady(source: RunSource, ready: Promise<void> | undefined): RunSource {
  if (ready === undefined) return source;
  return async (writer) => {
    await ready;
    if (!writer.signal.aborted) await source(writer);
  };
}

/** A model needs something to answer; a host would reject the request with a less clear message. */
export function checkLast(messages: readonly Message[]): void {
  const last = messages.at(-1);
  const hasContent = last?.blocks.some((block) =>
    block.type === "text" ? block.text.trim() !== "" : block.type !== "unknown" && block.type !== "thinking",
  );
  if (last?.role === "user" && hasContent === true) return;
  throw new StartError(
    "invalid-input",
    "The last message of the input is empty. Give it text, a picture, or the results of tools.",
  );
}
