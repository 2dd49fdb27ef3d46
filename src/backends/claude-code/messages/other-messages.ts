import type { MessageFields, OpenWord } from "./message-fields.ts";

/** The plan's limits, when they change. */
export interface RateLimitMessage extends MessageFields {
  readonly type: "rate_limit_event";
  readonly rate_limit_info?: {
    readonly [field: string]: unknown;
    readonly status?: OpenWord<"allowed" | "allowed_warning" | "rejected">;
    /** Seconds since 1970. */
    readonly resetsAt?: number;
    readonly rateLimitType?: string;
    readonly utilization?: number;
    readonly overageStatus?: OpenWord<"allowed" | "allowed_warning" | "rejected">;
    readonly overageResetsAt?: number;
    readonly overageDisabledReason?: string;
    readonly isUsingOverage?: boolean;
    readonly overageInUse?: boolean;
    readonly overageEnabled?: boolean;
    readonly surpassedThreshold?: number;
    readonly limitScope?: OpenWord<"channel" | "group_pool" | "service">;
    readonly errorCode?: OpenWord<"credits_required">;
    readonly canUserPurchaseCredits?: boolean;
    readonly hasChargeableSavedPaymentMethod?: boolean;
  };
}

/** A tool is still running. */
export interface ToolProgressMessage extends MessageFields {
  readonly type: "tool_progress";
  readonly tool_use_id?: string;
  readonly tool_name?: string;
  readonly parent_tool_use_id?: string | null;
  readonly elapsed_time_seconds?: number;
  readonly task_id?: string;
  readonly heartbeat?: boolean;
  readonly subagent_type?: string;
  readonly subagent_retry?: {
    readonly [field: string]: unknown;
    readonly agent_id?: string;
    readonly attempt?: number;
    readonly max_retries?: number;
    readonly retry_delay_ms?: number;
    /** `null`: there was no response. */
    readonly error_status?: number | null;
    readonly error_category?: string;
  };
}

/** A sentence about what several calls have done. */
export interface ToolUseSummaryMessage extends MessageFields {
  readonly type: "tool_use_summary";
  readonly summary?: string;
  readonly preceding_tool_use_ids?: readonly string[];
}

/** The progress of a login. */
export interface AuthStatusMessage extends MessageFields {
  readonly type: "auth_status";
  readonly isAuthenticating?: boolean;
  readonly output?: readonly string[];
  readonly error?: string;
}

/** A suggestion for the user's next prompt. */
export interface PromptSuggestionMessage extends MessageFields {
  readonly type: "prompt_suggestion";
  readonly suggestion?: string;
}

/** The conversation starts again, under another id. */
export interface ConversationResetMessage extends MessageFields {
  readonly type: "conversation_reset";
  readonly new_conversation_id?: string;
  readonly trigger?: OpenWord<"clear" | "fresh_session" | "onboarding" | "plan_mode_exit">;
  readonly user_message_uuid?: string;
  readonly timestamp?: string;
}

/** The condition of `/goal` and its progress; `null` when it is met. */
export interface ActiveGoalMessage extends MessageFields {
  readonly type: "active_goal";
  readonly value?: {
    readonly condition?: string;
    readonly iterations?: number;
    readonly set_at?: number;
    readonly tokens_at_start?: number;
    readonly last_reason?: string;
  } | null;
}

/** A queued message was accepted, started, finished or dropped. */
export interface CommandLifecycleMessage extends MessageFields {
  readonly type: "command_lifecycle";
  readonly command_uuid?: string;
  readonly state?: string;
}

/** A line of the control protocol; plain mode has none. */
export interface ControlMessage extends MessageFields {
  readonly type: "control_cancel_request" | "control_request" | "control_response" | "keep_alive";
  readonly request_id?: string;
  readonly request?: { readonly [field: string]: unknown; readonly subtype?: string };
  readonly response?: { readonly [field: string]: unknown; readonly subtype?: string };
}
