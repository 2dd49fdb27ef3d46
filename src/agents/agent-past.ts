import {
  addUsage,
  type Chunk,
  type ChunkOf,
  type Message,
  messageItem,
  present,
  resultItem,
  textOf,
  type ToolCallItem,
  toolCallItem,
  toolResultItem,
  type Usage,
} from "#domain";
import type { SettledOutcome } from "#tools";
import { hasTokens, type LimitReached } from "./budget.ts";
import { describeEnd } from "./end-message.ts";
import type { AgentLeg, LegEnd, LegWork } from "./leg.ts";
import { INCOMPLETE, pastHandoff } from "./past-calls.ts";
import { awaitParked } from "./parked-call.ts";
import type { PastCall, PastLeg } from "./past-run.ts";

/**
 * Prepares a leg on an agent backend that an earlier process began. The agent continues its own session and is told
 * which calls have no result. Before its first message nothing has happened, so the leg simply begins again.
 * An agent that had handed over, or used up a limit, is not started again: the leg has ended.
 */
export async function continueAgentLeg(leg: AgentLeg, work: LegWork): Promise<Continued | LegEnd> {
  const { past, writer, ids } = work;
  if (past === undefined || past.replies.length === 0) return { kind: "continued", leg, work, spent: NOTHING };
  const open = past.replies.flatMap(({ calls }) => calls).filter(({ result }) => result === undefined);
  const finished = await finishParked(open, work);
  if (finished === undefined) return { kind: "over" };
  await writer.write(
    open.flatMap((call) => endCall(call, finished.get(call.callId))),
    leg.agent,
  );
  const spent = await countSpent(past, leg, work);
  const handoff = pastHandoff(past, leg);
  const limit = handoff === undefined ? (limitOf(leg, spent) ?? work.budget.reached) : undefined;
  if (handoff !== undefined || limit !== undefined) await writeEnd(limit ?? "handoff", past, leg, { work, spent });
  if (limit !== undefined) return { kind: "over" };
  if (handoff !== undefined) {
    const transcript = [...work.messages, ...said(past)];
    return { kind: "handoff", ...handoff, text: lastText(past), turns: spent.turns, transcript };
  }
  const blocks = [{ type: "text", text: continuation(open, finished) }] as const;
  const message = { id: ids.create("resumed"), role: "user", blocks, source: "millrace" } as const;
  await writer.write([messageItem(message)], leg.agent);
  const messages = [...work.messages, ...said(past), message];
  const next = withTurnsLeft(resumeSession(leg, past), spent);
  return { kind: "continued", leg: next, work: { ...work, messages }, spent };
}

/** How an agent takes up its leg. */
export interface Continued {
  readonly kind: "continued";
  readonly leg: AgentLeg;
  readonly work: LegWork;
  readonly spent: Spent;
}

/** Writes the verdict of an agent that is not started again. */
async function writeEnd(
  subtype: LimitReached | "handoff",
  past: PastLeg,
  leg: AgentLeg,
  { work, spent }: { readonly work: LegWork; readonly spent: Spent },
): Promise<void> {
  const message = describeEnd(subtype, { run: work.budget.limits, leg: leg.limits });
  const { usage, turns, costUsd } = spent;
  const facts = present({ message, costUsd });
  const verdict = resultItem({ subtype, isError: subtype !== "handoff", text: lastText(past), usage, turns, ...facts });
  await work.writer.write([verdict], leg.agent);
}

function lastText({ replies }: PastLeg): string {
  return textOf(replies.at(-1)?.message.blocks ?? []);
}

/** What earlier processes of a leg used. The cost is `undefined` if a price is unknown. */
export interface Spent {
  readonly usage: Usage;
  readonly costUsd: number | undefined;
  readonly turns: number;
}

export const NOTHING: Spent = { usage: {}, costUsd: 0, turns: 0 };

/** Counts what the replies of a leg used. The verdict that would have said what they cost was never written. */
async function countSpent({ replies }: PastLeg, { backend }: AgentLeg, { budget, price }: LegWork): Promise<Spent> {
  let spent: Spent = { ...NOTHING, turns: replies.length };
  for (const { message } of replies) {
    const { usage = {}, model = backend.model ?? "" } = message;
    const cost = hasTokens(usage) ? await price(usage, { name: backend.provider ?? backend.name, model }) : 0;
    budget.addSpent(usage, cost);
    const costUsd = cost === undefined || spent.costUsd === undefined ? undefined : spent.costUsd + cost;
    spent = { ...spent, usage: addUsage(spent.usage, usage), costUsd };
  }
  return spent;
}

function limitOf({ limits: { turns } }: AgentLeg, spent: Spent): LimitReached | undefined {
  return turns !== undefined && spent.turns >= turns ? "error_max_turns" : undefined;
}

/** The agent counts its turns in each process anew. */
function withTurnsLeft(leg: AgentLeg, spent: Spent): AgentLeg {
  const { turns } = leg.limits;
  return turns === undefined ? leg : { ...leg, limits: { ...leg.limits, turns: turns - spent.turns } };
}

/** Waits for the results of parked calls. The agent is not started before they are there. */
async function finishParked(
  open: readonly PastCall[],
  { writer, clock }: LegWork,
): Promise<ReadonlyMap<string, SettledOutcome> | undefined> {
  const finished = new Map<string, SettledOutcome>();
  const waits = open.map(async (call) => {
    if (call.state !== "parked" || call.parked === undefined) return;
    const { until, output } = call.parked;
    const outcome = await awaitParked(call, { kind: "parked", until, output }, { writer, clock });
    if (outcome !== undefined) finished.set(call.callId, outcome);
  });
  await Promise.all(waits);
  return writer.signal.aborted ? undefined : finished;
}

/** The agent's tools may have run, whatever is in the log: only the agent knows. */
function endCall(call: PastCall, outcome: SettledOutcome | undefined): readonly Chunk[] {
  const { callId, name, input, state, reason } = call;
  if (outcome !== undefined) {
    return [toolResultItem({ callId, name, output: outcome.output, isError: outcome.kind === "failed" })];
  }
  const announced: ChunkOf<ToolCallItem>[] =
    state === "not-begun" ? [toolCallItem({ callId, name, input, executedBy: "backend" })] : [];
  const isDenied = state === "denied";
  const output = isDenied ? (reason ?? "The call was denied.") : state === "asked" ? UNANSWERED : INCOMPLETE;
  const skipped = isDenied ? "denied" : "incomplete";
  return [...announced, toolResultItem({ callId, name, output, isError: true, skipped })];
}

const UNANSWERED =
  "The process that asked for permission ended before there was an answer. The agent asks again if it still needs the call.";

function continuation(open: readonly PastCall[], finished: ReadonlyMap<string, SettledOutcome>): string {
  const lines = open.map(({ callId, name, input, state }) => {
    const what = `- ${name} ${JSON.stringify(input)}`;
    const outcome = finished.get(callId);
    if (outcome !== undefined) return `${what}: has finished with ${JSON.stringify(outcome.output)}`;
    return state === "asked" || state === "denied"
      ? `${what}: did not run`
      : `${what}: may have run, in full or in part`;
  });
  const calls =
    lines.length === 0
      ? []
      : ["You did not get the results of these tool calls. Check before you repeat one that may have run:", ...lines];
  return ["Your process ended before you had finished. Continue with the task from where you were.", ...calls].join(
    "\n",
  );
}

/** What the agent had said, for one whose session is gone. */
function said({ replies }: PastLeg): readonly Message[] {
  return replies.flatMap(({ message: { id, role, blocks } }) => {
    const texts = blocks.filter((block) => block.type === "text" && block.text !== "");
    return texts.length === 0 ? [] : [{ id, role, blocks: texts }];
  });
}

function resumeSession(leg: AgentLeg, { sessionId }: PastLeg): AgentLeg {
  if (sessionId === undefined || leg.backend.keepsSessions !== true) return leg;
  const place = leg.place ?? { cwd: undefined, env: {}, strict: false, resume: undefined };
  return { ...leg, place: { ...place, resume: { kind: "resume", sessionId, fork: false, orReplay: true } } };
}

/**
 * Before an agent continues a session: lays out its file, if the session comes from another machine. A session that
 * cannot be laid out is begun anew by the backend, with what was said.
 */
export async function restoreSession(leg: AgentLeg, { files }: LegWork): Promise<void> {
  const resume = leg.place?.resume;
  const { sessionFiles } = leg.backend;
  if (files === undefined || sessionFiles === undefined || resume?.kind !== "resume") return;
  const data = await files.find(nameOf(leg, resume.sessionId)).catch(() => undefined);
  if (data !== undefined) await sessionFiles.write(resume.sessionId, data, leg.place?.cwd).catch(() => undefined);
}

/**
 * After an agent has gone: keeps the file of its session while its run waits, and removes it when the run no longer
 * needs it.
 */
export async function keepSession(leg: AgentLeg, work: LegWork, sessionId: string | undefined): Promise<void> {
  const { sessionFiles } = leg.backend;
  if (work.files === undefined || sessionFiles === undefined || sessionId === undefined) return;
  const name = nameOf(leg, sessionId);
  if (work.writer.isParking?.() !== true) {
    if (work.past !== undefined) await work.files.remove(name);
    return;
  }
  const data = await sessionFiles.read(sessionId, leg.place?.cwd);
  if (data !== undefined) await work.files.keep(name, data);
}

function nameOf({ backend }: AgentLeg, sessionId: string): string {
  return `sessions/${backend.name}/${sessionId}`;
}
