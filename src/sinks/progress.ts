import { type AgentEvent, checkOptionNames, type Clock, elapsedSince, unreachable, describeMs } from "#domain";
import { plainLine } from "./display-width.ts";
import { createPalette } from "./palette.ts";
import type { Sink } from "./sink.ts";

/** The options of `createProgressSink`. */
export interface ProgressOptions {
  readonly write: (text: string) => void;
  /** Nothing is written if this is `false`. */
  readonly isTerminal: boolean;
  readonly color: boolean;
  /** Columns of the terminal; a function if they can change. */
  readonly width: number | (() => number);
  readonly clock: Clock;
  /** Whether the last line is not empty. Nothing is drawn next to it. */
  readonly isMidLine?: () => boolean;
}

const OPTION_NAMES = [
  "write",
  "isTerminal",
  "color",
  "width",
  "clock",
  "isMidLine",
] satisfies (keyof ProgressOptions)[];

/** A progress line that makes room for other output on the same screen. */
export interface ProgressSink extends Sink {
  /** Removes the line from the screen. It appears again with the next wait. */
  hide(): void;
  close(): Promise<void>;
}

/** Shorter waits are not shown. */
const DELAY_MS = 300;
const STEP_MS = 120;
const WHEEL = ["◐", "◓", "◑", "◒"] as const;
const ERASE_LINE = "\r\u001b[K";
/**
 * Columns left free after the line: a full line would make some terminals start the next one, and Ctrl-C is echoed
 * there.
 */
const ROOM = 3;

/**
 * Shows what a run is waiting for, and for how long, on a temporary line of a terminal: the model, a tool, the next
 * try. Shows nothing without a terminal, and while text arrives, which is progress enough.
 *
 * @example
 * const progress = createProgressSink({
 *   write: (text) => process.stderr.write(text),
 *   isTerminal: process.stderr.isTTY,
 *   color: wantsColor(process.stderr.isTTY, process.env),
 *   width: process.stderr.columns,
 *   clock: {
 *     now: () => Date.now(),
 *     after: (ms, fire) => {
 *       const timer = setTimeout(fire, ms)
 *       return () => clearTimeout(timer)
 *     },
 *   },
 * })
 */
export function createProgressSink(options: ProgressOptions): ProgressSink {
  checkOptionNames(options, OPTION_NAMES, "createProgressSink");
  const { write, clock, width, isMidLine = () => false } = options;
  const columns = (): number => (typeof width === "number" ? width : width());
  const { dim } = createPalette(options.color);
  let waiting: { readonly what: string; readonly since: number } | undefined;
  let isDrawn = false;
  let step = 0;
  let stopTimer: () => void = () => undefined;
  /** Running calls, by id. */
  const calls = new Map<string, string>();

  const erase = (): void => {
    if (isDrawn) write(ERASE_LINE);
    isDrawn = false;
  };
  const draw = (): void => {
    if (waiting === undefined) return;
    if (!isMidLine()) {
      const wheel = WHEEL[step % WHEEL.length] ?? "";
      step += 1;
      const line = plainLine(
        `${wheel} ${waiting.what} · ${describeMs(elapsedSince(clock, waiting.since))}`,
        columns() - ROOM,
      );
      write(`${isDrawn ? ERASE_LINE : ""}${dim(line)}`);
      isDrawn = true;
    }
    stopTimer = clock.after(STEP_MS, draw);
  };
  const rest = (): void => {
    stopTimer();
    waiting = undefined;
    erase();
  };
  const waitFor = (what: string): void => {
    rest();
    waiting = { what, since: clock.now() };
    stopTimer = clock.after(DELAY_MS, draw);
  };
  const waitForCalls = (): void => {
    if (calls.size === 0) waitFor("waiting for the model");
    else waitFor(`running ${[...new Set(calls.values())].join(", ")}`);
  };

  const follow = (event: AgentEvent): void => {
    switch (event.type) {
      case "start":
        return waitFor(`asking ${event.backend}${event.model === undefined ? "" : ` ${event.model}`}`);
      case "text-delta":
        return rest();
      case "thinking-delta":
        if (waiting?.what !== "thinking") waitFor("thinking");
        return;
      case "tool-input-delta":
        if (waiting?.what !== `writing a call of ${event.name}`) waitFor(`writing a call of ${event.name}`);
        return;
      case "tool-call":
        calls.set(event.callId, event.name);
        return waitForCalls();
      case "tool-result":
        calls.delete(event.callId);
        return waitForCalls();
      case "permission":
        // The question needs the line.
        return event.state === "asked" ? rest() : waitForCalls();
      case "handoff":
        return waitFor(`asking ${event.to}`);
      case "notice":
        if (event.kind === "retry") waitFor("waiting for the next try");
        return;
      case "done":
        return rest();
      case "message":
      case "warning":
      case "error":
      case "result":
        return;
      default:
        return unreachable(event);
    }
  };

  return {
    accept(event) {
      if (options.isTerminal && event.parent === undefined) follow(event);
    },
    hide: erase,
    close: async () => rest(),
  };
}
