import type { Provider } from "@pydantic/genai-prices";
import type { ModelBackend } from "#backends";
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

/** What a usage costs in dollars at a backend; `undefined` when nobody knows. */
export type Price = (usage: Usage, backend: ModelBackend) => Promise<number | undefined>;

/** So many models are remembered. */
const REMEMBERED = 256;

/**
 * Creates a price list from a maintained table. A model that is not in it, or whose host sets prices of its own, has no
 * price. The offline model is free.
 *
 * It remembers where in the table a model was found: looking for it takes a fifth of a millisecond, and every reply of
 * every run is priced.
 */
export function createPriceList(): Price {
  const found = new Map<string, Provider | undefined>();

  return async (usage, backend) => {
    if (backend.name === "offline") return 0;
    const cached = CACHED_TOKENS.get(backend.name);
    if (cached === undefined || usage.inputTokens === undefined || usage.outputTokens === undefined) return undefined;
    const key = `${backend.name}/${backend.model}`;
    if (found.has(key) && found.get(key) === undefined) return undefined;
    try {
      // Loaded at the end of a run: the table is large, and nobody waits for it before the first token.
      const { calcPrice } = await import("@pydantic/genai-prices");
      const provider = found.get(key);
      const place = provider === undefined ? { providerId: backend.name } : { provider };
      const price = calcPrice(asTableUsage(usage, cached), backend.model, place);
      if (!found.has(key) && found.size < REMEMBERED) {
        found.set(key, price === null ? undefined : { ...price.provider, models: [price.model] });
      }
      return price?.total_price;
    } catch {
      return undefined;
    }
  };
}

/** The price list of this process. */
export const priceOf: Price = createPriceList();

/** The table counts cached tokens as part of the input. */
function asTableUsage(usage: Usage, cached: "apart" | "included"): Record<string, number> {
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens, cacheWriteTokens } = usage;
  return {
    input_tokens: inputTokens + (cached === "apart" ? (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0) : 0),
    output_tokens: outputTokens,
    ...(cacheReadTokens !== undefined && { cache_read_tokens: cacheReadTokens }),
    ...(cacheWriteTokens !== undefined && { cache_write_tokens: cacheWriteTokens }),
  };
}
