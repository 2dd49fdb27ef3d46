import { describeThrown } from "#domain";
import { isSameJson } from "./run-log/same-json.ts";

/** A promise of a contract that an implementation does not keep. */
export interface Failure {
  /** What should have been so. */
  readonly behaviour: string;
  /** What was so instead. */
  readonly message: string;
}

/** One promise of a contract and the try that shows it; the try throws when it is broken. */
export type Trial<Subject> = readonly [behaviour: string, attempt: (subject: Subject) => Promise<void> | void];

/** Tries every promise, each on a subject of its own, and gathers those that are broken. */
export async function runTrials<Subject>(
  trials: readonly Trial<Subject>[],
  createSubject: () => Promise<Subject> | Subject,
): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  for (const [behaviour, attempt] of trials) {
    try {
      await attempt(await createSubject());
    } catch (error) {
      failures.push({ behaviour, message: describeThrown(error) });
    }
  }
  return failures;
}

/** Throws unless it holds. */
export function expectThat(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

/** Throws unless both are the same JSON; the order of keys does not matter. */
export function expectSame(actual: unknown, expected: unknown, what: string): void {
  if (isSameJson(actual, expected)) return;
  throw new Error(`${what}: ${cut(JSON.stringify(actual))} instead of ${cut(JSON.stringify(expected))}`);
}

/** What the promise was rejected with. Throws when it was not. */
export async function rejection(promise: Promise<unknown>, what: string): Promise<unknown> {
  const outcome = await promise.then(
    () => undefined,
    (reason: unknown) => ({ reason }),
  );
  if (outcome === undefined) throw new Error(`${what} was not refused`);
  return outcome.reason;
}

function cut(text: string | undefined): string {
  return text === undefined ? "nothing" : text.length <= 300 ? text : `${text.slice(0, 300)}…`;
}
