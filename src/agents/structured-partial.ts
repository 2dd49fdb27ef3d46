import type { OutputPlan } from "./structured.ts";

/** Longer answers are not read before they are whole. */
export const MAX_PARTIAL_CHARACTERS = 256 * 1024;

/** The first look at an answer comes when it has so many characters. */
const FIRST_LOOK = 16;

const MAX_DEPTH = 200;

/** Reads an answer while it is being written. */
export interface PartialReader {
  /**
   * Takes the next piece. Gives the value so far when the text has grown by half since the last look, else `undefined`:
   * all looks together cost about three times the whole text, however small the pieces are.
   */
  push(piece: string): { readonly value: unknown } | undefined;
  /** The value so far, looked at now. `undefined`: there is none yet, or the text is no JSON. */
  read(): unknown;
  /** Begins anew, for another answer. */
  reset(): void;
}

/**
 * Creates a reader for one answer after the other. Values are what is there so far: texts may be cut, fields missing,
 * nothing is checked. Numbers and words show when they are whole.
 */
export async function createPartialReader(plan: Pick<OutputPlan, "isWrapped">): Promise<PartialReader> {
  const parse = await loadPartialParser();
  const look = (text: string): unknown => {
    const value = parse(text);
    if (!plan.isWrapped) return value;
    const isHolder = typeof value === "object" && value !== null && Object.hasOwn(value, "value");
    return isHolder ? (value as { readonly value: unknown }).value : undefined;
  };
  let text = "";
  let nextLook = FIRST_LOOK;
  return {
    push(piece) {
      text += piece;
      if (text.length < nextLook || text.length > MAX_PARTIAL_CHARACTERS) return undefined;
      nextLook = Math.ceil(text.length * 1.5);
      const value = look(text);
      return value === undefined ? undefined : { value };
    },
    read: () => (text.length > MAX_PARTIAL_CHARACTERS ? undefined : look(text)),
    reset() {
      text = "";
      nextLook = FIRST_LOOK;
    },
  };
}

/** The value at the beginning of a JSON text that is not whole yet; `undefined` when there is none. */
export async function partialValue(jsonText: string): Promise<unknown> {
  return (await loadPartialParser())(jsonText);
}

async function loadPartialParser(): Promise<(text: string) => unknown> {
  // Loaded when a form is asked for: a program that never asks for one does not pay for it.
  const { Allow, parse } = await import("partial-json");
  const allowed = Allow.STR | Allow.OBJ | Allow.ARR;
  return (text) => {
    const json = removeFenceStart(text);
    // The parser sets fields by name, and this name is none: it would change what the object inherits.
    if (json === "" || /__proto__|\\u005f/i.test(json) || isTooDeep(json)) return undefined;
    try {
      return parse(json, allowed);
    } catch {
      return undefined;
    }
  };
}

/** The parser calls itself for every level, and so does nearly everything that is done with its value. */
function isTooDeep(json: string): boolean {
  let depth = 0;
  let isInText = false;
  for (let index = 0; index < json.length; index += 1) {
    const character = json[index];
    if (isInText) {
      if (character === "\\") index += 1;
      else if (character === '"') isInText = false;
    } else if (character === '"') isInText = true;
    else if (character === "[" || character === "{") depth += 1;
    else if (character === "]" || character === "}") depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/** An answer may stand in a fence, of whose end nothing or a part has come. */
function removeFenceStart(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith("`")) return trimmed;
  const firstEnd = trimmed.indexOf("\n");
  if (firstEnd === -1 || !trimmed.startsWith("```")) return "";
  let end = trimmed.length;
  while (end > firstEnd && trimmed[end - 1] === "`") end -= 1;
  return trimmed.slice(firstEnd, end).trim();
}
