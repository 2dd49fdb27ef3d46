import { type Chunk, UNNUMBERED } from "#domain";
import { findViolation } from "./assert-run-log.ts";
import { closeRunLog } from "./close-run-log.ts";
import { expectThat } from "./conformance.ts";

/** Throws unless a run that wrote these chunks and nothing else would keep the promises of the event model. */
export function expectSound(chunks: readonly Chunk[], what: string): void {
  for (const chunk of chunks) expectThat(chunk.seq === UNNUMBERED, `${what}: a ${chunk.type} is numbered already`);
  const violation = findViolation(closeRunLog(chunks));
  expectThat(violation === undefined, `${what}: ${violation?.invariant} at ${violation?.seq}: ${violation?.message}`);
}
