import type { NextTurn } from "#domain";
import type { JsonSchema } from "./json-schema.ts";

/** Where a value does not match its schema, and why. */
export interface SchemaFault {
  readonly instanceLocation: string;
  readonly keyword: string;
  readonly error: string;
}

/** The parts of the validator that are used; it is loaded on demand. */
type Validator = Pick<typeof import("@cfworker/json-schema"), "dereference" | "encodePointer" | "validate">;
type Checked = Parameters<Validator["validate"]>[1];
type CheckedObject = Exclude<Checked, boolean>;

/** A value with fewer members is checked at once. */
const SMALL = 1000;

/** How many members are checked in one turn of the event loop. */
const TURN_MEMBERS = 5000;

/** The search stops after this many faults; five of them are reported. */
const MOST_FAULTS = 20;

/** The keywords that are checked here, member by member, if a value is large. */
const SPLIT: ReadonlySet<string> = new Set([
  "$ref",
  "allOf",
  "anyOf",
  "oneOf",
  "properties",
  "additionalProperties",
  "propertyNames",
  "items",
  "uniqueItems",
]);

/** A value whose schema has one of these cannot be checked member by member. */
const WHOLE: ReadonlySet<string> = new Set([
  "$recursiveRef",
  "$dynamicRef",
  "patternProperties",
  "unevaluatedProperties",
  "prefixItems",
  "additionalItems",
  "unevaluatedItems",
  "contains",
]);

/**
 * Checks values against a JSON Schema. A small value, as nearly all are, is passed to the validator as it is. For a
 * value of 16 MB the validator blocks the process for more than a second, and for `uniqueItems` it compares every
 * member with every other. A large value is therefore split here, and a few of its members are checked in each turn of
 * the event loop.
 */
export class StepwiseCheck {
  private readonly _schema: Checked;
  private readonly _validator: Validator;
  private readonly _lookup: ReturnType<Validator["dereference"]>;
  /** Schemas without the keywords that are split; `undefined` for those that cannot be split. */
  private readonly _rests = new Map<CheckedObject, Checked | undefined>();

  constructor(schema: JsonSchema, validator: Validator) {
    this._schema = schema as CheckedObject;
    this._validator = validator;
    this._lookup = validator.dereference(schema as CheckedObject);
  }

  async check(value: unknown, nextTurn: NextTurn | undefined): Promise<readonly SchemaFault[]> {
    const turns = new Turns(nextTurn);
    return turns.count(value) < SMALL
      ? this._checkWhole(value, this._schema, "#")
      : this._checkLarge(value, this._schema, "#", turns);
  }

  private _checkWhole(value: unknown, schema: Checked, place: string): SchemaFault[] {
    return this._validator.validate(value, schema, "2020-12", this._lookup, false, null, place).errors;
  }

  /** `above`: the schemas of the same place that contain this one. */
  private async _checkLarge(
    value: unknown,
    schema: Checked,
    place: string,
    turns: Turns,
    above: readonly Checked[] = [],
  ): Promise<SchemaFault[]> {
    if (above.includes(schema)) throw new Error(`The schema of ${place} refers to itself.`);
    const within = [...above, schema];
    const rest = typeof schema === "boolean" ? undefined : this._restOf(schema);
    if (typeof schema === "boolean" || rest === undefined) return this._checkWhole(value, schema, place);
    const faults = this._checkWhole(value, rest, place);
    for (const part of this._allOf(schema)) add(faults, await this._checkLarge(value, part, place, turns, within));
    for (const choice of ["anyOf", "oneOf"] as const) {
      const check = (part: Checked) => this._checkLarge(value, part, place, turns, within);
      if (schema[choice] !== undefined) add(faults, await checkChoice(schema[choice], choice, place, check));
    }
    if (Array.isArray(value)) {
      if (schema.uniqueItems === true) add(faults, await findTwice(value, place, turns));
      const { items } = schema;
      if (items === undefined || Array.isArray(items)) return faults;
      for (let at = 0; at < value.length && faults.length < MOST_FAULTS; at += 1) {
        // No promise for a small member: there may be a million of them.
        if (turns.count(value[at]) < SMALL) add(faults, this._checkWhole(value[at], items, `${place}/${at}`));
        else add(faults, await this._checkLarge(value[at], items, `${place}/${at}`, turns));
        if (turns.isOver) await turns.next();
      }
    } else await this._checkFields(value as JsonSchema, schema, place, { turns, faults });
    return faults;
  }

  private async _checkFields(
    fields: JsonSchema,
    { properties = {}, additionalProperties, propertyNames }: CheckedObject,
    place: string,
    { turns, faults }: { readonly turns: Turns; readonly faults: SchemaFault[] },
  ): Promise<void> {
    for (const key of Object.keys(fields)) {
      if (faults.length >= MOST_FAULTS) return;
      if (propertyNames !== undefined) add(faults, this._checkWhole(key, propertyNames, place));
      const schema = Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
      const field = `${place}/${this._validator.encodePointer(key)}`;
      if (schema === false) faults.push(faultAt(place, "additionalProperties", `Property "${key}" is not allowed.`));
      else if (schema !== undefined && turns.count(fields[key]) >= SMALL)
        add(faults, await this._checkLarge(fields[key], schema, field, turns));
      else if (schema !== undefined) add(faults, this._checkWhole(fields[key], schema, field));
      if (turns.isOver) await turns.next();
    }
  }

  /** The further schemas that must match. */
  private _allOf({ $ref, __absolute_ref__, allOf = [] }: CheckedObject): readonly Checked[] {
    if ($ref === undefined) return allOf;
    const referred = this._lookup[__absolute_ref__ ?? $ref];
    if (referred === undefined) throw new Error(`Unresolved $ref "${$ref}".`);
    return [...allOf, referred];
  }

  private _restOf(schema: CheckedObject): Checked | undefined {
    if (!this._rests.has(schema)) {
      const keywords = Object.entries(schema);
      const isWhole = keywords.some(([keyword]) => WHOLE.has(keyword));
      const rest = Object.fromEntries(keywords.filter(([keyword]) => !SPLIT.has(keyword)));
      this._rests.set(schema, isWhole ? undefined : rest);
    }
    return this._rests.get(schema);
  }
}

/** Counts checked members, and determines when to yield to the event loop. */
class Turns {
  private readonly _nextTurn: NextTurn | undefined;
  private _members = 0;

  constructor(nextTurn: NextTurn | undefined) {
    this._nextTurn = nextTurn;
  }

  /** The number of members of a value, counted up to `SMALL`. */
  count(value: unknown): number {
    const members = countMembers(value, SMALL);
    this._members += members;
    return members;
  }

  get isOver(): boolean {
    return this._members >= TURN_MEMBERS;
  }

  async next(): Promise<void> {
    this._members = 0;
    await this._nextTurn?.();
  }
}

/** The number of values within a value, including itself. Counting stops at `most`. */
function countMembers(value: unknown, most: number): number {
  if (typeof value !== "object" || value === null) return 1;
  let members = 1;
  // Of a long list, `for in` and `Object.keys` would list all indices first.
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && members < most; at += 1) members += countMembers(value[at], most - members);
    return members;
  }
  // `Object.values` of an object with very many fields takes several times as long as its names.
  for (const name of Object.keys(value)) {
    if (members >= most) break;
    members += countMembers((value as Readonly<Record<string, unknown>>)[name], most - members);
  }
  return members;
}

/** At least one of these schemas must match, and for `oneOf` no other. */
async function checkChoice(
  choice: readonly Checked[],
  keyword: "anyOf" | "oneOf",
  place: string,
  check: (part: Checked) => Promise<readonly SchemaFault[]>,
): Promise<readonly SchemaFault[]> {
  const faults: SchemaFault[] = [];
  let fitting = 0;
  for (const part of choice) {
    const found = await check(part);
    if (found.length === 0) fitting += 1;
    add(faults, found);
  }
  if (fitting === 0) return [faultAt(place, keyword, "Instance does not match any subschemas."), ...faults];
  if (fitting === 1 || keyword === "anyOf") return [];
  return [faultAt(place, keyword, `Instance matches ${fitting} subschemas instead of one.`)];
}

async function findTwice(list: readonly unknown[], place: string, turns: Turns): Promise<readonly SchemaFault[]> {
  const seen = new Map<string, number>();
  for (let at = 0; at < list.length; at += 1) {
    const text = JSON.stringify(list[at], sortFields);
    const first = seen.get(text);
    if (first !== undefined) return [faultAt(place, "uniqueItems", `Duplicate items at indexes ${first} and ${at}.`)];
    seen.set(text, at);
    turns.count(list[at]);
    if (turns.isOver) await turns.next();
  }
  return [];
}

function sortFields(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function faultAt(instanceLocation: string, keyword: string, error: string): SchemaFault {
  return { instanceLocation, keyword, error };
}

/** Not `push(...found)`: that fails for a hundred thousand faults, which one member may have. */
function add(faults: SchemaFault[], found: readonly SchemaFault[]): void {
  for (const fault of found) {
    if (faults.length >= MOST_FAULTS) return;
    faults.push(fault);
  }
}
