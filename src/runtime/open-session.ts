import {
  checkSendable,
  createRunSource,
  type InputMessage,
  type Run,
  type RunPlan,
  readInput,
  repairPairs,
} from "#agents";
import type { Backend } from "#backends";
import { type Message, StartError } from "#domain";
import { type ConversationChanges, createConversation, createLiveAgents, createSession, type Session } from "#sessions";
import type { SchemaInput } from "#tools";
import type { Agent } from "./agent.ts";
import { checkNames } from "./check-names.ts";
import { isBackend } from "./check-options.ts";
import { OPTION_NAMES, type RunOptions } from "./options.ts";
import { describeTarget, planRun, type Target } from "./plan-run.ts";
import { BACKEND_NAMES } from "./resolve-backend.ts";
import type { OutputOf } from "./output-option.ts";
import { checkLast, handleLimits } from "./run.ts";
import { maskOfPlan } from "./run-secrets.ts";
import type { Swarm } from "./swarm.ts";
import { openTelemetry } from "./telemetry.ts";
import { systemWorld, type World } from "./world.ts";

/** The options of a session: those of its runs, and a transcript to go on from. */
export interface OpenSessionOptions<Output extends SchemaInput | undefined = SchemaInput | undefined>
  extends Omit<RunOptions<Output>, "signal" | "record"> {
  /** What was said before: `session.messages()` or `result.messages` of an earlier conversation. */
  readonly messages?: readonly InputMessage[];
}

/**
 * Opens a live conversation: `send` as often as you like, one run at a time, each knowing what was said before.
 *
 * @throws StartError as `run` does.
 *
 * @example
 * await using session = openSession("offline")
 * await session.send("My name is Ada.").result()
 * for await (const text of session.send("What is my name?").text()) process.stdout.write(text)
 */
export function openSession<const Output extends SchemaInput | undefined = undefined>(
  target: Target,
  options?: OpenSessionOptions<Output>,
): Session<OutputOf<Output>> {
  return startSession(target, (options ?? {}) as OpenSessionOptions, systemWorld()) as Session<OutputOf<Output>>;
}

/** Those of a run, without what only one run can have. */
const SESSION_OPTION_NAMES: readonly string[] = [
  ...OPTION_NAMES.filter((name) => name !== "signal" && name !== "record"),
  "messages",
];

/** `openSession` with its seams in hand. */
export function startSession(
  target: Target,
  options: OpenSessionOptions,
  world: World,
  onRun?: (run: Run<unknown>) => void,
): Session<unknown> {
  checkNames(options, SESSION_OPTION_NAMES, "option of a session called ");
  const { messages, ...runOptions } = options;
  const planWith = (changes: ConversationChanges): RunPlan => planRun(retarget(target, changes), runOptions, world);
  const plan = planWith({});
  let current = plan;
  const agents = plan.legs.some((leg) => leg.backend.kind === "agent")
    ? createLiveAgents({ clock: world.clock, limits: plan.limits })
    : undefined;
  const conversation = createConversation({
    start: (transcript, changes) => {
      const changed = planWith(changes);
      const start = changes.agent ?? changed.start;
      current = changed;
      return createRunSource({ ...changed, start, conversations: agents }, transcript);
    },
    check: (changes) => requireAgent(planWith(changes), changes.agent),
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
    onRun(run) {
      telemetry?.watch(run);
      onRun?.(run);
    },
    onQueueLength: (waiting) => telemetry?.noteQueueLength(waiting),
  });
}

/** Earlier messages may end with either side's word; an input may not, so the check of inputs is asked with a stand-in. */
function readTranscript(messages: readonly InputMessage[]): readonly Message[] {
  if (messages.length === 0) return [];
  return repairPairs(readInput([...messages, { role: "user", text: "." }]).slice(0, -1));
}

function requireAgent(plan: RunPlan, name: string | undefined): void {
  if (name === undefined || plan.legs.some((leg) => leg.agent === name)) return;
  const names = plan.legs.flatMap((leg) => leg.agent ?? []);
  const known = names.length === 0 ? "This session has no named agents" : `There are: ${names.join(", ")}`;
  throw new StartError("unknown-agent", `There is no agent "${name}". ${known}.`);
}

/** The target with another model for the agent that is to answer. */
function retarget(target: Target, { model, agent }: ConversationChanges): Target {
  if (model === undefined) return target;
  if (typeof target === "string") return withModel(target, model);
  if (isBackend(target)) return withModel((target as Backend).name, model);
  if ("agents" in target) {
    const speaker = agent ?? target.start;
    const agents = (target as Swarm).agents.map((one) =>
      one.name === speaker ? { ...one, backend: withModel(nameOf(one), model) } : one,
    );
    return { ...(target as Swarm), agents };
  }
  return { ...(target as Agent), backend: withModel(nameOf(target as Agent), model) };
}

function nameOf(one: Agent): string {
  return typeof one.backend === "string" ? one.backend : one.backend.name;
}

/** `anthropic/claude-x` is said in full; `claude-x` is another model of the same provider. */
function withModel(backend: string, model: string): string {
  const first = model.split("/", 1)[0] as string;
  if (BACKEND_NAMES.includes(first)) return model;
  return `${backend.split("/", 1)[0]}/${model}`;
}
