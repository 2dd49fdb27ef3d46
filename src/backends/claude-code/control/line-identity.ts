import { isRecord, ownRecord, ownString } from "#wire";

/** Where an answer says whether something may happen. */
const DECISION = /\.(?:behavior|permissionDecision|decision|continue)$/;

/** Whether a place within a line that we write decides whether the CLI may do something. */
export function isDecision(path: string): boolean {
  return DECISION.test(path);
}

/**
 * What tells the lines apart that we write to the CLI: the answer to one question is another thing than the answer to the
 * next. For whoever compares what is written now with what was written before.
 */
export function lineIdentity(line: unknown): string | undefined {
  if (!isRecord(line)) return undefined;
  const type = ownString(line, "type") ?? "";
  switch (type) {
    case "control_response":
      return `${type} ${ownString(ownRecord(line, "response") ?? {}, "request_id") ?? ""}`;
    case "control_request":
      return `${type} ${ownString(ownRecord(line, "request") ?? {}, "subtype") ?? ""}`;
    default:
      return type;
  }
}
