import type { AgentConversation, AgentFeature, AgentSettings } from "#backends";
import { concernsCalls } from "#policy";
import type { Tool } from "#tools";
import { handoffTool } from "./handoff.ts";
import type { Budget } from "./budget.ts";
import type { AgentLeg, Conversations } from "./leg.ts";
import { showSchema } from "./structured.ts";

/** Returns the settings an agent backend needs before a leg begins. */
export function agentSettings(leg: AgentLeg, limits: { readonly costUsd?: number | undefined }): AgentSettings {
  const { place, policy } = leg;
  const tools = toolsOf(leg);
  const features: AgentFeature[] = [];
  if (tools.length > 0) features.push("tools");
  if (policy !== undefined) {
    if (policy.hooks.some((hooks) => Object.values(hooks).some((list) => list.length > 0))) features.push("hooks");
    if (policy.permission !== undefined) features.push("permission");
    if (policy.rules.some(concernsCalls)) features.push("permission-rules");
    if (policy.guards.length > 0) features.push("guards");
  }
  if (leg.output !== undefined) features.push("output");
  return {
    instructions: leg.instructions,
    tools,
    features,
    outputSchema: leg.output && showSchema(leg.output.jsonSchema).shown,
    turns: leg.limits.turns,
    idleMs: leg.limits.idleMs,
    costUsd: limits.costUsd,
    maxTokens: leg.maxTokens,
    thinkingTokens: leg.thinkingTokens,
    keepRaw: leg.keepRaw,
    replyBytes: leg.limits.replyBytes,
    attempts: leg.retry === false ? 1 : leg.retry?.attempts,
    fallbackModels: leg.fallbackModels,
    resume: place?.resume,
    cwd: place?.cwd,
    env: place?.env ?? {},
    strict: place?.strict ?? false,
  };
}

/** Returns the tools offered to the agent, including the handoff tool. */
function toolsOf(leg: AgentLeg): readonly Tool[] {
  if (leg.handoffs === undefined || leg.handoffs.length === 0) return leg.tools;
  // Never run: its calls are answered by the leg.
  const parse: Tool["parse"] = async (input) => ({ fits: true, value: input });
  return [...leg.tools, { ...handoffTool(leg.handoffs), timeoutMs: undefined, parse, run: () => "" }];
}

/** Creates conversations that are closed at the end of their leg. */
export function createShortConversations(budget: Pick<Budget, "costLeft">): Conversations {
  const open = new Map<AgentLeg, AgentConversation>();
  return {
    async open(leg) {
      const conversation = await leg.backend.open(agentSettings(leg, { costUsd: budget.costLeft }));
      open.set(leg, conversation);
      return conversation;
    },
    async release(leg) {
      const conversation = open.get(leg);
      open.delete(leg);
      await conversation?.close();
    },
  };
}
