import type { JsonRecord } from "#wire";
import type { AgentFeature } from "../../backend.ts";
import { hookRegistration } from "./hooks.ts";
import { TOOL_SERVER } from "./own-tools.ts";

/** Features for which our policy must see the tools that the CLI runs. */
const WATCHING: readonly AgentFeature[] = ["hooks", "permission", "permission-rules", "guards"];

/** Whether our policy checks every tool call of the conversation. */
export function watchesTools(features: readonly string[]): boolean {
  return WATCHING.some((feature) => features.includes(feature));
}

/** Whether a permission that the CLI's own rules demand can be answered. */
export function asksForPermission(features: readonly string[]): boolean {
  return features.includes("permission") || features.includes("permission-rules");
}

/** The first request of a conversation. */
export function initializeRequest(wanted: {
  readonly features: readonly string[];
  readonly hasTools: boolean;
}): JsonRecord {
  const hooks = hookRegistration({
    tools: watchesTools(wanted.features),
    stop: wanted.features.includes("hooks"),
  });
  return {
    subtype: "initialize",
    ...(Object.keys(hooks).length > 0 && { hooks }),
    ...(wanted.hasTools && { sdkMcpServers: [TOOL_SERVER] }),
  };
}
