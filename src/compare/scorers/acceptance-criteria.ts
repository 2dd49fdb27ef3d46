import type { Scorer } from "../types.ts";
import { plainTitle, readItems, readOutline } from "./outline.ts";

/** A measurable number: with a unit, a per cent sign, or a comparison before it. */
const THRESHOLD =
  /(?:(?:[<>≤≥=]|\b(?:within|under|below|above|over|at least|at most|no more than|no less than|fewer than|less than|more than|up to|exactly|maximum of|minimum of|every|after|per)\b)\s{0,3}[$€£]?\d)|(?:\d(?:[\d.,]{0,15})\s{0,2}(?:%|percent\b|ms\b|s\b|secs?\b|seconds?\b|minutes?\b|mins?\b|hours?\b|h\b|days?\b|weeks?\b|months?\b|years?\b|[kmgt]i?b\b|bytes?\b|characters?\b|requests?\b|users?\b|items?\b|records?\b|rows?\b|times?\b|attempts?\b|retries\b|pages?\b|rps\b|usd\b|eur\b|dollars?\b|euros?\b))/i;

const ACTION =
  "(?:must|shall|should|can|cannot|may|will|is able to|are able to|has|have|sees?|receives?|gets?|submits?|clicks?|opens?|enters?|selects?|requests?|sends?|logs? in|signs? in|uploads?|downloads?|creates?|views?|approves?|rejects?|cancels?|is|are)";
/** Words that name no particular actor. */
const VAGUE: ReadonlySet<string> = new Set([
  "it",
  "this",
  "that",
  "they",
  "there",
  "one",
  "everything",
  "something",
  "result",
  "results",
]);

/**
 * Rates the acceptance criteria: each should have a measurable threshold and a named actor. Criteria are the entries of
 * lists and tables below a heading that contains "acceptance criteria", items that begin with an id such as `AC-1`, and
 * items of the form "Given … when … then …". Score: the mean over all criteria of (measurable + actor) / 2; 0 if there
 * are none.
 *
 * @example
 * await compare({ prompts: ["Write the requirements."], targets: ["offline", "claude-code"], scorers: [acceptanceCriteria()] })
 */
export function acceptanceCriteria(): Scorer {
  return {
    name: "acceptance criteria",
    score({ text }) {
      const criteria = findCriteria(text);
      if (criteria.length === 0) return { value: 0, detail: "no acceptance criteria" };
      const measurable = criteria.filter((criterion) => THRESHOLD.test(criterion)).length;
      const withActor = criteria.filter(hasActor).length;
      return {
        value: (measurable + withActor) / (2 * criteria.length),
        detail: `${criteria.length} criteria, ${measurable} measurable, ${withActor} with an actor`,
      };
    },
  };
}

function findCriteria(text: string): readonly string[] {
  return readOutline(text).flatMap((section) => {
    const isAbout = [...section.path, section.title].some((title) => plainTitle(title).includes("acceptance criteria"));
    return readItems(section.lines)
      .filter(({ text: item, isEntry }) => (isAbout && isEntry && !isHeaderRow(item)) || isCriterion(item))
      .map((item) => item.text);
  });
}

function isCriterion(item: string): boolean {
  return /^\W{0,4}AC[-_ ]?\d/i.test(item) || /\bgiven\b.{1,400}\bwhen\b.{1,400}\bthen\b/i.test(item);
}

/** The first row of a table names its columns. */
function isHeaderRow(item: string): boolean {
  return item.startsWith("|") && /\bcriteri(?:on|a)\b/i.test(item) && !/\d/.test(item);
}

function hasActor(criterion: string): boolean {
  const found = new RegExp(
    `\\b(?:the|an?|any|each|every|as an?|given an?|given the)\\s+((?:[a-z][a-z-]{0,30}\\s+){0,3}?)([a-z][a-z-]{1,30})\\s*,?\\s+(?:[a-z]{1,12}ly\\s+)?${ACTION}\\b`,
    "i",
  ).exec(criterion);
  if (found !== null && !VAGUE.has((found[2] as string).toLowerCase())) return true;
  return /\b(?:as|given) an?\s+[a-z]/i.test(criterion);
}
