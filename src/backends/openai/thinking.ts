import { noticeItem } from "#domain";
import type { ModelRequest } from "../backend.ts";
import type { ProviderProfile } from "./profiles.ts";

/** The steps from tokens to an effort; above the last one the effort is high. */
const LOW_TOKENS = 2048;
const MEDIUM_TOKENS = 8192;

type Effort = "low" | "medium" | "high";

/** The effort that a number of thinking tokens stands for, if this model takes one. */
function effortOf(model: string, thinkingTokens: number | undefined, profile: ProviderProfile) {
  if (thinkingTokens === undefined || profile.thinking?.kind !== "effort") return undefined;
  if (!profile.thinking.models.test(model)) return undefined;
  return toEffort(thinkingTokens);
}

function toEffort(tokens: number): Effort {
  if (tokens <= LOW_TOKENS) return "low";
  return tokens <= MEDIUM_TOKENS ? "medium" : "high";
}

/** Whether a model can be told at all how much to think. */
export function mayThink(model: string, { thinking }: ProviderProfile): boolean {
  return thinking !== undefined && (thinking.kind === "tokens" || thinking.models.test(model));
}

/** The part of a request that says how much to think. */
export function encodeThinking(model: string, { thinkingTokens }: ModelRequest, profile: ProviderProfile): object {
  if (thinkingTokens === undefined) return {};
  if (profile.thinking?.kind === "tokens") return { reasoning: { max_tokens: thinkingTokens } };
  const effort = effortOf(model, thinkingTokens, profile);
  return effort === undefined ? {} : { reasoning_effort: effort };
}

/**
 * What a caller is told whose number of tokens was sent as an effort. Once per question: a request that brings the
 * results of tools goes on with one that was told of already.
 */
export function thinkingNotice(model: string, request: ModelRequest, profile: ProviderProfile) {
  const effort = effortOf(model, request.thinkingTokens, profile);
  if (effort === undefined) return undefined;
  if (request.messages.at(-1)?.blocks.some((block) => block.type === "tool-result") === true) return undefined;
  return noticeItem("thinking-effort", { thinkingTokens: request.thinkingTokens, effort });
}
