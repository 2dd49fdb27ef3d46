import { anObject, type Check, checkInput, checkNames, type Spawn } from "#domain";
import { OPTION_CHECKS } from "./option-checks.ts";
import type { Effort, PermissionMode, SettingSource } from "./option-words.ts";

export type { Effort, PermissionMode, SettingSource } from "./option-words.ts";

/**
 * A tool server as the CLI knows it. One of type `sdk` is ours: it runs in this process, and the CLI reaches it over
 * the control channel.
 */
export type McpServerConfig =
  | {
      readonly type?: "stdio";
      readonly command: string;
      readonly args?: readonly string[];
      readonly env?: Readonly<Record<string, string>>;
    }
  | { readonly type: "http" | "sse"; readonly url: string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly type: "sdk"; readonly name: string };

/** An agent the CLI can run inside itself. */
export interface SubagentDefinition {
  readonly description: string;
  readonly prompt: string;
  readonly tools?: readonly string[];
  readonly model?: string;
}

/**
 * Everything a caller may set for the Claude Code CLI. What is left out is the CLI's own default, except where a field
 * says otherwise: settings of the repository, and tool servers nobody named, are not loaded unless asked for.
 *
 * @example
 * const options: ClaudeCodeOptions = { model: "sonnet", permissionMode: "plan", disallowedTools: ["Bash(rm *)"] }
 */
export interface ClaudeCodeOptions {
  /** An alias (`sonnet`) or a full name. */
  readonly model?: string;
  /** Tried in this order when the model is overloaded. */
  readonly fallbackModel?: string | readonly string[];
  /** Replies of the model before the CLI stops. */
  readonly maxTurns?: number;
  /** What the CLI may spend, in dollars. */
  readonly maxBudgetUsd?: number;
  /** Tokens for thinking before an answer. */
  readonly maxThinkingTokens?: number;
  /** How hard the model is to try. */
  readonly effort?: Effort;
  /** Replaces the CLI's own system prompt. Wins over `appendSystemPrompt`. */
  readonly systemPrompt?: string;
  /** Added to the CLI's own system prompt. */
  readonly appendSystemPrompt?: string;
  /** Tools that run without asking: `Read`, `Bash(git *)`. */
  readonly allowedTools?: readonly string[];
  /** Tools that never run. A denial wins over everything. */
  readonly disallowedTools?: readonly string[];
  /**
   * What becomes of the two lists when both are given. `both` (default): both reach the CLI. `allow-first`: the allow
   * list alone, with a warning that names what is no longer denied.
   */
  readonly toolFilter?: "both" | "allow-first";
  /** The CLI's own tools, exactly these; `[]` for none. */
  readonly tools?: readonly string[];
  /** Tool servers by name, or one or several files (or JSON texts) in the CLI's own notation. */
  readonly mcpConfig?: string | readonly string[] | Readonly<Record<string, McpServerConfig>>;
  /** Only the servers of `mcpConfig`. Default: true, unless `settingSources` names a source. */
  readonly strictMcpConfig?: boolean;
  /** How the CLI treats tool calls that no rule is about. */
  readonly permissionMode?: PermissionMode;
  /** A tool of one of the servers that is asked for permissions, in plain mode. */
  readonly permissionPromptTool?: string;
  /** Go on with this session. Wins over `continue`. */
  readonly resume?: string;
  /** Go on with the newest session of the working folder. */
  readonly continue?: boolean;
  /** Go on under a new session id. */
  readonly forkSession?: boolean;
  /** The id of the new session, a UUID. */
  readonly sessionId?: string;
  /** `false`: the session is not written to disk and cannot be resumed. */
  readonly persistSession?: boolean;
  /** The working folder. `""` and nothing mean ours. */
  readonly cwd?: string;
  /** Further folders that the CLI may read and write. */
  readonly addDirs?: readonly string[];
  /** Variables for the CLI beside the allowed ones. */
  readonly env?: Readonly<Record<string, string>>;
  /** A name to look for in PATH, or a path. Default `claude`. */
  readonly executable?: string;
  /** How the CLI is spoken to. Default `auto`: as plainly as what is asked for allows. */
  readonly mode?: "auto" | "plain" | "control";
  /**
   * Files that a prompt names as `@path` are read by the CLI and sent to the model. Default false: a prompt may hold
   * anybody's text. With `true` each path is judged as `Read(path)` by the policy of the run before anything is sent.
   * The CLI's own reminders, such as its text about plan mode and its list of skills, come and go with them.
   */
  readonly attachments?: boolean;
  /** A prompt that begins with `/` is a command of the CLI (`/compact`). Default false: it is text like any other. */
  readonly slashCommands?: boolean;
  /** Git runs the hooks, filters and other commands that the repository itself names. Default false. */
  readonly repositoryGit?: boolean;
  /** Default none: a repository's settings may redirect the key and run commands. */
  readonly settingSources?: readonly SettingSource[];
  /** A settings file, or the settings themselves. They come from you, so they are always loaded. */
  readonly settings?: string | Readonly<Record<string, unknown>>;
  /** Deltas while a message is being written. Runs set it; messages alone come without. */
  readonly includePartialMessages?: boolean;
  /** Also give events for the CLI's own hooks, as notices. */
  readonly includeHookEvents?: boolean;
  /** Sub-agents of the CLI, by name. */
  readonly agents?: Readonly<Record<string, SubagentDefinition>>;
  /** The agent that answers: one of `agents`, or of the CLI's own. */
  readonly agent?: string;
  /** The final answer is a value of this JSON Schema. */
  readonly jsonSchema?: Readonly<Record<string, unknown>>;
  /** Beta headers for Anthropic's API. */
  readonly betas?: readonly string[];
  /** Folders with plugins of the CLI to load. */
  readonly pluginDirs?: readonly string[];
  /** `--name` or `--name=value` for everything not listed here; `null` for a flag without a value. */
  readonly extraArgs?: Readonly<Record<string, string | null>>;
  /** Start without asking the CLI for its version. */
  readonly skipVersionCheck?: boolean;
  /** Go on, with a warning, when the version cannot be had or read. */
  readonly permissiveVersionCheck?: boolean;
  /** A non-zero exit behind a successful result is an error. Default: a warning. */
  readonly strictExitStatus?: boolean;
  /**
   * What becomes of shells that Claude Code has left running when a run ends. Default `false`: they are stopped. `true`:
   * they are left alone until they end; `run.closed` waits for them, and `run.abort()` or `session.close()` stops them.
   */
  readonly keepBackground?: boolean;
  /** How many bytes one line of the CLI may have; a longer one ends the stream with `buffer-overflow`. Default 10 485 760. */
  readonly maxLineBytes?: number;
  /**
   * Called with each line that the CLI writes to stderr while it works, without its end; secrets in it are covered. What
   * it throws is ignored. Without it, stderr is shown only in the `diagnostic` of a run that fails.
   */
  readonly stderr?: (line: string) => void;
  /**
   * Starts the CLI in place of Node: in a container, on another machine, or by a script in tests. `executable` (default
   * `claude`) is then a name for it and not looked for here, and what it starts is ended by its handle alone.
   */
  readonly spawn?: Spawn;
  /** A second process that ends what the CLI started when this one dies suddenly. Default true. */
  readonly watchdog?: boolean;
}

// An option without a check would not be an option; this does not compile then.
const CHECKS: { readonly [Field in keyof Required<ClaudeCodeOptions>]: Check } = OPTION_CHECKS;

/**
 * Checks options that may come from anywhere, and returns a copy without what was left unset (`undefined`, `null`).
 *
 * Throws `StartError` (`invalid-option`) with the field, the value and the remedy; a field nobody knows is named with
 * the nearest one that exists. `besides` are names that somebody else checks; they are left out of the copy.
 */
export function checkClaudeCodeOptions(options: unknown, besides: readonly string[] = []): ClaudeCodeOptions {
  if (options === undefined || options === null) return {};
  checkInput(anObject, options, "claudeCode");
  const checked: Record<string, unknown> = {};
  checkNames(options, [...Object.keys(CHECKS), ...besides], "claudeCode.");
  for (const [field, value] of Object.entries(options)) {
    if (value === undefined || value === null || besides.includes(field)) continue;
    checkInput(CHECKS[field as keyof ClaudeCodeOptions], value, `claudeCode.${field}`);
    checked[field] = value;
  }
  return checked;
}
