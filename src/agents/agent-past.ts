import { addUsage, type Message, messageItem, present, resultItem, textOf, type Usage } from "#domain";
import { hasTokens, type LimitReached } from "./budget.ts";
import { describeEnd } from "./end-message.ts";
import type { AgentLeg, LegEnd, LegWork } from "./leg.ts";
import { type EndedCalls, endCalls } from "./agent-past-calls.ts";
import { pastHandoff } from "./past-calls.ts";
import type { PastLeg } from "./past-run.ts";

/**
 * Prepares a leg on an agent backend that an earlier process began. The agent continues its own session and is told
 * which calls have no result. Before its first message nothing has happened, so the leg simply begins again.
 * An agent that had handed over, or used up a limit, is not started again: the leg has ended.
 */
export async function continueAgentLeg(leg: AgentLeg, work: LegWork): Promise<Continued | LegEnd> {
  const { past, writer, ids } = work;
  if (past === undefined || past.replies.length === 0) return { kind: "continued", leg, work, spent: NOTHING };
  const open = past.replies.flatMap(({ calls }) => calls).filter(({ result }) => result === undefined);
  const calls = await endCalls(open, leg, work);
  if (calls === undefined) return { kind: "over" };
  const spent = await countSpent(past, leg, work);
  const handoff = pastHandoff(past, leg);
  const why = handoff === undefined ? (whyOver(calls) ?? limitOf(leg, spent) ?? work.budget.reached) : undefined;
  if (handoff !== undefined || why !== undefined) {
    await writeEnd(why ?? "handoff", past, leg, { work, spent, detail: calls.stop });
  }
  if (why !== undefined) return { kind: "over" };
  if (handoff !== undefined) {
    const transcript = [...work.messages, ...said(past)];
    return { kind: "handoff", ...handoff, text: lastText(past), turns: spent.turns, transcript };
  }
  const blocks = [{ type: "text", text: calls.continuation }] as const;
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
  subtype: LimitReached | "handoff" | "hook_stopped",
  past: PastLeg,
  leg: AgentLeg,
  { work, spent, detail }: { readonly work: LegWork; readonly spent: Spent; readonly detail: string | undefined },
): Promise<void> {
  const message = describeEnd(subtype, { run: work.budget.limits, leg: leg.limits, detail });
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

function whyOver({ stop }: EndedCalls): "hook_stopped" | undefined {
  return stop === undefined ? undefined : "hook_stopped";
}

function limitOf({ limits: { turns } }: AgentLeg, spent: Spent): LimitReached | undefined {
  return turns !== undefined && spent.turns >= turns ? "error_max_turns" : undefined;
}

/** The agent counts its turns in each process anew. */
function withTurnsLeft(leg: AgentLeg, spent: Spent): AgentLeg {
  const { turns } = leg.limits;
  return turns === undefined ? leg : { ...leg, limits: { ...leg.limits, turns: turns - spent.turns } };
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
