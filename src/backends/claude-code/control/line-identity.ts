import { isRecord, ownRecord, ownString } from "#wire";

/** Fields of an answer that decide whether something may happen. */
const DECISION = /\.(?:behavior|permissionDecision|decision|continue)$/;

/** Whether a path in a line that we write decides whether the CLI may do something. */
export function isDecision(path: string): boolean {
  return DECISION.test(path);
}

/**
 * The identity of a line that we write to the CLI: answers to different questions are different things. For comparing
 * what is written now with an earlier recording.
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
