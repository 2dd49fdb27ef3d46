import {
  type ChunkOf,
  type Chunk,
  type ErrorItem,
  errorItem,
  noticeItem,
  present,
  REPLY_BYTES,
  type WarningDetail,
  warningItem,
} from "#domain";
import { lineBytesFor } from "#dialects";
import type { Tool } from "#tools";
import type { AgentConversation, AgentSettings, Resume } from "../../backend.ts";
import type { FoundCli } from "../find-cli.ts";
import type { ClaudeCodeWorld } from "../world.ts";
import type { ClaudeCodeOptions } from "../options.ts";
import { TOOL_SERVER } from "../control/own-tools.ts";

/** Silence of the CLI during a turn: when a notice is emitted, and when the turn is over (C5). */
export const SILENCE = { noticeMs: 60_000, limitMs: 300_000 } as const;

/**
 * A conversation with Claude Code. The agent that answers is one of the option `agents`, or one of the CLI's own; the
 * tool servers are those of `mcpConfig` and of the settings, and are reported in control mode only.
 */
export type ClaudeCodeConversation = Required<AgentConversation>;

/** The settings of a conversation, decided before its first turn. */
export interface ConversationPlan {
  readonly cli: FoundCli;
  readonly options: ClaudeCodeOptions;
  readonly tools: readonly Tool[];
  /** The requested features, by name. */
  readonly features: readonly string[];
  /** Emitted before anything else. */
  readonly warnings: readonly WarningDetail[];
  readonly idleMs: number;
  /** Each chunk keeps the frame it was read from. */
  readonly keepRaw: boolean;
  readonly world: ClaudeCodeWorld;
  /** The session that was to be continued and is gone. */
  readonly lostSession?: string | undefined;
  /** The message after which the resumed session continues. */
  readonly resumeAt?: string | undefined;
}

/** The warnings and notices before the first turn. */
export function firstWords({ warnings, lostSession }: ConversationPlan): readonly Chunk[] {
  const words: Chunk[] = warnings.map(warningItem);
  if (lostSession === undefined) return words;
  const message = `The session ${lostSession} is no longer saved. Its messages were sent to a new session.`;
  return [...words, noticeItem("session-lost", { sessionId: lostSession, message })];
}

/** Merges the backend's options with the conversation's settings, which win because they are more specific. */
export function mergeSettings(options: ClaudeCodeOptions, settings: AgentSettings): ClaudeCodeOptions {
  const { outputSchema, turns, costUsd, cwd, resume, tools, thinkingTokens, fallbackModels = [] } = settings;
  const env = { ...variablesFor(settings), ...settings.env };
  return {
    includePartialMessages: true,
    ...options,
    ...instructionsOf(options, [planInstructions(options), settings.instructions]),
    ...present({
      jsonSchema: outputSchema,
      maxTurns: turns,
      maxBudgetUsd: costUsd,
      cwd,
      maxThinkingTokens: thinkingTokens,
      maxLineBytes: options.maxLineBytes ?? linesOf(settings.replyBytes),
    }),
    ...(fallbackModels.length > 0 && { fallbackModel: fallbackModels }),
    ...(Object.keys(env).length > 0 && { env: { ...options.env, ...env } }),
    ...(resume !== undefined && resumeOptions(resume)),
    // Our policy decides whether they may run; the CLI must not ask as well.
    ...(tools.length > 0 && { allowedTools: [...(options.allowedTools ?? []), `mcp__${TOOL_SERVER}`] }),
  };
}

/** The CLI repeats a reply on one line, so a limit above the default lets lines be longer, too. */
function linesOf(replyBytes = REPLY_BYTES): number | undefined {
  return replyBytes > REPLY_BYTES ? lineBytesFor(replyBytes) : undefined;
}

/** Settings that the CLI reads only from variables. */
function variablesFor({ maxTokens, attempts }: AgentSettings): Record<string, string> {
  return {
    ...(maxTokens !== undefined && { CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(maxTokens) }),
    ...(attempts !== undefined && { CLAUDE_CODE_MAX_RETRIES: String(attempts - 1) }),
  };
}

function instructionsOf(options: ClaudeCodeOptions, given: readonly (string | undefined)[]): ClaudeCodeOptions {
  const instructions = given.filter((text) => text !== undefined);
  if (instructions.length === 0) return {};
  const { systemPrompt, appendSystemPrompt } = options;
  if (systemPrompt !== undefined) return { systemPrompt: [systemPrompt, ...instructions].join("\n\n") };
  const before = appendSystemPrompt === undefined ? [] : [appendSystemPrompt];
  return { appendSystemPrompt: [...before, ...instructions].join("\n\n") };
}

/** The CLI describes plan mode to its model in an attachment; without attachments, these instructions do it. */
function planInstructions({ permissionMode, attachments }: ClaudeCodeOptions): string | undefined {
  if (permissionMode !== "plan" || attachments === true) return undefined;
  return "Plan mode is on. Read and think, but change nothing: edit no files, and run no command that changes anything. Answer with a plan.";
}

function resumeOptions(resume: Resume): ClaudeCodeOptions {
  const fork = resume.fork ? { forkSession: true } : {};
  return resume.kind === "resume" ? { resume: resume.sessionId, ...fork } : { continue: true, ...fork };
}

/** The flag that resumes a session after one of its messages. Later messages of the session are forgotten. */
const RESUME_AT = "resume-session-at";

/** The options for a process that continues a session of this conversation: from its end, or from this message. */
export function resuming(options: ClaudeCodeOptions, sessionId: string, at?: string): ClaudeCodeOptions {
  const { continue: _continue, forkSession: _fork, sessionId: _id, extraArgs = {}, ...rest } = options;
  const { [RESUME_AT]: _at, ...others } = extraArgs;
  return {
    ...rest,
    resume: sessionId,
    extraArgs: at === undefined ? others : { ...others, [RESUME_AT]: at },
  };
}

/** Whether the options name a session to continue. */
export function goesOn({ resume, continue: goOn }: ClaudeCodeOptions): boolean {
  return resume !== undefined || goOn === true;
}

/** The terminal error if a turn cannot begin now; `undefined` if it can. */
export function refuseTurn(isClosed: boolean, isBusy: boolean): ChunkOf<ErrorItem> | undefined {
  if (!isClosed && !isBusy) return undefined;
  const message = isClosed
    ? "The conversation is closed. Open another one."
    : "A turn is under way. Send the next message when it is over.";
  return errorItem({ code: "control-failed", message, terminal: true });
}
