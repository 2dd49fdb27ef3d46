import { describeThrown } from "#domain";
import { type JsonPrefix, toJsonPrefix } from "./json-value.ts";
import { MAX_RESULT_CHARACTERS } from "./outcome.ts";

/** Something a tool has created, for the readers of the run: a file, a page, a chart. Other fields are kept. */
export interface Artifact {
  readonly [field: string]: unknown;
  readonly id?: string;
  readonly name?: string;
  /** A media type, or any other word. */
  readonly type?: string;
  /** Its address. */
  readonly url?: string;
}

/**
 * The progress state that reports an artifact. States are already passed on, recorded and replayed unchanged, so a
 * report is a state with a single field.
 *
 * @throws Error that tells the author of the tool what is wrong.
 */
export function artifactState(artifact: unknown): { readonly artifact: unknown } {
  if (typeof artifact !== "object" || artifact === null || Array.isArray(artifact)) {
    throw new Error(`context.artifact was given ${nameOf(artifact)}. Give an object that says what was made.`);
  }
  return { artifact: readReport("context.artifact", artifact) };
}

/**
 * The progress state that reports documents.
 * @throws Error that tells the author of the tool what is wrong.
 */
export function documentsState(documents: unknown): { readonly documents: readonly unknown[] } {
  if (!Array.isArray(documents)) {
    throw new Error(`context.documents was given ${nameOf(documents)}. Give a list, one entry for each document.`);
  }
  return { documents: readReport("context.documents", documents) as readonly unknown[] };
}

/** Limited in size, because an event is stored and sent to every reader. */
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
