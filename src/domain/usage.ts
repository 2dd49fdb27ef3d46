/** The tokens of one model call or one run. An absent field is unknown, which is not the same as 0. */
export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
}

/** The fields of `Usage`, in display order. */
export const USAGE_FIELDS = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "reasoningTokens",
] as const satisfies readonly (keyof Usage)[];

/**
 * The sum of two usages. A field that both lack stays absent; a field that only one has is taken from it.
 *
 * @example
 * addUsage({ inputTokens: 5 }, { inputTokens: 1, outputTokens: 2 }) // { inputTokens: 6, outputTokens: 2 }
 */
export function addUsage(left: Usage, right: Usage): Usage {
  return combine(left, right, (a, b) => a + b);
}

/**
 * The usage between two readings of a running total. Never negative: a total that fell was restarted, and the later
 * reading is then the answer.
 */
export function subtractUsage(later: Usage, earlier: Usage): Usage {
  const difference: { -readonly [Field in keyof Usage]: Usage[Field] } = {};
  for (const field of USAGE_FIELDS) {
    const now = later[field];
    if (now === undefined) continue;
    const before = earlier[field] ?? 0;
    difference[field] = now >= before ? now - before : now;
  }
  return difference;
}

/**
 * Merges two readings of the same call: the later value wins, field by field; a field it lacks keeps its earlier value.
 */
export function mergeUsage(earlier: Usage, later: Usage): Usage {
  return combine(earlier, later, (_, b) => b);
}

/**
 * Reads a count from a vendor: a finite number that is not negative, or `undefined` (unknown). Strings and booleans are
 * not counts.
 */
export function readCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function combine(left: Usage, right: Usage, join: (a: number, b: number) => number): Usage {
  const sum: { -readonly [Field in keyof Usage]: Usage[Field] } = {};
  for (const field of USAGE_FIELDS) {
    const a = left[field];
    const b = right[field];
    if (a !== undefined && b !== undefined) sum[field] = join(a, b);
    else if (a !== undefined) sum[field] = a;
    else if (b !== undefined) sum[field] = b;
  }
  return sum;
}
