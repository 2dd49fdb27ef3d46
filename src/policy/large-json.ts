import type { NextTurn } from "#domain";
import { canonicalJson, tryCopy } from "./json-copy.ts";

/** A value with fewer members, or less text, is copied and written at once. */
const SMALL = 1000;

/** How many members are visited in one turn of the event loop. */
const TURN_MEMBERS = 5000;

/** Longer texts are written piece by piece. */
const LONG_TEXT = 262_144;

/** Deeper values are refused, as `JSON.stringify` would refuse them. It also ends the walk of a value that contains itself. */
const DEEPEST = 1000;

/** Whether a value is so large that copying it, or writing it as JSON, takes long. Stops counting as soon as it is. */
export function isLargeJson(value: unknown): value is object {
  return typeof value === "object" && value !== null && countMembers(value, SMALL, 0) >= SMALL;
}

/** 1024 characters of a text take about as long as a member. */
function countMembers(value: unknown, most: number, depth: number): number {
  if (typeof value === "string") return 1 + (value.length >> 10);
  if (typeof value !== "object" || value === null || depth > DEEPEST) return 1;
  let count = 1;
  const names = Array.isArray(value) ? undefined : Object.keys(value);
  const length = names?.length ?? (value as readonly unknown[]).length;
  for (let at = 0; at < length && count < most; at += 1) {
    count += countMembers((value as Record<string, unknown>)[names?.[at] ?? at], most - count, depth + 1);
  }
  return count;
}

/** The same as `tryCopy`, for a large value in several turns of the event loop. */
export function copyJson(value: unknown, nextTurn: NextTurn | undefined): unknown {
  return nextTurn === undefined || !isLargeJson(value) ? tryCopy(value) : new Walk(nextTurn).copy(value);
}

/** The same as `canonicalJson`, for a large value in several turns of the event loop. */
export async function writeCanonical(value: unknown, nextTurn: NextTurn | undefined): Promise<string> {
  if (nextTurn === undefined || !isLargeJson(value)) return canonicalJson(value);
  const pieces: string[] = [];
  await new Walk(nextTurn).write(value, pieces);
  return pieces.join("");
}

/** Whether two values are the same JSON, in whatever order their fields are. */
export async function isSameJson(left: unknown, right: unknown, nextTurn: NextTurn | undefined): Promise<boolean> {
  return (await writeCanonical(left, nextTurn)) === (await writeCanonical(right, nextTurn));
}

/** Visits the members of a large value. Its small parts are passed to `JSON.stringify`, which is faster. */
class Walk {
  private readonly _nextTurn: NextTurn;
  private _visited = 0;

  constructor(nextTurn: NextTurn) {
    this._nextTurn = nextTurn;
  }

  async copy(value: object): Promise<unknown> {
    try {
      return await this._copy(value, 0);
    } catch {
      return undefined;
    }
  }

  private async _copy(value: object, depth: number): Promise<unknown> {
    if (depth > DEEPEST) throw new RangeError("The value is nested too deeply.");
    if (Array.isArray(value)) {
      const list: unknown[] = [];
      for (const member of value) {
        const copy = isWalked(member) ? this._copy(member, depth + 1) : copySmall(member);
        list.push((copy instanceof Promise ? await copy : copy) ?? null);
        if (this._isOver(member)) await this._nextTurn();
      }
      return list;
    }
    const fields: Record<string, unknown> = {};
    for (const name of Object.keys(value)) {
      const member = (value as Record<string, unknown>)[name];
      const copy = isWalked(member) ? this._copy(member, depth + 1) : copySmall(member);
      const copied = copy instanceof Promise ? await copy : copy;
      if (copied !== undefined) setOwn(fields, name, copied);
      if (this._isOver(member)) await this._nextTurn();
    }
    return fields;
  }

  async write(value: object, pieces: string[], depth = 0): Promise<void> {
    if (depth > DEEPEST) throw new RangeError("The value is nested too deeply.");
    const isList = Array.isArray(value);
    const names = isList ? undefined : namesInOrder(value);
    const length = names?.length ?? (value as readonly unknown[]).length;
    let before = isList ? "[" : "{";
    for (let at = 0; at < length; at += 1) {
      const name = names?.[at];
      const member = (value as Record<string, unknown>)[name ?? at];
      const walked = isWalked(member);
      const isLong = typeof member === "string" && member.length > LONG_TEXT;
      const text = walked || isLong ? "" : writeSmall(member, isList);
      if (text !== undefined) {
        pieces.push(name === undefined ? before : `${before}${JSON.stringify(name)}:`, text);
        before = ",";
        if (walked) await this.write(member, pieces, depth + 1);
        else if (isLong) await this._writeText(member, pieces);
      }
      if (this._isOver(member)) await this._nextTurn();
    }
    pieces.push(before.length === 1 && before !== "," ? before : "", isList ? "]" : "}");
  }

  private async _writeText(text: string, pieces: string[]): Promise<void> {
    pieces.push('"');
    for (let from = 0; from < text.length; ) {
      const last = text.charCodeAt(from + LONG_TEXT - 1);
      // The halves of a pair are not separated.
      const end = from + LONG_TEXT - (last >= 0xd800 && last < 0xdc00 ? 1 : 0);
      pieces.push(JSON.stringify(text.slice(from, end)).slice(1, -1));
      from = end;
      await this._nextTurn();
    }
    pieces.push('"');
  }

  private _isOver(member: unknown): boolean {
    this._visited += isWalked(member) ? 1 : countMembers(member, SMALL, 0);
    if (this._visited < TURN_MEMBERS) return false;
    this._visited = 0;
    return true;
  }
}

/** Whether a member is large and has no form of its own. */
function isWalked(value: unknown): value is object {
  if (!isLargeJson(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === Array.prototype || prototype === Object.prototype || prototype === null;
  return isPlain && typeof (value as { readonly toJSON?: unknown }).toJSON !== "function";
}

/** Throws for a value that JSON refuses. */
function copySmall(value: unknown): unknown {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? undefined : JSON.parse(text);
}

/** `undefined` for what is left out of an object. */
function writeSmall(value: unknown, isInList: boolean): string | undefined {
  const text = canonicalJson(value);
  return text === "undefined" ? (isInList ? "null" : undefined) : text;
}

/** As `JSON.stringify` writes the fields of an object into which they were put in this order. */
function namesInOrder(value: object): readonly string[] {
  const names = Object.create(null) as Record<string, unknown>;
  for (const name of Object.keys(value).sort()) names[name] = true;
  return Object.keys(names);
}

/** Defined rather than assigned, because `__proto__` is an ordinary key in JSON. */
function setOwn(fields: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") fields[name] = value;
  else Object.defineProperty(fields, name, { value, writable: true, enumerable: true, configurable: true });
}
