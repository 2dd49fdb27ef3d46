import { type AgentEvent, checkOptionNames } from "#domain";
import { encodeEventSse, encodeEventSseInSlices, encodeInSlices, measureJson } from "#wire";
import { createChatEvents } from "./chat-events.ts";
import { encodeJson, escapeSeparators } from "./json-text.ts";
import { createRunnerFrames, type UnwrittenFrame } from "./runner-sse.ts";
import { REPORT_OPTION_NAMES, type ReportOptions } from "./tool-reports.ts";
import type { View } from "./view.ts";

/** Data with more characters is serialised in pieces by `slices`. */
const LARGE_DATA = 262_144;

/**
 * The vocabularies for a stream of server-sent events.
 *
 * @example
 * console.log(SSE_VOCABULARIES.join(", ")) // millrace, runner, chat
 */
export const SSE_VOCABULARIES = ["millrace", "runner", "chat"] as const;

/** The name of a vocabulary for server-sent events. */
export type SseVocabulary = (typeof SSE_VOCABULARIES)[number];

/**
 * Creates a view of a run as server-sent events: our own events, or those of another vocabulary. The id of a frame is
 * the event's number; if one event becomes several frames, a dot and the number of the frame follow.
 *
 * @example
 * const frames = createSseFrames("chat")
 * for await (const event of run("offline", "Hello")) for (const frame of frames.next(event)) response.write(frame)
 */
export function createSseFrames(
  vocabulary: SseVocabulary,
  options: ReportOptions = {},
): Pick<View<string>, "next"> & {
  /**
   * The same frames in pieces. Each is serialised when it is read, so that large data does not block the event loop.
   */
  slices(event: AgentEvent): readonly Iterable<string>[];
} {
  checkOptionNames(options, REPORT_OPTION_NAMES, "createSseFrames");
  if (vocabulary === "millrace") {
    return { next: (event) => [encodeEventSse(event)], slices: (event) => [encodeEventSseInSlices(event)] };
  }
  const isRunner = vocabulary === "runner";
  const frames = isRunner ? createRunnerFrames(options).next : createChatFrames(options);
  const words = isRunner
    ? { encode: encodeJson, escape: escapeSeparators }
    : { encode: JSON.stringify, escape: (json: string) => json };
  const slices = (event: AgentEvent): readonly Iterable<string>[] =>
    frames(event).map((frame, index) => writeFrame(frame, `${event.seq}.${index + 1}`, words));
  return { next: (event) => slices(event).map((pieces) => [...pieces].join("")), slices };
}

/** The chat vocabulary has no last frame; each of our streams has one. */
function createChatFrames(options: ReportOptions): (event: AgentEvent) => readonly UnwrittenFrame[] {
  const view = createChatEvents(options);
  return (event) => {
    const frames = view.next(event);
    return event.type === "done" ? [...frames, { event: "done", data: {} }] : frames;
  };
}

interface Words {
  readonly encode: (data: unknown) => string;
  /** What `encode` does in addition to writing JSON, for a part of it. */
  readonly escape: (json: string) => string;
}

function* writeFrame(
  { event, data }: UnwrittenFrame,
  id: string,
  { encode, escape }: Words,
): Generator<string, undefined> {
  const head = `id: ${id}\nevent: ${event}\ndata: `;
  if (measureJson(data, LARGE_DATA) < LARGE_DATA) {
    yield `${head}${encode(data)}\n\n`;
    return undefined;
  }
  yield head;
  for (const piece of encodeInSlices(data)) yield escape(piece);
  yield "\n\n";
  return undefined;
}
