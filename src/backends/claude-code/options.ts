import { anObject, type Check, checkInput, checkNames, type Spawn } from "#domain";
import { OPTION_CHECKS } from "./option-checks.ts";
import type { Effort, PermissionMode, SettingSource } from "./option-words.ts";

export type { Effort, PermissionMode, SettingSource } from "./option-words.ts";

/**
 * A tool server in the CLI's format. One of type `sdk` is ours: it runs in this process, and the CLI reaches it over
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

/** An agent that the CLI can run as a sub-agent. */
export interface SubagentDefinition {
  readonly description: string;
  readonly prompt: string;
  readonly tools?: readonly string[];
  readonly model?: string;
}

/**
 * All options for the Claude Code CLI. Absent options have the CLI's own default, unless stated otherwise: settings of
 * the repository, and tool servers that were not named, are not loaded by default.
 *
 * @example
 * const options: ClaudeCodeOptions = { model: "sonnet", permissionMode: "plan", disallowedTools: ["Bash(rm *)"] }
 */
export interface ClaudeCodeOptions {
  /** An alias (`sonnet`) or a full name. */
  readonly model?: string;
  /** Tried in this order if the model is overloaded. */
  readonly fallbackModel?: string | readonly string[];
  /** The maximum number of replies of the model. */
  readonly maxTurns?: number;
  /** The maximum cost in dollars. */
  readonly maxBudgetUsd?: number;
  /** Tokens for thinking before an answer. */
  readonly maxThinkingTokens?: number;
  /** The effort of the model. */
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
   * How the two lists are combined. `both` (default): both are passed to the CLI. `allow-first`: only the allow list,
   * with a warning that names what is no longer denied.
   */
  readonly toolFilter?: "both" | "allow-first";
  /** Exactly these of the CLI's own tools; `[]` for none. */
  readonly tools?: readonly string[];
  /** Tool servers by name, or one or several files (or JSON texts) in the CLI's own format. */
  readonly mcpConfig?: string | readonly string[] | Readonly<Record<string, McpServerConfig>>;
  /** Only the servers of `mcpConfig`. Default: true, unless `settingSources` names a source. */
  readonly strictMcpConfig?: boolean;
  /** How the CLI treats tool calls that no rule covers. */
  readonly permissionMode?: PermissionMode;
  /** A tool of one of the servers that decides about permissions, in plain mode. */
  readonly permissionPromptTool?: string;
  /** Continue this session. Wins over `continue`. */
  readonly resume?: string;
  /** Continue the newest session of the working folder. */
  readonly continue?: boolean;
  /** Continue under a new session id. */
  readonly forkSession?: boolean;
  /** The id of the new session, a UUID. */
  readonly sessionId?: string;
  /** `false`: the session is not written to disk and cannot be resumed. */
  readonly persistSession?: boolean;
  /** The working folder. Default, also for `""`: ours. */
  readonly cwd?: string;
  /** Additional folders that the CLI may read and write. */
  readonly addDirs?: readonly string[];
  /** Variables for the CLI in addition to the allowed ones. */
  readonly env?: Readonly<Record<string, string>>;
  /** A name to search in PATH, or a path. Default `claude`. */
  readonly executable?: string;
  /** How Millrace talks to the CLI. Default `auto`: `plain`, unless a feature needs `control`. */
  readonly mode?: "auto" | "plain" | "control";
  /**
   * The CLI reads files that a prompt names as `@path` and sends them to the model. Default false: a prompt may contain
   * untrusted text. With `true` the policy of the run checks each path as `Read(path)` before anything is sent. The
   * CLI's own reminders, such as its text about plan mode and its list of skills, are enabled and disabled with them.
   */
  readonly attachments?: boolean;
  /** A prompt that begins with `/` is a command of the CLI (`/compact`). Default false: it is plain text. */
  readonly slashCommands?: boolean;
  /** Git runs the hooks, filters and other commands that the repository itself names. Default false. */
  readonly repositoryGit?: boolean;
  /** Default none: a repository's settings may redirect the key and run commands. */
  readonly settingSources?: readonly SettingSource[];
  /** A settings file, or the settings themselves. The caller provides them, so they are always loaded. */
  readonly settings?: string | Readonly<Record<string, unknown>>;
  /** Emits deltas while a message is being written. Set by default for runs, not for `query`. */
  readonly includePartialMessages?: boolean;
  /** Also emit the CLI's own hooks, as notices. */
  readonly includeHookEvents?: boolean;
  /** Sub-agents of the CLI, by name. */
  readonly agents?: Readonly<Record<string, SubagentDefinition>>;
  /** The agent that answers: one of `agents`, or one of the CLI's own. */
  readonly agent?: string;
  /** The final answer must match this JSON Schema. */
  readonly jsonSchema?: Readonly<Record<string, unknown>>;
  /** Beta headers for Anthropic's API. */
  readonly betas?: readonly string[];
  /** Folders with plugins for the CLI. */
  readonly pluginDirs?: readonly string[];
  /** `--name` or `--name=value` for everything not listed here; `null` for a flag without a value. */
  readonly extraArgs?: Readonly<Record<string, string | null>>;
  /** Start without asking the CLI for its version. */
  readonly skipVersionCheck?: boolean;
  /** Continue, with a warning, if the version cannot be determined. */
  readonly permissiveVersionCheck?: boolean;
  /** A non-zero exit after a successful result is an error. Default: a warning. */
  readonly strictExitStatus?: boolean;
  /**
   * What happens to shells that Claude Code has left running when a run ends. Default `false`: they are stopped.
   * `true`: they continue until they end; `run.closed` waits for them, and `run.abort()` or `session.close()` stops
   * them.
   */
  readonly keepBackground?: boolean;
  /**
   * The maximum bytes of one line of the CLI; a longer one ends the stream with `buffer-overflow`. Default 10 485 760.
   */
  readonly maxLineBytes?: number;
  /**
   * Called with each line that the CLI writes to stderr, without its line end and with secrets hidden. Errors it throws
   * are ignored. Without it, stderr appears only in the `diagnostic` of a failed run.
   */
  readonly stderr?: (line: string) => void;
  /**
   * Starts the CLI instead of Node: in a container, on another machine, or with a script in tests. `executable`
   * (default `claude`) is then just a name and is not searched here, and what it starts is stopped through its handle
   * alone.
   */
  readonly spawn?: Spawn;
  /** A second process that ends what the CLI started if this one dies suddenly. Default true. */
  readonly watchdog?: boolean;
}

// Does not compile if an option lacks a check.
const CHECKS: { readonly [Field in keyof Required<ClaudeCodeOptions>]: Check } = OPTION_CHECKS;

/**
 * Checks options from an untrusted source, and returns a copy without unset ones (`undefined`, `null`).
 *
 * Throws `StartError` (`invalid-option`) with the field, the value and the remedy; for an unknown field it names the
 * nearest known one. `besides` are names that are checked elsewhere; the copy does not contain them. `of` is the function
 * whose own options they are; otherwise they are the option `claudeCode`.
 */
export function checkClaudeCodeOptions(
  options: unknown,
  besides: readonly string[] = [],
  of?: string,
): ClaudeCodeOptions {
  if (options === undefined || options === null) return {};
  checkInput(anObject, options, of === undefined ? "claudeCode" : `The options of ${of}`);
  const prefix = of === undefined ? "claudeCode." : "";
  const checked: Record<string, unknown> = {};
  checkNames(options, [...Object.keys(CHECKS), ...besides], of === undefined ? prefix : `option of ${of} called `);
  for (const [field, value] of Object.entries(options)) {
    if (value === undefined || value === null || besides.includes(field)) continue;
    checkInput(CHECKS[field as keyof ClaudeCodeOptions], value, prefix + field);
    checked[field] = value;
  }
  return checked;
}
