import { readCount, type Usage } from "#domain";
import type { JsonRecord } from "#wire";

/**
 * Reads `usageMetadata`; `undefined` when it counts nothing. Gemini counts thoughts beside the answer; our
 * `outputTokens` is everything the model wrote, so they are added. The prompt includes what came from the cache.
 */
export function readUsage(metadata: JsonRecord): Usage | undefined {
  const usage: { -readonly [Field in keyof Usage]: Usage[Field] } = {};
  const thoughts = readCount(metadata.thoughtsTokenCount);
  const set = (field: keyof Usage, ...counts: (number | undefined)[]): void => {
    const known = counts.filter((count) => count !== undefined);
    if (known.length > 0) usage[field] = known.reduce((sum, count) => sum + count, 0);
  };
  set("inputTokens", readCount(metadata.promptTokenCount), readCount(metadata.toolUsePromptTokenCount));
  set("outputTokens", readCount(metadata.candidatesTokenCount), thoughts);
  set("cacheReadTokens", readCount(metadata.cachedContentTokenCount));
  set("reasoningTokens", thoughts);
  return Object.keys(usage).length === 0 ? undefined : usage;
}
