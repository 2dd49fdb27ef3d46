/**
 * The Claude Code CLI: as a backend for runs, and as a strict stream of its messages.
 *
 * @module
 */
import {
  createClaudeCodeBackend,
  type ClaudeCodeBackend,
  type ClaudeCodeBackendOptions,
} from "../backends/claude-code/backend.ts";
import { type Argv, type ArgvPlan, buildArgv as writeArgv, checkArgvPlan } from "../backends/claude-code/argv.ts";
import { checkClaudeCodeOptions, type ClaudeCodeOptions } from "../backends/claude-code/options.ts";
import { openQuery, type Query, type QueryOptions } from "../backends/claude-code/query.ts";
import { withOpenQuery } from "../backends/claude-code/collect.ts";
import { claudeCodeWorld } from "./claude-code-world.ts";
import { coverStartError, coverStartErrors } from "./run-secrets.ts";

export type { Argv, ArgvFile, ArgvPlan } from "../backends/claude-code/argv.ts";
export type { ClaudeCodeBackend, ClaudeCodeBackendOptions } from "../backends/claude-code/backend.ts";
export type { CliVersion } from "../backends/claude-code/cli-version.ts";
export { parseVersion, versionMeetsMinimum } from "../backends/claude-code/cli-version.ts";
export type { CollectedItems } from "../backends/claude-code/collect.ts";
export { collectItems, collectMessages, fold } from "../backends/claude-code/collect.ts";
export type { ClaudeCodeConversation } from "../backends/claude-code/conversation/plan.ts";
export type { ProcessExit, ProcessHandle, ProcessRequest, Spawn } from "#domain";
export type { ExitSeen } from "../backends/claude-code/diagnostics.ts";
export { diagnoseExit } from "../backends/claude-code/diagnostics.ts";
export type { PermissionMode, SettingSource } from "../backends/claude-code/option-words.ts";
export type { ClaudeCodeOptions, McpServerConfig, SubagentDefinition } from "../backends/claude-code/options.ts";
export type {
  ClaudeCodeMessage,
  ClaudeCodeMessageKind,
  ClaudeCodeMessageOf,
  UnlistedMessage,
} from "../backends/claude-code/messages/message.ts";
export { isMessageOf } from "../backends/claude-code/messages/message.ts";
export type { ContentBlock } from "../backends/claude-code/messages/conversation-messages.ts";
export type { Query, QueryItem, QueryOptions } from "../backends/claude-code/query.ts";
export type { RoutedFeature, RoutingOptions } from "../backends/routing/features.ts";
export { detectFeatures } from "../backends/routing/features.ts";
export type { Route } from "../backends/routing/route.ts";
export { requiresControl, route } from "../backends/routing/route.ts";

/**
 * The arguments with which the CLI is started, and warnings about options that exclude each other. Starts nothing.
 *
 * @throws StartError `invalid-option`.
 * @example
 * const { args } = buildArgv({ model: "sonnet" }, { mode: "plain" })
 */
export function buildArgv(options: ClaudeCodeOptions, plan: ArgvPlan): Argv {
  checkArgvPlan(plan);
  return writeArgv(checkClaudeCodeOptions(options), plan);
}

/**
 * The Claude Code CLI as a backend with typed options. The CLI is neither looked up nor started before a run needs it.
 *
 * @throws StartError `invalid-option`.
 * @example
 * import { run } from "millrace"
 * import { claudeCode } from "millrace/claude-code"
 *
 * const backend = claudeCode({ model: "sonnet", permissionMode: "plan" })
 * const { text } = await run(backend, "What does this repository do?").result()
 */
export function claudeCode(options: ClaudeCodeBackendOptions = {}): ClaudeCodeBackend {
  const world = claudeCodeWorld();
  return coverStartErrors(options, world, () => createClaudeCodeBackend(options, world));
}

/**
 * Asks the CLI one question and yields its own messages, one by one, with their exact bytes. Rejects with `StartError`
 * if the stream cannot be opened; after that, nothing throws.
 *
 * @example
 * const stream = await query("What is 25 + 17?", { timeoutMs: 60_000 })
 * for await (const item of stream) if (item.kind === "message") console.log(item.raw.json)
 */
export async function query(prompt: string, options: QueryOptions = {}): Promise<Query> {
  const world = claudeCodeWorld();
  try {
    return await openQuery(prompt, options, world);
  } catch (thrown) {
    throw coverStartError(thrown, options, world);
  }
}

/**
 * Asks one question, passes the stream to a function, and always closes it afterwards.
 *
 * @example
 * const { items } = await withQuery("What is 25 + 17?", {}, collectItems)
 */
export function withQuery<Value>(
  prompt: string,
  options: QueryOptions,
  use: (query: Query) => Value | Promise<Value>,
): Promise<Value> {
  return withOpenQuery(() => query(prompt, options), use);
}
