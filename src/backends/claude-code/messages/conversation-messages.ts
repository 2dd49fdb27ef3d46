import type { MessageFields, OpenWord, UnlistedWord } from "./message-fields.ts";

/** Whose message this is: of the main conversation, or of a sub-agent. */
interface SpeakerFields extends MessageFields {
  /** The call that started the sub-agent; `null` in the main conversation. */
  readonly parent_tool_use_id?: string | null;
  readonly agent_id?: string;
  readonly subagent_type?: string;
  readonly task_description?: string;
  /** When it was made, in ISO 8601, by the clock of the CLI. */
  readonly timestamp?: string;
}

/**
 * What the model has said: one message per finished block, several of them with the same `message.id`. `message` and
 * its `content` are always there.
 */
export interface AssistantMessage extends SpeakerFields {
  readonly type: "assistant";
  readonly message: ModelMessage;
  /** What went wrong, when this is not the model's text but a failure told as one. */
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
  /** Ids (`uuid`) of earlier messages that this one stands for. */
  readonly supersedes?: readonly string[];
  /** Ids of the user's messages that it answers. */
  readonly user_message_uuid?: string;
  readonly user_message_uuids?: readonly string[];
  /** Why the turn goes on after its process was replaced. */
  readonly resume_reason?: string;
}

/** A message of the Messages API, as the CLI passes it on. */
export interface ModelMessage {
  readonly [field: string]: unknown;
  readonly id?: string;
  readonly role?: OpenWord<"assistant">;
  readonly model?: string;
  readonly content: readonly ContentBlock[];
  /** `null` as long as the reply is being written: most messages. */
  readonly stop_reason?: string | null;
  readonly stop_sequence?: string | null;
  readonly usage?: ModelTokens;
}

/** Tokens of one reply. What is absent is not known. */
export interface ModelTokens {
  readonly [field: string]: unknown;
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cache_creation_input_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
}

/** Tool results and other text the model was given. `message` and its `content` are always there. */
export interface UserMessage extends SpeakerFields {
  readonly type: "user";
  readonly message: {
    readonly [field: string]: unknown;
    readonly role?: OpenWord<"user">;
    readonly content: string | readonly ContentBlock[];
  };
  /** What the tool gave as data; another form for each tool. */
  readonly tool_use_result?: unknown;
  /** Not written by a person. */
  readonly isSynthetic?: boolean;
  /** A message of ours, shown again. */
  readonly isReplay?: boolean;
}

/** A reply being written, as the host streams it. Only with `includePartialMessages`. `event` is always there. */
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
  /** Milliseconds to the first piece of the reply; on that piece. */
  readonly ttft_ms?: number;
  readonly user_message_uuid?: string;
  readonly user_message_uuids?: readonly string[];
  readonly resume_reason?: string;
}

/** A part of a message. One of a kind that is not listed is the last member, with all its fields. */
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

/** Thinking that the host shows to nobody. */
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
