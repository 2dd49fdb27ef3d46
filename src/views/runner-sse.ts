import { type RunResult, unreachable } from "#domain";
import { encodeJson } from "./json-text.ts";
import { createRunnerEvents, type RunnerEvent } from "./runner-events.ts";
import { applyView, type EventSource, type View } from "./view.ts";

/** How `toRunnerSse` writes. */
export interface RunnerSseOptions {
  /**
   * What `RunCompleteEvent` carries: a `summary` of the result (default), without the transcript that was already
   * streamed, or `empty`, the `{}` some readers of this vocabulary expect.
   */
  readonly completion?: "summary" | "empty";
}

/** What of a result is sent: everything but the messages. */
export type RunSummary = Omit<RunResult, "messages">;

const DONE_FRAME = "event: done\ndata: {}\n\n";

/**
 * A run as server-sent events of the runner's vocabulary: one frame per event, named by its type, and a last
 * `done` frame. Each frame's data is one line of JSON, whatever the text holds.
 *
 * @example
 * for await (const frame of toRunnerSse(run)) response.write(frame)
 */
export function toRunnerSse(events: EventSource, options: RunnerSseOptions = {}): AsyncIterableIterator<string> {
  return applyView(events, createRunnerSse(options));
}

/** The synchronous form of `toRunnerSse`. */
export function createRunnerSse(options: RunnerSseOptions = {}): View<string> {
  const view = createRunnerEvents();

  const encode = (events: readonly RunnerEvent[]): readonly string[] => {
    const frames = events.map((event) => `event: ${event.type}\ndata: ${encodeJson(fieldsOf(event, options))}\n\n`);
    if (events.at(-1)?.type === "RunCompleteEvent") frames.push(DONE_FRAME);
    return frames;
  };

  return { next: (event) => encode(view.next(event)), end: () => encode(view.end()) };
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
