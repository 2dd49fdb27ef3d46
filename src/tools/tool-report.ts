import { describeThrown } from "#domain";
import { type JsonPrefix, toJsonPrefix } from "./json-value.ts";
import { MAX_RESULT_CHARACTERS } from "./outcome.ts";

/** What a tool has made, for the people who follow the run: a file, a page, a chart. Whatever else it says is kept. */
export interface Artifact {
  readonly [field: string]: unknown;
  readonly id?: string;
  readonly name?: string;
  /** A media type, or a word of your own. */
  readonly type?: string;
  /** Where it is. */
  readonly url?: string;
}

/**
 * The state of a tool that has made something. States travel, are recorded and played as they are, so a report is one
 * with a single field. @throws Error that tells the tool's author what is wrong.
 */
export function artifactState(artifact: unknown): { readonly artifact: unknown } {
  if (typeof artifact !== "object" || artifact === null || Array.isArray(artifact)) {
    throw new Error(`context.artifact was given ${nameOf(artifact)}. Give an object that says what was made.`);
  }
  return { artifact: readReport("context.artifact", artifact) };
}

/** The state of a tool that has used documents. @throws Error that tells the tool's author what is wrong. */
export function documentsState(documents: unknown): { readonly documents: readonly unknown[] } {
  if (!Array.isArray(documents)) {
    throw new Error(`context.documents was given ${nameOf(documents)}. Give a list, one entry for each document.`);
  }
  return { documents: readReport("context.documents", documents) as readonly unknown[] };
}

/** Everything in an event is kept and sent to every reader. */
function readReport(what: string, value: object): unknown {
  let json: JsonPrefix;
  try {
    json = toJsonPrefix(value, MAX_RESULT_CHARACTERS);
  } catch (thrown) {
    throw new Error(`${what} was given a value that is not JSON: ${describeThrown(thrown)}`);
  }
  if (json.isWhole && JSON.stringify(json.value).length <= MAX_RESULT_CHARACTERS) return json.value;
  throw new Error(
    `${what} was given more than ${MAX_RESULT_CHARACTERS} characters of JSON. Store it, and report where it is.`,
  );
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** A report among the states of a tool; `undefined` for any other state. */
export type ToolReport =
  | { readonly kind: "artifact"; readonly artifact: unknown }
  | { readonly kind: "documents"; readonly documents: readonly unknown[] };

export function readReportState(state: unknown): ToolReport | undefined {
  if (typeof state !== "object" || state === null || Object.keys(state).length !== 1) return undefined;
  const { artifact, documents } = state as { readonly artifact?: unknown; readonly documents?: unknown };
  if (Object.hasOwn(state, "artifact")) return { kind: "artifact", artifact };
  return Array.isArray(documents) ? { kind: "documents", documents } : undefined;
}
