import {
  type ChunkOf,
  type Skipped,
  type ToolCallItem,
  type ToolResultBlock,
  toolCallItem,
  toolResultItem,
} from "#domain";
import type { RunWriter } from "#run";
import type { Outcome, Tool } from "#tools";
import { HANDOFF_TOOL, readHandoff } from "./handoff.ts";
import type { PastCall, PastLeg, PastReply, PastRun } from "./past-run.ts";
import type { AnswerTool, BatchEnd } from "./tool-batch.ts";

export interface PastCallSettings {
  readonly agent: string | undefined;
  readonly tools: readonly Tool[];
  readonly handoffs: readonly string[];
  readonly answer: AnswerTool | undefined;
}

/** What an earlier process left to do about the calls of a reply. */
export interface SettledCalls {
  /** Calls that are still to be decided and run. */
  readonly left: readonly ChunkOf<ToolCallItem>[];
  /** Of those, the ones that were allowed before, with their arguments. */
  readonly granted: ReadonlyMap<string, unknown>;
  /** Of those, the ones that wait for their result. */
  readonly parked: ReadonlyMap<string, Extract<Outcome, { readonly kind: "parked" }>>;
  /** The results of the other calls. */
  readonly answers: readonly ToolResultBlock[];
  /** What the earlier process had decided. */
  readonly handoff: BatchEnd["handoff"];
  readonly answer: BatchEnd["answer"];
}

/** The answer to a call of an agent whose tool had not begun. The agent decides whether it makes the call again. */
export const NOT_BEGUN = "The process ended before this call had begun, so it did not run.";

/** The answer to a call whose process ended while it ran. */
export const INCOMPLETE =
  "The process that ran this call ended before the call had returned. It may have had its effect, in full or in part, or none. It was not run again.";

/** The answer to a call that had not begun, and that only the process that ended could have run. */
const MASKED =
  "The process ended before this call had begun, so it did not run. It cannot be run any more: its arguments contain a secret, and secrets are not stored. Make the call again if it is still needed.";

/**
 * Answers the calls of a reply that an earlier process has decided about or begun, and announces those that it never
 * announced. A call that had begun is not run again, unless its tool is idempotent.
 */
export async function settlePastCalls(
  { calls }: PastReply,
  writer: RunWriter,
  settings: PastCallSettings,
): Promise<SettledCalls> {
  const { agent, tools } = settings;
  const handoff = findHandoff(calls, settings);
  const answer = await findAnswer(calls, settings);
  const left: ChunkOf<ToolCallItem>[] = [];
  const granted = new Map<string, unknown>();
  const parked = new Map<string, Extract<Outcome, { readonly kind: "parked" }>>();
  const answers: ToolResultBlock[] = [];
  const settle = async (call: PastCall, output: string, skipped: Skipped): Promise<void> => {
    const { callId, name } = call;
    answers.push({ type: "tool-result", callId, output, isError: true });
    await writer.write([toolResultItem({ callId, name, output, isError: true, skipped })], agent);
  };
  for (const call of calls) {
    const { callId, name, input, state, result } = call;
    const item = toolCallItem({ callId, name, input, executedBy: "millrace" });
    if (state === "not-begun") await writer.write([item], agent);
    if (result !== undefined) answers.push(result);
    else if (state === "denied") await settle(call, call.reason ?? "The call was denied.", "denied");
    else if (handoff !== undefined) {
      await settle(call, `Not run: the conversation had already been handed over to ${handoff.to}.`, "handoff");
    } else if (answer !== undefined) await settle(call, "Not run: the final answer was given before.", "aborted");
    else if (call.parked !== undefined && state === "parked") {
      const { until, output } = call.parked;
      left.push(item);
      parked.set(callId, { kind: "parked", until, output });
    } else if (isOurs(call, settings)) left.push(item);
    else if (state !== "begun") {
      const isThere = tools.some((tool) => tool.name === name);
      if (call.isMasked === true) await settle(call, MASKED, "incomplete");
      // The question has no answer, and never gets one: without the tool nothing can be allowed.
      else if (state === "asked" && !isThere) await settle(call, missingTool(name), "incomplete");
      else left.push(item);
    } else if (mayRunAgain(call, tools)) {
      left.push(item);
      // Without a decision in the log, it is decided now.
      if (call.isAllowed === true) granted.set(callId, input);
    } else await settle(call, INCOMPLETE, "incomplete");
  }
  return { left, granted, parked, answers, handoff, answer };
}

/** Whether a call that may have begun is run again. */
export function mayRunAgain({ name, isMasked }: PastCall, tools: readonly Tool[]): boolean {
  return isMasked !== true && tools.find((tool) => tool.name === name)?.idempotent === true;
}

const missingTool = (name: string): string => `Not run: there is no tool "${name}" any more.`;

/** Handoffs and final answers have no effect outside the run, so they can be read again. */
function isOurs({ name }: PastCall, { handoffs, answer }: PastCallSettings): boolean {
  return (name === HANDOFF_TOOL && handoffs.length > 0) || name === answer?.name;
}

/**
 * How a leg handed over, as its log says. An agent with its own loop usually says something after the call, so the
 * handoff need not be in the last reply.
 */
export function pastHandoff(
  { replies }: Pick<PastLeg, "replies">,
  { handoffs = [] }: { readonly handoffs?: readonly string[] | undefined },
): BatchEnd["handoff"] {
  return findHandoff(
    replies.flatMap(({ calls }) => calls),
    { handoffs },
  );
}

/** An agent that worked on a run, or was to, and that is not there any more. The first one may have another name now. */
export function findMissingAgent(
  { legs, isEnded }: PastRun,
  present: readonly { readonly agent?: string | undefined }[],
): string | undefined {
  if (isEnded) return undefined;
  const calls = legs.at(-1)?.replies.flatMap((reply) => reply.calls) ?? [];
  const wanted = [...(legs.length > 1 ? legs.map(({ agent }) => agent) : []), ...calls.map(handedOverTo)];
  return wanted.find((agent) => agent !== undefined && !present.some((leg) => leg.agent === agent));
}

/** To whom a call has handed over, as its result says. */
function handedOverTo({ name, input, result }: PastCall): string | undefined {
  if (name !== HANDOFF_TOOL || result?.isError !== false || typeof result.output !== "string") return undefined;
  const { to } = (input ?? {}) as { readonly to?: unknown };
  return typeof to === "string" && result.output.startsWith(`Handed over to ${to}.`) ? to : undefined;
}

function findHandoff(
  calls: readonly PastCall[],
  { handoffs }: Pick<PastCallSettings, "handoffs">,
): BatchEnd["handoff"] {
  const call = calls.find(({ name, result }) => name === HANDOFF_TOOL && result?.isError === false);
  const wanted = call && readHandoff(call.input, handoffs);
  return wanted?.fits === true ? { to: wanted.to, message: wanted.message } : undefined;
}

async function findAnswer(calls: readonly PastCall[], { answer }: PastCallSettings): Promise<BatchEnd["answer"]> {
  const call = calls.find(({ name, result }) => name === answer?.name && result?.isError === false);
  const read = call && (await answer?.read(call.input));
  return read?.fits === true ? { value: read.value } : undefined;
}
