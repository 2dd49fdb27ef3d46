import type { ClaudeCodeMessageKind } from "../../src/runtime/claude-code.ts";

/**
 * The kinds of messages that the types of @anthropic-ai/claude-agent-sdk 0.3.328 name for what the CLI writes: the
 * members of `StdoutMessage`, each with its `type` and, for `system`, its `subtype`. A result's subtypes are one kind, and
 * so are a user's message and its replay. The list is kept here because the package is large and nothing else needs it;
 * when a newer one is looked at, this is what is changed, and the compiler names the kinds that our types lack.
 */
export const SDK_MESSAGE_KINDS = [
  "active_goal",
  "assistant",
  "auth_status",
  "control_cancel_request",
  "control_request",
  "control_response",
  "conversation_reset",
  "keep_alive",
  "prompt_suggestion",
  "rate_limit_event",
  "result",
  "stream_event",
  "system/api_retry",
  "system/background_tasks_changed",
  "system/commands_changed",
  "system/compact_boundary",
  "system/control_request_progress",
  "system/elicitation_complete",
  "system/files_persisted",
  "system/hook_progress",
  "system/hook_response",
  "system/hook_started",
  "system/informational",
  "system/init",
  "system/local_command_output",
  "system/memory_recall",
  "system/mirror_error",
  "system/model_refusal_fallback",
  "system/model_refusal_no_fallback",
  "system/notification",
  "system/permission_denied",
  "system/plugin_install",
  "system/session_state_changed",
  "system/session_writes_lost",
  "system/status",
  "system/task_notification",
  "system/task_progress",
  "system/task_started",
  "system/task_updated",
  "system/thinking_tokens",
  "system/worker_shutting_down",
  "tool_progress",
  "tool_use_summary",
  "user",
] as const satisfies readonly ClaudeCodeMessageKind[];

/** Kinds that the CLI writes and those types do not name. */
export const SEEN_MESSAGE_KINDS = [
  "command_lifecycle",
  "system/model_fallback",
  "system/session_title_changed",
] as const satisfies readonly ClaudeCodeMessageKind[];
