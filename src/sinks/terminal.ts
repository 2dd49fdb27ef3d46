import {
  type AgentEvent,
  checkOptionNames,
  type DoneEvent,
  type MessageItem,
  type NoticeItem,
  type PermissionItem,
  type ToolResultItem,
  unreachable,
} from "#domain";
import { isRecord, ownNumber, ownString } from "#wire";
import { createEventLines } from "./event-lines.ts";
import { createPalette } from "./palette.ts";
import { createShownBlocks } from "./shown-blocks.ts";
import type { Sink } from "./sink.ts";
import { createTextColumn } from "./text-column.ts";

/** The options of `createTerminalSink`. */
export interface TerminalOptions {
  /** Takes the answer's text. */
  readonly out: (text: string) => void;
  /** Takes everything about it: tool calls, notices, the closing line. */
  readonly aside: (text: string) => void;
  /** Whether `aside` understands colours. */
  readonly color: boolean;
  /** Columns of the terminal; a function where they change. */
  readonly width: number | (() => number);
  /** Ends lines of the answer between words; for an `out` that is a terminal. Default `false`: as they were written. */
  readonly wrap?: boolean;
  /** Folds warnings and errors to the width; for an `aside` that is a terminal. Default `false`. */
  readonly wrapAside?: boolean;
  /** Says warnings and errors in the words of the place they are shown at: options of a program as flags of a shell. */
  readonly reword?: (text: string) => string;
  /** Somebody else puts questions to the person at this screen, so that they are not told here as well. Default `false`. */
  readonly asks?: boolean;
  /** `true`: thinking as it comes; `"collapsed"`: one line about it; `false`: nothing of it. */
  readonly showThinking: boolean | "collapsed";
  /** Shows Markdown as a terminal can; for an `out` that is one. Without it the text goes out as it was written. */
  readonly markdown?: boolean;
  /** Tool calls and their results. Default `true`. */
  readonly showTools?: boolean;
  /** What is left out otherwise: starts, allowed calls, notices of every kind. Default `false`. */
  readonly showMetadata?: boolean;
  /** Everything there is. Default `false`. */
  readonly showAll?: boolean;
  /** `false`: a text is shown when it is whole. Default `true`. */
  readonly stream?: boolean;
  /** Text and errors alone. Default `false`. */
  readonly quiet?: boolean;
}

const OPTION_NAMES = [
  "out",
  "aside",
  "color",
  "width",
  "wrap",
  "wrapAside",
  "reword",
  "asks",
  "showThinking",
  "markdown",
  "showTools",
  "showMetadata",
  "showAll",
  "stream",
  "quiet",
] satisfies (keyof TerminalOptions)[];

/** A sink for a screen that others write to as well. */
export interface TerminalSink extends Sink {
  /** Something stands on the last line: who wants to write beside it begins a new one. */
  readonly isMidLine: boolean;
}

/**
 * Shows a run to a person: the text as it is written, tool calls and what happened around it as short lines, and a
 * closing line with time, tokens and cost. Messages and errors are always shown, every piece exactly once. Everything
 * foreign is shown as plain text: whatever a model or a tool says, the terminal gets printable characters, line ends,
 * tabs and our own colours, and what was shown is never touched again.
 *
 * @example
 * const sink = createTerminalSink({
 *   out: (text) => process.stdout.write(text),
 *   aside: (text) => process.stderr.write(text),
 *   color: wantsColor(process.stderr.isTTY, process.env),
 *   width: process.stderr.columns ?? 100,
 *   showThinking: false,
 * })
 * for await (const event of run("offline", "Hello")) sink.accept(event)
 */
export function createTerminalSink(options: TerminalOptions): TerminalSink {
  checkOptionNames(options, OPTION_NAMES, "createTerminalSink");
  const { quiet = false, showAll = false } = options;
  const palette = createPalette(options.color);
  const given = options.width;
  const width = typeof given === "number" ? () => given : given;
  const { reword = (text: string): string => text } = options;
  const lines = createEventLines(palette, { width, folds: options.wrapAside === true, reword });
  const shown = createShownBlocks();
  const answer = createTextColumn({
    write: options.out,
    markdown: options.markdown === true ? { color: true, width } : undefined,
    wrap: options.wrap === true ? width : undefined,
  });
  const thinking = createTextColumn({
    write: options.aside,
    paint: palette.dim,
    wrap: options.wrapAside === true ? width : undefined,
  });
  const streams = options.stream !== false;
  const showThinking = quiet ? false : showAll ? true : options.showThinking;
  const showTools = !quiet && (showAll || options.showTools !== false);
  const showMetadata = !quiet && (showAll || options.showMetadata === true);
  /** When the calls under way began. */
  const open = new Map<string, number>();
  /** The last error that was shown; what ended the run is not shown a second time. */
  let lastError: string | undefined;
  let denied: { readonly callId: string; readonly reason: string | undefined } | undefined;
  let speaking: string | undefined;
  let thought: { readonly since: number; characters: number } | undefined;

  const endThought = (now: number): void => {
    thinking.end();
    if (thought !== undefined && thought.characters > 0) {
      options.aside(`${lines.thought(thought.characters, now - thought.since)}\n`);
    }
    thought = undefined;
  };
  const say = (text: string, messageId: string, now: number): void => {
    if (text === "") return;
    endThought(now);
    // Another message is another paragraph at least.
    if (messageId !== speaking) answer.end();
    speaking = messageId;
    answer.push(text);
  };
  const think = (text: string, now: number): void => {
    if (showThinking === false) return;
    if (showThinking === true) {
      answer.end();
      thinking.push(text);
      return;
    }
    thought ??= { since: now, characters: 0 };
    thought.characters += text.length;
  };
  /** Lines of their own beside the text. */
  const note = (now: number, ...texts: readonly string[]): void => {
    endThought(now);
    answer.end();
    for (const text of texts) options.aside(`${text}\n`);
  };

  const acceptMessage = (event: MessageItem): void => {
    if (event.role !== "assistant") return;
    event.blocks.forEach((block, index) => {
      if (block.type !== "text" && block.type !== "thinking") return;
      if (!shown.add(event.id, index)) return;
      if (block.type === "text") say(block.text, event.id, event.ts);
      else think(block.text, event.ts);
    });
  };
  const acceptNotice = (event: NoticeItem): void => {
    if (event.kind === "retract") {
      const fields = isRecord(event.data) ? event.data : {};
      const wasSeen = shown.forget(ownString(fields, "messageId") ?? "", ownNumber(fields, "fromIndex") ?? 0);
      if (wasSeen) note(event.ts, palette.yellow("… the answer starts again; what stands above is void"));
      return;
    }
    const line = quiet ? undefined : (lines.notice(event) ?? (showMetadata ? lines.anyNotice(event) : undefined));
    if (line !== undefined) note(event.ts, line);
  };
  const acceptResult = (event: ToolResultItem): void => {
    const since = open.get(event.callId);
    const isAlone = open.size <= 1;
    open.delete(event.callId);
    // A denial is the result of its call, and has been told.
    const wasTold = denied?.callId === event.callId && denied.reason === event.output;
    if (!showTools || (wasTold && !showMetadata)) return;
    const ms = event.ms ?? (since === undefined || event.skipped !== undefined ? undefined : event.ts - since);
    note(event.ts, lines.toolResult(event, isAlone ? { ms } : { ms, name: event.name }));
  };

  const acceptPermission = (event: PermissionItem): void => {
    if (quiet || (event.state === "allowed" && !showMetadata)) return;
    // Who has just answered knows what was asked, and what the answer was.
    const isKnown = event.state === "asked" || event.by === "user";
    if (isKnown && options.asks === true && !showMetadata) return;
    if (event.state === "denied") denied = { callId: event.callId, reason: event.reason };
    note(event.ts, lines.permission(event));
  };
  const acceptDone = ({ ts, result }: DoneEvent): void => {
    // A verdict (a limit, an agent's own failure) is no error event: without this nobody would say why it failed.
    const { status, error } = result;
    const why = status === "error" && error !== undefined && error.message !== lastError ? lines.failure(error) : [];
    note(ts, ...why, ...(quiet ? [] : [lines.closing(result)]));
  };

  const accept = (event: AgentEvent): void => {
    // A sub-agent's words are its tool's business; what it does is shown.
    if (event.parent !== undefined && event.type !== "tool-call" && event.type !== "tool-result") return;
    switch (event.type) {
      case "text-delta":
      case "thinking-delta":
        if (!streams) return;
        shown.add(event.messageId, event.index);
        if (event.type === "text-delta") say(event.text, event.messageId, event.ts);
        else think(event.text, event.ts);
        return;
      case "message":
        return acceptMessage(event);
      case "tool-call":
        open.set(event.callId, event.ts);
        if (showTools) note(event.ts, lines.toolCall(event));
        return;
      case "tool-result":
        return acceptResult(event);
      case "permission":
        return acceptPermission(event);
      case "handoff":
        if (!quiet) note(event.ts, lines.handoff(event));
        return;
      case "notice":
        return acceptNotice(event);
      case "warning":
        if (!quiet && (event.expected !== true || showMetadata)) note(event.ts, lines.warning(event.message));
        return;
      case "error":
        lastError = event.message;
        return note(event.ts, ...lines.error(event));
      case "start":
        if (showMetadata) note(event.ts, lines.start(event));
        return;
      case "tool-input-delta":
      case "result":
        return;
      case "done":
        return acceptDone(event);
      default:
        return unreachable(event);
    }
  };

  return {
    accept,
    get isMidLine() {
      return answer.isMidLine || thinking.isMidLine;
    },
  };
}
