import { noticeItem, type ChunkOf, type NoticeItem, present } from "#domain";
import { type JsonRecord, ownNumber, ownString } from "#wire";
import { codeOfStatus } from "../shared/provider-error.ts";

/**
 * Frames that inform a reader and change nothing, with the kind of our notice. `data` is the whole frame. A frame that
 * is in neither table becomes `unknown:<type>`, so nothing is lost.
 */

/** By `type`. */
export const FRAME_NOTICES: ReadonlyMap<string, string> = new Map([
  ["rate_limit_event", "rate-limit"],
  ["tool_progress", "tool-progress"],
  ["command_lifecycle", "command-lifecycle"],
  ["conversation_reset", "conversation-reset"],
  ["control_request", "control"],
  ["control_response", "control"],
  ["control_cancel_request", "control"],
  ["keep_alive", "control"],
  // Declared in the CLI's types, never observed.
  ["active_goal", "active-goal"],
  ["auth_status", "auth-status"],
  ["prompt_suggestion", "prompt-suggestion"],
  ["tool_use_summary", "tool-use-summary"],
]);

/** By `subtype` of a `system` frame. */
export const SYSTEM_NOTICES: ReadonlyMap<string, string> = new Map([
  ["status", "status"],
  ["api_retry", "retry"],
  ["thinking_tokens", "thinking-tokens"],
  ["compact_boundary", "compact"],
  ["hook_started", "hook"],
  ["hook_response", "hook"],
  ["informational", "informational"],
  ["notification", "informational"],
  ["model_fallback", "model-fallback"],
  ["model_refusal_no_fallback", "refusal"],
  ["task_started", "task"],
  ["task_progress", "task"],
  ["task_updated", "task"],
  ["task_notification", "task"],
  ["background_tasks_changed", "task"],
  ["session_state_changed", "session-state-changed"],
  ["session_title_changed", "session-title-changed"],
  ["commands_changed", "commands-changed"],
  // Declared in the CLI's types, never observed.
  ["control_request_progress", "control"],
  ["elicitation_complete", "elicitation-complete"],
  ["files_persisted", "files-persisted"],
  ["hook_progress", "hook"],
  ["local_command_output", "command-output"],
  ["memory_recall", "memory-recall"],
  ["mirror_error", "mirror-error"],
  ["model_refusal_fallback", "model-fallback"],
  ["plugin_install", "plugin-install"],
  ["session_writes_lost", "session-writes-lost"],
  ["worker_shutting_down", "worker-shutting-down"],
]);

/** The notice for a `system` frame of this kind. A retry also has the fields that retries have on every backend. */
export function systemNotice(kind: string, frame: JsonRecord): ChunkOf<NoticeItem> {
  return noticeItem(kind, kind === "retry" ? { ...frame, ...describeRetry(frame) } : frame);
}

function describeRetry(frame: JsonRecord): JsonRecord {
  const status = ownNumber(frame, "error_status");
  const word = ownString(frame, "error");
  const isDescribed = status !== undefined || word !== undefined;
  const did = status === undefined ? "did not answer" : `answered ${status}`;
  const why = word === undefined || word === "unknown" ? "" : ` (${word.replaceAll("_", " ")})`;
  return present({
    attempts: ownNumber(frame, "max_retries"),
    delayMs: ownNumber(frame, "retry_delay_ms"),
    code: isDescribed ? (status === undefined ? "provider-unreachable" : codeOfStatus(status)) : undefined,
    message: isDescribed ? `The host of the model ${did}${why}.` : undefined,
  });
}
