import { type Chunk, startItem } from "#domain";

/** The same chunks; a start among them says that the answers come from a tape. */
export function saysTape(chunks: readonly Chunk[]): readonly Chunk[] {
  if (!chunks.some((chunk) => chunk.type === "start")) return chunks;
  return chunks.map((chunk) => {
    if (chunk.type !== "start") return chunk;
    const { type: _, seq: _seq, ts: _ts, runId: _runId, ...given } = chunk;
    return startItem({ ...given, mode: "tape" });
  });
}
