import { type AgentEvent, type RunResult, unreachable } from "#domain";
import { plainLine, plainText } from "./plain-text.ts";
import type { Sink } from "./sink.ts";

export interface TerminalOptions {
  /** Takes the answer's text. */
  readonly out: (text: string) => void;
  /** Takes everything about it: tool calls, notices, the closing line. */
  readonly aside: (text: string) => void;
  readonly color: boolean;
  /** Columns of the terminal. */
  readonly width: number;
  readonly showThinking: boolean;
}

/**
 * Shows a run to a person: the text as it is written, tool calls and what happened around it as short lines, and a
 * closing line with time, tokens and cost. Everything foreign is shown as plain text: whatever a model or a tool says,
 * the terminal gets printable characters, line ends, tabs and our own colours.
 *
 * @example
 * const sink = createTerminalSink({
 *   out: (text) => process.stdout.write(text),
 *   aside: (text) => process.stderr.write(text),
 *   color: process.stderr.isTTY,
 *   width: process.stderr.columns ?? 100,
 *   showThinking: false,
 * })
 * for await (const event of run("offline", "Hello")) sink.accept(event)
 */
export function createTerminalSink(options: TerminalOptions): Sink {
  const { out, aside, width } = options;
  const paint = (code: number, text: string): string => (options.color ? `\u001b[${code}m${text}\u001b[0m` : text);
  const dim = (text: string): string => paint(2, text);
  const red = (text: string): string => paint(31, text);
  const yellow = (text: string): string => paint(33, text);
  let atLineStart = true;
  /** Thinking stands on the line that people look at. */
  let isThinking = false;
  const shown = new Set<string>();

  const say = (text: string): void => {
    const safe = plainText(text);
    if (safe === "") return;
    endThinking();
    out(safe);
    atLineStart = safe.endsWith("\n");
  };
  const endLine = (): void => {
    if (!atLineStart) out("\n");
    atLineStart = true;
  };
  const endThinking = (): void => {
    if (isThinking) aside("\n");
    isThinking = false;
  };
  const think = (text: string): void => {
    const safe = plainText(text);
    if (safe === "") return;
    endLine();
    aside(dim(safe));
    isThinking = !safe.endsWith("\n");
  };
  /** A line of its own beside the text. */
  const note = (line: string): void => {
    endThinking();
    endLine();
    aside(`${line}\n`);
  };

  const accept = (event: AgentEvent): void => {
    if (event.parent !== undefined && event.type !== "tool-call") return;
    switch (event.type) {
      case "text-delta":
        shown.add(`${event.messageId}/${event.index}`);
        return say(event.text);
      case "thinking-delta":
        if (options.showThinking) think(event.text);
        return;
      case "message":
        if (event.role !== "assistant") return;
        event.blocks.forEach((block, index) => {
          if (block.type === "text" && !shown.has(`${event.id}/${index}`)) say(block.text);
        });
        return;
      case "tool-call":
        return note(dim(plainLine(`→ ${event.name} ${JSON.stringify(event.input) ?? ""}`, width)));
      case "tool-result": {
        const output = typeof event.output === "string" ? event.output : (JSON.stringify(event.output) ?? "");
        const took = event.ms === undefined ? "" : ` (${event.ms} ms)`;
        const line = plainLine(`← ${output}`, width - took.length) + took;
        return note(event.isError ? red(line) : dim(line));
      }
      case "permission":
        return note(
          yellow(
            plainLine(`? ${event.name}: ${event.state}${event.reason === undefined ? "" : `, ${event.reason}`}`, width),
          ),
        );
      case "handoff":
        return note(dim(plainLine(`⇒ ${event.from} hands over to ${event.to}: ${event.message}`, width)));
      case "notice":
        return acceptNotice(event.kind, event.data);
      case "warning":
        if (event.expected !== true) note(yellow(plainLine(`! ${event.message}`, width)));
        return;
      case "error":
        note(red(plainLine(`✗ ${event.message}`, 4 * width)));
        for (const line of [event.diagnostic?.hint, ...(event.diagnostic?.troubleshooting?.split("\n") ?? [])])
          if (line !== undefined) note(dim(`  ${plainLine(line, 4 * width)}`));
        return;
      case "start":
      case "tool-input-delta":
      case "result":
        return;
      case "done":
        return note(dim(plainLine(closingLine(event.result), width)));
      default:
        return unreachable(event);
    }
  };

  const acceptNotice = (kind: string, data: unknown): void => {
    const fields = (typeof data === "object" && data !== null ? data : {}) as Record<string, unknown>;
    if (kind === "retry")
      note(yellow(plainLine(`… trying again (${String(fields.attempt)}): ${String(fields.message)}`, width)));
    else if (kind === "fallback")
      note(yellow(plainLine(`… ${String(fields.from)} is down, asking ${String(fields.to)}`, width)));
    else if (kind === "retract") note(yellow("… the answer starts again; what stands above is void"));
    else if (kind === "stall")
      note(yellow(plainLine(`… silent for ${Math.round(Number(fields.silentMs) / 1000)} s`, width)));
  };

  return { accept };
}

function closingLine(result: RunResult): string {
  const parts = [result.status === "success" ? "done" : `${result.status}: ${result.subtype}`];
  parts.push(result.ms < 1000 ? `${result.ms} ms` : `${(result.ms / 1000).toFixed(1)} s`);
  const { inputTokens, outputTokens } = result.usage;
  if (inputTokens !== undefined || outputTokens !== undefined) {
    parts.push(`${inputTokens ?? "?"} tokens in, ${outputTokens ?? "?"} out`);
  }
  if (result.costUsd !== undefined && result.costUsd > 0) parts.push(`$${result.costUsd.toFixed(4)}`);
  if (result.toolCalls.length > 0)
    parts.push(`${result.toolCalls.length} tool call${result.toolCalls.length === 1 ? "" : "s"}`);
  return parts.join(" · ");
}
