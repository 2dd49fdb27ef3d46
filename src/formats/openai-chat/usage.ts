import { readCount, type Usage } from "#domain";
import { type JsonRecord, ownRecord } from "#wire";

/**
 * Reads a `usage` object; `undefined` when it counts nothing. `prompt_tokens` includes what came from the cache, and
 * `completion_tokens` what was spent on reasoning.
 */
export function readUsage(value: JsonRecord): Usage | undefined {
  const usage: { -readonly [Field in keyof Usage]: Usage[Field] } = {};
  const set = (field: keyof Usage, from: JsonRecord | undefined, key: string): void => {
    const count = readCount(from?.[key]);
    if (count !== undefined) usage[field] = count;
  };
  set("inputTokens", value, "prompt_tokens");
  set("outputTokens", value, "completion_tokens");
  // DeepSeek counts cache hits beside the prompt, OpenAI inside its details; where both are given they agree.
  set("cacheReadTokens", value, "prompt_cache_hit_tokens");
  set("cacheReadTokens", ownRecord(value, "prompt_tokens_details"), "cached_tokens");
  set("reasoningTokens", ownRecord(value, "completion_tokens_details"), "reasoning_tokens");
  return Object.keys(usage).length === 0 ? undefined : usage;
}
