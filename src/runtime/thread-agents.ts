import { agentSettings, type AgentLeg } from "#agents";
import { createLiveAgents, type LiveAgents } from "#sessions";
import type { RunOptions } from "./options.ts";
import { planRun, type Target } from "./plan-run.ts";
import type { World } from "./world.ts";

/** The only agent of a conversation, and what can be kept of it between runs. */
export interface SingleAgent {
  /** It keeps sessions that another run can resume. */
  readonly hasSessions: boolean;
  /** Its process can stay alive until the next message. */
  readonly canWait: boolean;
  /** Keeps its conversation from run to run: pass the result to `startRun`. Starts nothing. */
  keep(): KeptAgent;
}

/** A kept conversation with an agent. */
export interface KeptAgent {
  readonly conversations: LiveAgents;
  /** Starts its process. `false`: it cannot be started before the first message. */
  warmUp(): Promise<boolean>;
  /** Resolves when nothing of it is left. */
  close(): Promise<void>;
}

/**
 * The one agent with its own loop that a target stands for; `undefined` for models, and for agents that hand over to
 * each other, because none of these knows the whole conversation.
 *
 * @throws StartError as `run` does.
 */
export function findSingleAgent(target: Target, options: RunOptions, world: World): SingleAgent | undefined {
  const { legs, limits } = planRun(target, options, world);
  const [leg, ...others] = legs;
  if (leg?.backend.kind !== "agent" || others.length > 0) return undefined;
  const agent = leg as AgentLeg;
  const settings = agentSettings(agent, limits);
  const { mode } = agent.backend.explain({ ...settings, features: [...settings.features, "session"] });
  return {
    hasSessions: agent.backend.keepsSessions === true,
    // A process has one budget for all of its turns.
    canWait: mode === "control" && limits.costUsd === undefined,
    keep() {
      const conversations = createLiveAgents({ clock: world.clock, limits });
      return { conversations, warmUp: () => conversations.warmUp(agent), close: () => conversations.close() };
    },
  };
}
