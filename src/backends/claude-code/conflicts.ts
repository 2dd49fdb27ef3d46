import type { WarningDetail } from "#domain";
import type { ClaudeCodeOptions } from "./options.ts";

/** Options without contradictions, and one warning for each that was dropped. */
export interface Settled {
  readonly options: ClaudeCodeOptions;
  readonly warnings: readonly WarningDetail[];
}

/**
 * Resolves options that exclude each other: the system prompt wins over an appended one, `resume` over `continue`, and
 * both over a session id chosen by the caller, unless the session is forked.
 */
export function settleConflicts(given: ClaudeCodeOptions): Settled {
  const warnings: WarningDetail[] = [];
  const lost = new Set<keyof ClaudeCodeOptions>();
  const drop = (loser: keyof ClaudeCodeOptions, because: string): void => {
    lost.add(loser);
    warnings.push({ code: "option-ignored", message: `${loser} is ignored: ${because}.`, context: { option: loser } });
  };
  if (given.systemPrompt !== undefined && given.appendSystemPrompt !== undefined) {
    drop("appendSystemPrompt", "systemPrompt replaces the whole prompt. Put the text into systemPrompt");
  }
  if (given.resume !== undefined && given.continue === true) {
    drop("continue", "resume names the session to go on with");
  }
  const goesOn = given.resume !== undefined || given.continue === true;
  if (given.forkSession === true && !goesOn) {
    drop("forkSession", "there is no session to fork. Set resume or continue as well");
  }
  if (given.sessionId !== undefined && goesOn && given.forkSession !== true) {
    drop("sessionId", "a session that goes on keeps its id. Set forkSession as well to give it a new one");
  }
  settleTools(given, drop, warnings);
  if (lost.size === 0) return { options: given, warnings };
  const kept = Object.entries(given).filter(([field]) => !lost.has(field as keyof ClaudeCodeOptions));
  return { options: Object.fromEntries(kept), warnings };
}

/** A denial is dropped only on explicit request. */
function settleTools(
  { allowedTools = [], disallowedTools = [], toolFilter }: ClaudeCodeOptions,
  drop: (loser: keyof ClaudeCodeOptions, because: string) => void,
  warnings: WarningDetail[],
): void {
  if (allowedTools.length === 0 || disallowedTools.length === 0) return;
  if (toolFilter === "allow-first") {
    drop("disallowedTools", `allowedTools wins by toolFilter, and no longer denied are ${disallowedTools.join(", ")}`);
    return;
  }
  const denied = new Set(disallowedTools);
  const both = allowedTools.filter((tool) => denied.has(tool));
  if (both.length === 0) return;
  warnings.push({
    code: "option-ignored",
    message: `allowedTools names ${both.join(", ")}, and so does disallowedTools: the denial wins.`,
    context: { option: "allowedTools", tools: both },
  });
}
