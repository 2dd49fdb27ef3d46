import {
  checkSendable,
  createRunSource,
  type InputMessage,
  type Leg,
  type RunPlan,
  readInput,
  repairPairs,
} from "#agents";
import type { Run } from "#run";
import { checkOptionNames, type Message, StartError } from "#domain";
import { type ConversationChanges, createConversation, createLiveAgents, createSession, type Session } from "#sessions";
import type { SchemaInput } from "#tools";
import { OPTION_NAMES } from "./check-options.ts";
import type { RunOptions } from "./options.ts";
import { describeTarget, planRun, type Target } from "./plan-run.ts";
import type { OutputOf } from "./output-option.ts";
import { retarget } from "./retarget.ts";
import { checkLast, handleLimits } from "./run.ts";
import { coverStartErrors, maskOfPlan } from "./run-secrets.ts";
import { openTelemetry } from "./telemetry.ts";
import { systemWorld, type World } from "./world.ts";

/** The options of a session: those of its runs, and an earlier transcript. */
export interface OpenSessionOptions<Output extends SchemaInput | undefined = SchemaInput | undefined>
  extends Omit<RunOptions<Output>, "signal" | "record" | "replay"> {
  /** The earlier messages: `session.messages()` or `result.messages` of another conversation. */
  readonly messages?: readonly InputMessage[];
}

/**
 * Opens a live conversation: call `send` any number of times. One run is active at a time, and each sees all earlier
 * messages.
 *
 * @throws StartError as `run` does.
 *
 * @example
 * await using session = openSession("offline")
 * await session.send("My name is Ada.").result()
 * for await (const text of session.send("What is my name?").text()) process.stdout.write(text)
 */
export function openSession<const Output extends SchemaInput | undefined = undefined>(
  target: Target<Output>,
  options?: OpenSessionOptions<Output>,
): Session<OutputOf<Output>> {
  return startSession(target, (options ?? {}) as OpenSessionOptions, systemWorld()) as Session<OutputOf<Output>>;
}

/** The options of a run, without those that only make sense for a single run. */
const SESSION_OPTION_NAMES: readonly string[] = [
  ...OPTION_NAMES.filter((name) => !["signal", "record", "replay"].includes(name)),
  "messages",
];

/** `openSession` with its seams passed in. */
export function startSession(
  target: Target,
  options: OpenSessionOptions,
  world: World,
  onRun?: (run: Run<unknown>) => void,
): Session<unknown> {
  if ("replay" in options) {
    throw new StartError(
      "invalid-option",
      "A session cannot be answered from a tape, because a tape holds one run. Give replay to run(…), and the earlier messages as its input.",
    );
  }
  coverStartErrors([target, options], world, () => checkOptionNames(options, SESSION_OPTION_NAMES, "a session"));
  const { messages, ...runOptions } = options;
  const planWith = (changes: ConversationChanges): RunPlan =>
    coverStartErrors([target, runOptions], world, () => planRun(retarget(target, changes), runOptions, world));
  const plan = planWith({});
  let current = plan;
  const agents = createLiveAgents({ clock: world.clock, limits: plan.limits });
  const conversation = createConversation({
    start: (transcript, changes) => {
      const changed = planWith(changes);
      const start = changes.agent ?? changed.start;
      current = changed;
      return createRunSource({ ...changed, start, conversations: agents }, transcript);
    },
    next(changes) {
      const { legs, start } = planWith(changes);
      return (legs.find((leg) => leg.agent === (changes.agent ?? start)) ?? legs[0]) as Leg;
    },
    agentNames: plan.legs.flatMap((leg) => leg.agent ?? []),
    messages: messages === undefined ? undefined : readTranscript(messages),
    agents,
  });
  const { clock, random, onListenerError } = world;
  const telemetry = openTelemetry(target, runOptions, world);
  return createSession(conversation, {
    clock,
    random,
    onListenerError,
    target: describeTarget(target),
    onCleanUpFailure: world.onCleanUpFailure,
    checkInput(input) {
      checkLast(input);
      checkSendable(input, plan);
    },
    runLimits: handleLimits(plan),
    secrets: () => maskOfPlan(current, world),
    nextTurn: world.nextTurn,
    onRun(run) {
      telemetry?.watch(run);
      onRun?.(run);
    },
    onQueueLength: (waiting) => telemetry?.noteQueueLength(waiting),
  });
}

/**
 * A transcript may end with a message of either side, but an input must end with the user's; a placeholder satisfies
 * the check of inputs.
 */
function readTranscript(messages: readonly InputMessage[]): readonly Message[] {
  if (messages.length === 0) return [];
  return repairPairs(readInput([...messages, { role: "user", text: "." }]).slice(0, -1));
}
