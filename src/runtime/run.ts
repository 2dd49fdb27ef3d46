import {
  checkSendable,
  type Conversations,
  createRun,
  createRunSource,
  isWrappedOutput,
  type Run,
  type RunInput,
  type RunSource,
  readInput,
  type RunPlan,
} from "#agents";
import { type Message, StartError } from "#domain";
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
 * Starts a run and gives the handle on it.
 *
 * Wrong options, an unknown backend or a missing key throw `StartError` here and now; everything later is an event.
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

/** `run` with its seams in hand. With `ready`, nothing is begun before that resolves; with `conversations`, agents outlive the run. */
export function startRun(
  target: Target,
  input: RunInput,
  options: RunOptions,
  world: World,
  ready?: Promise<void>,
  conversations?: Conversations,
): Run<unknown> {
  return coverStartErrors([target, options], world, () =>
    startPlanned(target, input, options, world, { ready, conversations }),
  );
}

/** What the caller of a run keeps in hand. */
interface Kept {
  readonly ready: Promise<void> | undefined;
  /** Keeps agents' conversations beyond the run. */
  readonly conversations: Conversations | undefined;
}

function startPlanned(
  target: Target,
  input: RunInput,
  options: RunOptions,
  world: World,
  { ready, conversations }: Kept,
): Run<unknown> {
  if (typeof options?.record === "string" && options.replay === undefined) {
    // What else is wrong is told before a file is written.
    checkOptions(options);
    return recordRun({ target, input, options, world }, (...call) => startRun(...call, ready));
  }
  if (options?.replay !== undefined) {
    checkOptions(options);
    return answerFromTape({ target, input, options, world }, (...call) => startRun(...call, ready));
  }
  const plan = planRun(target, options, world);
  const messages = readInput(input);
  checkLast(messages);
  checkSendable(messages, plan);
  const source = whenReady(createRunSource({ ...plan, conversations }, messages), ready);
  const run = createRun<unknown>(world.tap?.around(source) ?? source, {
    clock: world.clock,
    random: world.random,
    target: describeTarget(target),
    signal: options.signal,
    isOutputWrapped: plan.legs.some((leg) => leg.output !== undefined && isWrappedOutput(leg.output)),
    history: messages.slice(0, -1),
    limits: handleLimits(plan),
    secrets: () => maskOfPlan(plan, world),
    onListenerError: world.onListenerError,
    onCleanUpFailure: world.onCleanUpFailure,
  });
  openTelemetry(target, options, world)?.watch(run);
  return run;
}

/** The limits that the run itself keeps, whoever carries it out. */
export function handleLimits({ limits: { replyBytes } }: RunPlan): { readonly replyBytes?: number } {
  return replyBytes === undefined ? {} : { replyBytes };
}

function whenReady(source: RunSource, ready: Promise<void> | undefined): RunSource {
  if (ready === undefined) return source;
  return async (writer) => {
    await ready;
    if (!writer.latch.aborted) await source(writer);
  };
}

/** A model needs something to answer; a host would refuse the request, and not say it as clearly. */
export function checkLast(messages: readonly Message[]): void {
  const last = messages.at(-1);
  const says = last?.blocks.some((block) =>
    block.type === "text" ? block.text.trim() !== "" : block.type !== "unknown" && block.type !== "thinking",
  );
  if (last?.role === "user" && says === true) return;
  throw new StartError(
    "invalid-input",
    "The last message of the input says nothing. Give it text, a picture, or the results of tools.",
  );
}
