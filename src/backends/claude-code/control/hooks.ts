import { describeThrown, messageItem } from "#domain";
import { isRecord, type JsonRecord, ownRecord, ownString, ownValue } from "#wire";
import { readToolOutput } from "./tool-output.ts";
import type { CallRecord, CallDecisions } from "./call-decisions.ts";
import { otherNamesOf } from "../cli-tools.ts";

/** The CLI's hooks that we answer, with the ids under which they are registered. */
export const HOOK_IDS = {
  PreToolUse: "before-tool",
  PostToolUse: "after-tool",
  PostToolUseFailure: "after-failed-tool",
  Stop: "before-stop",
} as const;

/**
 * A week, in seconds: a person may take long to answer, and the CLI ignores a hook that is late. A longer time would
 * not fit the CLI's timers.
 */
const HOOK_SECONDS = 604_800;

/** The hooks for `initialize`. `stop`: whether a hook may make the agent continue. */
export function hookRegistration(wanted: { readonly tools: boolean; readonly stop: boolean }): JsonRecord {
  const matcher = (id: string): JsonRecord[] => [
    // `onFailure`: by default newer versions run a tool even if its hook fails; older ones ignore the field.
    { matcher: "*", hookCallbackIds: [id], timeout: HOOK_SECONDS, onFailure: "block" },
  ];
  return {
    ...(wanted.tools && {
      PreToolUse: matcher(HOOK_IDS.PreToolUse),
      PostToolUse: matcher(HOOK_IDS.PostToolUse),
      PostToolUseFailure: matcher(HOOK_IDS.PostToolUseFailure),
    }),
    ...(wanted.stop && { Stop: [{ hookCallbackIds: [HOOK_IDS.Stop], timeout: HOOK_SECONDS }] }),
  };
}

export interface ControlContext {
  /** The current turn; without one nothing can be allowed. */
  readonly turn: () => CallDecisions | undefined;
  /** The caller's name of one of our tools; `undefined` for the CLI's own. */
  readonly ownTool: (vendorName: string) => string | undefined;
  /** Whether the CLI accepts a replacement for its own tool's output; otherwise it shows the model the original. */
  readonly replacesOutput: boolean;
  /** Creates an id for a call for which the CLI has none. */
  readonly newCallId: (name: string) => string;
}

/** Answers a `hook_callback`. Never rejects; fails closed. */
export async function answerHook(
  request: JsonRecord,
  context: ControlContext,
  signal: AbortSignal,
): Promise<JsonRecord> {
  const id = ownString(request, "callback_id");
  const input = ownRecord(request, "input") ?? {};
  const callId =
    ownString(input, "tool_use_id") ??
    ownString(request, "tool_use_id") ??
    context.newCallId(ownString(input, "tool_name") ?? "tool");
  const turn = context.turn();
  try {
    switch (id) {
      case HOOK_IDS.PreToolUse:
        return turn === undefined ? denyTool(NOBODY) : await beforeTool(turn, { callId, input, signal }, context);
      case HOOK_IDS.PostToolUse:
        return turn === undefined ? {} : await afterTool(turn, { callId, input, signal }, context, "PostToolUse");
      case HOOK_IDS.PostToolUseFailure:
        return turn === undefined
          ? {}
          : await afterTool(turn, { callId, input, signal }, context, "PostToolUseFailure");
      case HOOK_IDS.Stop:
        return turn === undefined ? {} : await beforeStop(turn, input, signal);
      default:
        // Not one of ours: if it precedes a tool, the tool does not run.
        return ownString(input, "hook_event_name") === "PreToolUse" ? denyTool("Unknown hook.") : {};
    }
  } catch (thrown) {
    return id === HOOK_IDS.PreToolUse ? denyTool(`The hook failed: ${describeThrown(thrown)}`) : {};
  }
}

const NOBODY = "Not run: no turn is active.";

/** A hook of the CLI before or after a tool. */
interface ToolHook {
  readonly callId: string;
  readonly input: JsonRecord;
  /** Aborted when the CLI cancels it: then our answer does not reach the model any more. */
  readonly signal: AbortSignal;
}

async function beforeTool(
  turn: CallDecisions,
  { callId, input, signal }: ToolHook,
  context: ControlContext,
): Promise<JsonRecord> {
  const toolInput = ownValue(input, "tool_input") ?? {};
  const record = recordOf(turn, callId, input, context);
  record.cwd = ownString(input, "cwd");
  const verdict = await turn.decide(callId, record, { input: toolInput, signal });
  const note = signal.aborted ? undefined : takeNotes(turn, callId, record);
  const added = note === undefined ? {} : { additionalContext: note };
  if (verdict.kind === "denied") {
    // The CLI ignores `continue: false` next to a denial, so the turn is ended explicitly.
    if (verdict.stop !== undefined) turn.control.interrupt();
    return denyTool(verdict.reason, added);
  }
  const stop = verdict.stop === undefined ? {} : { continue: false, stopReason: verdict.stop };
  if (record.executedBy === "millrace" || verdict.by !== undefined) {
    const allowed = { permissionDecision: "allow", updatedInput: verdict.input };
    return { ...stop, hookSpecificOutput: { hookEventName: "PreToolUse", ...allowed, ...added } };
  }
  // Our policy neither allowed nor denied it: the CLI's own rules apply.
  const changed = isSame(verdict.input, toolInput) ? {} : { updatedInput: verdict.input };
  if (Object.keys(changed).length === 0 && note === undefined) return stop;
  return { ...stop, hookSpecificOutput: { hookEventName: "PreToolUse", ...changed, ...added } };
}

async function afterTool(
  turn: CallDecisions,
  hook: ToolHook,
  context: ControlContext,
  hookEventName: "PostToolUse" | "PostToolUseFailure",
): Promise<JsonRecord> {
  const { callId, input, signal } = hook;
  const record = recordOf(turn, callId, input, context);
  // The output of our own tools was checked before the CLI received it.
  const replaced = record.executedBy === "millrace" ? undefined : await checkOutput(turn, record, hook, context);
  if (replaced === "impossible") return { continue: false, stopReason: UNREPLACEABLE };
  if (signal.aborted) return {};
  const note = takeNotes(turn, callId, record);
  const output = {
    ...(replaced !== undefined && { updatedToolOutput: replaced.output }),
    ...(note !== undefined && { additionalContext: note }),
  };
  return {
    ...(turn.stopReason !== undefined && { continue: false, stopReason: turn.stopReason }),
    ...(Object.keys(output).length > 0 && { hookSpecificOutput: { hookEventName, ...output } }),
  };
}

const UNREPLACEABLE = "The output of a tool had to be replaced, and Claude Code cannot replace it.";

/** The replacement for the tool's output: none, one in the tool's own format, or `impossible`. */
async function checkOutput(
  turn: CallDecisions,
  record: CallRecord,
  { callId, input, signal }: ToolHook,
  context: ControlContext,
): Promise<{ readonly output: unknown } | "impossible" | undefined> {
  const failure = ownString(input, "error");
  const isError = failure !== undefined;
  const name = ownString(input, "tool_name") ?? "";
  const given = isError
    ? { value: failure, write: () => undefined }
    : readToolOutput(name, ownValue(input, "tool_response"));
  const { name: shownName, executedBy } = record;
  const otherNames = executedBy === "backend" ? otherNamesOf(shownName) : [];
  const call = { callId, name: shownName, otherNames, input: ownValue(input, "tool_input"), executedBy, signal };
  const verdict = await turn.link.policy.checkResult(call, { output: given.value, isError });
  record.notes.push(...verdict.notes);
  if (verdict.stop !== undefined) turn.stopReason ??= verdict.stop;
  if (isSame(verdict.output, given.value)) return undefined;
  record.answer = { output: verdict.output, isError: verdict.isError };
  const output = context.replacesOutput && !signal.aborted ? given.write(verdict.output) : undefined;
  if (output !== undefined) return { output };
  turn.control.giveUp({
    code: "guard-denied",
    message: `The output of the tool "${record.name}" had to be replaced before the model sees it, and Claude Code ${
      signal.aborted ? "has withdrawn the question" : "cannot do that for this tool"
    }. The conversation was ended instead.`,
    terminal: true,
  });
  return "impossible";
}

async function beforeStop(turn: CallDecisions, input: JsonRecord, signal: AbortSignal): Promise<JsonRecord> {
  const text = ownString(input, "last_assistant_message") ?? "";
  const verdict = await turn.link.policy.checkStop(text, turn.sentBack, signal);
  if (verdict.stop !== undefined) turn.stopReason ??= verdict.stop;
  if (verdict.kind === "stop" || verdict.stop !== undefined) return {};
  turn.sentBack += 1;
  turn.feedback.push(verdict.feedback);
  return { decision: "block", reason: verdict.feedback };
}

/** Takes the undelivered notes for the model. The CLI does not report them, so we emit the message. */
function takeNotes(turn: CallDecisions, callId: string, record: CallRecord): string | undefined {
  const text = turn.takeNotes(record);
  if (text === undefined) return undefined;
  const id = `${callId}-note-${turn.countNote()}`;
  const note = messageItem({ id, role: "user", blocks: [{ type: "text", text }], source: "millrace" });
  turn.link.write([note])?.catch(() => undefined);
  return text;
}

/** The answer that keeps a tool from running. */
export function denyTool(reason: string, more: JsonRecord = {}): JsonRecord {
  return {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "deny",
      permissionDecisionReason: reason,
      ...more,
    },
  };
}

/** The record of the call that a hook or a question is about. */
export function recordOf(turn: CallDecisions, callId: string, input: JsonRecord, context: ControlContext): CallRecord {
  const vendorName = ownString(input, "tool_name") ?? "";
  const own = context.ownTool(vendorName);
  return turn.call(callId, own ?? vendorName, own === undefined ? "backend" : "millrace");
}

/** Whether two JSON values are equal. */
function isSame(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((entry, index) => isSame(entry, right[index]));
  }
  if (!isRecord(left) || !isRecord(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && isSame(left[key], right[key]));
}
