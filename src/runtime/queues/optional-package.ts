import { type Clock, describeThrown, StartError } from "#domain";
import { inTime } from "#streams";

/**
 * Imports a package that is installed only where it is needed.
 * @throws StartError with the command that installs it.
 */
export async function importPackage<Module>(install: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    throw new StartError(
      "feature-unavailable",
      `This queue needs packages that are not installed. Run: npm install ${install} (${describeThrown(error)})`,
      { cause: error },
    );
  }
}

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

const REACH_MS = 4000;
