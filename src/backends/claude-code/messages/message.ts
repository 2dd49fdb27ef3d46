import type { AssistantMessage, StreamEventMessage, UserMessage } from "./conversation-messages.ts";
import type { MessageFields, UnlistedWord } from "./message-fields.ts";
import type {
  ActiveGoalMessage,
  AuthStatusMessage,
  CommandLifecycleMessage,
  ControlMessage,
  ConversationResetMessage,
  PromptSuggestionMessage,
  RateLimitMessage,
  ToolProgressMessage,
  ToolUseSummaryMessage,
} from "./other-messages.ts";
import type { ResultMessage } from "./result-message.ts";
import type { SystemMessage, UnlistedSystemMessage } from "./system-messages.ts";

/** A message of an unlisted type, with all its fields as `unknown`. */
export interface UnlistedMessage extends MessageFields {
  readonly type: UnlistedWord;
}

/**
 * One message of the CLI, uninterpreted. `type`, and `subtype` of a `system` message, determine its fields; only fields
 * that are not optional are certain. A newer CLI may send messages that are not listed here; they are passed unchanged.
 *
 * @example
 * function show(message: ClaudeCodeMessage): void {
 *   if (message.type === "result") console.log(message.subtype, message.result)
 *   if (message.type === "system" && message.subtype === "init") console.log(message.model, message.cwd)
 *   if (message.type === "assistant") for (const block of message.message.content) if (block.type === "text") console.log(block.text)
 * }
 */
export type ClaudeCodeMessage =
  | ActiveGoalMessage
  | AssistantMessage
  | AuthStatusMessage
  | CommandLifecycleMessage
  | ControlMessage
  | ConversationResetMessage
  | PromptSuggestionMessage
  | RateLimitMessage
  | ResultMessage
  | StreamEventMessage
  | SystemMessage
  | ToolProgressMessage
  | ToolUseSummaryMessage
  | UnlistedMessage
  | UserMessage;

/** The messages with a listed type and subtype. */
type Listed = Exclude<ClaudeCodeMessage, UnlistedMessage | UnlistedSystemMessage>;

/** The kind of a message: its type, and for `system` also its subtype. */
type KindOf<Message> = Message extends { readonly type: "system"; readonly subtype: infer Subtype extends string }
  ? `system/${Subtype}`
  : Message extends { readonly type: infer Type extends string }
    ? Type
    : never;

/** The listed kinds of messages: `assistant`, `result`, `system/init` … */
export type ClaudeCodeMessageKind = KindOf<Listed>;

/**
 * The message of one kind.
 *
 * @example
 * let init: ClaudeCodeMessageOf<"system/init"> | undefined
 */
export type ClaudeCodeMessageOf<Kind extends ClaudeCodeMessageKind> = Listed extends infer Message
  ? Message extends Listed
    ? Kind extends KindOf<Message>
      ? Message
      : never
    : never
  : never;

/**
 * Whether a message is of that kind.
 *
 * @example
 * const { items } = await withQuery("What is 25 + 17?", {}, collectItems)
 * const result = items.map((item) => item.message).find((message) => isMessageOf(message, "result"))
 * console.log(result?.total_cost_usd)
 */
export function isMessageOf<Kind extends ClaudeCodeMessageKind>(
  message: ClaudeCodeMessage,
  kind: Kind,
): message is ClaudeCodeMessage & ClaudeCodeMessageOf<Kind> {
  return kind === (message.type === "system" ? `system/${message.subtype}` : message.type);
}
