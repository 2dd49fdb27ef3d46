import { type Clock, describeThrown, StartError } from "#domain";
import { inTime } from "#streams";

/** How long the engine of a queue has for its first answer. */
const REACH_MS = 4000;

/** Rejects with a `StartError` that does not contain the password of the address. */
export async function requireReached(
  address: string,
  reached: Promise<unknown>,
  clock: Pick<Clock, "after">,
): Promise<void> {
  const { host } = new URL(address);
  const late = (): Error => new Error(`no answer within ${REACH_MS} ms`);
  try {
    await inTime(reached, { clock, ms: REACH_MS, late });
  } catch (error) {
    throw new StartError("invalid-option", `The queue at ${host} cannot be used: ${describeThrown(error)}`, {
      cause: error,
    });
  }
}
