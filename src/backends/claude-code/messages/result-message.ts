import type { ModelTokens } from "./conversation-messages.ts";
import type { MessageFields, OpenWord } from "./message-fields.ts";

/**
 * The verdict of a turn. `subtype` is always present. It succeeded if `is_error` is not `true` and the subtype names no
 * error; check both.
 */
export interface ResultMessage extends MessageFields {
  readonly type: "result";
  readonly subtype: OpenWord<
    | "error_during_execution"
    | "error_max_budget_usd"
    | "error_max_structured_output_retries"
    | "error_max_turns"
    | "success"
  >;
  readonly is_error?: boolean;
  /** The final text, or the host's answer instead of one. */
  readonly result?: string;
  readonly structured_output?: unknown;
  /** Error messages for people. */
  readonly errors?: readonly string[];
  readonly api_error_status?: number | null;
  /** Why the loop ended: `completed`, `max_turns`, `aborted_tools` … */
  readonly terminal_reason?: string;
  readonly stop_reason?: string | null;
  readonly num_turns?: number;
  readonly duration_ms?: number;
  readonly duration_api_ms?: number;
  readonly ttft_ms?: number;
  readonly first_content_frame_ms?: number;
  readonly time_to_request_from_spawn_ms?: number;
  readonly time_origin_ms?: number;
  readonly warm_spare_claimed?: boolean;
  readonly ttft_stream_ms?: number;
  readonly time_to_request_ms?: number;
  /** The CLI's estimate of the cost of the process so far, all its turns together. */
  readonly total_cost_usd?: number;
  /** Tokens of the main conversation in this turn. Sub-agents are only in `modelUsage`. */
  readonly usage?: ModelTokens;
  /** Per model, all turns of the process together. */
  readonly modelUsage?: Readonly<Record<string, ModelUsage>>;
  /** The same since the previous result. */
  readonly model_usage_since_last_result?: Readonly<Record<string, ModelUsage>>;
  readonly permission_denials?: readonly PermissionDenial[];
  /** A call that is left to the program that started the CLI. */
  readonly deferred_tool_use?: { readonly id: string; readonly name: string; readonly input: unknown };
  /** The number of our messages that are not answered yet. */
  readonly queued_turn_count?: number;
  /** 0, 1, 2 … for the results of one process. */
  readonly result_index?: number;
  readonly fast_mode_state?: OpenWord<"cooldown" | "off" | "on">;
  readonly fast_mode_disabled_reason?: string;
  /** Why the CLI could not start. */
  readonly startup_failure_reason?: string;
  readonly invalid_config_file?: {
    readonly path: string;
    readonly is_global?: boolean;
    readonly backup_searched?: boolean;
    readonly backup_path?: string;
  };
  /** The author of the message that was answered. */
  readonly origin?: { readonly [field: string]: unknown; readonly kind?: string };
  readonly local_command?: string;
  readonly credential_expires_at?: string;
  readonly user_message_uuid?: string;
  readonly user_message_uuids?: readonly string[];
  readonly resume_reason?: string;
}

/** The usage of one model. */
export interface ModelUsage {
  readonly [field: string]: unknown;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly thinkingTokens?: number;
  readonly cacheReadInputTokens?: number;
  readonly cacheCreationInputTokens?: number;
  readonly webSearchRequests?: number;
  readonly costUSD?: number;
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
}

/** A call that was not allowed. */
export interface PermissionDenial {
  readonly [field: string]: unknown;
  readonly tool_name: string;
  readonly tool_use_id: string;
  readonly tool_input?: unknown;
}
