import type { Fault } from "./fault.ts";
import { findQuestion } from "./rule-model/question.ts";
import type { ModelPrompt } from "./prompt.ts";
import type { Reply } from "./reply.ts";

/**
 * The server's answers as data: the first rule that matches a request answers it.
 *
 * @example
 * const script: EmulatorScript = {
 *   rules: [
 *     { match: { user: "weather", turn: 0 }, reply: { toolCalls: [{ name: "get_weather", input: { city: "Paris" } }] } },
 *     { match: { user: "weather" }, reply: { text: "It is sunny." }, fault: { cutAfterEvents: 4, times: 1 } },
 *   ],
 * };
 */
export interface EmulatorScript {
  readonly rules: readonly ScriptRule[];
  /** The answer if no rule matches: the offline model (`"offline"`, the default), or this reply. */
  readonly otherwise?: "offline" | Reply;
}

/** One rule of a script: which requests it matches, how they are answered, and what goes wrong. */
export interface ScriptRule {
  /** All conditions must match; `{}` or nothing matches every request. */
  readonly match?: ScriptMatch;
  /** Default: the offline model answers. */
  readonly reply?: Reply;
  readonly fault?: Fault;
}

/** The requests that a rule matches. */
export interface ScriptMatch {
  /** The last message of the user: contains this text, ignoring case, or equals it exactly. */
  readonly user?: string | { readonly contains: string } | { readonly equals: string };
  /** The name of the model. */
  readonly model?: string;
  /** The number of tool results in the transcript. */
  readonly turn?: number;
  /** A tool with this name is offered. */
  readonly tool?: string;
  /** Matches this many times, then no more. */
  readonly times?: number;
}

/** A script's answer to one prompt. `reply: undefined` leaves it to the offline model. */
export interface ScriptAnswer {
  readonly reply: Reply | undefined;
  readonly fault: Fault | undefined;
}

/** Plays a script and counts how often its rules and faults were used. */
export interface ScriptPlayer {
  answer(prompt: ModelPrompt): ScriptAnswer;
}

export function createScriptPlayer(script: EmulatorScript): ScriptPlayer {
  const matched = script.rules.map(() => 0);
  const failed = script.rules.map(() => 0);
  const otherwise = script.otherwise ?? "offline";
  return {
    answer(prompt) {
      const index = script.rules.findIndex(
        ({ match = {} }, at) =>
          (matched[at] ?? 0) < (match.times ?? Number.POSITIVE_INFINITY) && matches(match, prompt),
      );
      const rule = script.rules[index];
      if (rule === undefined) return { reply: otherwise === "offline" ? undefined : otherwise, fault: undefined };
      matched[index] = (matched[index] ?? 0) + 1;
      const isFaulty =
        rule.fault !== undefined && (failed[index] ?? 0) < (rule.fault.times ?? Number.POSITIVE_INFINITY);
      if (isFaulty) failed[index] = (failed[index] ?? 0) + 1;
      return { reply: rule.reply, fault: isFaulty ? rule.fault : undefined };
    },
  };
}

function matches(match: ScriptMatch, prompt: ModelPrompt): boolean {
  if (match.model !== undefined && match.model !== prompt.model) return false;
  if (match.tool !== undefined && !prompt.tools.some((tool) => tool.name === match.tool)) return false;
  if (match.turn !== undefined && match.turn !== countResults(prompt)) return false;
  return match.user === undefined || matchesUser(match.user, findQuestion(prompt).text);
}

function matchesUser(wanted: NonNullable<ScriptMatch["user"]>, text: string): boolean {
  if (typeof wanted === "object" && "equals" in wanted) return text === wanted.equals;
  const part = typeof wanted === "string" ? wanted : wanted.contains;
  return text.toLowerCase().includes(part.toLowerCase());
}

function countResults(prompt: ModelPrompt): number {
  let count = 0;
  for (const message of prompt.messages) {
    for (const block of message.blocks) if (block.type === "tool-result") count += 1;
  }
  return count;
}
