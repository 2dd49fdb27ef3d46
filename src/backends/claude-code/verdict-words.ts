import type { ChunkOf, ResultItem } from "#domain";
import { endSentence } from "./attachments.ts";
import type { ClaudeCodeOptions } from "./options.ts";

/** The CLI's messages about a missing session, and our replacement with the meaning and the remedy. */
const SENTENCES: readonly (readonly [RegExp, (name: string) => string])[] = [
  [
    /^No conversation found with session ID: (\S{1,200})/,
    (id) =>
      `Claude Code has no session ${id} for this folder; it keeps sessions by folder. Check the id and the folder, or leave session.resume out.`,
  ],
  [
    /--resume requires a valid session ID[^]{0,400}Provided value "([^"]{0,200})"/,
    (name) =>
      `Claude Code has no session with the id or the title "${name}". Give session.resume the session id of an earlier run in this folder, or leave it out.`,
  ],
  [
    /^No conversation found to continue/,
    () => "There is no earlier session of Claude Code in this folder to continue. Leave session.continue out.",
  ],
];

/** The limits that the CLI enforces, by the subtype of their end. */
const LIMITS: Readonly<Record<string, (options: ClaudeCodeOptions) => string | undefined>> = {
  error_max_turns: ({ maxTurns }) =>
    maxTurns === undefined
      ? undefined
      : `The run reached claudeCode.maxTurns (${maxTurns}). Raise it, or give the agent less to do in one run.`,
  error_max_budget_usd: ({ maxBudgetUsd }) =>
    maxBudgetUsd === undefined
      ? undefined
      : `The run reached claudeCode.maxBudgetUsd ($${maxBudgetUsd}). Raise it, or use a cheaper model.`,
};

/** The CLI's messages about a refused key or a missing login: its own remedy, `/login`, cannot be typed here. */
const NOT_LOGGED_IN = /^(?:Failed to authenticate|Not logged in|Invalid API key|OAuth token (?:has expired|revoked))/i;
const LOG_IN = "Check ANTHROPIC_API_KEY, or run claude in a terminal and log in.";

/** Adds a remedy to a failed verdict if the CLI's own message has none. */
export function explainVerdict(chunk: ChunkOf<ResultItem>, options: ClaudeCodeOptions): ChunkOf<ResultItem> {
  if (!chunk.isError) return chunk;
  const limit = Object.hasOwn(LIMITS, chunk.subtype) ? LIMITS[chunk.subtype]?.(options) : undefined;
  if (limit !== undefined) return { ...chunk, message: limit };
  const said = chunk.message;
  if (said === undefined) return chunk;
  for (const [pattern, write] of SENTENCES) {
    const found = pattern.exec(said);
    if (found !== null) return { ...chunk, message: write(found[1] ?? "") };
  }
  if (NOT_LOGGED_IN.test(said)) return { ...chunk, message: `${endSentence(said)} ${LOG_IN}` };
  return chunk;
}
