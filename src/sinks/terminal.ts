import {
  type AgentEvent,
  checkOptionNames,
  createShownText,
  type DoneEvent,
  type MessageItem,
  type NoticeItem,
  type PermissionItem,
  readRetraction,
  type TextDelta,
  type ThinkingDelta,
  type ToolResultItem,
  unreachable,
} from "#domain";
import { createEventLines } from "./event-lines.ts";
import { createPalette } from "./palette.ts";
import type { Sink } from "./sink.ts";
import { createTextColumn } from "./text-column.ts";

/** The options of `createTerminalSink`. */
export interface TerminalOptions {
  /** Receives the text of the answer. */
  readonly out: (text: string) => void;
  /** Receives everything else: tool calls, notices, the closing line. */
  readonly aside: (text: string) => void;
  /** Whether `aside` supports colours. */
  readonly color: boolean;
  /** Columns of the terminal; a function if they can change. */
  readonly width: number | (() => number);
  /** Wraps lines of the answer at words, for an `out` that is a terminal. Default `false`: lines stay as they are. */
  readonly wrap?: boolean;
  /** Folds warnings and errors to the width, for an `aside` that is a terminal. Default `false`. */
  readonly wrapAside?: boolean;
  /** Adapts warnings and errors to where they are shown, for example from names of options to command-line flags. */
  readonly reword?: (text: string) => string;
  /** Questions to the person are asked by other code, so they are not shown here as well. Default `false`. */
  readonly asks?: boolean;
  /** `true`: shows thinking as it arrives; `"collapsed"`: one line about it; `false`: nothing. */
  readonly showThinking: boolean | "collapsed";
  /** Renders Markdown, for an `out` that is a terminal. Without it the text is printed as it is. */
  readonly markdown?: boolean;
  /** Shows tool calls and their results. Default `true`. */
  readonly showTools?: boolean;
  /** Shows starts, allowed calls and notices of every kind. Default `false`. */
  readonly showMetadata?: boolean;
  /** Shows everything. Default `false`. */
  readonly showAll?: boolean;
  /** `false`: shows a text only when it is complete. Default `true`. */
  readonly stream?: boolean;
  /** Shows only text and errors. Default `false`. */
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

/** A sink for a screen that other code writes to as well. */
export interface TerminalSink extends Sink {
  /** Whether the last line is not empty: other output must begin a new line. */
  readonly isMidLine: boolean;
}

/**
 * Shows a run to a person: the text as it is written, tool calls and other events as short lines, and a closing line
 * with time, tokens and cost. Messages and errors are always shown, each exactly once. Untrusted text is made plain:
 * whatever a model or a tool writes, the terminal receives only printable characters, line ends, tabs and our own
 * colours, and earlier output is never changed.
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
  const shown = createShownText();
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
  /** When the running calls began. */
  const open = new Map<string, number>();
  /** The last error that was shown; if it also ended the run, it is not shown again. */
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
    // Another message starts a new paragraph at least.
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
  /** Separate lines next to the text. */
  const note = (now: number, ...texts: readonly string[]): void => {
    endThought(now);
    answer.end();
    for (const text of texts) options.aside(`${text}\n`);
  };

  const acceptText = (event: TextDelta | ThinkingDelta | MessageItem): void => {
    const messageId = event.type === "message" ? event.id : event.messageId;
    for (const { kind, text } of shown.read(event)) {
      if (kind === "text") say(text, messageId, event.ts);
      else think(text, event.ts);
    }
  };
  const acceptNotice = (event: NoticeItem): void => {
    if (event.kind === "retract") {
      const messageId = readRetraction(event)?.messageId;
      const wasFinished = messageId !== undefined && shown.isFinished(messageId);
      if (shown.retract(event) !== undefined || wasFinished)
        note(event.ts, palette.yellow("… the answer starts again; ignore the text above"));
      return;
    }
    const line = quiet ? undefined : (lines.notice(event) ?? (showMetadata ? lines.anyNotice(event) : undefined));
    if (line !== undefined) note(event.ts, line);
  };
  const acceptResult = (event: ToolResultItem): void => {
    const since = open.get(event.callId);
    const isAlone = open.size <= 1;
    open.delete(event.callId);
    // A denial is the result of its call, and was shown already.
    const wasShown = denied?.callId === event.callId && denied.reason === event.output;
    if (!showTools || (wasShown && !showMetadata)) return;
    const ms = event.ms ?? (since === undefined || event.skipped !== undefined ? undefined : event.ts - since);
    note(event.ts, lines.toolResult(event, isAlone ? { ms } : { ms, name: event.name }));
  };

  const acceptPermission = (event: PermissionItem): void => {
    if (quiet || (event.state === "allowed" && !showMetadata)) return;
    // The person who has just answered knows the question and the answer.
    const isKnown = event.state === "asked" || event.by === "user";
    if (isKnown && options.asks === true && !showMetadata) return;
    if (event.state === "denied") denied = { callId: event.callId, reason: event.reason };
    note(event.ts, lines.permission(event));
  };
  const acceptDone = ({ ts, result }: DoneEvent): void => {
    // A verdict (a limit, an agent's own failure) is no error event: without this the reason would not be shown.
    const { status, error } = result;
    const why = status === "error" && error !== undefined && error.message !== lastError ? lines.failure(error) : [];
    note(ts, ...why, ...(quiet ? [] : [lines.closing(result)]));
  };

  const accept = (event: AgentEvent): void => {
    // A sub-agent's text belongs to its tool call; only its own tool calls are shown.
    if (event.parent !== undefined && event.type !== "tool-call" && event.type !== "tool-result") return;
    switch (event.type) {
      case "text-delta":
      case "thinking-delta":
        if (streams) acceptText(event);
        return;
      case "message":
        return acceptText(event);
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
