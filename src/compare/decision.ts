import { holm, mannWhitney, mean, smallestP } from "./statistics.ts";

/** When one target counts as better than another (S3-37). */
export interface DecisionRule {
  /** The quality must be higher by more than this share. Default 0.2. */
  readonly better: number;
  /** The number of dimensions in which the difference must be significant. Default 3, or all if there are fewer. */
  readonly dimensions: number;
  /** The significance level for all dimensions of a pair together. Default 0.05. */
  readonly alpha: number;
  /** The maximum relative extra cost of a better target. Default 0.5. */
  readonly costOverhead: number;
  /** The maximum share of a target's runs that may have failed. Default 0.2. */
  readonly failures: number;
}

export const DEFAULT_RULE: DecisionRule = {
  better: 0.2,
  dimensions: 3,
  alpha: 0.05,
  costOverhead: 0.5,
  failures: 0.2,
};

/** The facts about a target that the decision needs. */
export interface Contender {
  readonly name: string;
  /** The scores of its answers, by dimension. */
  readonly scores: Readonly<Record<string, readonly number[]>>;
  readonly answers: number;
  readonly failed: number;
  /** The mean cost of an answer in dollars. */
  readonly costUsd?: number;
  /** Why it is excluded from the decision. */
  readonly excluded?: string;
}

/** One dimension of a pair. */
export interface DimensionTest {
  readonly dimension: string;
  readonly mean: number;
  readonly otherMean: number;
  /** The two-sided p-value of the Mann-Whitney test; and the same corrected for the number of dimensions (Holm). */
  readonly p: number;
  readonly adjustedP: number;
  readonly verdict: "better" | "worse" | "no difference";
}

/** How one target compares with another. */
export interface PairReport {
  readonly target: string;
  readonly other: string;
  readonly dimensions: readonly DimensionTest[];
  /** The relative improvement of the quality: 0.2 is 20 %. `null` if the other's quality is 0 and this one's is not. */
  readonly improvement: number | null;
  /** The relative extra cost of an answer; absent if a price is unknown. */
  readonly costOverhead?: number;
  /** Whether it is better according to the rule, and the reasons for and against. */
  readonly isBetter: boolean;
  readonly reasons: readonly string[];
}

/** The recommendation of a comparison, and its reasons. */
export interface Decision {
  readonly verdict: "adopt" | "stay" | "undecided";
  /** The target to use. Absent if undecided. */
  readonly target?: string;
  /** Targets that are worse than another target that is not the baseline. */
  readonly drop: readonly string[];
  readonly reasons: readonly string[];
  /** The number of scored answers of each target. */
  readonly sampleSize: Readonly<Record<string, number>>;
}

/** The mean of the mean scores of all dimensions. */
export function qualityOf({ scores }: Contender): number {
  const means = Object.values(scores).map(mean);
  return means.length === 0 ? 0 : mean(means);
}

/** Compares every target with the baseline, and the others with each other; applies the rule. */
export function decide(
  contenders: readonly Contender[],
  baseline: string,
  rule: DecisionRule,
): { readonly pairs: readonly PairReport[]; readonly decision: Decision } {
  const active = contenders.filter(({ excluded }) => excluded === undefined);
  const base = active.find(({ name }) => name === baseline);
  const others = active.filter(({ name }) => name !== baseline);
  const againstBase = base === undefined ? [] : others.map((one) => comparePair(one, base, rule));
  const amongOthers = others.flatMap((one, index) =>
    others.slice(index + 1).map((other) => {
      const pair = comparePair(one, other, rule);
      return (pair.improvement ?? 1) >= 0 ? pair : comparePair(other, one, rule);
    }),
  );
  const sampleSize = Object.fromEntries(contenders.map(({ name, answers }) => [name, answers]));
  const drop = [...new Set(amongOthers.filter(({ isBetter }) => isBetter).map(({ other }) => other))];
  const decision = { ...judge(contenders, base, againstBase, rule), drop, sampleSize };
  const dropped = amongOthers
    .filter(({ isBetter }) => isBetter)
    .map(({ target, other, improvement }) => `Drop ${other}: ${target} is ${describePart(improvement)} better.`);
  return {
    pairs: [...againstBase, ...amongOthers],
    decision: { ...decision, reasons: [...decision.reasons, ...dropped] },
  };
}

function judge(
  contenders: readonly Contender[],
  base: Contender | undefined,
  pairs: readonly PairReport[],
  rule: DecisionRule,
): Pick<Decision, "verdict" | "target" | "reasons"> {
  const excluded = contenders.flatMap(({ name, excluded: why }) =>
    why === undefined ? [] : [`${name} is excluded: ${why}`],
  );
  if (base === undefined)
    return { verdict: "undecided", reasons: [...excluded, "There is no baseline to compare with."] };
  if (pairs.length === 0) return { verdict: "undecided", reasons: [...excluded, "There is nothing to compare with."] };
  const best = pairs
    .filter(({ isBetter }) => isBetter)
    .sort((a, b) => (b.improvement ?? Number.MAX_VALUE) - (a.improvement ?? Number.MAX_VALUE))[0];
  if (best !== undefined) {
    return {
      verdict: "adopt",
      target: best.target,
      reasons: [
        `Adopt ${best.target}: its quality is ${describePart(best.improvement)} higher than that of ${base.name}.`,
        ...best.reasons,
        ...excluded,
      ],
    };
  }
  const tooFew = pairs.every(({ target }) => {
    const other = contenders.find(({ name }) => name === target);
    return other !== undefined && isTooFew(other, base, rule);
  });
  const reasons = [...pairs.flatMap((pair) => pair.reasons), ...excluded];
  if (tooFew) return { verdict: "undecided", reasons };
  return { verdict: "stay", target: base.name, reasons };
}

function comparePair(one: Contender, other: Contender, rule: DecisionRule): PairReport {
  const names = Object.keys(one.scores).filter((name) => other.scores[name] !== undefined);
  const values = names.map((name) => [one.scores[name] ?? [], other.scores[name] ?? []] as const);
  const ps = values.map(([left, right]) => mannWhitney(left, right).p);
  const adjusted = holm(ps);
  const dimensions = names.map((dimension, index): DimensionTest => {
    const [left, right] = values[index] as (typeof values)[number];
    const adjustedP = adjusted[index] as number;
    const difference = mean(left) - mean(right);
    const isFound = adjustedP <= rule.alpha && difference !== 0;
    return {
      dimension,
      mean: mean(left),
      otherMean: mean(right),
      p: ps[index] as number,
      adjustedP,
      verdict: isFound ? (difference > 0 ? "better" : "worse") : "no difference",
    };
  });
  const improvement = ratioOf(qualityOf(one), qualityOf(other));
  const costOverhead =
    one.costUsd === undefined || other.costUsd === undefined || other.costUsd === 0
      ? undefined
      : one.costUsd / other.costUsd - 1;
  const against = findObjections({ one, other, dimensions, improvement, costOverhead }, rule);
  const better = dimensions.filter(({ verdict }) => verdict === "better");
  const found = `${one.name} against ${other.name}: quality ${describePart(improvement, true)}; ${
    better.length === 0
      ? "significantly better in no dimension"
      : `significantly better in ${better.map(({ dimension }) => dimension).join(", ")}`
  } (${one.answers} and ${other.answers} answers).`;
  return {
    target: one.name,
    other: other.name,
    dimensions,
    improvement,
    ...(costOverhead !== undefined && { costOverhead }),
    isBetter: against.length === 0,
    reasons: [found, ...against, ...describeCost(costOverhead, against.length === 0)],
  };
}

/** The objections to calling one target better; empty if it is better. */
function findObjections(
  pair: {
    readonly one: Contender;
    readonly other: Contender;
    readonly dimensions: readonly DimensionTest[];
    readonly improvement: number | null;
    readonly costOverhead: number | undefined;
  },
  rule: DecisionRule,
): readonly string[] {
  const { one, other, dimensions, improvement, costOverhead } = pair;
  if (isTooFew(one, other, rule)) {
    return [
      `With ${one.answers} and ${other.answers} answers and ${dimensions.length} dimensions no difference can be significant. Ask more often (repeat).`,
    ];
  }
  const better = dimensions.filter(({ verdict }) => verdict === "better").length;
  const worse = dimensions.filter(({ verdict }) => verdict === "worse").map(({ dimension }) => dimension);
  const needed = Math.min(rule.dimensions, dimensions.length);
  const share = one.failed / Math.max(1, one.failed + one.answers);
  const objections: string[] = [];
  if (better === 0 && worse.length === 0)
    objections.push(`No difference between ${one.name} and ${other.name} was found.`);
  else {
    if (improvement !== null && improvement <= rule.better) {
      objections.push(`That is not more than ${describePart(rule.better)} better.`);
    }
    if (better < needed)
      objections.push(`It takes ${needed} dimensions that are significantly better; there are ${better}.`);
    if (worse.length > 0) objections.push(`It is significantly worse in ${worse.join(", ")}.`);
  }
  if (costOverhead !== undefined && costOverhead > rule.costOverhead) {
    objections.push(
      `An answer costs ${describePart(costOverhead)} more, and at most ${describePart(rule.costOverhead)} is allowed.`,
    );
  }
  if (share > rule.failures) {
    objections.push(`${one.failed} of ${one.failed + one.answers} runs of ${one.name} failed.`);
  }
  return objections;
}

function describeCost(costOverhead: number | undefined, isBetter: boolean): readonly string[] {
  if (!isBetter) return [];
  if (costOverhead === undefined) return ["What an answer costs is not known for both, so it was not weighed."];
  return [`An answer costs ${describePart(Math.abs(costOverhead))} ${costOverhead < 0 ? "less" : "more"}.`];
}

/** Whether there are too few answers for a significant difference in even one dimension. */
function isTooFew(one: Contender, other: Contender, rule: DecisionRule): boolean {
  const dimensions = Object.keys(one.scores).length;
  return smallestP(one.answers, other.answers) * dimensions > rule.alpha;
}

function ratioOf(one: number, other: number): number | null {
  if (other === 0) return one === 0 ? 0 : null;
  return one / other - 1;
}

/** A share as text: 0.256 is 25.6 %. */
function describePart(part: number | null, withSign = false): string {
  if (part === null) return "any number of times";
  const text = `${Math.abs(Math.round(part * 1000) / 10)} %`;
  if (!withSign) return part < 0 ? `-${text}` : text;
  if (Math.round(part * 1000) === 0) return "the same";
  return `${text} ${part < 0 ? "lower" : "higher"}`;
}
