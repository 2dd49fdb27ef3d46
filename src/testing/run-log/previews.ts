import { type Block, type DeltaEvent, isDelta, type MessageItem, type Retraction } from "#domain";
import type { Check, Report } from "./check.ts";
import { isSameJson } from "./same-json.ts";

/** The deltas of one block. */
interface Preview {
  readonly type: DeltaEvent["type"];
  readonly callId: string | undefined;
  readonly parts: string[];
  /** Its first delta that no finished message covers yet. */
  openAt: number | undefined;
}

interface Shown {
  readonly previews: Map<number, Preview>;
  hasMessage: boolean;
}

/** Deltas must equal the blocks of their finished message. */
export function checkPreviews(report: Report): Check {
  const shown = new Map<string, Shown>();

  const addDelta = (event: DeltaEvent, at: number): void => {
    let message = shown.get(event.messageId);
    if (message === undefined) {
      message = { previews: new Map(), hasMessage: false };
      shown.set(event.messageId, message);
    }
    const callId = event.type === "tool-input-delta" ? event.callId : undefined;
    let preview = message.previews.get(event.index);
    if (preview === undefined) {
      preview = { type: event.type, callId, parts: [], openAt: at };
      message.previews.set(event.index, preview);
    }
    preview.openAt ??= at;
    if (preview.type !== event.type || preview.callId !== callId) {
      report("deltas-make-block", at, `block ${event.index} of ${event.messageId} began as ${preview.type}`);
    }
    preview.parts.push(event.type === "tool-input-delta" ? event.json : event.text);
  };

  const finish = (event: MessageItem, at: number): void => {
    const message = shown.get(event.id);
    if (message === undefined) {
      shown.set(event.id, { previews: new Map(), hasMessage: true });
      return;
    }
    message.hasMessage = true;
    for (const [index, preview] of message.previews) {
      preview.openAt = undefined;
      const difference = compare(preview, event.blocks[index]);
      if (difference !== undefined) report("deltas-make-block", at, `block ${index} of ${event.id}: ${difference}`);
    }
  };

  const retract = (retraction: Retraction): void => {
    const message = shown.get(retraction.messageId);
    if (message === undefined) return;
    const from = retraction.fromIndex ?? 0;
    for (const index of [...message.previews.keys()]) if (index >= from) message.previews.delete(index);
    // What follows is the restarted message.
    message.hasMessage = false;
  };

  const close = (succeeded: boolean, at: number): void => {
    for (const [messageId, message] of shown) {
      for (const [index, preview] of message.previews) {
        if (preview.openAt === undefined) continue;
        if (message.hasMessage) {
          report("delta-after-message", preview.openAt, `block ${index} of ${messageId} was finished already`);
        } else if (succeeded) {
          report("message-finished", at, `${messageId} has deltas but no message, and the run says success`);
        }
      }
    }
    shown.clear();
  };

  return {
    next(event, at) {
      if (isDelta(event)) addDelta(event, at);
      else if (event.type === "message") finish(event, at);
      else if (event.type === "notice" && event.kind === "retract") {
        if (isRetraction(event.data)) retract(event.data);
        else report("retract-shape", at, "data must be { messageId: text, fromIndex?: whole number from 0 on }");
      } else if (event.type === "done") close(event.result.status === "success", at);
    },
    end: (length) => close(false, length),
  };
}

/** How a preview differs from the finished block; `undefined` if it does not. */
function compare(preview: Preview, block: Block | undefined): string | undefined {
  if (block === undefined) return "there are deltas of it, but the message has no such block";
  const text = preview.parts.join("");
  if (preview.type === "tool-input-delta") return compareInput(preview, text, block);
  const type = preview.type === "text-delta" ? "text" : "thinking";
  if (block.type !== type) return `its deltas are ${type}, the block is ${block.type}`;
  return block.text === text ? undefined : `its deltas say ${show(text)}, the block says ${show(block.text)}`;
}

function compareInput(preview: Preview, text: string, block: Block): string | undefined {
  // A call that never became complete is kept as `unknown`; it cannot be run, and there is no invariant about it.
  if (block.type === "unknown") return undefined;
  if (block.type !== "tool-call") return `its deltas are tool input, the block is ${block.type}`;
  if (block.callId !== preview.callId) return `its deltas belong to ${preview.callId}, the block to ${block.callId}`;
  if (block.input === text) return undefined;
  const input = parse(text);
  return input !== undefined && isSameJson(input.value, block.input)
    ? undefined
    : `its deltas say ${show(text)}, the input is ${show(JSON.stringify(block.input))}`;
}

function parse(text: string): { readonly value: unknown } | undefined {
  if (text.trim() === "") return { value: {} };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function isRetraction(value: unknown): value is Retraction {
  if (typeof value !== "object" || value === null) return false;
  const { messageId, fromIndex } = value as Partial<Retraction>;
  return (
    typeof messageId === "string" && (fromIndex === undefined || (Number.isSafeInteger(fromIndex) && fromIndex >= 0))
  );
}

function show(text: string): string {
  return JSON.stringify(text.length <= 60 ? text : `${text.slice(0, 60)}…`);
}
