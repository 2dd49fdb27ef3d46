import { describeThrown, type NextTurn } from "#domain";
import { type Schema, toJsonValue } from "#tools";
import type { RunWriter } from "#run";

/** How many members are looked at in one turn of the event loop. */
const TURN_MEMBERS = 20_000;

/** Deeper values are converted, which also finds a value that contains itself. */
const DEEPEST = 200;

/**
 * Returns the value of an output schema as events show it. A transform may return anything (a `Date`, a `Map`, a
 * `bigint`), but events must be JSON-safe. `run.output()` returns the value itself.
 */
export async function showOutput(
  value: unknown,
  schema: Schema,
  writer: Pick<RunWriter, "giveOutput">,
  nextTurn: NextTurn | undefined,
): Promise<unknown> {
  // Nearly all values are JSON as they are. Copying one could take long if it is large.
  if (schema.keepsValue === true || (await isJson(value, nextTurn))) return value;
  writer.giveOutput?.(value);
  return value === undefined ? undefined : shownAs(value);
}

function shownAs(value: unknown): unknown {
  try {
    return toJsonValue(value);
  } catch (error) {
    return `a value without a JSON form: ${describeThrown(error)}`;
  }
}

/** Whether a value is plain JSON. A large one is looked at in several turns of the event loop. */
async function isJson(value: unknown, nextTurn: NextTurn | undefined): Promise<boolean> {
  const open: { readonly members: readonly unknown[]; at: number }[] = [{ members: [value], at: 0 }];
  for (let seen = 1; ; seen += 1) {
    const last = open.at(-1);
    if (last === undefined) return true;
    if (nextTurn !== undefined && seen % TURN_MEMBERS === 0) await nextTurn();
    if (last.at === last.members.length) {
      open.pop();
      continue;
    }
    const member = last.members[last.at];
    last.at += 1;
    if (typeof member !== "object" || member === null) {
      if (!isScalar(member)) return false;
      continue;
    }
    const members = open.length < DEEPEST ? membersOf(member) : undefined;
    if (members === undefined) return false;
    open.push({ members, at: 0 });
  }
}

function isScalar(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  return typeof value === "string" || typeof value === "boolean" || value === null;
}

/** The members of a plain list or object; `undefined` for anything else. */
function membersOf(value: object): readonly unknown[] | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  const isList = Array.isArray(value);
  const isPlain = isList ? prototype === Array.prototype : prototype === Object.prototype || prototype === null;
  if (!isPlain || typeof (value as { readonly toJSON?: unknown }).toJSON === "function") return undefined;
  return isList ? value : Object.values(value);
}
