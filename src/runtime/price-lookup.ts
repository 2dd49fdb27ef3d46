/** The models an entry applies to. Case is ignored. */
type Match =
  | { readonly or: readonly Match[] }
  | { readonly and: readonly Match[] }
  | { readonly equals: string }
  | { readonly starts_with: string }
  | { readonly ends_with: string }
  | { readonly contains: string }
  | { readonly regex: string };

/**
 * Dollars per million tokens; or that price, with other prices for requests whose input exceeds given numbers of
 * tokens.
 */
type Rate = number | readonly [base: number, ...steps: readonly (readonly [above: number, rate: number])[]];

/** The prices of each kind of token, and when they apply. */
export interface Rates {
  /** From this moment on, in milliseconds since 1970. */
  readonly since?: number;
  /** Between these times of day, in seconds. */
  readonly daily?: readonly [from: number, to: number];
  readonly input?: Rate;
  readonly output?: Rate;
  readonly cacheRead?: Rate;
  readonly cacheWrite?: Rate;
}

interface ModelEntry {
  readonly match: Match;
  /** The last one that applies is used; the first one when none does. */
  readonly rates: readonly Rates[];
}

/** The prices of one provider. The first matching entry is used. */
interface ProviderEntry {
  readonly models: readonly ModelEntry[];
  /** Providers whose models it sells too, at their prices. */
  readonly fallback?: readonly string[];
}

export type PriceTable = Readonly<Record<string, ProviderEntry>>;

/** The numbers of tokens used. `input` includes cached tokens. */
export interface TokenCounts {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** The prices of a model over time; `undefined` when the table does not contain it. */
export function findRates(table: PriceTable, provider: string, model: string): readonly Rates[] | undefined {
  const id = model.toLowerCase().trim();
  return findModel(table, provider, id) ?? findModel(table, provider, withDashes(id));
}

function findModel(table: PriceTable, provider: string, id: string): readonly Rates[] | undefined {
  const entry = table[provider];
  const found = entry?.models.find(({ match }) => fits(match, id));
  if (found !== undefined) return found.rates;
  for (const other of entry?.fallback ?? []) {
    const theirs = findModel(table, other, id);
    if (theirs !== undefined) return theirs;
  }
  return undefined;
}

/** A date within a model's name in another notation: `-20250929` becomes `-2025-09-29`. */
function withDashes(id: string): string {
  return id.replaceAll(/-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)/g, "-$1-$2-$3");
}

function fits(match: Match, id: string): boolean {
  if ("or" in match) return match.or.some((one) => fits(one, id));
  if ("and" in match) return match.and.every((one) => fits(one, id));
  if ("equals" in match) return id === match.equals.toLowerCase();
  if ("starts_with" in match) return id.startsWith(match.starts_with.toLowerCase());
  if ("ends_with" in match) return id.endsWith(match.ends_with.toLowerCase());
  if ("contains" in match) return id.includes(match.contains.toLowerCase());
  return new RegExp(match.regex).test(id);
}

/** The cost of a usage at a moment, in dollars; `undefined` when the counts contradict each other. */
export function costOf(counts: TokenCounts, versions: readonly Rates[], now: number): number | undefined {
  const rates = versions.findLast((one) => holds(one, now)) ?? versions[0];
  if (rates === undefined) return undefined;
  const { input, output, cacheRead, cacheWrite } = rates;
  if (input === undefined && (cacheRead !== undefined || cacheWrite !== undefined)) return undefined;
  // Cached tokens without their own price cost the same as other input.
  const apart = (cacheRead === undefined ? 0 : counts.cacheRead) + (cacheWrite === undefined ? 0 : counts.cacheWrite);
  if (apart > counts.input) return undefined;
  const dollars = (rate: Rate | undefined, tokens: number): number => (rateAt(rate, counts.input) * tokens) / 1e6;
  return (
    dollars(input, counts.input - apart) +
    dollars(cacheRead, counts.cacheRead) +
    dollars(cacheWrite, counts.cacheWrite) +
    dollars(output, counts.output)
  );
}

function holds({ since, daily }: Rates, now: number): boolean {
  if (since !== undefined) return now >= since;
  if (daily === undefined) return true;
  const [from, to] = daily;
  const second = (now / 1000) % 86_400;
  return to < from ? second >= from || second < to : second >= from && second < to;
}

function rateAt(rate: Rate | undefined, inputTokens: number): number {
  if (rate === undefined || typeof rate === "number") return rate ?? 0;
  const [base, ...steps] = rate;
  return steps.findLast(([above]) => inputTokens > above)?.[1] ?? base;
}
