import { checkOptionNames } from "#domain";
import { createRun, type Run } from "#run";
import { createMissingVerdict, createReplyDecoder, type Format } from "#dialects";
import { systemWorld, type World } from "./world.ts";

export interface DecodeOptions {
  /** Keeps the exact frame on every event. */
  readonly keepRaw?: boolean;
}

/**
 * Decodes a captured or foreign stream as a run: the same events, the same invariants, one `done`.
 *
 * If the format does not state a verdict (a model's single reply), the run succeeds when its stream ended properly. A
 * source that fails ends the run with `source-failed`; an abort ends it at once, even while the source is silent.
 *
 * @example
 * const run = decodeStream(formatRegistry().require("claude-code"), createReadStream("log.ndjson"))
 * for await (const event of run) console.log(event.type)
 */
export function decodeStream(
  format: Format,
  bytes: AsyncIterable<Uint8Array>,
  options: DecodeOptions = {},
  world: World = systemWorld(),
): Run {
  checkOptionNames(options, ["keepRaw"] satisfies (keyof DecodeOptions)[], "decodeStream");
  return createRun(
    async (writer) => {
      const decoder = createReplyDecoder(format, options);
      const verdict = createMissingVerdict();
      for await (const piece of untilAborted(bytes, writer.signal)) {
        await writer.write(verdict.look(decoder.push(piece)));
        if (decoder.isOver) break;
      }
      if (writer.signal.aborted) return;
      await writer.write(verdict.look(decoder.end()));
      await writer.write(verdict.missing());
    },
    { clock: world.clock, random: world.random, onListenerError: world.onListenerError },
  );
}

/** The same bytes, except that an abort ends them even while a read from the source is pending. */
async function* untilAborted(bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]();
  const end: IteratorReturnResult<undefined> = { done: true, value: undefined };
  let wake: (result: typeof end) => void = () => undefined;
  const onAbort = (): void => wake(end);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    while (!signal.aborted) {
      const next = await new Promise<IteratorResult<Uint8Array, unknown>>((resolve, reject) => {
        wake = resolve;
        iterator.next().then(resolve, reject);
      });
      if (next.done === true || signal.aborted) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    // Not awaited: a source in the middle of a read is released when the read ends.
    iterator.return?.().catch(() => undefined);
  }
}
