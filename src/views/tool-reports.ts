import { type AgentEvent, type ToolResultItem, isRecord } from "#domain";

/**
 * What only the application knows: which tool results are artifacts, and which documents they used. Tools of your own may
 * say it themselves (`context.artifact`, `context.documents`), and need none of this. One that throws counts as "none".
 */
export interface ReportOptions {
  /** What was made; `undefined` or `null`: nothing. */
  readonly artifactOf?: (result: ToolResultItem) => unknown;
  readonly documentsOf?: (result: ToolResultItem) => readonly unknown[];
}

export const REPORT_OPTION_NAMES = ["artifactOf", "documentsOf"] as const satisfies readonly (keyof ReportOptions)[];

/** What one event says was made or used, and by which call. */
export interface ToolReports {
  readonly callId: string;
  readonly name: string;
  readonly artifacts: readonly unknown[];
  readonly documents: readonly unknown[];
}

/** Reads the reports of an event; `undefined` when it has none. */
export function readReports(event: AgentEvent, options: ReportOptions): ToolReports | undefined {
  if (event.type === "tool-result") return readResult(event, options);
  if (event.type !== "notice" || !isRecord(event.data)) return undefined;
  const { callId, name, artifact, documents } = event.data;
  const call = { callId: String(callId), name: String(name) };
  if (event.kind === "artifact" && isSaid(artifact)) return { ...call, artifacts: [artifact], documents: [] };
  if (event.kind === "documents" && Array.isArray(documents)) return { ...call, artifacts: [], documents };
  return undefined;
}

function readResult(result: ToolResultItem, { artifactOf, documentsOf }: ReportOptions): ToolReports | undefined {
  if (artifactOf === undefined && documentsOf === undefined) return undefined;
  const used: unknown = ask(documentsOf, result);
  const artifact = ask(artifactOf, result);
  const { callId, name } = result;
  return { callId, name, artifacts: isSaid(artifact) ? [artifact] : [], documents: Array.isArray(used) ? used : [] };
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The caller's functions must not be able to break the stream, and neither must a value that cannot be written. */
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
