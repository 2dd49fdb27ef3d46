import { type Clock, isStartError, StartError } from "#domain";
import { inTime } from "#streams";

export interface RequireReachedOptions {
  readonly clock: Pick<Clock, "after">;
  /** How long the engine has for its first answer. */
  readonly ms: number;
  /** What is wrong, with the remedy and without the password. */
  readonly describe: (error: unknown) => string;
}

/** Rejects with a `StartError` if the engine of a queue does not answer. */
export async function requireReached(
  reached: Promise<unknown>,
  { clock, ms, describe }: RequireReachedOptions,
): Promise<void> {
  const late = (): Error => new Error(`no answer within ${ms} ms`);
  try {
    await inTime(reached, { clock, ms, late });
  } catch (error) {
    if (isStartError(error)) throw error;
    throw new StartError("invalid-option", describe(error), { cause: error });
  }
}
