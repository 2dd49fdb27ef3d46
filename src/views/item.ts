import type { Diagnostic, ErrorCode } from "#domain";
import type { WARNING_NAMES } from "./item-names.ts";
import type { VendorUsage } from "./vendor-words.ts";

/**
 * One item of the strict message stream, under its canonical name. Errors appear among the other items; `isTerminal`
 * shows which of them end the stream.
 */
export type StreamItem = MessageEnvelope | WarningEvent | EndOfStream | ItemError;

/** A message and, if frames are kept, the exact frame it came in. */
export interface MessageEnvelope {
  readonly type: "Message";
  readonly message: ItemMessage;
  readonly raw_json?: string;
  readonly raw_bytes?: Uint8Array;
}

/** Something odd happened and nothing changed because of it. */
export interface WarningEvent {
  readonly type: "WarningEvent";
  readonly warning: ItemWarning;
}

/** A warning under its canonical name. */
export interface ItemWarning {
  readonly code: (typeof WARNING_NAMES)[keyof typeof WARNING_NAMES];
  readonly message: string;
  /** The observed text: a line, or JSON. */
  readonly context?: string;
  /** Only for `NonZeroExitAfterResult`. */
  readonly exit_code?: number;
  readonly expected?: boolean;
}

/** The end of the stream. Exactly one, always last. */
export interface EndOfStream {
  readonly type: "EndOfStream";
}

/** A failure inside the stream. `ProcessError`, `BufferOverflow` and `TooManyDecodeErrors` end it. */
export type ItemError =
  | {
      readonly type: "ProcessError";
      /** `null` if no process failed, or its status is unknown. */
      readonly exit_code: number | null;
      readonly diagnostic: ItemDiagnostic;
      /** Our own code for the error. */
      readonly code: ErrorCode;
    }
  | { readonly type: "BufferOverflow"; readonly limit_bytes?: number }
  | { readonly type: "TooManyDecodeErrors"; readonly count: number; readonly last_error: string }
  | { readonly type: "JsonDecodeError"; readonly line: string; readonly error: string }
  | { readonly type: "Utf8DecodeError"; readonly raw_bytes: Uint8Array }
  | { readonly type: "UnexpectedMessageError"; readonly raw_json: string };

/** The explanation for a person attached to a `ProcessError`. */
export interface ItemDiagnostic {
  readonly last_non_json_line?: string;
  readonly stdout_was_empty: boolean;
  readonly exit_code_hint: string;
  readonly troubleshooting: string;
  readonly stderr_tail?: NonNullable<Diagnostic["stderrTail"]>;
}

/**
 * A message as the wire defines it. Fields that our events do not have are present if the frame is kept (`keepRaw`):
 * those declared below, and every other field of the frame under its own name.
 */
export type ItemMessage = SystemMessage | AssistantMessage | UserMessage | ResultMessage | StreamEventMessage;

/** The other fields of the frame. */
interface FrameFields {
  readonly [field: string]: unknown;
}

/** The start of a session (`subtype: "init"`), or a notice, a handoff … whose fields are in `data`. */
export interface SystemMessage extends FrameFields {
  readonly type: "System";
  readonly subtype: string;
  readonly session_id?: string;
  readonly model?: string;
  readonly tools?: readonly string[];
  readonly data?: unknown;
  readonly uuid?: unknown;
  readonly cwd?: unknown;
  readonly claude_code_version?: unknown;
  readonly mcp_servers?: unknown;
  readonly permission_mode?: unknown;
  readonly api_key_source?: unknown;
  readonly slash_commands?: unknown;
  readonly agents?: unknown;
  readonly output_style?: unknown;
  readonly skills?: unknown;
  readonly plugins?: unknown;
}

/** One finished message of the model. */
export interface AssistantMessage extends FrameFields {
  readonly type: "Assistant";
  readonly message: {
    readonly id: string;
    readonly role: "assistant";
    readonly content: readonly ContentBlock[];
    readonly model?: string;
    readonly stop_reason: string | null;
    readonly usage?: VendorUsage;
  };
  readonly session_id?: string;
  readonly parent_tool_use_id: string | null;
  readonly uuid?: unknown;
}

/** The input of the model: tool results, or text. */
export interface UserMessage extends FrameFields {
  readonly type: "User";
  readonly message: { readonly role: "user"; readonly content: readonly ContentBlock[] };
  readonly session_id?: string;
  readonly parent_tool_use_id: string | null;
  readonly uuid?: unknown;
  readonly tool_use_result?: unknown;
}

/** The verdict of a turn. It may be a failure; the reader must check it. */
export interface ResultMessage extends FrameFields {
  readonly type: "Result";
  readonly subtype: string;
  readonly is_error: boolean;
  readonly result?: string;
  readonly structured_output?: unknown;
  readonly session_id?: string;
  readonly duration_ms?: number;
  readonly duration_api_ms?: unknown;
  readonly stop_reason?: unknown;
  readonly terminal_reason?: unknown;
  readonly api_error_status?: unknown;
  readonly num_turns?: number;
  readonly total_cost_usd?: number;
  readonly usage: VendorUsage;
  readonly model_usage?: unknown;
  readonly permission_denials: unknown;
  readonly errors?: unknown;
  readonly uuid?: unknown;
}

/** A message being written; only with `partialMessages`. */
export interface StreamEventMessage extends FrameFields {
  readonly type: "StreamEvent";
  readonly event: {
    readonly type: "content_block_delta";
    readonly index: number;
    readonly delta:
      | { readonly type: "text_delta"; readonly text: string }
      | { readonly type: "thinking_delta"; readonly thinking: string }
      | { readonly type: "input_json_delta"; readonly partial_json: string };
  };
  readonly message_id: string;
  readonly session_id?: string;
  readonly parent_tool_use_id: string | null;
}

/** One part of a message's content. */
export type ContentBlock =
  | { readonly type: "TextBlock"; readonly text: string }
  | { readonly type: "ThinkingBlock"; readonly thinking: string; readonly signature?: string }
  | { readonly type: "ToolUseBlock"; readonly id: string; readonly name: string; readonly input: unknown }
  | {
      readonly type: "ToolResultBlock";
      readonly tool_use_id: string;
      readonly content: unknown;
      readonly is_error: boolean;
    }
  | { readonly type: "UnknownBlock"; readonly raw: unknown };
