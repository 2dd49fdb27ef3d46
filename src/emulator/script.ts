import type { Fault } from "./fault.ts";
import { findQuestion } from "./rule-model/question.ts";
import type { ModelPrompt } from "./prompt.ts";
import type { Reply } from "./reply.ts";

/**
 * What the server answers, as data: the first rule that matches a request answers it.
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
  /** Who answers what no rule matches: the offline model (`"brain"`, the default), or this reply. */
  readonly otherwise?: "brain" | Reply;
}

/** One rule of a script: which requests it is about, what they are answered, and what goes wrong. */
export interface ScriptRule {
  /** All of it has to hold; `{}` or nothing matches every request. */
  readonly match?: ScriptMatch;
  /** Without one the offline model answers. */
  readonly reply?: Reply;
  readonly fault?: Fault;
}

/** Which requests a rule is about. */
export interface ScriptMatch {
  /** The last thing the user said: contains this, in any case of letters; or is exactly this. */
  readonly user?: string | { readonly contains: string } | { readonly equals: string };
  /** The name of the model. */
  readonly model?: string;
  /** How many tool results the transcript holds. */
  readonly turn?: number;
  /** A tool of this name is offered. */
  readonly tool?: string;
  /** Matches so many times, then no more. */
  readonly times?: number;
}

/** What a script has to say to one prompt. `reply: undefined` leaves it to the offline model. */
export interface Cue {
  readonly reply: Reply | undefined;
  readonly fault: Fault | undefined;
}

/** Plays a script: remembers how often its rules and faults were used. */
export interface ScriptPlayer {
  cue(prompt: ModelPrompt): Cue;
}

export function createScriptPlayer(script: EmulatorScript): ScriptPlayer {
  const matched = script.rules.map(() => 0);
  const failed = script.rules.map(() => 0);
  const otherwise = script.otherwise ?? "brain";
  return {
    cue(prompt) {
      const index = script.rules.findIndex(
        ({ match = {} }, at) =>
          (matched[at] ?? 0) < (match.times ?? Number.POSITIVE_INFINITY) && matches(match, prompt),
      );
      const rule = script.rules[index];
      if (rule === undefined) return { reply: otherwise === "brain" ? undefined : otherwise, fault: undefined };
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

function matchesUser(wanted: NonNullable<ScriptMatch["user"]>, said: string): boolean {
  if (typeof wanted === "object" && "equals" in wanted) return said === wanted.equals;
  const part = typeof wanted === "string" ? wanted : wanted.contains;
  return said.toLowerCase().includes(part.toLowerCase());
}

function countResults(prompt: ModelPrompt): number {
  let count = 0;
  for (const message of prompt.messages) {
    for (const block of message.blocks) if (block.type === "tool-result") count += 1;
  }
  return count;
}
