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
  /** Fires when the run is aborted. There is no time limit on a person. */
  readonly signal: AbortSignal;
}

/**
 * Decides whether a tool call may run. `"ask"` leaves it to `run.answer`. One that throws or answers nonsense denies.
 *
 * @example
 * const permission: PermissionCallback = ({ name }) => (name === "refund" ? "ask" : { allow: true })
 */
export type PermissionCallback = (request: PermissionRequest) => Decision | "ask" | Promise<Decision | "ask">;

/**
 * Rules by tool name, with an optional pattern for the arguments: `"Bash"`, `"Bash(git *)"`, `"mcp__*"`.
 * Deny wins over ask, ask over allow. A tool no rule names is allowed, unless a callback decides; one that is allowed
 * with certain arguments only is denied with others, unless a hook or a callback allows it.
 *
 * A pattern is held against what the call is about: `command`, `file_path`, `path`, `url` or `query`, else the only
 * text, else everything as JSON. In commands a rule that denies or asks finds what is joined with others, quoted or
 * hidden behind `sudo` and the like; one that allows allows nothing but commands it covers, each of them.
 *
 * @example
 * const rules: PermissionRules = { allow: ["Bash(git *)"], deny: ["Bash(git push *)"], ask: ["mcp__*"] }
 */
export interface PermissionRules {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly ask?: readonly string[];
}
