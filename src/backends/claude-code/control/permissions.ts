import { describeThrown } from "#domain";
import { type JsonRecord, ownString, ownValue } from "#wire";
import type { ControlContext } from "./hooks.ts";

/**
 * Answers a `can_use_tool`. A decision made for this call before (by the hook in front of it) is used and nobody is
 * asked twice, as long as the arguments are those decided about. Never rejects; what fails denies.
 */
export async function answerPermission(
  request: JsonRecord,
  context: ControlContext,
  signal: AbortSignal,
): Promise<JsonRecord> {
  const turn = context.turn();
  if (turn === undefined) return denyPermission("Not run: no turn is under way, so nobody can allow it.");
  const vendorName = ownString(request, "tool_name") ?? "";
  const input = ownValue(request, "input") ?? {};
  // CLIs before 2.0.30 do not say which call it is; each such question then stands for itself.
  const callId = ownString(request, "tool_use_id") ?? context.newCallId(vendorName);
  const own = context.ownTool(vendorName);
  const record = turn.call(callId, own ?? vendorName, own === undefined ? "backend" : "millrace");
  try {
    const isKnown = record.verdict !== undefined;
    let verdict = await turn.decide(callId, record, { input, signal });
    // Our own tools redeem their grant when they run.
    if (isKnown && verdict.kind === "run" && record.executedBy === "backend" && !verdict.grant.redeem(input)) {
      verdict = await turn.decide(callId, record, { input, signal, fresh: true });
    }
    if (verdict.kind === "denied") {
      return { ...denyPermission(verdict.reason), ...(verdict.stop !== undefined && { interrupt: true }) };
    }
    if (record.executedBy === "backend" && verdict.by === undefined) {
      // The CLI's own rules want somebody to say yes, and nobody has.
      record.denial = `Not allowed: Claude Code asks for a permission to use ${record.name}, and no rule, hook or callback gives it.`;
      return denyPermission(record.denial);
    }
    // Always with the input: 2.1.197 takes an answer without it for a fault.
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
