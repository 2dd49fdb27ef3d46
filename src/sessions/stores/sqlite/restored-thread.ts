import { isStoreError } from "../store-error.ts";
import type { WholeThread } from "../store.ts";
import { foldCase } from "../thread-rules.ts";
import { encodeMessage, isLarge, type MessageBody, plain, type Refusal, unwritable } from "./bodies.ts";
import type { LargeBodies, LargeBodyWriter } from "./large-bodies.ts";
import { writeBody } from "./rows.ts";
import type { WorkStep } from "./worker/requests.ts";
import { addMessages } from "./writes.ts";

/** A thread ready to be stored. Its first check refuses it if another tenant has the id. */
export interface RestoredThread {
  readonly work: readonly WorkStep[];
  readonly bytes: number;
  /** Removes what was already written, because the thread could not be restored. */
  drop(): void;
}

/** The parts of large messages belong to no run: `dropMessageParts` removes them with the messages. */
const NO_RUN = 0;

const REFUSAL: Refusal = ["invalid-thread", "A message"];

/** @throws StoreError `invalid-thread` for a message that cannot be JSON. */
export async function encodeThread(thread: WholeThread, large: LargeBodyWriter): Promise<RestoredThread> {
  const { id, tenant, title, target, createdAt, updatedAt, usage } = thread;
  const { messages, bytes: partBytes, keep, drop } = await encodeMessages(thread, large);
  const work: WorkStep[] = [
    ["none", "othersThread", id, tenant],
    ["get", "ownBytes", id],
    ["run", "dropMessageParts", id],
    ["run", "dropMessages", id],
    ["run", "dropUsage", id],
    [
      "run",
      "restoreThread",
      id,
      tenant,
      writeBody(title),
      writeBody(target),
      createdAt,
      updatedAt,
      plain(foldCase(title)),
    ],
    ...keep,
    ...addMessages(id, messages, updatedAt),
    ["run", "growThread", updatedAt, partBytes, id],
    ...usage.map((line): WorkStep => ["run", "setUsage", id, writeBody(line.model), writeBody(line)]),
  ];
  const bytes = messages.reduce((sum, body) => sum + body.bytes, partBytes);
  return { work, bytes, drop };
}

async function encodeMessages(
  { id, messages }: WholeThread,
  large: LargeBodyWriter,
): Promise<Pick<LargeBodies, "messages" | "bytes" | "keep" | "drop">> {
  try {
    if (isLarge([], messages)) return await large.write({ runId: id, key: NO_RUN, messages, refusal: REFUSAL });
    const bodies: readonly MessageBody[] = messages.map(encodeMessage);
    return { messages: bodies, bytes: 0, keep: [], drop: () => undefined };
  } catch (error) {
    throw isStoreError(error) ? error : unwritable(id, error, REFUSAL);
  }
}
