/** The answer to a permission question. */
export type Decision =
  | { readonly allow: true; readonly input?: unknown }
  | { readonly allow: false; readonly reason?: string };

/** What a permission callback is asked. */
export interface PermissionRequest {
  readonly callId: string;
  readonly name: string;
  /** The final arguments: hooks have already changed what they change. A copy. */
  readonly input: unknown;
  readonly agent: string | undefined;
  readonly runId: string;
  readonly context: unknown;
  /** Why it is asked, when a rule or a hook wants a person to decide. */
  readonly reason: string | undefined;
  /** Fires when the run is aborted, or when the time for the answer is up. */
  readonly signal: AbortSignal;
}

/**
 * Decides whether a tool call may run. `"ask"` leaves it to `run.answer`. One that throws, answers nonsense, or is not
 * done within `limits.permissionMs` (60 seconds unless set) denies, with the warning `permission-failed`. One that asks a
 * person has no time limit once it is marked with `waitForPerson`.
 *
 * @example
 * const permission: PermissionCallback = ({ name }) => (name === "refund" ? "ask" : { allow: true })
 */
export type PermissionCallback = (request: PermissionRequest) => Decision | "ask" | Promise<Decision | "ask">;

/**
 * Rules by tool name, with an optional pattern for the arguments: `"Bash"`, `"Bash(git *)"`, `"mcp__*"`.
 * Deny wins over ask, ask over allow. `otherwise` is for calls that no rule is about.
 *
 * A pattern is held against what the call is about: `command`, `file_path`, `path`, `url` or `query`, else the only
 * text, else everything as JSON. In commands a rule that denies or asks finds what is joined with others, quoted or
 * hidden behind `sudo` and the like; one that allows allows nothing but commands it covers, each of them.
 *
 * @example
 * const rules: PermissionRules = { allow: ["Bash(git *)"], deny: ["Bash(git push *)"], ask: ["mcp__*"] }
 */
export interface PermissionRules {
  /** Calls that run without asking. With such a list, others are asked. */
  readonly allow?: readonly string[];
  /** Calls that never run. A denial wins over everything. */
  readonly deny?: readonly string[];
  /** Calls that somebody has to allow first. */
  readonly ask?: readonly string[];
  /**
   * What happens to calls that no rule is about and no hook allows. `"allow"`: they run, unless a callback decides
   * otherwise. `"ask"`: the callback or a person decides; where nobody can answer, they are denied. `"deny"`: they do not
   * run, and nobody is asked. Default: `"ask"` with an allow list, `"allow"` without one. Of several sets of rules the
   * strictest holds.
   */
  readonly otherwise?: Otherwise;
}

/** What happens to calls that no rule is about. */
export type Otherwise = "allow" | "ask" | "deny";
