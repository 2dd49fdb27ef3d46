import { checkOptionNames } from "#domain";
import { createRun, type Run } from "#agents";
import { createDecoder, createMissingVerdict, type Format } from "#dialects";
import { systemWorld, type World } from "./world.ts";

export interface DecodeOptions {
  /** Keeps the exact frame on every event. */
  readonly keepRaw?: boolean;
}

/**
 * Decodes a captured or foreign stream as a run of its own: the same events, the same invariants, one `done`.
 *
 * A format that has no verdict of its own (a model's single reply) succeeds when its stream ended properly. A source
 * that fails ends the run with `source-failed`; an abort ends it at once, also while the source is silent.
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
      const decoder = createDecoder(format, { keepRaw: options.keepRaw ?? false });
      const verdict = createMissingVerdict();
      for await (const piece of untilAborted(bytes, writer.latch.signal)) {
        await writer.write(verdict.look(decoder.push(piece)));
        if (decoder.isOver) break;
      }
      if (writer.latch.aborted) return;
      await writer.write(verdict.look(decoder.end()));
      await writer.write(verdict.missing());
    },
    { clock: world.clock, random: world.random, onListenerError: world.onListenerError },
  );
}

/** The same bytes, but an abort ends them while the source is still thinking about the next piece. */
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
    // Not waited for: a source in the middle of a read lets go of it when the read is over.
    iterator.return?.().catch(() => undefined);
  }
}
