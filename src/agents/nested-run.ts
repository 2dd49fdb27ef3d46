import {
  addUsage,
  type ChunkOf,
  type Chunk,
  describeThrown,
  type ErrorItem,
  errorItem,
  isDelta,
  type Message,
  noticeItem,
  present,
  type ResultItem,
  resultItem,
  type Retraction,
  retractNotice,
  ToolFailure,
  type Usage,
} from "#domain";
import type { PolicySettings } from "#policy";
import { type AgentResultNotice, alsoEndedBy, type RunSource, type RunWriter } from "#run";
import type { OuterRun } from "./leg.ts";
import { createRunSource, type RunPlan } from "./swarm.ts";

/** How deeply agents may be nested within each other as tools. */
const MAX_AGENT_DEPTH = 5;

/** A tool call that runs an agent. */
export interface NestedCall {
  readonly callId: string;
  readonly prompt: string;
  /** Aborted when the call is cancelled. */
  readonly signal: AbortSignal;
}

/**
 * Runs an agent within a tool call. Its events appear in the outer run with the call as their `parent`; the budgets and
 * policies of both runs apply; an abort of the outer run also aborts the agent. Returns the agent's answer.
 *
 * @throws ToolFailure when the agent did not succeed.
 */
export async function runNested(plan: RunPlan, { leg, work }: OuterRun, call: NestedCall): Promise<unknown> {
  const depth = (work.depth ?? 0) + 1;
  if (depth > MAX_AGENT_DEPTH) {
    throw new ToolFailure(`Agents are already nested ${MAX_AGENT_DEPTH} levels deep. Do this without another agent.`);
  }
  const end: NestedEnd = { unfinished: new Set(), counted: new Set() };
  const legs = plan.legs.map((one) => ({ ...one, policy: joinPolicies(leg.policy, one.policy) }));
  const message: Message = {
    id: work.ids.create("task"),
    role: "user",
    blocks: [{ type: "text", text: call.prompt }],
    source: "millrace",
  };
  const { writer, context, price, budget, ids, inherited } = work;
  const nested: RunPlan = { ...plan, legs, context, price, outer: { budget, ids, depth, inherited } };
  const carriedOut = carryOut(createRunSource(nested, [message]), { writer, call, end });
  work.nested?.add(carriedOut);
  try {
    await carriedOut;
  } catch (error) {
    throw new ToolFailure(`The agent failed: ${describeThrown(error)}`);
  } finally {
    work.nested?.delete(carriedOut);
  }
  if (end.error !== undefined) throw new ToolFailure(`The agent failed: ${end.error.message}`);
  if (end.result === undefined) throw new ToolFailure("The agent ended without an answer.");
  const { isError, text = "", structured, subtype, message: why } = end.result;
  if (isError) throw new ToolFailure(`The agent failed: ${why ?? subtype}`);
  return structured === undefined ? text : structured;
}

async function carryOut(
  source: RunSource,
  { writer, call, end }: { readonly writer: RunWriter; readonly call: NestedCall; readonly end: NestedEnd },
): Promise<void> {
  try {
    await source(nestedWriter(writer, call, end));
  } finally {
    if (end.unsettled !== undefined) await writer.write([within(failedResult(end, end.unsettled), call.callId)]);
    // The run continues without this agent, so its unfinished messages are retracted. After an abort they are kept.
    if (!writer.signal.aborted && end.unfinished.size > 0) {
      const retractions = [...end.unfinished].map((messageId) => retractNotice({ messageId }));
      await writer.write(retractions.map((notice) => within(notice, call.callId)));
    }
  }
}

/** What the outer run records of a nested agent. */
interface NestedEnd {
  result?: ChunkOf<ResultItem>;
  error?: ChunkOf<ErrorItem>;
  /** Used since the last verdict: without another one, nothing else counts it. */
  unsettled?: Usage | undefined;
  /** Messages that deltas were shown of and that are not finished. */
  readonly unfinished: Set<string>;
  /** Messages whose usage was counted. */
  readonly counted: Set<string>;
}

function nestedWriter(outer: RunWriter, call: NestedCall, end: NestedEnd): RunWriter {
  return {
    runId: outer.runId,
    signal: alsoEndedBy(outer, call.signal).signal,
    commit: outer.commit,
    ask: (callId) => outer.ask(callId),
    waitForResult: outer.waitForResult,
    canAnswer: outer.canAnswer,
    prepare: outer.prepare,
    cleanUp: (work, options) => outer.cleanUp(work, options),
    write(chunks, agent) {
      for (const chunk of chunks) {
        if (isDelta(chunk)) end.unfinished.add(chunk.messageId);
        else if (chunk.type === "message") end.unfinished.delete(chunk.id);
        else if (chunk.type === "notice" && chunk.kind === "retract") noteRetraction(end, chunk.data as Retraction);
        if (chunk.parent !== undefined) continue;
        if (chunk.type === "result") end.result = chunk;
        noteUsage(end, chunk);
        if (chunk.type === "error" && chunk.terminal) end.error ??= chunk;
      }
      return outer.write(
        chunks.map((chunk) => within(chunk, call.callId)),
        agent,
      );
    },
  };
}

function noteUsage(end: NestedEnd, chunk: Chunk): void {
  if (chunk.type === "result") end.unsettled = undefined;
  const used = usageOf(chunk, end.counted);
  if (used !== undefined) end.unsettled = addUsage(end.unsettled ?? {}, used);
}

/** What a reply used; a message that is reported again counts once. */
function usageOf(chunk: Chunk, counted: Set<string>): Usage | undefined {
  if (chunk.type === "notice" && chunk.kind === "usage") return (chunk.data as { readonly usage: Usage }).usage;
  if (chunk.type !== "message" || chunk.usage === undefined || counted.has(chunk.id)) return undefined;
  counted.add(chunk.id);
  return chunk.usage;
}

/** The result of an agent that ended without a verdict. */
function failedResult({ error }: NestedEnd, usage: Usage): Chunk {
  return resultItem({ subtype: error?.code ?? "no-result", isError: true, usage });
}

function noteRetraction({ unfinished }: NestedEnd, { messageId, fromIndex = 0 }: Retraction): void {
  if (fromIndex === 0) unfinished.delete(messageId);
}

/**
 * Returns a chunk as part of the call. The start and the result of the nested run become notices, because the outer run
 * has its own start and end.
 */
function within(chunk: Chunk, parent: string): Chunk {
  if (chunk.parent !== undefined) return chunk;
  switch (chunk.type) {
    case "start": {
      const { backend, mode, model } = chunk;
      return noticeItem("agent-start", { backend, mode, ...(model !== undefined && { model }) }, { parent });
    }
    case "result": {
      const { subtype, isError, text, usage, costUsd, turns } = chunk;
      const more = present({ text, costUsd, turns });
      const data: AgentResultNotice = { subtype, isError, usage, ...more };
      return noticeItem("agent-result", data, { parent });
    }
    case "error": {
      const { code, message, diagnostic } = chunk;
      const detail = { code, message, terminal: false, ...(diagnostic !== undefined && { diagnostic }) };
      return { ...errorItem(detail), parent };
    }
    default:
      return { ...chunk, parent };
  }
}

/**
 * Joins two policies that both apply. The outer one comes first and takes precedence, because it applies to every
 * nested agent.
 */
function joinPolicies(outer: PolicySettings | undefined, own: PolicySettings | undefined): PolicySettings | undefined {
  if (outer === undefined || own === undefined) return outer ?? own;
  return {
    ...own,
    hooks: [...outer.hooks, ...own.hooks],
    rules: [...outer.rules, ...own.rules],
    permission: outer.permission ?? own.permission,
    permissionMs: outer.permissionMs ?? own.permissionMs,
    guards: [...outer.guards, ...own.guards],
    outputMode: outer.outputMode ?? own.outputMode,
  };
}
