import { checkNames, checkOptionNames, describeValue, StartError, type WarningDetail } from "#domain";
import { settleConflicts } from "./conflicts.ts";
import { fitJsonSchema } from "./cli-schema.ts";
import type { ClaudeCodeOptions, McpServerConfig } from "./options.ts";

/** How to build the arguments. */
export interface ArgvPlan {
  readonly mode: "plain" | "control";
  /**
   * The source of the prompt, in plain mode. `stdin`: its text is written there. `{ argument }`: it is the last
   * argument, after `--`. Absent: whole messages are written to stdin, as always in control mode.
   */
  readonly prompt?: "stdin" | { readonly argument: string };
  /** Control mode: whether the CLI asks us before it runs a tool. Default true. */
  readonly permissionPrompts?: boolean;
}

const PLAN_NAMES = ["mode", "prompt", "permissionPrompts"] satisfies (keyof ArgvPlan)[];

/** Checks a plan from an untrusted source. @throws StartError `invalid-option`. */
export function checkArgvPlan(plan: ArgvPlan): void {
  checkOptionNames(plan, PLAN_NAMES, "the plan of buildArgv");
  const { mode, prompt } = plan as { readonly mode: unknown; readonly prompt?: unknown };
  if (mode !== "plain" && mode !== "control") {
    throw new StartError("invalid-option", `plan.mode is ${describeValue(mode)}. Give "plain" or "control".`);
  }
  if (prompt === undefined || prompt === "stdin") return;
  if (typeof prompt === "object" && prompt !== null) checkNames(prompt, ["argument"], "plan.prompt.");
  if (typeof (prompt as { readonly argument?: unknown } | null)?.argument === "string") return;
  throw new StartError("invalid-option", `plan.prompt is ${describeValue(prompt)}. Give "stdin" or { argument }.`);
}

/** The arguments of one start of the CLI. */
export interface Argv {
  readonly args: readonly string[];
  readonly warnings: readonly WarningDetail[];
  /**
   * Texts too long for an argument, or too private, because every user can list processes. The launcher writes each to
   * a file that only its owner can read, and puts `flag`, `path` before `args`.
   */
  readonly files: readonly ArgvFile[];
}

/** A text that is passed to the CLI in a file, because it is too long or too private for the command line. */
export interface ArgvFile {
  readonly flag: string;
  readonly text: string;
}

/** Longer texts go into a file: Linux allows 131 071 bytes per argument, Windows 8 191 characters for all. */
const LONG_TEXT_BYTES = 32_768;
const LONGEST_ARGUMENT_BYTES = 131_071;

const ALL_SOURCES = ["user", "project", "local"] as const;

/**
 * Builds the argument list for the CLI. Pure; the options were checked before.
 *
 * No value can be read as a flag, and no list absorbs the argument after it: names never begin with `-`, a text that
 * does is joined to its flag by `=`, and the prompt follows `--`. The repository's own settings and tool servers are
 * left out unless `settingSources` names them.
 *
 * @example
 * buildArgv({ model: "sonnet" }, { mode: "plain", prompt: "stdin" }).args
 * // ["--print", "--output-format", "stream-json", "--verbose", "--model", "sonnet", "--setting-sources", "", …]
 */
export function buildArgv(given: ClaudeCodeOptions, plan: ArgvPlan): Argv {
  const { options, warnings } = settleConflicts(given);
  const args: string[] = ["--print", "--output-format", "stream-json", "--verbose"];
  const files: ArgvFile[] = [];
  const isControl = plan.mode === "control";
  if (isControl || plan.prompt === undefined) args.push("--input-format", "stream-json");
  if (options.includePartialMessages === true) args.push("--include-partial-messages");
  if (isControl && plan.permissionPrompts !== false) args.push("--permission-prompt-tool", "stdio");
  else if (options.permissionPromptTool !== undefined) {
    args.push("--permission-prompt-tool", options.permissionPromptTool);
  }
  writeModel(options, args);
  writePrompts(options, args, files);
  writeTools(options, args);
  writeServers(options, { isControl, args, files });
  writePermissionMode(options, args);
  writeSession(options, args);
  writeSettings(options, args, files);
  writeRest(options, args);
  if (!isControl && typeof plan.prompt === "object") args.push("--", plan.prompt.argument);
  refuseLongArguments(args);
  return { args, warnings, files };
}

function writeModel(options: ClaudeCodeOptions, args: string[]): void {
  if (options.model !== undefined) args.push("--model", options.model);
  if (options.fallbackModel !== undefined) args.push("--fallback-model", join(options.fallbackModel));
  if (options.maxTurns !== undefined) args.push("--max-turns", String(options.maxTurns));
  if (options.maxBudgetUsd !== undefined) args.push("--max-budget-usd", String(options.maxBudgetUsd));
  if (options.maxThinkingTokens !== undefined) args.push("--max-thinking-tokens", String(options.maxThinkingTokens));
  if (options.effort !== undefined) args.push("--effort", options.effort);
}

function writePrompts(
  { systemPrompt, appendSystemPrompt }: ClaudeCodeOptions,
  args: string[],
  files: ArgvFile[],
): void {
  if (systemPrompt !== undefined) writeText("--system-prompt", systemPrompt, args, files);
  if (appendSystemPrompt !== undefined) writeText("--append-system-prompt", appendSystemPrompt, args, files);
}

function writeText(flag: string, text: string, args: string[], files: ArgvFile[]): void {
  if (byteLength(text) > LONG_TEXT_BYTES) files.push({ flag: `${flag}-file`, text });
  else writeValue(flag, text, args);
}

function writeTools({ allowedTools, disallowedTools, tools }: ClaudeCodeOptions, args: string[]): void {
  if (allowedTools !== undefined && allowedTools.length > 0) args.push("--allowed-tools", allowedTools.join(","));
  if (disallowedTools !== undefined && disallowedTools.length > 0) {
    args.push("--disallowed-tools", disallowedTools.join(","));
  }
  if (tools !== undefined) writeValue("--tools", tools.join(","), args);
}

function writeServers(
  { mcpConfig, strictMcpConfig, settingSources }: ClaudeCodeOptions,
  place: { readonly isControl: boolean; readonly args: string[]; readonly files: ArgvFile[] },
): void {
  if (strictMcpConfig ?? (settingSources === undefined || settingSources.length === 0)) {
    place.args.push("--strict-mcp-config");
  }
  if (mcpConfig === undefined) return;
  if (typeof mcpConfig === "string") writeValue("--mcp-config", mcpConfig, place.args);
  else if (isPathList(mcpConfig)) for (const path of mcpConfig) writeValue("--mcp-config", path, place.args);
  else {
    // The CLI cannot start our own server, and can reach it only through the control channel.
    const servers = Object.entries(mcpConfig).filter(([, server]) => place.isControl || server.type !== "sdk");
    if (servers.length === 0) return;
    const text = JSON.stringify({ mcpServers: Object.fromEntries(servers) });
    const isPrivate = servers.some(([, server]) => "env" in server || "headers" in server);
    writeJson("--mcp-config", { text, isPrivate }, place);
  }
}

function writePermissionMode({ permissionMode }: ClaudeCodeOptions, args: string[]): void {
  if (permissionMode === undefined || permissionMode === "default") return;
  if (permissionMode === "bypassPermissions") args.push("--dangerously-skip-permissions");
  else args.push("--permission-mode", permissionMode);
}

function writeSession(options: ClaudeCodeOptions, args: string[]): void {
  if (options.resume !== undefined) args.push("--resume", options.resume);
  if (options.continue === true) args.push("--continue");
  if (options.forkSession === true) args.push("--fork-session");
  if (options.sessionId !== undefined) args.push("--session-id", options.sessionId);
  if (options.persistSession === false) args.push("--no-session-persistence");
}

function writeSettings({ settingSources, settings }: ClaudeCodeOptions, args: string[], files: ArgvFile[]): void {
  // Two arguments even if it is empty: versions before 2.1 look for the flag alone, and load everything without it.
  // Without the flag the CLI loads everything, so leaving it out also requests that from versions without the flag.
  if (!ALL_SOURCES.every((source) => settingSources?.includes(source) === true)) {
    args.push("--setting-sources", (settingSources ?? []).join(","));
  }
  if (typeof settings === "string") writeValue("--settings", settings, args);
  else if (settings !== undefined) {
    writeJson("--settings", { text: JSON.stringify(settings), isPrivate: "env" in settings }, { args, files });
  }
}

function writeRest(options: ClaudeCodeOptions, args: string[]): void {
  for (const folder of options.addDirs ?? []) writeValue("--add-dir", folder, args);
  for (const folder of options.pluginDirs ?? []) writeValue("--plugin-dir", folder, args);
  if (options.agents !== undefined && Object.keys(options.agents).length > 0) {
    args.push("--agents", JSON.stringify(options.agents));
  }
  if (options.agent !== undefined) args.push("--agent", options.agent);
  if (options.jsonSchema !== undefined) args.push("--json-schema", JSON.stringify(fitJsonSchema(options.jsonSchema)));
  if (options.betas !== undefined && options.betas.length > 0) args.push("--betas", options.betas.join(","));
  if (options.includeHookEvents === true) args.push("--include-hook-events");
  for (const [flag, value] of Object.entries(options.extraArgs ?? {})) {
    args.push(value === null ? `--${flag}` : `--${flag}=${value}`);
  }
}

/** A value that could be read as a flag, or is empty, is joined to its flag. */
function writeValue(flag: string, value: string, args: string[]): void {
  if (value === "" || value.startsWith("-")) args.push(`${flag}=${value}`);
  else args.push(flag, value);
}

function writeJson(
  flag: string,
  { text, isPrivate }: { readonly text: string; readonly isPrivate: boolean },
  { args, files }: { readonly args: string[]; readonly files: ArgvFile[] },
): void {
  if (isPrivate || byteLength(text) > LONG_TEXT_BYTES) files.push({ flag, text });
  else args.push(flag, text);
}

function refuseLongArguments(args: readonly string[]): void {
  for (const [index, argument] of args.entries()) {
    if (argument.length * 3 <= LONGEST_ARGUMENT_BYTES || byteLength(argument) <= LONGEST_ARGUMENT_BYTES) continue;
    const flag = args[index - 1] ?? "";
    throw new StartError(
      "invalid-option",
      `The value of ${flag === "--" ? "the prompt" : flag} has ${byteLength(argument)} bytes; an argument holds ${LONGEST_ARGUMENT_BYTES}. ` +
        (flag === "--" ? "Send it by stdin." : "Make it shorter, or give it in a file."),
    );
  }
}

function join(names: string | readonly string[]): string {
  return typeof names === "string" ? names : names.join(",");
}

function isPathList(
  config: readonly string[] | Readonly<Record<string, McpServerConfig>>,
): config is readonly string[] {
  return Array.isArray(config);
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
