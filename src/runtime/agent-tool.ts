import { type OuterRun, type RunPlan, runNested } from "#agents";
import { ToolFailure } from "#domain";
import { OUTER_RUN, type Tool, type ToolContext, type ToolOptions, tool } from "#tools";
import { type Agent, agent } from "./agent.ts";

/** The options of `agentTool`. */
export interface AgentToolOptions extends ToolOptions {
  /** The name of the tool. Default: the agent's name. */
  readonly name?: string;
  /**
   * The description shown to the model. Default: a sentence saying that the agent does a task and returns its answer.
   */
  readonly description?: string;
}

/** Longer than for other tools, because an agent takes longer. The limits of the run still apply. */
const AGENT_TOOL_MS = 3_600_000;

/**
 * Makes an agent available as a tool of another one: a model calls it with a `prompt`, and its answer (the text of its
 * final message, or the value of its `output`) is the result of the call.
 *
 * The agent is part of the run that calls it: its events carry the call as their `parent`, its usage counts towards the
 * limits of the run, the policies of the run and of the calling agent apply in addition to its own, questions go to the
 * run, and an abort ends it. Agents can be nested at most 5 deep.
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
    carryAgent(checked, async ({ prompt }: { readonly prompt: string }, context: ToolContext) => {
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

const CARRIED: unique symbol = Symbol("millrace.agentOf") as never;

/** Marks a function that runs this agent. */
export function carryAgent<Call extends (...given: never[]) => unknown>(one: Agent, call: Call): Call {
  return Object.assign(call, { [CARRIED]: one });
}

/** The agent that a tool's function runs; `undefined` for code of the caller. */
export function agentOf(call: object): Agent | undefined {
  return CARRIED in call ? (call[CARRIED] as Agent) : undefined;
}
