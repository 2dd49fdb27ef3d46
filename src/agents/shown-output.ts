import { describeThrown } from "#domain";
import { toJsonValue } from "#tools";
import type { RunWriter } from "./run.ts";

/**
 * The value of an output schema as events show it: a transform may make anything of an answer (a `Date`, a `Map`, a
 * `bigint`), and an event has to survive JSON. `run.output()` gives the value itself.
 */
export function showOutput(value: unknown, writer: Pick<RunWriter, "giveOutput">): unknown {
  const shown = shownAs(value);
  if (!isSame(value, shown)) writer.giveOutput?.(value);
  return value === undefined ? undefined : shown;
}

function shownAs(value: unknown): unknown {
  try {
    return toJsonValue(value);
  } catch (error) {
    return `a value without a JSON form: ${describeThrown(error)}`;
  }
}

function isSame(value: unknown, shown: unknown): boolean {
  if (typeof value !== "object" || value === null || typeof shown !== "object" || shown === null) {
    return Object.is(value, shown);
  }
  if (Array.isArray(value) !== Array.isArray(shown)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return false;
  const fields = Reflect.ownKeys(value);
  return (
    fields.length === Reflect.ownKeys(shown).length &&
    fields.every(
      (key) =>
        Object.hasOwn(shown, key) &&
        isSame((value as Record<PropertyKey, unknown>)[key], (shown as Record<PropertyKey, unknown>)[key]),
    )
  );
}
