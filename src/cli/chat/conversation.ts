import { type Message, textOf } from "#domain";
import { openKeptConversation, type RunOptions, startSession, type Target } from "#runtime";
import { plainText } from "#sinks";
import type { CommandIo } from "../io.ts";
import { openData } from "../open-data.ts";
import { usageError } from "../usage-error.ts";

export type ChatRun = ReturnType<ReturnType<typeof startSession>["send"]>;

/** The agent's side of a chat. */
export interface ChatConversation {
  /** Lines about what was said before. */
  readonly earlier: readonly string[];
  /** The run that an earlier chat left unfinished. It yields what was shown before, up to the event `past`, again. */
  readonly unfinished: { readonly past: number; takeUp(): Promise<ChatRun> } | undefined;
  send(text: string): Promise<ChatRun>;
  setModel(model: string): Promise<void>;
  startOver(): Promise<void>;
  /** Whether the event with this number of the active run is kept; absent if nothing is. */
  readonly isStored?: (seq: number) => Promise<boolean>;
  /** Leaves the active run to the next chat; absent if nothing is kept. */
  readonly suspend?: () => void;
  close(): Promise<void>;
}

/** The target of a chat, and its options. */
interface Ask {
  readonly target: Target;
  readonly options: RunOptions;
}

/** A conversation that ends with its process. */
export function openPassing({ target, options }: Ask, { world }: CommandIo): ChatConversation {
  const open = () => startSession(target, options, world);
  let session = open();
  return {
    earlier: [],
    unfinished: undefined,
    send: async (text) => session.send(text),
    setModel: (model) => session.setModel(model),
    async startOver() {
      await session.close();
      session = open();
    },
    close: () => session.close(),
  };
}

/**
 * The latest conversation in a folder. `asks`: a person is there to answer a question that waits; otherwise such a
 * conversation is left alone.
 */
export async function openKept(
  { target, options }: Ask,
  { folder, asks }: { readonly folder: string; readonly asks: boolean },
  { world }: CommandIo,
): Promise<ChatConversation> {
  const store = await openData(folder);
  try {
    const kept = await openKeptConversation({ store, target, options, world });
    const { earlier, unfinished, waitingElsewhere, send, isStored, setModel, startOver, suspend, takeUp } = kept;
    if (unfinished?.asks === true && !asks) {
      throw usageError(
        `The conversation in ${folder} waits for your answer to a question. Run millrace chat --data ${folder} at a terminal.`,
      );
    }
    return {
      earlier: [...describeEarlier(earlier), ...waitingElsewhere.map(describeWaiting)],
      unfinished: unfinished && { past: unfinished.lastSeq, takeUp },
      send,
      isStored,
      setModel,
      startOver,
      suspend,
      async close() {
        try {
          await kept.close();
        } finally {
          await store.close();
        }
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** How much of the last answer is shown. */
const MOST_LINES = 20;
const MOST_CHARACTERS = 2000;

/** The last message of the person, and the answer to it. An unfinished answer is shown by its run. */
export function describeEarlier(messages: readonly Message[]): readonly string[] {
  const at = messages.findLastIndex(({ role, blocks }) => role === "user" && textOf(blocks) !== "");
  const asked = messages[at];
  if (asked === undefined) return [];
  const answer = messages.slice(at + 1).findLast(({ role, blocks }) => role === "assistant" && textOf(blocks) !== "");
  return [
    "The conversation goes on; /new begins another one.",
    shorten(`> ${textOf(asked.blocks)}`),
    ...(answer === undefined ? [] : [shorten(textOf(answer.blocks))]),
  ];
}

function describeWaiting(target: string): string {
  return `A conversation with ${plainText(target)} is not over. Ask for it with --backend.`;
}

/** The end counts: it is what the person answers. */
function shorten(text: string): string {
  const tail = text.slice(-MOST_CHARACTERS).split("\n").slice(-MOST_LINES).join("\n");
  return plainText(tail.length < text.length ? `… ${tail}` : text);
}
