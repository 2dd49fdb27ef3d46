/** The answer to a permission question. */
export type Decision =
  | { readonly allow: true; readonly input?: unknown }
  | { readonly allow: false; readonly reason?: string };

/** What a permission callback receives. */
export interface PermissionRequest {
  readonly callId: string;
  readonly name: string;
  /** A copy of the final arguments: hooks have already changed what they wanted to change. */
  readonly input: unknown;
  readonly agent: string | undefined;
  readonly runId: string;
  readonly context: unknown;
  /** The reason for the question, when a rule or a hook requires a person to decide. */
  readonly reason: string | undefined;
  /** Fires when the run is aborted or the time limit is reached. */
  readonly signal: AbortSignal;
}

/**
 * Decides whether a tool call may run. `"ask"` leaves the decision to `run.answer`. A callback that throws, gives an
 * invalid answer, or does not answer within `limits.permissionMs` (default: 60 seconds) denies, with the warning
 * `permission-failed`. A callback that asks a person has no time limit if it is marked with `waitForPerson`.
 *
 * @example
 * const permission: PermissionCallback = ({ name }) => (name === "refund" ? "ask" : { allow: true })
 */
export type PermissionCallback = (request: PermissionRequest) => Decision | "ask" | Promise<Decision | "ask">;

/**
 * Rules by tool name, with an optional pattern for the arguments: `"Bash"`, `"Bash(git *)"`, `"mcp__*"`. Deny wins over
 * ask, ask over allow. `otherwise` applies to calls that no rule is about.
 *
 * A pattern is matched against what the call is about: `command`, `file_path`, `path`, `url` or `query`; if there is
 * none of these, the only text argument; otherwise all arguments as JSON. In commands, a rule that denies or asks also
 * finds a command that is joined with others, quoted, or run through `sudo` and the like. A rule that allows only
 * allows a text in which every single command is covered.
 *
 * @example
 * const rules: PermissionRules = { allow: ["Bash(git *)"], deny: ["Bash(git push *)"], ask: ["mcp__*"] }
 */
export interface PermissionRules {
  /** Calls that run without asking. If this list is given, other calls are asked about. */
  readonly allow?: readonly string[];
  /** Calls that never run. A denial wins over everything. */
  readonly deny?: readonly string[];
  /** Calls that need approval first. */
  readonly ask?: readonly string[];
  /**
   * What happens to calls that no rule is about and no hook allows. `"allow"`: they run, unless a callback decides
   * otherwise. `"ask"`: the callback or a person decides; without either, they are denied. `"deny"`: they do not run,
   * without a question. Default: `"ask"` with an allow list, `"allow"` without one. If several sets of rules apply, the
   * strictest wins.
   */
  readonly otherwise?: Otherwise;
}

/** What happens to calls that no rule is about. */
export type Otherwise = "allow" | "ask" | "deny";
