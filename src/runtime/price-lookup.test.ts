import { readFileSync } from "node:fs";
import { calcPrice, findProvider } from "@pydantic/genai-prices";
import { describe, expect, it } from "vitest";
// The generator is a script.
import { PRICE_TABLE_FILE, writePriceTable } from "../../scripts/write-prices.mjs";
import { costOf, findRates, type PriceTable, type TokenCounts } from "./price-lookup.ts";
import { PRICE_TABLE } from "./price-table.ts";

const TABLE = JSON.parse(PRICE_TABLE) as PriceTable;

/** The input lengths at which a price changes. */
const STEPS = [...PRICE_TABLE.matchAll(/\[(\d+),[\d.]+\]/g)].map(([, above]) => Number(above));

const COUNTS: readonly TokenCounts[] = [
  ...[...new Set(STEPS)].flatMap((above) =>
    [above, above + 1].map((input) => ({ input, output: 10, cacheRead: 10, cacheWrite: 10 })),
  ),
  { input: 1000, output: 500, cacheRead: 0, cacheWrite: 0 },
  { input: 100_000, output: 0, cacheRead: 60_000, cacheWrite: 10_000 },
  { input: 300_000, output: 70_000, cacheRead: 1, cacheWrite: 299_999 },
  { input: 0, output: 1, cacheRead: 0, cacheWrite: 0 },
  { input: 5, output: 5, cacheRead: 4, cacheWrite: 4 },
];
const MOMENTS = [-24_000, 0, 1, 4, 10, 16.5, 23.999].map((hour) => new Date(Date.UTC(2026, 10, 16) + hour * 3_600_000));

/** The result of the maintainers' own code. */
function theirs(provider: string, model: string, counts: TokenCounts, timestamp: Date): number | undefined {
  const { input, output, cacheRead, cacheWrite } = counts;
  const usage = {
    input_tokens: input,
    output_tokens: output,
    cache_read_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
  };
  try {
    return calcPrice(usage, model, { providerId: provider, timestamp })?.total_price;
  } catch {
    return undefined;
  }
}

function ours(provider: string, model: string, counts: TokenCounts, moment: Date): number | undefined {
  const rates = findRates(TABLE, provider, model);
  return rates === undefined ? undefined : costOf(counts, rates, moment.getTime());
}

describe("a price that depends on the time", () => {
  const counts: TokenCounts = { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0 };
  const at = (hour: number): number => hour * 3_600_000;

  it("of the day applies from its first second to its last one, also over midnight", () => {
    const day = [{ input: 1 }, { daily: [at(9) / 1000, at(17) / 1000] as const, input: 2 }];
    expect([8.99, 9, 16.99, 17].map((hour) => costOf(counts, day, at(hour)))).toEqual([1, 2, 2, 1]);
    const night = [{ input: 1 }, { daily: [at(17) / 1000, at(9) / 1000] as const, input: 2 }];
    expect([8.99, 9, 16.99, 17].map((hour) => costOf(counts, night, at(hour)))).toEqual([2, 1, 1, 2]);
  });

  it("is the last one that applies, or the first one if none does", () => {
    const rates = [
      { since: 10, input: 1 },
      { since: 20, input: 2 },
    ];
    expect([5, 10, 19, 20].map((now) => costOf(counts, rates, now))).toEqual([1, 1, 1, 2]);
  });
});

describe("the price table", () => {
  it("equals the maintained one; otherwise run `npm run prices:write`", () => {
    expect(readFileSync(PRICE_TABLE_FILE, "utf8")).toBe(writePriceTable());
  });

  const providers = Object.keys(TABLE);
  const modelsOf = (provider: string): string[] =>
    findProvider({ providerId: provider })?.models.map(({ id }) => id) ?? [];

  it.each(providers)("gives the same prices as its maintainers' code, for every model of %s", (provider) => {
    const models = modelsOf(provider);
    expect(models.length).toBeGreaterThan(5);
    for (const model of models) {
      const changes = (findRates(TABLE, provider, model)?.length ?? 0) > 1;
      for (const moment of changes ? MOMENTS : MOMENTS.slice(0, 1)) {
        for (const counts of COUNTS) compare(provider, model, counts, moment);
      }
    }
  });

  it.each(providers)("finds the same models as its maintainers' code, however a name is written, at %s", (provider) => {
    const spellings = modelsOf(provider).flatMap((id) => [id.toUpperCase(), `${id}-20250929`, `x-${id}`, `${id} `]);
    const names = [...spellings, "claude-sonnet-4-5", "gpt-5", "gemini-2.5-pro", "no-such-model", ""];
    for (const name of names) compare(provider, name, COUNTS[0] as TokenCounts, MOMENTS[0] as Date);
  });
});

function compare(provider: string, model: string, counts: TokenCounts, moment: Date): void {
  const expected = theirs(provider, model, counts, moment);
  const given = ours(provider, model, counts, moment);
  if (expected === given) return;
  const where = `${provider}/${model} ${JSON.stringify(counts)} ${moment.toISOString()}`;
  if (expected === undefined) expect(given, where).toBeUndefined();
  else expect(given, where).toBeCloseTo(expected, 12);
}
