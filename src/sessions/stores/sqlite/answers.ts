import type { StoredAnswer } from "../store.ts";
import { type Body, encodeBody, isLargeValue, type Refusal, unwritable } from "./bodies.ts";
import type { CommitQueue } from "./commit-queue.ts";
import type { LargeBodies, LargeBodyWriter } from "./large-bodies.ts";
import type { OpenRuns } from "./open-runs.ts";
import type { Reader } from "./reads.ts";
import { callKey } from "./rows.ts";
import type { WorkStep } from "./worker/requests.ts";

export interface AnswersParts {
  readonly queue: CommitQueue;
  readonly reader: Reader;
  readonly large: LargeBodyWriter;
  readonly open: OpenRuns;
}

const REFUSAL: Refusal = ["invalid-answer", "An answer"];

/**
 * Stores answers to calls. The parts of large ones belong to the negative key of their run: they are removed with the
 * answers rather than with the run, and are not counted as part of its log.
 */
export class Answers {
  private readonly _parts: AnswersParts;
  private readonly _pending = new Set<Promise<boolean>>();

  constructor(parts: AnswersParts) {
    this._parts = parts;
  }

  /** `false` if the call has an answer, or the run is over or does not exist. */
  add(runId: string, answer: StoredAnswer): Promise<boolean> {
    const added = this._add(runId, answer);
    this._pending.add(added);
    const forget = (): void => void this._pending.delete(added);
    added.then(forget, forget);
    return added;
  }

  /** Resolves when no answer is on its way. */
  async drain(): Promise<void> {
    await Promise.allSettled(this._pending);
  }

  private async _add(runId: string, answer: StoredAnswer): Promise<boolean> {
    if (!isLargeValue(answer)) return await this._write(runId, answer, encode(runId, answer));
    const { open, reader, large } = this._parts;
    const key = open.get(runId)?.key ?? (await reader.findRun(runId))?.key;
    if (key === undefined) return false;
    const written = await large.write({ runId, key: -key, values: [answer], refusal: REFUSAL });
    let isAdded = false;
    try {
      isAdded = await this._write(runId, answer, written.values[0] as Body, written.keep);
    } finally {
      if (!isAdded) written.drop();
    }
    return isAdded;
  }

  private async _write(
    runId: string,
    { callId, at }: StoredAnswer,
    { text }: Body,
    keep: LargeBodies["keep"] = [],
  ): Promise<boolean> {
    const { refusedAt } = await this._parts.queue.add({
      work: [
        ["some", "unfinishedRun", runId],
        ["none", "answer", runId, callKey(callId)],
        ...keep,
        ["run", "addAnswer", callKey(callId), at, text, runId],
      ],
    });
    return refusedAt === undefined;
  }
}

/** Removes the answers of a run. A large one that is just being written is refused afterwards, and removes its parts. */
export function dropAnswers(key: number): readonly WorkStep[] {
  return [
    ["run", "dropAnswers", key],
    ["run", "dropAnswerParts", -key],
  ];
}

function encode(runId: string, answer: StoredAnswer): Body {
  try {
    return encodeBody(answer);
  } catch (error) {
    throw unwritable(runId, error, REFUSAL);
  }
}
