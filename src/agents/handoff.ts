import type { ToolSpec } from "#backends";
import { type Chunk, nearestName, permissionItem } from "#domain";

/** The tool for handoffs. If an agent has handoffs, no tool of the caller may have this name. */
export const HANDOFF_TOOL = "handoff";

/** Describes the tool to the model. */
export function handoffTool(targets: readonly string[]): ToolSpec {
  return {
    name: HANDOFF_TOOL,
    description:
      "Hand the conversation over to another agent, which continues from your message. You will get no reply.",
    inputSchema: {
      type: "object",
      properties: {
        to: { type: "string", enum: [...targets], description: "The agent to hand over to." },
        message: { type: "string", description: "What the other agent needs to know and to do." },
      },
      required: ["to", "message"],
      additionalProperties: false,
    },
  };
}

/** The arguments of a handoff call, or what is wrong with them. */
export type HandoffCall =
  | { readonly fits: true; readonly to: string; readonly message: string }
  | { readonly fits: false; readonly problem: string };

/**
 * Reads the arguments that a model wrote. An unknown target leads to an error result, never to an exception (S2-32).
 */
export function readHandoff(input: unknown, targets: readonly string[]): HandoffCall {
  const { to, message } = (typeof input === "object" && input !== null ? input : {}) as Record<string, unknown>;
  const known = `Known: ${targets.join(", ")}.`;
  if (typeof to !== "string") return { fits: false, problem: `"to" must name an agent. ${known}` };
  if (!targets.includes(to)) {
    const near = nearestName(to, targets);
    const guess = near === undefined ? "" : ` Did you mean "${near}"?`;
    return { fits: false, problem: `There is no agent "${to.slice(0, 80)}" to hand over to.${guess} ${known}` };
  }
  if (typeof message !== "string" || message.trim() === "") {
    return { fits: false, problem: `"message" must say what the agent "${to}" is to do.` };
  }
  return { fits: true, to, message };
}

/**
 * The decision of a hook that changed the message of a handoff; nothing if no hook did. Written before the call is
 * answered, so that a process that continues the run hands over with this message and not with the model's.
 */
export function changedHandoff(callId: string, { to, message }: HandoffWords, decided: string): readonly Chunk[] {
  if (decided === message) return [];
  const reason = "A before-handoff hook changed the message.";
  const input = { to, message: decided };
  return [permissionItem({ callId, name: HANDOFF_TOOL, state: "allowed", by: "hook", reason, input })];
}

interface HandoffWords {
  readonly to: string;
  readonly message: string;
}
