import {
  type Chunk,
  describeThrown,
  type ErrorItem,
  errorItem,
  isDelta,
  type Message,
  noticeItem,
  type ResultItem,
  type Retraction,
  retractNotice,
  ToolFailure,
} from "#domain";
import type { PolicySettings } from "#policy";
import type { AgentResultNotice } from "./accumulator.ts";
import type { OuterRun } from "./leg.ts";
import type { RunSource, RunWriter } from "./run.ts";
import { createRunSource, type RunPlan } from "./swarm.ts";

/** How deep agents may stand within each other as tools. */
const MAX_AGENT_DEPTH = 5;

/** One agent to be carried out within a tool call. */
export interface NestedCall {
  readonly callId: string;
  readonly prompt: string;
  /** Fires when the call is given up. */
  readonly signal: AbortSignal;
}

/**
 * Carries out an agent within a tool call: its events stand in the outer run's stream with the call as their `parent`,
 * its budget and its policy are the outer run's and its own, and an abort goes through. Gives its answer.
 *
 * @throws ToolFailure when the agent did not succeed.
 */
export async function runNested(plan: RunPlan, { leg, work }: OuterRun, call: NestedCall): Promise<unknown> {
  const depth = (work.depth ?? 0) + 1;
  if (depth > MAX_AGENT_DEPTH) {
    throw new ToolFailure(
      `Agents stand ${MAX_AGENT_DEPTH} deep within each other already. Do this without another agent.`,
    );
  }
  const end: NestedEnd = { unfinished: new Set() };
  const legs = plan.legs.map((one) => ({ ...one, policy: joinPolicies(leg.policy, one.policy) }));
  const message: Message = {
    id: work.ids.fresh("task"),
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
    // The run goes on without this agent: what it had begun to say is void. After an abort it stays as it is.
    if (!writer.latch.aborted && end.unfinished.size > 0) {
      const retractions = [...end.unfinished].map((messageId) => retractNotice({ messageId }));
      await writer.write(retractions.map((notice) => within(notice, call.callId)));
    }
  }
}

/** What is seen of an agent within a tool call. */
interface NestedEnd {
  result?: ResultItem;
  error?: ErrorItem;
  /** Messages of which deltas were shown and that have not come. */
  readonly unfinished: Set<string>;
}

function nestedWriter(outer: RunWriter, call: NestedCall, end: NestedEnd): RunWriter {
  const latch = outer.latch.branch();
  if (call.signal.aborted) latch.abort(call.signal.reason);
  else call.signal.addEventListener("abort", () => latch.abort(call.signal.reason), { once: true });
  return {
    runId: outer.runId,
    latch,
    ask: (callId) => outer.ask(callId),
    canAnswer: outer.canAnswer,
    cleanUp: (work, options) => outer.cleanUp(work, options),
    write(chunks, agent) {
      for (const chunk of chunks) {
        if (isDelta(chunk)) end.unfinished.add(chunk.messageId);
        else if (chunk.type === "message") end.unfinished.delete(chunk.id);
        else if (chunk.type === "notice" && chunk.kind === "retract") noteRetraction(end, chunk.data as Retraction);
        if (chunk.parent !== undefined) continue;
        if (chunk.type === "result") end.result = chunk;
        if (chunk.type === "error" && chunk.terminal) end.error ??= chunk;
      }
      return outer.write(
        chunks.map((chunk) => within(chunk, call.callId)),
        agent,
      );
    },
  };
}

function noteRetraction({ unfinished }: NestedEnd, { messageId, fromIndex = 0 }: Retraction): void {
  if (fromIndex === 0) unfinished.delete(messageId);
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A chunk as part of the call. What begins and ends a run is a notice here: the run has its own beginning and end. */
function within(chunk: Chunk, parent: string): Chunk {
  if (chunk.parent !== undefined) return chunk;
  switch (chunk.type) {
    case "start": {
      const { backend, mode, model } = chunk;
      return noticeItem("agent-start", { backend, mode, ...(model !== undefined && { model }) }, { parent });
    }
    case "result": {
      const { subtype, isError, text, usage, costUsd, turns } = chunk;
      const more = {
        ...(text !== undefined && { text }),
        ...(costUsd !== undefined && { costUsd }),
        ...(turns !== undefined && { turns }),
      };
      const data: AgentResultNotice = { subtype, isError, usage, ...more };
      return noticeItem("agent-result", data, { parent });
    }
    case "error": {
      const { code, message, diagnostic } = chunk;
      const detail = { code, message, terminal: false, ...(diagnostic !== undefined && { diagnostic }) };
      return { ...errorItem(detail), parent };
    }
    default:
      (chunk as Writable<Chunk>).parent = parent;
      return chunk;
  }
}

/** Both hold: the outer one first, because who is further up has said it for everyone below. */
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
