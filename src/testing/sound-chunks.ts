import type { Chunk } from "#domain";
import { findViolation } from "./assert-run-log.ts";
import { closeRunLog } from "./close-run-log.ts";
import { expectThat } from "./conformance.ts";

/** Throws unless a run that wrote exactly these chunks would follow the event model. */
export function expectSound(chunks: readonly Chunk[], what: string): void {
  for (const chunk of chunks)
    expectThat(!("seq" in chunk), `${what}: a ${chunk.type} has a seq, which only the run gives`);
  const violation = findViolation(closeRunLog(chunks));
  expectThat(violation === undefined, `${what}: ${violation?.invariant} at ${violation?.seq}: ${violation?.message}`);
}
