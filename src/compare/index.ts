/**
 * The same prompts on several backends, scored.
 *
 * @module
 */
export { compare, compareIn } from "./compare.ts";
export type { Decision, DecisionRule, DimensionTest, PairReport } from "./decision.ts";
export { JOURNAL_FILE } from "./journal.ts";
export type { JudgeOptions, RubricItem } from "./judge.ts";
export type { ComparisonReport, Summary, TargetReport } from "./report.ts";
export { writeHtmlReport } from "./report-html.ts";
export { describeReport } from "./report-text.ts";
export { acceptanceCriteria } from "./scorers/acceptance-criteria.ts";
export { documentScorers } from "./scorers/built-in.ts";
export { consistency } from "./scorers/consistency.ts";
export { errorScenarios } from "./scorers/error-scenarios.ts";
export type { SectionName } from "./scorers/sections.ts";
export { DOCUMENT_SECTIONS, sectionCompleteness } from "./scorers/sections.ts";
export type { MannWhitney } from "./statistics.ts";
export { mannWhitney } from "./statistics.ts";
export type {
  CompareDocument,
  CompareOptions,
  ComparePrompt,
  CompareProgress,
  CompareTarget,
  Score,
  ScoredAnswer,
  ScoredSample,
  Scorer,
} from "./types.ts";
