import { type Clock, describeThrown, isToolFailure, type NextTurn } from "#domain";
import { toJsonValue } from "./json-value.ts";
import { type Outcome, toOutcome } from "./outcome.ts";
import { artifactState, documentsState } from "./tool-report.ts";
import { OUTER_RUN, type Tool, type ToolContext } from "./tool.ts";

/** The time limit of a tool if neither it nor the run sets one. */
export const DEFAULT_TOOL_MS = 120_000;

export interface ToolRun {
  readonly callId: string;
  readonly runId: string;
  readonly agent: string | undefined;
  readonly context: unknown;
  /** The run that contains the call, for a tool that runs an agent. */
  readonly outer?: unknown;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly nextTurn?: NextTurn | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxResultCharacters?: number | undefined;
  readonly onProgress: (state: unknown) => void;
}

/**
 * Runs one tool call to its outcome. Never rejects, and never takes longer than the deadline or an abort: a tool that
 * ignores its signal is abandoned, and what it does later has no effect.
 */
export async function runTool(tool: Tool, input: unknown, run: ToolRun): Promise<Outcome> {
  const parsed = await tool.parse(input, run.nextTurn);
  if (!parsed.fits) {
    return {
      kind: "failed",
      why: "invalid-input",
      output: `The arguments do not fit the tool "${tool.name}": ${parsed.problem}. Call it again with arguments that fit its schema.`,
    };
  }
  if (run.signal.aborted) return ABORTED;
  const deadlineMs = tool.timeoutMs ?? run.timeoutMs ?? DEFAULT_TOOL_MS;
  const controller = new AbortController();
  return new Promise<Outcome>((resolve) => {
    const settle = (outcome: Outcome): void => {
      stopClock();
      run.signal.removeEventListener("abort", onAbort);
      over = true;
      resolve(outcome);
    };
    let over = false;
    const onAbort = (): void => {
      settle(ABORTED);
      controller.abort(run.signal.reason);
    };
    run.signal.addEventListener("abort", onAbort, { once: true });
    const stopClock = run.clock.after(deadlineMs, () => {
      settle({
        kind: "failed",
        why: "timeout",
        output: `The tool "${tool.name}" did not answer within ${deadlineMs} ms (${tool.timeoutMs === undefined ? "limits.toolMs" : "its timeoutMs"}).`,
      });
      controller.abort(new DOMException(`The tool had ${deadlineMs} ms.`, "TimeoutError"));
    });
    const progress = (state: unknown): void => {
      if (!over) run.onProgress(shownState(state));
    };
    const context: ToolContext = {
      callId: run.callId,
      name: tool.name,
      runId: run.runId,
      agent: run.agent,
      idempotencyKey: `${run.runId}:${run.callId}`,
      signal: controller.signal,
      context: run.context,
      [OUTER_RUN]: run.outer,
      progress,
      artifact: (artifact) => progress(artifactState(artifact)),
      documents: (documents) => progress(documentsState(documents)),
    };
    call(tool, parsed.value, context).then(
      (value) => settle(outcomeOf(tool, value, run.maxResultCharacters)),
      (error) => settle({ kind: "failed", why: "thrown", output: describeFailure(tool, error) }),
    );
  });
}

const ABORTED: Outcome = {
  kind: "failed",
  why: "aborted",
  output: "The run was aborted before the tool had answered.",
};

/** A tool that returns an error instead of throwing it has failed too. */
function outcomeOf(tool: Tool, value: unknown, maxCharacters: number | undefined): Outcome {
  if (value instanceof Error) return { kind: "failed", why: "thrown", output: describeFailure(tool, value) };
  return toOutcome(value, maxCharacters);
}

/** A progress state in a form that an event can hold; a state without a JSON form is described. */
function shownState(state: unknown): unknown {
  try {
    return toJsonValue(state);
  } catch (error) {
    return `a state that is not JSON: ${describeThrown(error)}`;
  }
}

async function call(tool: Tool, input: unknown, context: ToolContext): Promise<unknown> {
  return await tool.run(input as never, context as ToolContext<never>);
}

function describeFailure(tool: Tool, error: unknown): string {
  return isToolFailure(error) ? error.message : `The tool "${tool.name}" failed: ${describeThrown(error)}`;
}
