import { type AgentEvent, type ToolResultItem, isRecord } from "#domain";

/**
 * Functions that extract what only the application knows: which tool results are artifacts, and which documents they
 * used. Your own tools can report it themselves (`context.artifact`, `context.documents`). A function that throws
 * counts as "none".
 */
export interface ReportOptions {
  /** The artifact of a result; `undefined` or `null` if there is none. */
  readonly artifactOf?: (result: ToolResultItem) => unknown;
  readonly documentsOf?: (result: ToolResultItem) => readonly unknown[];
}

export const REPORT_OPTION_NAMES = ["artifactOf", "documentsOf"] as const satisfies readonly (keyof ReportOptions)[];

/** The artifacts and documents that one event reports, and the call they belong to. */
export interface ToolReports {
  readonly callId: string;
  readonly name: string;
  readonly artifacts: readonly unknown[];
  readonly documents: readonly unknown[];
}

/** Reads the reports of an event; `undefined` if it has none. */
export function readReports(event: AgentEvent, options: ReportOptions): ToolReports | undefined {
  if (event.type === "tool-result") return readResult(event, options);
  if (event.type !== "notice" || !isRecord(event.data)) return undefined;
  const { callId, name, artifact, documents } = event.data;
  const call = { callId: String(callId), name: String(name) };
  if (event.kind === "artifact" && isReported(artifact)) return { ...call, artifacts: [artifact], documents: [] };
  if (event.kind === "documents" && Array.isArray(documents)) return { ...call, artifacts: [], documents };
  return undefined;
}

function readResult(result: ToolResultItem, { artifactOf, documentsOf }: ReportOptions): ToolReports | undefined {
  if (artifactOf === undefined && documentsOf === undefined) return undefined;
  const used: unknown = ask(documentsOf, result);
  const artifact = ask(artifactOf, result);
  const { callId, name } = result;
  return {
    callId,
    name,
    artifacts: isReported(artifact) ? [artifact] : [],
    documents: Array.isArray(used) ? used : [],
  };
}

function isReported(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Neither a caller's function that throws nor a value that cannot be serialised may break the stream. */
function ask<Answer>(
  question: ((result: ToolResultItem) => Answer) | undefined,
  result: ToolResultItem,
): Answer | undefined {
  try {
    const answer = question?.(result);
    JSON.stringify(answer);
    return answer;
  } catch {
    return undefined;
  }
}
