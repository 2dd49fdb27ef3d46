import { type Block, type Chunk, noticeItem, readCount, toolCallItem, toolResultItem, warningItem } from "#domain";
import { type DataFrame, ownString, parseJson, rawOf } from "#wire";
import type { AdapterOptions } from "../shared/format.ts";
import type { OpenCalls } from "./open-calls.ts";
import { readCallId, readFailure, readOutput } from "./fields.ts";
import type { Fields } from "./frame-reader.ts";
import type { MessageWriter } from "./message-writer.ts";
import { unknownFrame } from "./unknown-frame.ts";

interface CallContext {
  readonly writer: MessageWriter;
  readonly calls: OpenCalls;
  readonly options: AdapterOptions;
}

/**
 * A tool call: a block of the open message, and a separate `tool-call` after it. Nothing marks the end of a message, so
 * it is emitted as far as it is written and stays open: a model may request several tools in one reply.
 */
export function readToolUse(fields: Fields, frame: DataFrame, context: CallContext): Chunk[] {
  const vendorName = ownString(fields, "name");
  if (vendorName === undefined || vendorName === "") return [unknownFrame(frame, "tool-use")];
  const ownName = context.options.ownTool?.(vendorName);
  const name = ownName ?? vendorName;
  const input = readInput(fields);
  if (input === undefined) return [brokenCall(fields, name, context.writer)];
  const callId = context.calls.open(readCallId(fields), name);
  if (callId === undefined) return [noticeItem("duplicate-tool-call", fields, { raw: rawOf(frame) })];
  const block: Block = { type: "tool-call", callId, name, input: input.value };
  context.writer.add(block);
  const executedBy = ownName === undefined ? "backend" : "millrace";
  return [context.writer.emit(), toolCallItem({ callId, name, input: input.value, executedBy })];
}

/**
 * The result of a tool. One that matches no open call is kept as a notice, because each call has exactly one result.
 */
export function readToolResult(fields: Fields, frame: DataFrame, calls: OpenCalls): Chunk {
  const call = calls.settle(readCallId(fields), ownString(fields, "name"));
  if (call === undefined) return noticeItem("orphan-tool-result", fields, { raw: rawOf(frame) });
  const ms = readCount(fields.ms);
  return toolResultItem({
    ...call,
    output: readOutput(fields),
    isError: readFailure(fields) ?? false,
    ...(ms !== undefined && { ms }),
  });
}

/** The arguments of a call: a value, a value as JSON text, or none at all; `undefined` for text that is not JSON. */
function readInput(fields: Fields): { readonly value: unknown } | undefined {
  const input = fields.input ?? {};
  if (typeof input !== "string") return { value: input };
  if (input.trim() === "") return { value: {} };
  const parsed = parseJson(input);
  return parsed.fault === undefined ? { value: parsed.value } : undefined;
}

/** A call with incomplete arguments must not run: it is kept in the message as an unknown block. */
function brokenCall(fields: Fields, name: string, writer: MessageWriter): Chunk {
  const raw = { type: "tool-use", id: readCallId(fields) ?? null, name, input: fields.input };
  writer.add({ type: "unknown", raw });
  return warningItem({
    code: "tool-call-incomplete",
    message: `The arguments of a call of ${JSON.stringify(name)} are not JSON: the call is not reported as one.`,
    context: raw,
  });
}
