import { type Block, type Chunk, unreachable } from "#domain";

const MAX_CHARS = 160;

/** A chunk on one line, for people and for pins: its type and what matters of it, ids as they came. */
export function describeChunk(chunk: Chunk): string {
  const [head, ...blocks] = describe(chunk).split("\n");
  const parent = chunk.parent === undefined ? "" : ` parent=${chunk.parent}`;
  return [`${head}${parent}`, ...blocks].join("\n");
}

function describe(chunk: Chunk): string {
  switch (chunk.type) {
    case "text-delta":
    case "thinking-delta":
      return `${chunk.type} ${chunk.messageId}[${chunk.index}] ${show(chunk.text)}`;
    case "tool-input-delta":
      return `${chunk.type} ${chunk.messageId}[${chunk.index}] ${chunk.callId} ${chunk.name} ${show(chunk.json)}`;
    case "start":
      return `start ${chunk.backend} ${chunk.mode} model=${chunk.model} session=${chunk.sessionId} tools=${chunk.tools?.length}`;
    case "message": {
      const head = [
        chunk.id,
        chunk.role,
        ...(chunk.stopReason === undefined ? [] : [`stop=${chunk.stopReason}`]),
        ...(chunk.usage === undefined ? [] : [`usage=${JSON.stringify(chunk.usage)}`]),
        ...(chunk.model === undefined ? [] : [`model=${chunk.model}`]),
      ];
      return [`message ${head.join(" ")}`, ...chunk.blocks.map((block) => `  ${describeBlock(block)}`)].join("\n");
    }
    case "tool-call":
      return `tool-call ${chunk.callId} ${chunk.name} by=${chunk.executedBy} ${show(chunk.input)}`;
    case "tool-result":
      return `tool-result ${chunk.callId} ${chunk.name}${chunk.isError ? " ERROR" : ""}${chunk.skipped === undefined ? "" : ` skipped=${chunk.skipped}`} ${show(chunk.output)}`;
    case "permission":
      return `permission ${chunk.callId} ${chunk.name} ${chunk.state} by=${chunk.by} ${show(chunk.reason)}`;
    case "handoff":
      return `handoff ${chunk.from} ${chunk.to}`;
    case "notice":
      return `notice ${chunk.kind} ${chunk.kind === "retract" ? JSON.stringify(chunk.data) : describeFrame(chunk.data)}`;
    case "warning":
      return `warning ${chunk.code} ${chunk.message}`;
    case "error":
      return `error ${chunk.code}${chunk.terminal ? " terminal" : ""} ${show(chunk.message)}`;
    case "result": {
      const { subtype, isError, text, structured, usage, costUsd, turns, ms } = chunk;
      return `result ${subtype} ${JSON.stringify({ isError, structured, usage, costUsd, turns, ms })} ${show(text)}`;
    }
    default:
      return unreachable(chunk);
  }
}

function describeBlock(block: Block): string {
  switch (block.type) {
    case "text":
      return `text ${show(block.text)}`;
    case "thinking":
      return `thinking ${show(block.text)} signature=${block.signature}`;
    case "tool-call":
      return `tool-call ${block.callId} ${block.name} ${show(block.input)}`;
    default:
      return `${block.type} ${show(block)}`;
  }
}

/** Of a frame kept as a notice, what it is about. */
function describeFrame(frame: unknown): string {
  if (typeof frame !== "object" || frame === null) return show(frame);
  const { type, subtype, status, state, attempt, error_status, key, level, task_id, request, response } =
    frame as Record<string, unknown>;
  const inner = [request, response].map((part) => (part as { subtype?: unknown } | undefined)?.subtype);
  const words = [type, subtype, ...inner, status, state, attempt, error_status, key, level, task_id];
  return words.filter((word) => typeof word === "string" || typeof word === "number").join(" ");
}

function show(value: unknown): string {
  // The two line ends that JSON leaves alone would break the one line here.
  const text = (JSON.stringify(value) ?? "-").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}… (${text.length})`;
}
