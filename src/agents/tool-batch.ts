import { type Chunk, type Clock, noticeItem, type ToolCallItem, type ToolResultBlock, toolResultItem } from "#domain";
import { type Outcome, runTool, type Tool } from "#tools";
import type { RunWriter } from "./run.ts";

export interface BatchSettings {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly clock: Clock;
  readonly agent: string | undefined;
  readonly context: unknown;
  readonly toolMs: number | undefined;
  /** How many calls of one turn may run at the same time. */
  readonly concurrency: number;
}

/**
 * Runs the tool calls of one turn and gives their results in the order of the calls. Every call gets exactly one;
 * after an abort the rest is left to the run, which answers what is open.
 */
export async function runBatch(
  calls: readonly ToolCallItem[],
  writer: RunWriter,
  settings: BatchSettings,
): Promise<readonly ToolResultBlock[]> {
  const results: ToolResultBlock[] = [];
  const pending: Promise<Finished>[] = [];
  let next = 0;
  for (const _ of calls) {
    while (next < calls.length && pending.length < Math.max(1, settings.concurrency)) {
      pending.push(runCall(calls[next] as ToolCallItem, writer, settings));
      next += 1;
    }
    const finished = await pending.shift();
    if (finished === undefined || writer.signal.aborted) break;
    await writer.write([finished.chunk], settings.agent);
    results.push(finished.block);
  }
  return results;
}

interface Finished {
  readonly chunk: Chunk;
  readonly block: ToolResultBlock;
}

async function runCall(call: ToolCallItem, writer: RunWriter, settings: BatchSettings): Promise<Finished> {
  const startedAt = settings.clock.now();
  const outcome = await outcomeOf(call, writer, settings);
  const isError = outcome.kind === "failed";
  const { callId, name } = call;
  return {
    chunk: toolResultItem({ callId, name, output: outcome.output, isError, ms: settings.clock.now() - startedAt }),
    block: { type: "tool-result", callId, output: outcome.output, isError },
  };
}

async function outcomeOf(call: ToolCallItem, writer: RunWriter, settings: BatchSettings): Promise<Outcome> {
  const tool = settings.tools.get(call.name);
  if (tool === undefined) {
    const known = [...settings.tools.keys()].join(", ");
    const remedy = known === "" ? "There are no tools." : `Use one of: ${known}.`;
    return { kind: "failed", why: "unknown-tool", output: `There is no tool "${call.name}". ${remedy}` };
  }
  return runTool(tool, call.input, {
    callId: call.callId,
    runId: writer.runId,
    agent: settings.agent,
    context: settings.context,
    signal: writer.signal,
    clock: settings.clock,
    timeoutMs: settings.toolMs,
    onProgress: (state) =>
      void writer.write([noticeItem("tool-progress", { callId: call.callId, name: call.name, state })], settings.agent),
  });
}
