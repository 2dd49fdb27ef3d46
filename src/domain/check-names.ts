import { describeValue, StartError } from "./errors.ts";
import { nearestName } from "./nearest.ts";

/** A longer name is cut in a message: it is nobody's option, and may be anything. */
const SHOWN_CHARACTERS = 64;

/** Refuses names that are not known, with the nearest one that is. `what` stands before the name: `limits.`. */
export function checkNames(given: object, known: readonly string[], what: string): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    throw new StartError(
      "invalid-option",
      `There is no ${what}${name.slice(0, SHOWN_CHARACTERS)}. ${remedyForName(name, known)}`,
    );
  }
}

/**
 * Checks the options of a function by name: that they are an object, and hold no name that is not known. Every public
 * function that takes options calls it before it reads any of them. `of` is the function, as in `createItems`.
 */
export function checkOptionNames(given: unknown, known: readonly string[], of: string): void {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new StartError("invalid-option", `The options of ${of} are ${describeValue(given)}. Give an object.`);
  }
  checkNames(given, known, `option of ${of} called `);
}

/** What to write in place of a name that is not known. */
export function remedyForName(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  return near === undefined ? `Known are: ${known.join(", ")}.` : `Did you mean ${near}?`;
}
