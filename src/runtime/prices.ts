import type { Backend } from "#backends";
import type { Usage } from "#domain";

/**
 * Providers whose prices are known, and what they mean by input tokens: Anthropic counts cached ones apart, the
 * others count them in.
 */
const CACHED_TOKENS: ReadonlyMap<string, "apart" | "included"> = new Map([
  ["anthropic", "apart"],
  ["openai", "included"],
  ["openrouter", "included"],
  ["deepseek", "included"],
  ["google", "included"],
]);

/**
 * What a usage costs in dollars, from a maintained price table; `undefined` when the model is not in it, or when the
 * host sets prices of its own. The offline model is free.
 */
export async function priceOf(usage: Usage, backend: Backend): Promise<number | undefined> {
  if (backend.name === "offline") return 0;
  const cached = CACHED_TOKENS.get(backend.name);
  if (cached === undefined || usage.inputTokens === undefined || usage.outputTokens === undefined) return undefined;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  try {
    // Loaded at the end of a run: the table is large, and nobody waits for it before the first token.
    const { calcPrice } = await import("@pydantic/genai-prices");
    const price = calcPrice(
      {
        // The table counts cached tokens as part of the input.
        input_tokens: inputTokens + (cached === "apart" ? (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0) : 0),
        output_tokens: outputTokens,
        ...(cacheReadTokens !== undefined && { cache_read_tokens: cacheReadTokens }),
        ...(cacheWriteTokens !== undefined && { cache_write_tokens: cacheWriteTokens }),
      },
      backend.model,
      { providerId: backend.name },
    );
    return price?.total_price;
  } catch {
    return undefined;
  }
}
