import { DOCUMENT_SECTIONS } from "#compare";
import type { EmulatorScript } from "#emulator";

/** A requirements document of known quality. */
export interface Quality {
  /** Of thirteen. */
  readonly sections: number;
  /** Of four criteria: so many can be measured, so many name an actor. */
  readonly measurable: number;
  readonly actors: number;
  /** Of two requirements with two error scenarios each: so many scenarios there are, from 0 to 4. */
  readonly scenarios: number;
  /** Of four abbreviations so many are explained. */
  readonly explained: number;
}

const ABBREVIATIONS = [
  ["KPI", "key performance indicator"],
  ["SLO", "service level objective"],
  ["RTO", "recovery time objective"],
  ["ERP", "enterprise resource planning"],
] as const;

/** The document; its four scores are `scoresOf(quality)`. */
export function writeDocument({ sections, measurable, actors, scenarios, explained }: Quality): string {
  const criteria = Array.from({ length: 4 }, (_, index) => {
    const who = index < actors ? "The user receives" : "Showing of";
    return `- ${who} a page ${index < measurable ? "within 2 seconds" : "quickly"}`;
  });
  const failures = [
    ["- A wrong title is rejected", "- The index is unavailable"],
    ["- The card has expired", "- The loan fails"],
  ].map((pair, index) => pair.slice(0, Math.min(2, Math.max(0, scenarios - index * 2))));
  return [
    ...DOCUMENT_SECTIONS.slice(0, sections).flatMap(({ name }) => [`# ${name}`, "Some words.", ""]),
    "# Details",
    "## FR-1 Search",
    ...(failures[0] ?? []),
    "## FR-2 Lend",
    ...(failures[1] ?? []),
    "## Acceptance criteria in full",
    ...criteria,
    "## Names",
    ...ABBREVIATIONS.map(([short, long], index) => (index < explained ? `The ${long} (${short}).` : `The ${short}.`)),
  ].join("\n");
}

/** The scores of a document, by hand. The heading "Acceptance criteria in full" is one of the thirteen sections, too. */
export function scoresOf({ sections, measurable, actors, scenarios, explained }: Quality): readonly number[] {
  return [
    Math.max(sections, Math.min(13, sections + (sections < 9 ? 1 : 0))) / 13,
    (measurable + actors) / 8,
    scenarios / 4,
    (1 + explained / 4) / 2,
  ];
}

/** A script in which each model answers each prompt with its own document, in the order given. */
export function scriptOf(
  answers: Readonly<
    Record<string, readonly { readonly prompt: string; readonly text: string; readonly usage?: object }[]>
  >,
): EmulatorScript {
  return {
    rules: Object.entries(answers).flatMap(([model, list]) =>
      list.map(({ prompt, text, usage }) => ({
        match: { model, user: { contains: prompt }, times: 1 },
        reply: { text, ...(usage !== undefined && { usage }) },
      })),
    ),
  };
}
