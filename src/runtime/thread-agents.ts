import { agentSettings, type AgentLeg } from "#agents";
import { createLiveAgents, type LiveAgents } from "#sessions";
import type { RunOptions } from "./options.ts";
import { planRun, type Target } from "./plan-run.ts";
import type { World } from "./world.ts";

/** The agent that answers alone in a conversation, and what may be kept of it. */
export interface SoleAgent {
  /** It keeps sessions that another run can go on with. */
  readonly hasSessions: boolean;
  /** Its process can wait for the next message. */
  readonly canWait: boolean;
  /** Keeps its conversation from run to run: give it to `startRun`. Starts nothing. */
  keep(): KeptAgent;
}

/** A kept conversation with an agent. */
export interface KeptAgent {
  readonly conversations: LiveAgents;
  /** Starts its process. `false`: it cannot be started before there is a message. */
  warmUp(): Promise<boolean>;
  /** Resolves when nothing is left of it. */
  close(): Promise<void>;
}

/**
 * The one agent with a loop of its own that a target stands for; `undefined` for models, and for agents that hand over to
 * each other: there nobody knows all of the conversation. @throws StartError as `run` does.
 */
export function findSoleAgent(target: Target, options: RunOptions, world: World): SoleAgent | undefined {
  const { legs, limits } = planRun(target, options, world);
  const [leg, ...others] = legs;
  if (leg?.backend.kind !== "agent" || others.length > 0) return undefined;
  const agent = leg as AgentLeg;
  const settings = agentSettings(agent, limits);
  const { mode } = agent.backend.explain({ ...settings, features: [...settings.features, "session"] });
  return {
    hasSessions: agent.backend.keepsSessions === true,
    // A process has one budget for all it is asked.
    canWait: mode === "control" && limits.costUsd === undefined,
    keep() {
      const conversations = createLiveAgents({ clock: world.clock, limits });
      return { conversations, warmUp: () => conversations.warmUp(agent), close: () => conversations.close() };
    },
  };
}
