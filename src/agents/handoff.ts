import type { ToolSpec } from "#backends";
import { nearestName } from "#domain";

/** The tool an agent hands over with. No tool of a caller may have this name when there are handoffs. */
export const HANDOFF_TOOL = "handoff";

/** The tool as the model is told of it. */
export function handoffTool(targets: readonly string[]): ToolSpec {
  return {
    name: HANDOFF_TOOL,
    description: "Hand the conversation over to another agent, who goes on from your message. You will not hear back.",
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

/** A call of that tool as its model meant it, or what is wrong with it. */
export type HandoffCall =
  | { readonly fits: true; readonly to: string; readonly message: string }
  | { readonly fits: false; readonly problem: string };

/** Reads the arguments a model wrote. An unknown target is an error result, never a crash (S2-32). */
export function readHandoff(input: unknown, targets: readonly string[]): HandoffCall {
  const { to, message } = (typeof input === "object" && input !== null ? input : {}) as Record<string, unknown>;
  const known = `Known are: ${targets.join(", ")}.`;
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
