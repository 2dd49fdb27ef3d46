import type { AgentFeature, AgentSettings } from "../backend.ts";

/** A feature that a caller requires, by its name in explanations. */
export type RoutedFeature = AgentFeature | "in-process-mcp" | "unsaved-session" | `permission-mode:${string}`;

/** The backend's own options that a route depends on. `null` means not set. */
export interface RoutingOptions {
  readonly hooks?: Readonly<Record<string, readonly unknown[] | null | undefined>> | null | undefined;
  readonly tools?: readonly unknown[] | null | undefined;
  /** The permission callback. */
  readonly permission?: unknown;
  readonly agents?: Readonly<Record<string, unknown>> | null | undefined;
  /** Tool servers by name; one of type `sdk` runs in this process. Files and JSON texts name only external ones. */
  readonly mcpConfig?: string | readonly string[] | Readonly<Record<string, unknown>> | null | undefined;
  readonly permissionMode?: string | null | undefined;
  /** `false`: the session is not saved, so no second process can continue it. */
  readonly persistSession?: boolean | null | undefined;
  readonly includePartialMessages?: boolean | null | undefined;
}

/** The order in which features are listed. */
const ORDER = [
  "hooks",
  "in-process-mcp",
  "tools",
  "permission",
  "permission-rules",
  "guards",
  "agents",
  "output",
  "session",
  "unsaved-session",
] as const satisfies readonly RoutedFeature[];

/**
 * The required features, from the settings of the conversation and the backend's own options. Empty lists and maps
 * require nothing. Pure; never throws.
 *
 * @example
 * detectFeatures({ features: ["hooks"] }) // ["hooks"]
 */
export function detectFeatures(
  settings: Partial<Pick<AgentSettings, "features" | "tools" | "outputSchema">> | undefined,
  options: RoutingOptions = {},
): readonly RoutedFeature[] {
  const found = new Set<RoutedFeature>(settings?.features ?? []);
  if (hasHooks(options.hooks)) found.add("hooks");
  if (hasOwnServer(options.mcpConfig)) found.add("in-process-mcp");
  if ((settings?.tools?.length ?? 0) > 0) found.add("tools");
  if (typeof options.permission === "function") found.add("permission");
  if (hasKeys(options.agents)) found.add("agents");
  if (settings?.outputSchema !== undefined) found.add("output");
  // An answer that does not fit its schema is sent back, which also needs a second message.
  const sendsAgain = found.has("session") || found.has("output");
  if (options.persistSession === false && sendsAgain) found.add("unsaved-session");
  const features: RoutedFeature[] = ORDER.filter((feature) => found.has(feature));
  const mode = options.permissionMode;
  if (typeof mode === "string" && mode !== "" && mode !== "default") features.push(`permission-mode:${mode}`);
  return features;
}

/** A point without hooks does not count. */
function hasHooks(hooks: RoutingOptions["hooks"]): boolean {
  return isObject(hooks) && Object.values(hooks).some((entries) => Array.isArray(entries) && entries.length > 0);
}

function hasOwnServer(servers: RoutingOptions["mcpConfig"]): boolean {
  if (!isObject(servers) || Array.isArray(servers)) return false;
  return Object.values(servers).some((server) => isObject(server) && (server as { type?: unknown }).type === "sdk");
}

function hasKeys(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length > 0;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
