import type { Chunk, ChunkOf, ToolCallItem } from "#domain";
import type { OpenMessage } from "../shared/message-stream.ts";

/** Calls that are certain while their message is still being written. They are emitted after it. */
export interface WaitingCalls {
  readonly calls: ChunkOf<ToolCallItem>[];
  /** What arrived about these calls meanwhile; emitted after them. */
  readonly about: Chunk[];
}

/** An open message and how much of it was emitted. */
export interface HeldMessage extends OpenMessage {
  /** Its `message` item was emitted. */
  isEmitted: boolean;
  /** It has changed since then. */
  hasChanged: boolean;
  /** It arrived as stream events; its frames then repeat the counts of its beginning and have no stop reason. */
  readonly isStreamed: boolean;
  /** Its calls that are not emitted yet. */
  readonly waiting: WaitingCalls;
  /** Its calls without an answer. */
  readonly unanswered: Set<string>;
  /** The unknown stop reason that a warning was emitted for. */
  warnedOf: string | undefined;
}

/**
 * One conversation in the stream: the main one, or that of a sub-agent.
 *
 * Two messages can be open at once: a streamed one, and one that arrives whole. The CLI puts its own notes (an API
 * error, for example) between the last block and the end of a stream.
 */
export interface SubStream {
  readonly parent: string | undefined;
  streamed: HeldMessage | undefined;
  /** Kept after it was emitted, until another message replaces it: a further block may still arrive. */
  whole: HeldMessage | undefined;
  /** Calls whose message was retracted; they are emitted after the next one. */
  left: WaitingCalls | undefined;
}

/** The sub-streams of one stream, by the call id of their sub-agent. */
export interface SubStreams {
  readonly main: SubStream;
  get(parent: string | undefined): SubStream;
  /** Removes the sub-stream of a sub-agent and returns it, if there is one. */
  take(parent: string): SubStream | undefined;
  /** All of them, sub-agents first: their output came before the answer that uses it. */
  all(): SubStream[];
}

/** The number of sub-agents that are followed at once; a further one evicts the oldest. */
const MAX_SUB_STREAMS = 256;

/** Creates the sub-streams of one stream. `onEvicted` receives a sub-stream that is evicted. */
export function createSubStreams(onEvicted: (subStream: SubStream) => void): SubStreams {
  const main = createSubStream(undefined);
  const byParent = new Map<string, SubStream>();

  const take = (parent: string): SubStream | undefined => {
    const subStream = byParent.get(parent);
    byParent.delete(parent);
    return subStream;
  };

  return {
    main,
    take,
    get(parent) {
      if (parent === undefined) return main;
      const known = byParent.get(parent);
      if (known !== undefined) return known;
      const [oldest] = byParent.keys();
      if (byParent.size >= MAX_SUB_STREAMS && oldest !== undefined) {
        const evicted = take(oldest);
        if (evicted !== undefined) onEvicted(evicted);
      }
      const subStream = createSubStream(parent);
      byParent.set(parent, subStream);
      return subStream;
    },
    all: () => [...byParent.values(), main],
  };
}

function createSubStream(parent: string | undefined): SubStream {
  return { parent, streamed: undefined, whole: undefined, left: undefined };
}
