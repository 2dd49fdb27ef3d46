import type { ModelBackend } from "#backends";
import type { Clock, Usage } from "#domain";
import { systemClock } from "#transports";
import { costOf, findRates, type PriceTable, type Rates, type TokenCounts } from "./price-lookup.ts";

/**
 * Providers with known prices, and how they count input tokens: Anthropic reports cached tokens separately, the others
 * include them.
 */
const CACHED_TOKENS: ReadonlyMap<string, "apart" | "included"> = new Map([
  ["anthropic", "apart"],
  ["openai", "included"],
  ["openrouter", "included"],
  ["deepseek", "included"],
  ["google", "included"],
]);

/** The cost of a usage at a backend in dollars; `undefined` when it is unknown. */
export type Price = (
  usage: Usage,
  backend: Pick<ModelBackend, "name" | "model" | "hasKnownPrices">,
) => Promise<number | undefined>;

/** How many models are cached. */
const REMEMBERED = 256;

/**
 * Creates a price list from a maintained table. A model that is not in it, or whose host sets its own prices, has no
 * price. The offline model is free.
 *
 * The place of a model in the table is cached: finding it takes a fifth of a millisecond, and every reply of every run
 * is priced.
 */
export function createPriceList(clock: Pick<Clock, "now"> = systemClock): Price {
  const found = new Map<string, readonly Rates[] | undefined>();
  let table: PriceTable | undefined;

  const ratesOf = async (provider: string, model: string): Promise<readonly Rates[] | undefined> => {
    const key = `${provider}/${model}`;
    if (found.has(key)) return found.get(key);
    table ??= await loadTable();
    const rates = findRates(table, provider, model);
    if (found.size < REMEMBERED) found.set(key, rates);
    return rates;
  };

  return async (usage, backend) => {
    if (backend.name === "offline") return 0;
    if (backend.hasKnownPrices === false) return undefined;
    const cached = CACHED_TOKENS.get(backend.name);
    if (cached === undefined || usage.inputTokens === undefined || usage.outputTokens === undefined) return undefined;
    const rates = await ratesOf(backend.name, backend.model);
    return rates === undefined ? undefined : costOf(asCounts(usage, cached), rates, clock.now());
  };
}

/** Loaded when the first run ends, so that it does not delay the first token. */
async function loadTable(): Promise<PriceTable> {
  const { PRICE_TABLE } = await import("./price-table.ts");
  return JSON.parse(PRICE_TABLE) as PriceTable;
}

/** The price list of this process. */
export const priceOf: Price = createPriceList();

/** Converts a usage to the table's convention, which counts cached tokens as part of the input. */
function asCounts(usage: Usage, cached: "apart" | "included"): TokenCounts {
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  return {
    input: inputTokens + (cached === "apart" ? cacheReadTokens + cacheWriteTokens : 0),
    output: outputTokens,
    cacheRead: cacheReadTokens,
    cacheWrite: cacheWriteTokens,
  };
}
