import { checkNames, checkOptionNames, describeValue, StartError } from "#domain";
import type { Scorer } from "../types.ts";
import { plainTitle, readOutline } from "./outline.ts";

/** A section that a document must have, and its possible names. */
export interface SectionName {
  readonly name: string;
  readonly aliases?: readonly string[];
}

/**
 * The thirteen sections of a business requirements document.
 *
 * @example
 * const scorer = sectionCompleteness({ sections: [...DOCUMENT_SECTIONS, "Costs"] })
 */
export const DOCUMENT_SECTIONS: readonly SectionName[] = [
  { name: "Executive summary", aliases: ["Summary", "Overview", "Introduction"] },
  { name: "Business objectives", aliases: ["Objectives", "Goals", "Business goals"] },
  { name: "Background", aliases: ["Problem statement", "Current state", "Context"] },
  { name: "Scope", aliases: ["In scope", "Project scope"] },
  { name: "Stakeholders", aliases: ["Users", "Actors", "User personas", "Personas"] },
  { name: "Functional requirements", aliases: ["Features"] },
  { name: "Non-functional requirements", aliases: ["Quality attributes", "Nonfunctional requirements"] },
  { name: "User stories", aliases: ["Use cases", "User journeys", "Process flows"] },
  { name: "Acceptance criteria", aliases: ["Success criteria"] },
  { name: "Assumptions and constraints", aliases: ["Assumptions", "Constraints"] },
  { name: "Dependencies", aliases: ["Integrations", "Interfaces"] },
  { name: "Risks", aliases: ["Risks and mitigation", "Risk assessment"] },
  { name: "Glossary", aliases: ["Definitions", "Terms and definitions"] },
];

/**
 * Checks which of the wanted sections a document has. A heading counts if its title is or contains the section's name,
 * and it is followed by text. Score: the share of the wanted sections that are present.
 *
 * @example
 * await compare({ prompts, targets, scorers: [sectionCompleteness({ sections: ["Scope", "Risks"] })] })
 */
export function sectionCompleteness(options: { readonly sections?: readonly (string | SectionName)[] } = {}): Scorer {
  checkOptionNames(options, ["sections"], "sectionCompleteness");
  const wanted = readSections(options.sections ?? DOCUMENT_SECTIONS);
  return {
    name: "sections",
    score({ text }) {
      const outline = readOutline(text);
      const titles = outline.flatMap((section, index) => {
        const hasText = section.lines.some((line) => line.trim() !== "");
        const hasParts = (outline[index + 1]?.level ?? 0) > section.level;
        return section.level > 0 && (hasText || hasParts) ? [` ${plainTitle(section.title)} `] : [];
      });
      const missing = wanted.filter(({ names }) => !titles.some((title) => names.some((name) => title.includes(name))));
      const found = wanted.length - missing.length;
      const detail = `${found} of ${wanted.length} sections`;
      return {
        value: found / wanted.length,
        detail: missing.length === 0 ? detail : `${detail}; missing: ${missing.map(({ name }) => name).join(", ")}`,
      };
    },
  };
}

function readSections(sections: readonly (string | SectionName)[]) {
  if (!Array.isArray(sections) || sections.length === 0) {
    throw new StartError("invalid-option", `sections is ${describeValue(sections)}. Give a list of section names.`);
  }
  return sections.map((section, index) => {
    if (typeof section === "object" && section !== null) {
      checkNames(section, ["name", "aliases"] satisfies (keyof SectionName)[], `sections[${index}].`);
    }
    const { name, aliases = [] } = typeof section === "string" ? { name: section } : section;
    if (typeof name !== "string" || plainTitle(name) === "") {
      throw new StartError(
        "invalid-option",
        `sections[${index}] is ${describeValue(section)}. Give a name, or { name, aliases }.`,
      );
    }
    return { name, names: [name, ...aliases].map((one) => ` ${plainTitle(one)} `) };
  });
}
