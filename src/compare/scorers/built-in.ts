import { checkOptionNames } from "#domain";
import type { Scorer } from "../types.ts";
import { acceptanceCriteria } from "./acceptance-criteria.ts";
import { consistency } from "./consistency.ts";
import { errorScenarios } from "./error-scenarios.ts";
import { type SectionName, sectionCompleteness } from "./sections.ts";

/**
 * The four scorers for requirements documents: sections, acceptance criteria, error scenarios, consistency.
 *
 * @example
 * await compare({ prompts, targets, scorers: [...documentScorers(), { name: "short", score: ({ text }) => 500 / Math.max(500, text.length) }] })
 */
export function documentScorers(
  options: { readonly sections?: readonly (string | SectionName)[]; readonly perRequirement?: number } = {},
): readonly Scorer[] {
  checkOptionNames(options, ["sections", "perRequirement"], "documentScorers");
  const { sections, perRequirement } = options;
  return [
    sectionCompleteness(sections === undefined ? {} : { sections }),
    acceptanceCriteria(),
    errorScenarios(perRequirement === undefined ? {} : { perRequirement }),
    consistency(),
  ];
}
