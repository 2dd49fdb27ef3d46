import type { RunResult, Usage } from "#domain";
import type { RunOptions, Target } from "#runtime";
import type { DecisionRule } from "./decision.ts";
import type { JudgeOptions } from "./judge.ts";

/** Something that every target is asked. */
export interface ComparePrompt {
  /** Names the prompt in the report. Default: its place, from 1. */
  readonly id?: string;
  readonly prompt: string;
}

/** A text that is given with the prompts: each prompt is asked about each document. */
export interface CompareDocument {
  readonly name: string;
  readonly text: string;
}

/** One of the things that are compared. */
export interface CompareTarget {
  /** Names the target in the report. */
  readonly name: string;
  readonly target: Target;
  /** Options for this target alone; they take precedence over those for all. */
  readonly options?: RunOptions;
}

/** What a scorer is given. */
export interface ScoredAnswer {
  /** The text of the answer. */
  readonly text: string;
  /** Everything the run produced. */
  readonly result: RunResult;
  readonly prompt: string;
  readonly document?: CompareDocument;
}

/** What a scorer found: a number from 0 (worst) to 1 (best), and why. */
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

/** How far a comparison has come. */
export interface CompareProgress {
  readonly phase: "runs" | "judge";
  /** Finished in this phase, those of an earlier start included. */
  readonly finished: number;
  readonly total: number;
  /** How many of the finished ones are of an earlier start of the same comparison. */
  readonly kept: number;
  readonly failed: number;
  /** Dollars spent so far, as far as they are known. */
  readonly costUsd: number;
  /** What has just been finished. Missing at the start of a phase. */
  readonly latest?: string;
}

/** The options of `compare`. */
export interface CompareOptions {
  readonly prompts: readonly (string | ComparePrompt)[];
  /** At least two; backend strings, or targets with names of their own. */
  readonly targets: readonly (string | CompareTarget)[];
  /** Each prompt is asked about each of these. Default: prompts alone. */
  readonly documents?: readonly CompareDocument[];
  /** How often each prompt is asked. Default: as often as it takes for five answers per target. */
  readonly repeat?: number;
  /** Options for every run. */
  readonly options?: RunOptions;
  /** Default: `documentScorers()`. */
  readonly scorers?: readonly Scorer[];
  /** A model that rates the answers without being told whose they are. */
  readonly judge?: string | JudgeOptions;
  /** The target the others are measured against. Default: the first. */
  readonly baseline?: string;
  /** When a target counts as better. */
  readonly rule?: Partial<DecisionRule>;
  /** Runs at the same time. Default 2. */
  readonly concurrency?: number;
  /** An absolute path. What is finished is kept there, and a comparison that was interrupted goes on from it. */
  readonly folder?: string;
  /** Decides the order of the runs and of the answers before the judge. Default 1. */
  readonly seed?: number;
  /** Ends the comparison early; the report then covers what was finished. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: CompareProgress) => void;
}

/** One answer of one target. */
export interface Sample {
  /** Unique in a comparison, and the same when it is started again. */
  readonly id: string;
  readonly target: string;
  readonly prompt: string;
  readonly document?: string;
  /** From 1. */
  readonly repetition: number;
  readonly result: RunResult;
}

/** A sample with what it costs and what it is worth. */
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
