import type { RoutedFeature } from "./features.ts";

/** The chosen mode of a run, with the reasons. */
export interface Route {
  readonly mode: "plain" | "control";
  /** Whether a required feature needs the control protocol, whatever mode was chosen. */
  readonly requiresControl: boolean;
  readonly override: "plain" | "control" | undefined;
  /** The reasons, one sentence each. */
  readonly reasons: readonly string[];
  /** Features that this route ignores. One warning each, or a refusal with `strict`. */
  readonly ignored: readonly RoutedFeature[];
}

interface Need {
  /** It requires control mode. */
  readonly control: boolean;
  /** Plain mode supports it as well, so that forcing plain mode loses nothing. */
  readonly plain: boolean;
  readonly why: string;
}

const NEEDS: { readonly [Name in Exclude<RoutedFeature, `permission-mode:${string}`>]: Need } = {
  hooks: { control: true, plain: false, why: "hooks are called over the control channel" },
  "in-process-mcp": {
    control: true,
    plain: false,
    why: "tool servers of this process are reached over the control channel",
  },
  tools: { control: true, plain: false, why: "tools of this process are called over the control channel" },
  permission: { control: true, plain: false, why: "permission questions are asked over the control channel" },
  "permission-rules": { control: true, plain: false, why: "permission rules are applied over the control channel" },
  guards: { control: true, plain: false, why: "guards see the agent's tool calls over the control channel" },
  agents: { control: true, plain: true, why: "agents can be switched over the control channel" },
  output: { control: false, plain: true, why: "an output schema is an argument of the agent" },
  "unsaved-session": {
    control: true,
    plain: false,
    why: "a session that is written nowhere lives in one process, and plain mode takes one for each message",
  },
  session: { control: false, plain: true, why: "a session sends one message after the other on stdin" },
};

const MODE_NEED: Need = {
  control: true,
  plain: true,
  why: "the permission mode can be changed over the control channel",
};

/**
 * Whether any of these features needs the control protocol.
 *
 * @example
 * requiresControl(["hooks"]) // true
 * requiresControl([]) // false
 */
export function requiresControl(features: readonly RoutedFeature[]): boolean {
  return features.some((feature) => needOf(feature).control);
}

/**
 * Chooses the mode: the override if there is one, else control if a feature needs it, else plain. Pure and
 * deterministic.
 *
 * @example
 * route(["hooks"]).mode // "control"
 * route(["hooks"], "plain").ignored // ["hooks"]
 */
export function route(features: readonly RoutedFeature[], override?: "auto" | "plain" | "control" | null): Route {
  const forced = override === "plain" || override === "control" ? override : undefined;
  const needing = features.filter((feature) => needOf(feature).control);
  const mode = forced ?? (needing.length > 0 ? "control" : "plain");
  const ignored = mode === "plain" ? features.filter((feature) => !needOf(feature).plain) : [];
  return { mode, requiresControl: needing.length > 0, override: forced, reasons: listReasons(), ignored };

  function listReasons(): readonly string[] {
    const reasons = needing.map((feature) => `${feature}: ${needOf(feature).why}`);
    if (forced === undefined) {
      return reasons.length > 0 ? reasons : ["nothing that was asked for needs the control protocol"];
    }
    const kept = needing.filter((feature) => needOf(feature).plain);
    const loss = forced === "plain" ? kept.map((feature) => `${feature}: plain mode carries it as an argument`) : [];
    return [`mode "${forced}" was asked for`, ...(forced === "plain" ? loss : reasons)];
  }
}

function needOf(feature: RoutedFeature): Need {
  return Object.hasOwn(NEEDS, feature) ? NEEDS[feature as keyof typeof NEEDS] : MODE_NEED;
}
