import type { Chunk } from "#domain";

/** The same chunks, with the mode `tape` in a start among them. */
export function saysTape(chunks: readonly Chunk[]): readonly Chunk[] {
  if (!chunks.some((chunk) => chunk.type === "start")) return chunks;
  return chunks.map((chunk) => (chunk.type === "start" ? { ...chunk, mode: "tape" } : chunk));
}
