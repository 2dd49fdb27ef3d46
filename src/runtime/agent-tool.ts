import { type OuterRun, type RunPlan, runNested } from "#agents";
import { ToolFailure } from "#domain";
import { OUTER_RUN, type Tool, type ToolContext, type ToolOptions, tool } from "#tools";
import { type Agent, agent } from "./agent.ts";

/** The options of `agentTool`. */
export interface AgentToolOptions extends ToolOptions {
  /** The name of the tool. Default: the agent's. */
  readonly name?: string;
  /** What the model is told of it. Default: that the agent does a task and gives its answer. */
  readonly description?: string;
}

/** Without a deadline of its own: an agent takes longer than a tool. The limits of the run hold all the same. */
const AGENT_TOOL_MS = 3_600_000;

/**
 * Makes an agent a tool of another one: a model calls it with a `prompt`, and its answer (the text of its final message,
 * or the value of its `output`) is the result of the call.
 *
 * It is part of the run that calls it: its events carry the call as their `parent`, what it uses counts against the
 * limits of the run, the policy of the run and of the calling agent holds for it beside its own, questions go to the run,
 * and an abort ends it. At most 5 agents may stand within each other.
 *
 * @example
 * const researcher = agent({ name: "researcher", backend: "anthropic", instructions: "Find sources." })
 * await run("offline", "Write about mills.", { tools: [agentTool(researcher)] }).result()
 */
export function agentTool(one: Agent, options: AgentToolOptions = {}): Tool {
  const checked = agent(one);
  const { name = checked.name, description, ...more } = options;
  return tool(
    name,
    description ?? `Has the agent "${checked.name}" do a task, and gives its answer. It knows nothing but the prompt.`,
    { prompt: "string" },
    carryAgent(async ({ prompt }: { readonly prompt: string }, context: ToolContext) => {
      const outer = context[OUTER_RUN] as OuterRun | undefined;
      const planNested = outer?.work.planNested;
      if (outer === undefined || planNested === undefined) {
        throw new ToolFailure(`The agent "${checked.name}" can be called within a run only.`);
      }
      return runNested(planNested(checked) as RunPlan, outer, {
        callId: context.callId,
        prompt,
        signal: context.signal,
      });
    }),
    { timeoutMs: AGENT_TOOL_MS, ...more },
  );
}

const CARRIES_AGENT: unique symbol = Symbol("millrace.carriesAgent") as never;

function carryAgent<Call extends (...given: never[]) => unknown>(call: Call): Call {
  return Object.assign(call, { [CARRIES_AGENT]: true });
}

/** Whether the function of a tool has an agent of ours at work, and no code of the caller's. */
export function carriesAgent(call: object): boolean {
  return CARRIES_AGENT in call;
}
