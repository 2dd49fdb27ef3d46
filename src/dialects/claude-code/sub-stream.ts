import type { Chunk, ToolCallItem } from "#domain";
import type { OpenMessage } from "../shared/message-stream.ts";

/** Calls that are certain while their message is still being written: they are told behind it. */
export interface WaitingCalls {
  readonly calls: ToolCallItem[];
  /** What came about these calls meanwhile; told behind them. */
  readonly about: Chunk[];
}

/** An open message and what of it was told. */
export interface HeldMessage extends OpenMessage {
  /** Its `message` item is out. */
  isTold: boolean;
  /** It has changed since. */
  hasChanged: boolean;
  /** It came as stream events; its frames then repeat counts of its beginning and no stop reason. */
  readonly isStreamed: boolean;
  /** Its calls that are not told yet. */
  readonly waiting: WaitingCalls;
  /** Its calls that have no answer yet. */
  readonly unanswered: Set<string>;
  /** The unknown stop reason that was warned of. */
  warnedOf: string | undefined;
}

/**
 * One conversation inside the stream: the main one, or that of a sub-agent.
 *
 * Two messages can be open at once: one being streamed, and one that comes whole. The CLI puts notes of its own (an
 * API error, say) between the last block and the end of a stream.
 */
export interface SubStream {
  readonly parent: string | undefined;
  streamed: HeldMessage | undefined;
  /** Stays here after it was told, until another takes its place: a further block may still come. */
  whole: HeldMessage | undefined;
  /** Calls whose message was taken back; they stand behind the next one. */
  left: WaitingCalls | undefined;
}

/** The lanes of one stream by their sub-agent's tool call id. */
export interface SubStreams {
  readonly main: SubStream;
  get(parent: string | undefined): SubStream;
  /** Forgets a sub-agent's lane; returns it if there was one. */
  take(parent: string): SubStream | undefined;
  /** All of them, sub-agents first: what they wrote came before the answer that uses it. */
  all(): SubStream[];
}

/** So many sub-agents are followed at once; a further one pushes out the oldest. */
const MAX_LANES = 256;

/** Creates the lanes of one stream. `onEvicted` gets a lane that had to make room. */
export function createLanes(onEvicted: (lane: SubStream) => void): SubStreams {
  const main = createLane(undefined);
  const byParent = new Map<string, SubStream>();

  const take = (parent: string): SubStream | undefined => {
    const lane = byParent.get(parent);
    byParent.delete(parent);
    return lane;
  };

  return {
    main,
    take,
    get(parent) {
      if (parent === undefined) return main;
      const known = byParent.get(parent);
      if (known !== undefined) return known;
      const [oldest] = byParent.keys();
      if (byParent.size >= MAX_LANES && oldest !== undefined) {
        const evicted = take(oldest);
        if (evicted !== undefined) onEvicted(evicted);
      }
      const lane = createLane(parent);
      byParent.set(parent, lane);
      return lane;
    },
    all: () => [...byParent.values(), main],
  };
}

function createLane(parent: string | undefined): SubStream {
  return { parent, streamed: undefined, whole: undefined, left: undefined };
}
