import type { MessageItem, ToolCallBlock, ToolCallItem, ToolInputDelta } from "#domain";
import type { EventMap } from "./event-map.ts";
import { asText } from "./json-text.ts";
import { vendorStopReason, vendorUsage } from "./vendor-words.ts";

/**
 * Writes maps with the boundaries that our events do not have: every message is started and stopped, every block opened
 * and closed, one block at a time.
 */
export interface MapWriter {
  /** The text of the current message, or of the last one if no other has begun. */
  readonly accumulated: string;
  /** The model for messages that do not name one. */
  model: string | null;
  hasCall(callId: string): boolean;
  text(messageId: string, index: number, text: string): void;
  thinking(messageId: string, index: number, text: string): void;
  toolInput(delta: ToolInputDelta): void;
  /** A whole call; without a message id it belongs to the current message. Writes nothing if it was shown before. */
  call(call: ToolCallBlock | ToolCallItem, place?: { readonly messageId: string; readonly index: number }): void;
  isOpen(messageId: string): boolean;
  isOpenAtAll(): boolean;
  /** Starts the message if it is not open. */
  start(item: MessageItem): void;
  finish(item: MessageItem): void;
  /** Stops the open message without a stop reason. */
  stop(): void;
  /** Discards the open message from a block on; `kept` is the remaining text. */
  retract(fromIndex: number, kept: string): void;
  /** The maps written since the last call. */
  take(): EventMap[];
}

/** `id` is unknown while only a tool call of the message has arrived: calls do not name their message. */
interface OpenMessage {
  id: string | undefined;
  block: { readonly kind: "text" | "thinking" | "tool"; readonly index: number } | undefined;
}

export function createMapWriter(): MapWriter {
  const shownCalls = new Set<string>();
  let out: EventMap[] = [];
  let message: OpenMessage | undefined;
  let accumulated = "";

  const closeBlock = (): void => {
    if (message?.block === undefined) return;
    message.block = undefined;
    out.push({ type: "content_block_stop", final_text: accumulated });
  };

  const openMessage = (id: string | undefined, item?: MessageItem): OpenMessage => {
    if (message !== undefined && (id === undefined || message.id === undefined || message.id === id)) {
      message.id ??= id;
      return message;
    }
    if (message !== undefined) writer.stop();
    accumulated = "";
    const model = item?.model ?? writer.model;
    out.push({ type: "message_start", model, role: "assistant", usage: vendorUsage(item?.usage) });
    message = { id, block: undefined };
    return message;
  };

  /** Makes sure that the block is the open one; returns whether it had to be opened. */
  const openBlock = (into: OpenMessage, kind: "text" | "thinking" | "tool", index: number): boolean => {
    if (into.block?.index === index && into.block.kind === kind) return false;
    closeBlock();
    into.block = { kind, index };
    return true;
  };

  const writer: MapWriter = {
    get accumulated() {
      return accumulated;
    },
    model: null,
    hasCall: (callId) => shownCalls.has(callId),
    text(messageId, index, text) {
      if (openBlock(openMessage(messageId), "text", index)) out.push({ type: "text_block_start" });
      accumulated += text;
      out.push({ type: "text_delta", text, accumulated });
    },
    thinking(messageId, index, text) {
      if (openBlock(openMessage(messageId), "thinking", index)) out.push({ type: "thinking_start" });
      out.push({ type: "thinking_delta", thinking: text });
    },
    toolInput({ messageId, index, callId, name, json }) {
      shownCalls.add(callId);
      if (openBlock(openMessage(messageId), "tool", index)) out.push({ type: "tool_use_start", name, id: callId });
      out.push({ type: "tool_input_delta", json });
    },
    call(call, place) {
      if (shownCalls.has(call.callId)) return;
      shownCalls.add(call.callId);
      openBlock(openMessage(place?.messageId), "tool", place?.index ?? -1);
      out.push({ type: "tool_use_start", name: call.name, id: call.callId });
      out.push({ type: "tool_input_delta", json: asText(call.input) });
      closeBlock();
    },
    isOpen: (messageId) => message?.id === messageId,
    isOpenAtAll: () => message !== undefined,
    start(item) {
      openMessage(item.id, item);
    },
    finish(item) {
      closeBlock();
      out.push({ type: "message_delta", stop_reason: vendorStopReason(item.stopReason), stop_sequence: null });
      writer.stop();
    },
    stop() {
      closeBlock();
      out.push({ type: "message_stop", final_text: accumulated });
      message = undefined;
    },
    retract(fromIndex, kept) {
      accumulated = kept;
      // A message that is void from its first block on starts again empty; otherwise only its later blocks do.
      if (fromIndex <= 0) message = undefined;
      else if (message?.block !== undefined && message.block.index >= fromIndex) message.block = undefined;
    },
    take() {
      const written = out;
      out = [];
      return written;
    },
  };
  return writer;
}
