/** Tokens of one model call or one run. A field that is absent is unknown; that is not the same as 0. */
export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
}

/** The fields of `Usage`, in the order they are shown. */
export const USAGE_FIELDS = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "reasoningTokens",
] as const satisfies readonly (keyof Usage)[];

/**
 * The sum of two usages. What both leave out stays absent; what only one knows is that one's number.
 *
 * @example
 * addUsage({ inputTokens: 5 }, { inputTokens: 1, outputTokens: 2 }) // { inputTokens: 6, outputTokens: 2 }
 */
export function addUsage(left: Usage, right: Usage): Usage {
  return combine(left, right, (a, b) => a + b);
}

/**
 * What was used between two readings of a running total. Never negative: a total that fell was restarted, and the
 * later reading is then the answer.
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

/** The later reading of the same call wins field by field; a field it leaves out keeps its earlier value. */
export function mergeUsage(earlier: Usage, later: Usage): Usage {
  return combine(earlier, later, (_, b) => b);
}

/**
 * Reads a count a vendor sent: a finite number that is not negative, or `undefined` (unknown).
 * Strings and booleans are not counts.
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
