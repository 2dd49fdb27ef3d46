import type { MessageFields, OpenWord, UnlistedWord } from "./message-fields.ts";

/** The sender of a message: the main conversation, or a sub-agent. */
interface SenderFields extends MessageFields {
  /** The call that started the sub-agent; `null` in the main conversation. */
  readonly parent_tool_use_id?: string | null;
  readonly agent_id?: string;
  readonly subagent_type?: string;
  readonly task_description?: string;
  /** The time it was created, in ISO 8601, by the CLI's clock. */
  readonly timestamp?: string;
}

/**
 * Output of the model: one message per finished block, several of them with the same `message.id`. `message` and its
 * `content` are always present.
 */
export interface AssistantMessage extends SenderFields {
  readonly type: "assistant";
  readonly message: ModelMessage;
  /** The kind of failure, if this is not the model's text but a reported failure. */
  readonly error?: OpenWord<
    | "account_on_hold"
    | "authentication_failed"
    | "billing_error"
    | "cloud_credential_error"
    | "invalid_request"
    | "max_output_tokens"
    | "model_not_found"
    | "oauth_org_not_allowed"
    | "overloaded"
    | "rate_limit"
    | "server_error"
    | "unknown"
    | "verification_required"
  >;
  readonly request_id?: string;
  readonly is_api_error_message?: boolean;
  readonly api_error_status?: number | null;
  /** Cut by an interrupt: its text may end in the middle of a word. */
  readonly aborted?: boolean;
  /** Ids (`uuid`) of earlier messages that this one replaces. */
  readonly supersedes?: readonly string[];
  /** Ids of the user's messages that it answers. */
  readonly user_message_uuid?: string;
  readonly user_message_uuids?: readonly string[];
  /** Why the turn continues after its process was replaced. */
  readonly resume_reason?: string;
  /** It continues the thinking of the reply before it, which was cut. */
  readonly resumed_from_incomplete_thinking?: boolean;
}

/** A message of the Messages API, as the CLI forwards it. */
export interface ModelMessage {
  readonly [field: string]: unknown;
  readonly id?: string;
  readonly role?: OpenWord<"assistant">;
  readonly model?: string;
  readonly content: readonly ContentBlock[];
  /** `null` while the reply is being written: in most messages. */
  readonly stop_reason?: string | null;
  readonly stop_sequence?: string | null;
  readonly usage?: ModelTokens;
}

/** Tokens of one reply. Absent means unknown. */
export interface ModelTokens {
  readonly [field: string]: unknown;
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cache_creation_input_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
}

/** Tool results and other input of the model. `message` and its `content` are always present. */
export interface UserMessage extends SenderFields {
  readonly type: "user";
  readonly message: {
    readonly [field: string]: unknown;
    readonly role?: OpenWord<"user">;
    readonly content: string | readonly ContentBlock[];
  };
  /** The tool's result as data; the format differs per tool. */
  readonly tool_use_result?: unknown;
  /** Not written by a person. */
  readonly isSynthetic?: boolean;
  /** A message of ours, repeated. */
  readonly isReplay?: boolean;
  readonly priority?: OpenWord<"later" | "next" | "now">;
  /** The author of the message. */
  readonly origin?: { readonly [field: string]: unknown; readonly kind?: string };
}

/**
 * A reply that is being written, as the host streams it. Only with `includePartialMessages`. `event` is always present.
 */
export interface StreamEventMessage extends MessageFields {
  readonly type: "stream_event";
  readonly event: {
    readonly [field: string]: unknown;
    readonly type: OpenWord<
      | "content_block_delta"
      | "content_block_start"
      | "content_block_stop"
      | "message_delta"
      | "message_start"
      | "message_stop"
      | "ping"
    >;
    readonly index?: number;
  };
  readonly parent_tool_use_id?: string | null;
  /** Milliseconds to the first piece of the reply; only on that piece. */
  readonly ttft_ms?: number;
  readonly user_message_uuid?: string;
  readonly user_message_uuids?: readonly string[];
  readonly resume_reason?: string;
}

/** A part of a message. A block of an unlisted type is the last member, with all its fields. */
export type ContentBlock =
  | TextBlock
  | ThinkingBlock
  | RedactedThinkingBlock
  | ToolUseBlock
  | ToolResultBlock
  | MediaBlock
  | UnlistedBlock;

interface BlockFields {
  readonly [field: string]: unknown;
}

export interface TextBlock extends BlockFields {
  readonly type: "text";
  readonly text: string;
}

export interface ThinkingBlock extends BlockFields {
  readonly type: "thinking";
  readonly thinking: string;
  readonly signature?: string;
}

/** Thinking that the host does not reveal. */
export interface RedactedThinkingBlock extends BlockFields {
  readonly type: "redacted_thinking";
  readonly data?: string;
}

export interface ToolUseBlock extends BlockFields {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface ToolResultBlock extends BlockFields {
  readonly type: "tool_result";
  readonly tool_use_id: string;
  readonly content?: string | readonly ContentBlock[];
  readonly is_error?: boolean;
}

export interface MediaBlock extends BlockFields {
  readonly type: "image" | "document";
  readonly source?: { readonly [field: string]: unknown };
}

export interface UnlistedBlock extends BlockFields {
  readonly type: UnlistedWord;
}
