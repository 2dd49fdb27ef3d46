import type { Message } from "#domain";
import type { NewRun } from "../store.ts";
import {
  type Body,
  encodeBody,
  encodeMessage,
  isLarge,
  isLargeValue,
  type MessageBody,
  type Refusal,
  unwritable,
} from "./bodies.ts";
import type { LargeBodyWriter } from "./large-bodies.ts";
import type { RunBodies } from "./writes.ts";

/** What is stored with a new run, and how much it is. */
export interface EncodedRun extends RunBodies {
  /** The bytes of the run itself, with all parts. */
  readonly runBytes: number;
  /** The bytes of the messages in its thread. */
  readonly threadBytes: number;
  /** Removes what was already written, because the run could not be begun. */
  readonly drop?: () => void;
}

const REFUSAL: Refusal = ["invalid-run", "The input or a setting"];

/**
 * Encodes the messages and settings of a new run. What is large is written in pieces; only then this is a promise, so
 * that a usual run is in the queue at once.
 * @throws StoreError `invalid-run` for a value that cannot be JSON.
 */
export function encodeRun(
  run: NewRun,
  messages: readonly Message[],
  { key, large }: { readonly key: number; readonly large: LargeBodyWriter },
): EncodedRun | Promise<EncodedRun> {
  const values = run.settings === undefined ? [] : [{ settings: run.settings }];
  if (isLarge([], messages) || isLargeValue(run.settings)) {
    const { id: runId } = run;
    return large.write({ runId, key, messages, values, refusal: REFUSAL }).then((written) => ({
      ...measured(written, written.bytes),
      keep: written.keep,
      drop: () => written.drop(),
    }));
  }
  try {
    return measured({ messages: messages.map(encodeMessage), values: values.map(encodeBody) });
  } catch (error) {
    throw unwritable(run.id, error, REFUSAL);
  }
}

function measured(
  { messages, values: [settings] }: { readonly messages: readonly MessageBody[]; readonly values: readonly Body[] },
  partBytes = 0,
): EncodedRun {
  const threadBytes = messages.reduce((sum, body) => sum + body.bytes, 0);
  return { messages, settings, runBytes: partBytes + (settings?.bytes ?? 0), threadBytes };
}
