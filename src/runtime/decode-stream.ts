import { createRun, type Run } from "#agents";
import { type Chunk, resultItem, type Usage, addUsage } from "#domain";
import { createDecoder, type Format } from "#formats";
import { systemWorld, type World } from "./world.ts";

export interface DecodeOptions {
  /** Keeps the exact frame on every event. */
  readonly keepRaw?: boolean;
}

/**
 * Decodes a captured or foreign stream as a run of its own: the same events, the same invariants, one `done`.
 *
 * A format that has no verdict of its own (a model's single reply) succeeds when its stream ended properly.
 */
export function decodeStream(
  format: Format,
  bytes: AsyncIterable<Uint8Array>,
  options: DecodeOptions = {},
  world: World = systemWorld(),
): Run {
  return createRun(
    async (writer) => {
      const decoder = createDecoder(format, { keepRaw: options.keepRaw ?? false });
      const verdict = createVerdict();
      for await (const piece of bytes) {
        await writer.write(verdict.look(decoder.push(piece)));
        if (writer.signal.aborted || decoder.isOver) break;
      }
      await writer.write(verdict.look(decoder.end()));
      await writer.write(verdict.missing());
    },
    { clock: world.clock, random: world.random, onListenerError: world.onListenerError },
  );
}

/** Adds up a model's replies for the verdict that their format does not give. */
function createVerdict() {
  let given = false;
  let usage: Usage = {};
  let text = "";
  let turns = 0;
  return {
    look(chunks: readonly Chunk[]): readonly Chunk[] {
      for (const chunk of chunks) {
        if (chunk.type === "result" || (chunk.type === "error" && chunk.terminal)) given = true;
        if (chunk.type !== "message" || chunk.role !== "assistant") continue;
        turns += 1;
        usage = addUsage(usage, chunk.usage ?? {});
        text = chunk.blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
      }
      return chunks;
    },
    missing: (): Chunk[] => (given ? [] : [resultItem({ subtype: "success", isError: false, text, usage, turns })]),
  };
}
