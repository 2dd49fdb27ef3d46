import type { AgentEvent } from "#domain";
import { encodeEventSse, encodeSse } from "#wire";
import { createChatEvents } from "./chat-events.ts";
import { createRunnerSse } from "./runner-sse.ts";
import type { View } from "./view.ts";

/** The words a stream of server-sent events can be told in. */
export const SSE_VOCABULARIES = ["millrace", "runner", "chat"] as const;
export type SseVocabulary = (typeof SSE_VOCABULARIES)[number];

/**
 * Creates a view of a run as server-sent events, as text: our own events, or those of another vocabulary. The id of a
 * frame is the event's number; where one event becomes several frames, their own number stands behind a dot.
 *
 * @example
 * const frames = createSseFrames("chat")
 * for await (const event of run) for (const frame of frames.next(event)) response.write(frame)
 */
export function createSseFrames(vocabulary: SseVocabulary): Pick<View<string>, "next"> {
  if (vocabulary === "millrace") return { next: (event) => [encodeEventSse(event)] };
  const frames = vocabulary === "runner" ? createRunnerFrames() : createChatFrames();
  return { next: (event) => frames(event).map((frame, index) => `id: ${event.seq}.${index + 1}\n${frame}`) };
}

function createRunnerFrames(): (event: AgentEvent) => readonly string[] {
  const view = createRunnerSse();
  return (event) => view.next(event);
}

/** The chat vocabulary has no last frame of its own; every stream of ours has one. */
function createChatFrames(): (event: AgentEvent) => readonly string[] {
  const view = createChatEvents();
  return (event) => {
    const frames = view
      .next(event)
      .map(({ event: name, data }) => encodeSse({ event: name, data: JSON.stringify(data) }));
    return event.type === "done" ? [...frames, encodeSse({ event: "done", data: "{}" })] : frames;
  };
}
