import { describeThrown } from "#domain";
import { isSameJson } from "./run-log/same-json.ts";

/** A behaviour of a contract that an implementation does not have. */
export interface Failure {
  /** The expected behaviour. */
  readonly behaviour: string;
  /** What was observed instead. */
  readonly message: string;
}

/** One behaviour of a contract and the function that tests it; the function throws if the test fails. */
export type Trial<Subject> = readonly [behaviour: string, attempt: (subject: Subject) => Promise<void> | void];

/** Tests every behaviour on a new subject and collects the failures. */
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

/** Throws unless the condition holds. */
export function expectThat(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

/** Throws unless both values are the same JSON; the order of keys does not matter. */
export function expectSame(actual: unknown, expected: unknown, what: string): void {
  if (isSameJson(actual, expected)) return;
  throw new Error(`${what}: ${cut(JSON.stringify(actual))} instead of ${cut(JSON.stringify(expected))}`);
}

/** The reason with which the promise was rejected. Throws if it was not rejected. */
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
