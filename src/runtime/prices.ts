import type { Backend } from "#backends";
import type { Usage } from "#domain";

/**
 * What a usage costs in dollars, from a maintained price table; `undefined` when the model is not in it. The offline
 * model is free.
 */
export async function priceOf(usage: Usage, backend: Backend): Promise<number | undefined> {
  if (backend.name === "offline") return 0;
  if (usage.inputTokens === undefined || usage.outputTokens === undefined) return undefined;
  try {
    // Loaded at the end of a run: the table is large, and nobody waits for it before the first token.
    const { calcPrice } = await import("@pydantic/genai-prices");
    const price = calcPrice(
      {
        // The table counts cached tokens as part of the input.
        input_tokens: usage.inputTokens + (usage.cacheReadTokens ?? 0) + (usage.cacheWriteTokens ?? 0),
        output_tokens: usage.outputTokens,
        ...(usage.cacheReadTokens !== undefined && { cache_read_tokens: usage.cacheReadTokens }),
        ...(usage.cacheWriteTokens !== undefined && { cache_write_tokens: usage.cacheWriteTokens }),
      },
      backend.model,
    );
    return price?.total_price;
  } catch {
    return undefined;
  }
}
