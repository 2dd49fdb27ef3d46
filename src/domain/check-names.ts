import { StartError } from "./errors.ts";
import { nearestName } from "./nearest.ts";

/** Refuses names that are not known, with the nearest one that is. */
export function checkNames(given: object, known: readonly string[], what: string): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const near = nearestName(name, known);
    const remedy = near === undefined ? `Known are: ${known.join(", ")}.` : `Did you mean ${near}?`;
    throw new StartError("invalid-option", `There is no ${what}${name}. ${remedy}`);
  }
}
