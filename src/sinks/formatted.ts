import { type AgentEvent, checkOptionNames, type ErrorDetail, type Raw } from "#domain";
import { createEventLines } from "./event-lines.ts";
import { createPalette } from "./palette.ts";
import { plainText } from "./safe-text.ts";
import type { Sink } from "./sink.ts";

/** One frame as read by a format with templates. */
export interface FormattedEvent {
  readonly kind: string;
  readonly templates: { readonly text?: string; readonly ansi?: string; readonly json?: string };
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The options of `createFormattedSink`. */
export interface FormattedOptions {
  readonly out: (text: string) => void;
  /** Receives errors that come from no frame: the stream broke off, the command failed. */
  readonly aside: (text: string) => void;
  readonly style: "text" | "ansi" | "json";
  readonly color: boolean;
  readonly width: number;
  /** Folds errors to the width, for an `aside` that is a terminal. Default `false`. */
  readonly folds?: boolean;
  /** Adapts errors to where they are shown. */
  readonly reword?: (text: string) => string;
  /** Reads a frame; returns only what is shown. */
  readonly read: (raw: Raw) => readonly FormattedEvent[];
}

const OPTION_NAMES = [
  "out",
  "aside",
  "style",
  "color",
  "width",
  "folds",
  "reword",
  "read",
] satisfies (keyof FormattedOptions)[];

const OWN_COLOR = /(\u001b\[\d{1,3}m)/;

/**
 * Shows a foreign stream with the templates of its own format: each frame by its template, a message without one by its
 * text. Needs events that keep their raw frame. Nothing else is printed, and each frame once; errors are always
 * printed.
 *
 * @example
 * const sink = createFormattedSink({
 *   out: (text) => process.stdout.write(text),
 *   aside: (text) => process.stderr.write(text),
 *   style: "text",
 *   color: false,
 *   width: 80,
 *   read: () => [],
 * })
 */
export function createFormattedSink(options: FormattedOptions): Sink {
  checkOptionNames(options, OPTION_NAMES, "createFormattedSink");
  const lines = createEventLines(createPalette(options.color), {
    width: () => options.width,
    folds: options.folds === true,
    reword: options.reword ?? ((text) => text),
  });
  let last: Raw | undefined;
  let isMidLine = false;

  const print = (text: string): void => {
    if (text === "") return;
    options.out(text);
    isMidLine = !text.endsWith("\n");
  };
  const endLine = (): void => {
    if (isMidLine) print("\n");
  };
  const show = (event: FormattedEvent): void => {
    const rendered = event.templates[options.style] ?? (options.style === "ansi" ? event.templates.text : undefined);
    if (rendered !== undefined) {
      endLine();
      print(`${cleanAnsi(rendered)}\n`);
    } else if (event.kind === "message" && typeof event.fields["text"] === "string") {
      print(plainText(event.fields["text"]));
    }
  };
  const acceptFault = (event: AgentEvent): void => {
    const error = faultOf(event);
    if (error === undefined) return;
    endLine();
    for (const line of lines.failure(error)) options.aside(`${line}\n`);
  };
  /** The last error that was shown; if it also ended the run, it is not shown again. */
  let lastError: string | undefined;
  /** The failure that no frame shows: an error of the stream or the command, or a verdict that has no event. */
  const faultOf = (event: AgentEvent): ErrorDetail | undefined => {
    if (event.type === "error") {
      lastError = event.message;
      return event.raw === undefined ? event : undefined;
    }
    if (event.type !== "done" || event.result.status !== "error") return undefined;
    const { error } = event.result;
    return error?.message === lastError ? undefined : error;
  };

  return {
    accept(event) {
      acceptFault(event);
      // One frame may have become several events.
      if (event.raw !== undefined && event.raw !== last) {
        last = event.raw;
        for (const parsed of options.read(event.raw)) show(parsed);
      }
      if (event.type === "done") endLine();
    },
  };
}

/** Templates may contain colours and no other escape sequences; their values may contain neither. */
function cleanAnsi(text: string): string {
  return text
    .split(OWN_COLOR)
    .map((part, index) => (index % 2 === 1 ? part : plainText(part)))
    .join("");
}
