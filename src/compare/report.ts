import { describeTarget } from "#runtime";
import { type Contender, type Decision, type DecisionRule, decide, type PairReport } from "./decision.ts";
import type { Plan } from "./plan.ts";
import { mean, median } from "./statistics.ts";
import type { ScoredSample } from "./types.ts";

/** A summary of several values. */
export interface Summary {
  readonly count: number;
  readonly mean: number;
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** The results of one target. */
export interface TargetReport {
  readonly name: string;
  readonly backend: string;
  /** The number of runs with an answer, and of failed runs. */
  readonly answers: number;
  readonly failed: number;
  /** Why it is excluded from the decision. */
  readonly excluded?: string;
  /** The mean of the mean scores of all dimensions, from 0 to 1. */
  readonly quality?: number;
  /** By dimension. */
  readonly scores: Readonly<Record<string, Summary>>;
  /** Dollars per answer, if known. */
  readonly costUsd?: Summary;
  /** Milliseconds per answer. */
  readonly ms?: Summary;
  readonly inputTokens?: Summary;
  readonly outputTokens?: Summary;
}

/** All results of a comparison, as JSON. */
export interface ComparisonReport {
  readonly version: 1;
  /** `false`: the comparison was interrupted, and `missing` runs were not carried out. */
  readonly isComplete: boolean;
  readonly missing: number;
  readonly baseline: string;
  readonly seed: number;
  readonly prompts: readonly { readonly id: string; readonly text: string }[];
  readonly documents: readonly string[];
  readonly repeat: number;
  readonly dimensions: readonly string[];
  readonly rule: DecisionRule;
  readonly targets: readonly TargetReport[];
  readonly pairs: readonly PairReport[];
  readonly decision: Decision;
  /** The cost of the judge, and what it could not rate. */
  readonly judge?: { readonly costUsd?: number; readonly failures: readonly string[] };
  readonly samples: readonly ScoredSample[];
}

export interface ReportParts {
  readonly plan: Plan;
  readonly samples: readonly ScoredSample[];
  readonly dimensions: readonly string[];
  readonly rule: DecisionRule;
  readonly judge?: ComparisonReport["judge"];
}

/** Builds the report. Pure: the same samples give the same report. */
export function writeReport({ plan, samples, dimensions, rule, judge }: ReportParts): ComparisonReport {
  const targets = plan.targets.map(({ name, target }) =>
    reportTarget(
      name,
      describeTarget(target),
      samples.filter((sample) => sample.target === name),
      dimensions,
    ),
  );
  const contenders = targets.map((target) => contenderOf(target, samples, dimensions));
  const missing = plan.tasks.length - samples.length;
  const { pairs, decision } = decide(contenders, plan.baseline, rule);
  return {
    version: 1,
    isComplete: missing === 0,
    missing,
    baseline: plan.baseline,
    seed: plan.seed,
    prompts: plan.prompts,
    documents: plan.documents.map(({ name }) => name),
    repeat: plan.repeat,
    dimensions,
    rule,
    targets,
    pairs,
    decision: missing === 0 ? decision : undecided(decision, missing),
    ...(judge !== undefined && { judge }),
    samples,
  };
}

/** An incomplete comparison decides nothing. */
function undecided(decision: Decision, missing: number): Decision {
  const { target: _target, ...rest } = decision;
  return {
    ...rest,
    verdict: "undecided",
    drop: [],
    reasons: [`The comparison was interrupted: ${missing} runs are missing.`],
  };
}

function reportTarget(
  name: string,
  backend: string,
  samples: readonly ScoredSample[],
  dimensions: readonly string[],
): TargetReport {
  const answers = samples.filter(({ status }) => status === "success");
  const failed = samples.length - answers.length;
  const scores = dimensions.flatMap((dimension) => {
    const summary = summarise(answers.map((sample) => sample.scores[dimension]?.value));
    return summary === undefined ? [] : [[dimension, summary] as const];
  });
  const optional = {
    costUsd: summarise(answers.map(({ costUsd }) => costUsd)),
    ms: summarise(answers.map(({ ms }) => ms)),
    inputTokens: summarise(answers.map(({ usage }) => usage.inputTokens)),
    outputTokens: summarise(answers.map(({ usage }) => usage.outputTokens)),
    excluded: excludedWhy(answers.length, samples),
    quality: scores.length === 0 ? undefined : mean(scores.map(([, summary]) => summary.mean)),
  };
  return {
    name,
    backend,
    answers: answers.length,
    failed,
    scores: Object.fromEntries(scores),
    ...(Object.fromEntries(
      Object.entries(optional).filter(([, value]) => value !== undefined),
    ) as Partial<TargetReport>),
  };
}

function excludedWhy(answers: number, samples: readonly ScoredSample[]): string | undefined {
  if (answers > 0) return undefined;
  if (samples.length === 0) return "none of its runs was carried out.";
  const reasons = [...new Set(samples.map(({ error }) => error ?? "no reason was given"))];
  return `all ${samples.length} runs failed: ${reasons.slice(0, 3).join(" / ")}`;
}

function contenderOf(target: TargetReport, samples: readonly ScoredSample[], dimensions: readonly string[]): Contender {
  const answers = samples.filter((sample) => sample.target === target.name && sample.status === "success");
  const scores = dimensions.flatMap((dimension) => {
    const values = answers.flatMap(({ scores: all }) => all[dimension]?.value ?? []);
    return values.length === 0 ? [] : [[dimension, values] as const];
  });
  return {
    name: target.name,
    scores: Object.fromEntries(scores),
    answers: target.answers,
    failed: target.failed,
    ...(target.costUsd?.count === target.answers && target.costUsd !== undefined && { costUsd: target.costUsd.mean }),
    ...(target.excluded !== undefined && { excluded: target.excluded }),
  };
}

/** A summary of the known values; `undefined` if none is known. */
function summarise(values: readonly (number | undefined)[]): Summary | undefined {
  const known = values.filter((value) => value !== undefined);
  if (known.length === 0) return undefined;
  return {
    count: known.length,
    mean: mean(known),
    median: median(known),
    min: Math.min(...known),
    max: Math.max(...known),
  };
}
