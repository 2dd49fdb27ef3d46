import type { WarningDetail } from "#domain";
import type { AgentSettings, Explanation } from "../backend.ts";
import { detectFeatures, type RoutingOptions } from "./features.ts";
import { route } from "./route.ts";

export interface ExplainRequest {
  /** The backend's name. */
  readonly backend: string;
  readonly settings: Partial<Pick<AgentSettings, "features" | "tools" | "outputSchema">> | undefined;
  readonly options?: RoutingOptions & { readonly mode?: "auto" | "plain" | "control" | null | undefined };
  /** Limitations of this platform, one sentence each. */
  readonly limits?: readonly string[];
}

/** The route with everything that led to it, as data and as text. Pure: nothing is started or looked up. */
export function explain({ backend, settings, options = {}, limits = [] }: ExplainRequest): Explanation {
  const features = detectFeatures(settings, options);
  const { mode, requiresControl, override, reasons, ignored } = route(features, options.mode);
  const text = [
    `Backend: ${backend}`,
    `Mode: ${mode}`,
    `Features: ${list(features)}`,
    `Needs the control protocol: ${requiresControl ? "yes" : "no"}`,
    `Override: ${override ?? "none"}`,
    ...reasons.map((reason) => `Reason: ${reason}`),
    ...(ignored.length > 0 ? [`Ignored: ${list(ignored)}`] : []),
    ...limits.map((limit) => `Limit: ${limit}`),
  ].join("\n");
  return { backend, mode, features, requiresControl, override, reasons, ignored, text };
}

/** One warning for each feature that the route ignores: a forced mode may lose features, but never silently. */
export function warnOfIgnored({ ignored, mode }: Explanation): readonly WarningDetail[] {
  return ignored.map((feature) => ({
    code: "feature-ignored",
    message:
      feature === "guards"
        ? `guards on tool calls and tool results are ignored in ${mode} mode; those on input and output still hold. Leave claudeCode.mode out to have them all.`
        : `${feature} is ignored in ${mode} mode. Leave claudeCode.mode out, or set it to "control", to have it.`,
    context: { feature },
  }));
}

function list(names: readonly string[]): string {
  return names.length === 0 ? "none" : names.join(", ");
}
