import { checkOptionNames, type RunResult, unreachable } from "#domain";
import { encodeJson } from "./json-text.ts";
import { createRunnerEvents, type RunnerEvent } from "./runner-events.ts";
import { REPORT_OPTION_NAMES, type ReportOptions } from "./tool-reports.ts";
import { applyView, type EventSource, type View } from "./view.ts";

/** The options of `toRunnerSse`. */
export interface RunnerSseOptions extends ReportOptions {
  /**
   * The content of `RunCompleteEvent`: a `summary` of the result (default), without the transcript that was already
   * streamed, or `empty`, the `{}` that some readers of this vocabulary expect.
   */
  readonly completion?: "summary" | "empty";
}

/** The part of a result that is sent: everything except the messages. */
export type RunSummary = Omit<RunResult, "messages">;

/** A server-sent event that is not serialised yet. */
export interface UnwrittenFrame {
  readonly event: string;
  readonly data: unknown;
}

const DONE_FRAME: UnwrittenFrame = { event: "done", data: {} };

/**
 * Translates a run into server-sent events of the runner's vocabulary: one frame per event, named by its type, and a
 * last `done` frame. The data of each frame is one line of JSON, whatever the text contains.
 *
 * @example
 * for await (const frame of toRunnerSse(run("offline", "Hello"))) response.write(frame)
 */
export function toRunnerSse(events: EventSource, options: RunnerSseOptions = {}): AsyncIterableIterator<string> {
  return applyView(events, createRunnerSse(options));
}

/**
 * The synchronous form of `toRunnerSse`.
 *
 * @example
 * const view = createRunnerSse()
 * for await (const event of run("offline", "Hello")) for (const frame of view.next(event)) process.stdout.write(frame)
 */
export function createRunnerSse(options: RunnerSseOptions = {}): View<string> {
  const view = createRunnerFrames(options);
  const encode = (frames: readonly UnwrittenFrame[]): readonly string[] =>
    frames.map(({ event, data }) => `event: ${event}\ndata: ${encodeJson(data)}\n\n`);
  return { next: (event) => encode(view.next(event)), end: () => encode(view.end()) };
}

/** The same, not serialised yet. */
export function createRunnerFrames(options: RunnerSseOptions = {}): View<UnwrittenFrame> {
  checkOptionNames(
    options,
    ["completion", ...REPORT_OPTION_NAMES] satisfies (keyof RunnerSseOptions)[],
    "runner events",
  );
  const { completion: _, ...reports } = options;
  const view = createRunnerEvents(reports);
  const frame = (events: readonly RunnerEvent[]): readonly UnwrittenFrame[] => {
    const frames = events.map((event): UnwrittenFrame => ({ event: event.type, data: fieldsOf(event, options) }));
    if (events.at(-1)?.type === "RunCompleteEvent") frames.push(DONE_FRAME);
    return frames;
  };
  return { next: (event) => frame(view.next(event)), end: () => frame(view.end()) };
}

/** The fields of an event without its type, which is the frame's name. */
function fieldsOf(event: RunnerEvent, options: RunnerSseOptions): unknown {
  switch (event.type) {
    case "RawResponseEvent": {
      const { content, retracted } = event;
      return retracted === undefined ? { content } : { content, retracted };
    }
    case "RunItemEvent":
      return { name: event.name, data: event.data };
    case "RunCompleteEvent":
      return options.completion === "empty" ? {} : { result: summarise(event.result) };
    default:
      return unreachable(event);
  }
}

function summarise(result: RunResult): RunSummary {
  const { messages: _, ...summary } = result;
  return summary;
}
