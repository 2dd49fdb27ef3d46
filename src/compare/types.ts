import type { RunResult, Usage } from "#domain";
import type { RunOptions, Target } from "#runtime";
import type { DecisionRule } from "./decision.ts";
import type { JudgeOptions } from "./judge.ts";

/** A prompt for every target. */
export interface ComparePrompt {
  /** The name of the prompt in the report. Default: its position, from 1. */
  readonly id?: string;
  readonly prompt: string;
}

/** A text for the prompts: each prompt is asked about each document. */
export interface CompareDocument {
  readonly name: string;
  readonly text: string;
}

/** One of the compared targets. */
export interface CompareTarget {
  /** The name of the target in the report. */
  readonly name: string;
  readonly target: Target;
  /** Options for this target alone; they override those for all. */
  readonly options?: RunOptions;
}

/** The input of a scorer. */
export interface ScoredAnswer {
  /** The text of the answer. */
  readonly text: string;
  /** The complete result of the run. */
  readonly result: RunResult;
  readonly prompt: string;
  readonly document?: CompareDocument;
}

/** A score from 0 (worst) to 1 (best), and the reason. */
export interface Score {
  readonly value: number;
  readonly detail?: string;
}

/**
 * Measures one property of an answer. A score is a number from 0 (worst) to 1 (best).
 *
 * @example
 * const short: Scorer = { name: "short", score: ({ text }) => (text.length < 500 ? 1 : 0) }
 */
export interface Scorer {
  readonly name: string;
  score(answer: ScoredAnswer): number | Score | Promise<number | Score>;
}

/** The progress of a comparison. */
export interface CompareProgress {
  readonly phase: "runs" | "judge";
  /** Finished in this phase, including those of an earlier start. */
  readonly finished: number;
  readonly total: number;
  /** How many of the finished ones are from an earlier start of the same comparison. */
  readonly kept: number;
  readonly failed: number;
  /** Dollars spent so far, if known. */
  readonly costUsd: number;
  /** What was finished last. Absent at the start of a phase. */
  readonly latest?: string;
}

/** The options of `compare`. */
export interface CompareOptions {
  readonly prompts: readonly (string | ComparePrompt)[];
  /** At least two: backend strings, or targets with a name. */
  readonly targets: readonly (string | CompareTarget)[];
  /** Each prompt is asked about each of these. Default: the prompts alone. */
  readonly documents?: readonly CompareDocument[];
  /** How often each prompt is asked. Default: often enough for five answers per target. */
  readonly repeat?: number;
  /** Options for every run. */
  readonly options?: RunOptions;
  /** Default: `documentScorers()`. */
  readonly scorers?: readonly Scorer[];
  /** A model that rates the answers without knowing which target gave them. */
  readonly judge?: string | JudgeOptions;
  /** The target that the others are compared with. Default: the first. */
  readonly baseline?: string;
  /** When a target counts as better. */
  readonly rule?: Partial<DecisionRule>;
  /** The number of simultaneous runs. Default 2. */
  readonly concurrency?: number;
  /** An absolute path. Finished work is stored there, and an interrupted comparison continues from it. */
  readonly folder?: string;
  /** Determines the order of the runs, and of the answers that the judge sees. Default 1. */
  readonly seed?: number;
  /** Ends the comparison early; the report then covers what was finished. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: CompareProgress) => void;
}

/** One answer of one target. */
export interface Sample {
  /** Unique in a comparison, and stable when it is started again. */
  readonly id: string;
  readonly target: string;
  readonly prompt: string;
  readonly document?: string;
  /** From 1. */
  readonly repetition: number;
  readonly result: RunResult;
}

/** A sample with its cost and its scores. */
export interface ScoredSample {
  readonly id: string;
  readonly target: string;
  readonly prompt: string;
  readonly document?: string;
  readonly repetition: number;
  readonly status: RunResult["status"];
  readonly text: string;
  readonly model?: string;
  /** Why there is no answer. */
  readonly error?: string;
  readonly costUsd?: number;
  readonly ms: number;
  readonly usage: Usage;
  /** By the name of the scorer. */
  readonly scores: Readonly<Record<string, Score>>;
}
