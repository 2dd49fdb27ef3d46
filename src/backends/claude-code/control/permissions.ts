import { describeThrown } from "#domain";
import { type JsonRecord, ownString, ownValue } from "#wire";
import { type ControlContext, recordOf } from "./hooks.ts";

/**
 * Answers a `can_use_tool`. An earlier decision about this call (by the hook before it) is reused, so nothing is asked
 * twice, as long as the arguments are the same. Never rejects; a failure denies.
 */
export async function answerPermission(
  request: JsonRecord,
  context: ControlContext,
  signal: AbortSignal,
): Promise<JsonRecord> {
  const turn = context.turn();
  if (turn === undefined) return denyPermission("Not run: no turn is active.");
  const vendorName = ownString(request, "tool_name") ?? "";
  const input = ownValue(request, "input") ?? {};
  // CLIs before 2.0.30 do not name the call; then each question counts as a separate call.
  const callId = ownString(request, "tool_use_id") ?? context.newCallId(vendorName);
  const record = recordOf(turn, callId, request, context);
  try {
    const isKnown = record.verdict !== undefined;
    let verdict = await turn.decide(callId, record, { input, signal });
    // Our own tools redeem their grant when they run.
    if (isKnown && verdict.kind === "run") await verdict.grant.prepare?.(input);
    if (isKnown && verdict.kind === "run" && record.executedBy === "backend" && !verdict.grant.redeem(input)) {
      verdict = await turn.decide(callId, record, { input, signal, fresh: true });
    }
    if (verdict.kind === "denied") {
      return { ...denyPermission(verdict.reason), ...(verdict.stop !== undefined && { interrupt: true }) };
    }
    if (record.executedBy === "backend" && verdict.by === undefined) {
      // The CLI's own rules demand a permission, and none was given.
      record.denial = `Not allowed: Claude Code asks for a permission to use ${record.name}, and no rule, hook or callback gives it.`;
      return denyPermission(record.denial);
    }
    // Always with the input: 2.1.197 treats an answer without it as invalid.
    return { behavior: "allow", updatedInput: verdict.input };
  } catch (thrown) {
    record.denial = `The permission could not be decided: ${describeThrown(thrown)}`;
    return denyPermission(record.denial);
  }
}

/** The answer that keeps a tool from running. */
export function denyPermission(message: string): JsonRecord {
  return { behavior: "deny", message };
}
