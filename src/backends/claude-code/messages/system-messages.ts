import type { MessageFields, OpenWord, SystemFields, UnlistedWord } from "./message-fields.ts";
import type { TaskMessage } from "./task-messages.ts";

/** The session and its features: the first message, and again before later turns. */
export interface InitMessage extends SystemFields<"init"> {
  readonly cwd?: string;
  readonly original_cwd?: string;
  readonly additional_directories?: readonly string[];
  readonly model?: string;
  readonly tools?: readonly string[];
  readonly mcp_servers?: readonly {
    readonly [field: string]: unknown;
    readonly name: string;
    readonly status?: string;
    /** Where the server was configured. */
    readonly source?: string;
  }[];
  readonly permissionMode?: OpenWord<"acceptEdits" | "bypassPermissions" | "default" | "dontAsk" | "plan">;
  readonly apiKeySource?: string;
  readonly claude_code_version?: string;
  readonly slash_commands?: readonly string[];
  readonly terminal_slash_commands?: readonly string[];
  readonly agents?: readonly string[];
  readonly skills?: readonly string[];
  readonly plugins?: readonly {
    readonly [field: string]: unknown;
    readonly name: string;
    readonly path?: string;
    readonly version?: string;
  }[];
  readonly plugin_errors?: readonly {
    readonly [field: string]: unknown;
    readonly plugin?: string;
    readonly type?: string;
    readonly message?: string;
    readonly path?: string;
  }[];
  readonly output_style?: string;
  readonly betas?: readonly string[];
  /** Additional capabilities of this CLI, by name. */
  readonly capabilities?: readonly string[];
  readonly effort?: string | null;
  readonly view_mode?: string;
  readonly fast_mode_state?: OpenWord<"cooldown" | "off" | "on">;
  readonly fast_mode_disabled_reason?: string;
  readonly memory_paths?: unknown;
}

/** What the CLI is doing. */
export interface StatusMessage extends SystemFields<"status"> {
  readonly status?: OpenWord<"compacting" | "requesting"> | null;
  readonly permissionMode?: string;
  readonly compact_result?: OpenWord<"failed" | "success">;
  readonly compact_error?: string;
}

/** The conversation was compacted: everything before is a summary from here on. */
export interface CompactBoundaryMessage extends SystemFields<"compact_boundary"> {
  readonly compact_metadata?: {
    readonly [field: string]: unknown;
    readonly trigger?: OpenWord<"auto" | "manual">;
    readonly pre_tokens?: number;
    readonly post_tokens?: number;
    readonly duration_ms?: number;
    /** The messages that were kept as they are, by their ids. */
    readonly preserved_segment?: {
      readonly [field: string]: unknown;
      readonly head_uuid?: string;
      readonly anchor_uuid?: string;
      readonly tail_uuid?: string;
    };
    readonly preserved_messages?: {
      readonly [field: string]: unknown;
      readonly anchor_uuid?: string;
      readonly uuids?: readonly string[];
    };
  };
}

/** A request to the host failed and is retried. */
export interface ApiRetryMessage extends SystemFields<"api_retry"> {
  readonly attempt?: number;
  readonly max_retries?: number;
  readonly retry_delay_ms?: number;
  /** `null`: there was no response. */
  readonly error_status?: number | null;
  readonly error?: string;
  readonly no_response?: { readonly waited_ms?: number; readonly retry_wait_ms?: number };
}

/** The main model could not answer; another one does. */
export interface ModelFallbackMessage extends SystemFields<"model_fallback"> {
  readonly trigger?: string;
  readonly original_model?: string;
  readonly fallback_model?: string;
  readonly content?: string;
}

interface RefusalFields<Subtype extends string> extends SystemFields<Subtype> {
  readonly original_model?: string;
  readonly request_id?: string | null;
  readonly api_refusal_category?: string | null;
  readonly api_refusal_explanation?: string | null;
  readonly refused_user_message_uuid?: string | null;
  readonly content?: string;
}

/** The model refused, and another one was asked. */
export interface RefusalFallbackMessage extends RefusalFields<"model_refusal_fallback"> {
  readonly trigger?: string;
  readonly direction?: OpenWord<"retry" | "revert" | "sticky">;
  readonly scope?: OpenWord<"local" | "session">;
  readonly fallback_model?: string;
  /** Messages to discard, by their `uuid`. */
  readonly retracted_message_uuids?: readonly string[];
}

/** The model refused, and no other model was asked. */
export type RefusalMessage = RefusalFields<"model_refusal_no_fallback">;

interface HookFields<Subtype extends string> extends SystemFields<Subtype> {
  readonly hook_id?: string;
  readonly hook_name?: string;
  readonly hook_event?: string;
}

/** A hook of the settings has started. Only with `includeHookEvents`, like the next two. */
export type HookStartedMessage = HookFields<"hook_started">;

/** The output of a hook so far. */
export interface HookProgressMessage extends HookFields<"hook_progress"> {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly output?: string;
}

/** A hook has ended. */
export interface HookResponseMessage extends HookFields<"hook_response"> {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly output?: string;
  readonly exit_code?: number;
  readonly outcome?: OpenWord<"cancelled" | "error" | "success">;
}

/** A call was denied without a question. */
export interface PermissionDeniedMessage extends SystemFields<"permission_denied"> {
  readonly tool_name?: string;
  readonly tool_use_id?: string;
  readonly agent_id?: string;
  readonly decision_reason_type?: string;
  readonly decision_reason?: string;
  /** The text that the model received. */
  readonly message?: string;
}

/** A line for people. */
export interface InformationalMessage extends SystemFields<"informational"> {
  readonly content?: string;
  readonly level?: OpenWord<"info" | "notice" | "suggestion" | "warning">;
  readonly tool_use_id?: string;
  readonly prevent_continuation?: boolean;
  readonly tag?: string;
}

/** A short text for people that replaces an earlier one with the same key. */
export interface NotificationMessage extends SystemFields<"notification"> {
  readonly key?: string;
  readonly text?: string;
  readonly priority?: OpenWord<"high" | "immediate" | "low" | "medium">;
  readonly color?: string;
  readonly timeout_ms?: number;
}

/** The output of a slash command. */
export interface CommandOutputMessage extends SystemFields<"local_command_output"> {
  readonly content?: string;
}

/** The estimated tokens of hidden thinking. */
export interface ThinkingTokensMessage extends SystemFields<"thinking_tokens"> {
  readonly estimated_tokens?: number;
  readonly estimated_tokens_delta?: number;
  readonly user_message_uuid?: string;
}

/** Whether the session is running, idle, or waiting for a person. */
export interface SessionStateMessage extends SystemFields<"session_state_changed"> {
  readonly state?: OpenWord<"idle" | "requires_action" | "running">;
}

/** The session has another title. */
export interface SessionTitleMessage extends SystemFields<"session_title_changed"> {
  readonly title?: string;
}

/** All slash commands, after a change. */
export interface CommandsChangedMessage extends SystemFields<"commands_changed"> {
  readonly commands?: readonly {
    readonly [field: string]: unknown;
    readonly name: string;
    readonly description?: string;
    readonly argumentHint?: string;
    readonly aliases?: readonly string[];
    readonly builtin?: boolean;
  }[];
}

/** A plugin is being installed. */
export interface PluginInstallMessage extends SystemFields<"plugin_install"> {
  readonly status?: OpenWord<"completed" | "failed" | "installed" | "started">;
  readonly name?: string;
  readonly error?: string;
}

/** A control request takes long. */
export interface ControlProgressMessage extends SystemFields<"control_request_progress"> {
  readonly request_id?: string;
  readonly status?: OpenWord<"api_retry" | "started">;
  readonly attempt?: number;
  readonly max_retries?: number;
  readonly retry_delay_ms?: number;
  readonly error_status?: number | null;
}

/** Files of the conversation were stored, or could not be. */
export interface FilesPersistedMessage extends SystemFields<"files_persisted"> {
  readonly files?: readonly { readonly filename: string; readonly file_id?: string }[];
  readonly failed?: readonly { readonly filename: string; readonly error?: string }[];
  readonly processed_at?: string;
}

/** Content that the CLI read from its memory files. */
export interface MemoryRecallMessage extends SystemFields<"memory_recall"> {
  readonly mode?: OpenWord<"select" | "synthesize">;
  readonly memories?: readonly {
    readonly path: string;
    readonly scope?: OpenWord<"organization" | "personal" | "team">;
    readonly content?: string;
  }[];
}

/** A tool server received the answer that it had requested from a person on its own page. */
export interface ElicitationCompleteMessage extends SystemFields<"elicitation_complete"> {
  readonly mcp_server_name?: string;
  readonly elicitation_id?: string;
}

/** A copy of the transcript could not be written to a store of the SDK. */
export interface MirrorErrorMessage extends SystemFields<"mirror_error"> {
  readonly error?: string;
  readonly key?: { readonly projectKey?: string; readonly sessionId?: string; readonly subpath?: string };
}

/** The disk is full: the transcript, or the CLI's configuration, is no longer written. */
export interface SessionWritesLostMessage extends SystemFields<"session_writes_lost"> {
  readonly error_code?: OpenWord<"EDQUOT" | "ENOSPC">;
  readonly lost?: readonly OpenWord<"global_config" | "transcript">[];
  readonly transcript_session_ids?: readonly string[];
}

/** The process is about to exit, with the reason. */
export interface WorkerShuttingDownMessage extends SystemFields<"worker_shutting_down"> {
  readonly reason?: string;
}

/** A `system` message with an unlisted subtype. */
export interface UnlistedSystemMessage extends MessageFields {
  readonly type: "system";
  readonly subtype?: UnlistedWord;
}

/** Any `system` message, distinguished by `subtype`. */
export type SystemMessage =
  | ApiRetryMessage
  | CommandOutputMessage
  | CommandsChangedMessage
  | CompactBoundaryMessage
  | ControlProgressMessage
  | ElicitationCompleteMessage
  | FilesPersistedMessage
  | HookProgressMessage
  | HookResponseMessage
  | HookStartedMessage
  | InformationalMessage
  | InitMessage
  | MemoryRecallMessage
  | MirrorErrorMessage
  | ModelFallbackMessage
  | NotificationMessage
  | PermissionDeniedMessage
  | PluginInstallMessage
  | RefusalFallbackMessage
  | RefusalMessage
  | SessionStateMessage
  | SessionTitleMessage
  | SessionWritesLostMessage
  | StatusMessage
  | TaskMessage
  | ThinkingTokensMessage
  | UnlistedSystemMessage
  | WorkerShuttingDownMessage;
