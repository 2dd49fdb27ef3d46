import { checkOptionNames, describeValue, StartError } from "#domain";
import type { Scorer } from "../types.ts";
import { readItems } from "./outline.ts";

/** Words that show that an item is about a failure. */
const FAILURE =
  /\b(?:errors?|fail(?:s|ed|ure|ures)?|invalid|wrong|incorrect|time-?outs?|time[sd]? out|unavailable|unreachable|offline|den(?:y|ied|ies)|reject(?:s|ed|ion)?|refus(?:e|es|ed)|missing|exceed(?:s|ed|ing)?|expire[sd]?|conflicts?|duplicates?|unauthori[sz]ed|forbidden|not found|cannot|corrupt(?:ed)?|interrupt(?:s|ed|ion)?|crash(?:es|ed)?|loses?|lost|malformed|abort(?:s|ed)?|4\d\d|5\d\d)\b/i;
/** The id of a requirement at the beginning of an item or a heading: `FR-1`, `**REQ-12**`, `| US-3 |`. */
const REQUIREMENT =
  /^(?:#{1,6}\s+)?(?:[-*+]\s+|\d{1,4}[.)]\s+|\|\s*)?[*_`[(]{0,3}((?:FR|NFR|BR|REQ|RQ|R|US|UC|SR|TR)[-_ ]?\d{1,4}(?:\.\d{1,3})?)\b/;
const REQUIREMENT_ANYWHERE = /\b(?:FR|NFR|BR|REQ|RQ|R|US|UC|SR|TR)[-_ ]?\d{1,4}(?:\.\d{1,3})?\b/g;

/**
 * Counts the error scenarios of each requirement. A requirement is an item or heading that begins with an id such as
 * `FR-1`. Its scenarios are the items about a failure up to the next requirement, and items elsewhere about a failure
 * that name its id. Score: the mean over all requirements of found / wanted, at most 1 each; 0 if there are none.
 *
 * @example
 * const scorers = [errorScenarios({ perRequirement: 3 })]
 */
export function errorScenarios(options: { readonly perRequirement?: number } = {}): Scorer {
  checkOptionNames(options, ["perRequirement"], "errorScenarios");
  const { perRequirement = 2 } = options;
  if (!Number.isInteger(perRequirement) || perRequirement < 1) {
    throw new StartError(
      "invalid-option",
      `perRequirement is ${describeValue(perRequirement)}. Give a whole number above 0.`,
    );
  }
  return {
    name: "error scenarios",
    score({ text }) {
      const found = countScenarios(text);
      if (found.size === 0) return { value: 0, detail: "no requirement with an id such as FR-1" };
      const counts = [...found.values()];
      const covered = counts.filter((count) => count >= perRequirement).length;
      const sum = counts.reduce((total, count) => total + Math.min(count, perRequirement) / perRequirement, 0);
      return {
        value: sum / counts.length,
        detail: `${covered} of ${counts.length} requirements have ${perRequirement} error scenarios or more`,
      };
    },
  };
}

/** The number of error scenarios by the id of the requirement. */
function countScenarios(text: string): ReadonlyMap<string, number> {
  const items = splitItems(text);
  const counts = new Map<string, number>();
  for (const item of items) {
    const id = idOf(item);
    if (id !== undefined) counts.set(id, 0);
  }
  /** The requirement to which items without an id belong. */
  let current: string | undefined;
  const seen = new Set<string>();
  for (const item of items) {
    const id = idOf(item);
    // The first item with an id is the requirement itself; a later one is about it.
    if (id !== undefined && !seen.has(id)) {
      seen.add(id);
      current = id;
    } else if (/^#{1,6}\s/.test(item)) {
      // "Errors" below a requirement belongs to it; any other heading ends it.
      if (!FAILURE.test(item)) current = undefined;
    } else if (FAILURE.test(item)) {
      const named = [...item.matchAll(REQUIREMENT_ANYWHERE)].map(([name]) => plainId(name));
      const known = [...new Set(named)].filter((name) => counts.has(name));
      const owners = known.length > 0 ? known : current === undefined ? [] : [current];
      for (const owner of owners) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
  }
  return counts;
}

function idOf(item: string): string | undefined {
  const id = REQUIREMENT.exec(item)?.[1];
  return id === undefined ? undefined : plainId(id);
}

/** Headings and items in order. */
function splitItems(text: string): readonly string[] {
  const items: string[] = [];
  let lines: string[] = [];
  const flush = (): void => {
    items.push(...readItems(lines).map((item) => item.text));
    lines = [];
  };
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (/^ {0,3}#{1,6}[ \t]/.test(line)) {
      flush();
      items.push(line.trim());
    } else lines.push(line);
  }
  flush();
  return items;
}

function plainId(id: string): string {
  return id
    .toUpperCase()
    .replace(/[-_ ]/g, "-")
    .replace(/^([A-Z]+)(\d)/, "$1-$2");
}
