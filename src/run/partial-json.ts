/** Answers longer than this are not parsed before they are complete. */
export const MAX_PARTIAL_CHARACTERS = 256 * 1024;

/** The number of characters after which an answer is parsed for the first time. */
const FIRST_LOOK = 16;

const MAX_DEPTH = 200;

/** Parses an answer while it is being written. */
export interface PartialReader {
  /**
   * Adds the next piece. Returns the value so far if the text has grown by half since it was last parsed, otherwise
   * `undefined`. All parses together then cost about three times the whole text, however small the pieces are.
   */
  push(piece: string): { readonly value: unknown } | undefined;
  /** Parses now and returns the value so far. Returns `undefined` if there is none yet or the text is not JSON. */
  read(): unknown;
  /** Starts over for another answer. */
  reset(): void;
}

/**
 * Creates a reader for a sequence of answers. A value contains what has arrived so far: strings may be cut, fields may
 * be missing, and nothing is validated. Numbers and literals appear only when they are complete.
 */
export async function createPartialReader(plan: { readonly isWrapped: boolean }): Promise<PartialReader> {
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

/** Returns the value of an incomplete JSON text, or `undefined` if there is none. */
export async function partialValue(jsonText: string): Promise<unknown> {
  return (await loadPartialParser())(jsonText);
}

async function loadPartialParser(): Promise<(text: string) => unknown> {
  // Loaded on first use, so that programs without structured output do not pay for it.
  const { Allow, parse } = await import("partial-json");
  const allowed = Allow.STR | Allow.OBJ | Allow.ARR;
  return (text) => {
    const json = removeFenceStart(text);
    // The parser assigns fields by name; assigning `__proto__` would change the prototype of the object.
    if (json === "" || /__proto__|\\u005f/i.test(json) || isTooDeep(json)) return undefined;
    try {
      return parse(json, allowed);
    } catch {
      return undefined;
    }
  };
}

/** The parser is recursive, and so is nearly all code that processes its value. */
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

/** Removes a Markdown code fence, whose closing line may be missing or incomplete. */
function removeFenceStart(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith("`")) return trimmed;
  const firstEnd = trimmed.indexOf("\n");
  if (firstEnd === -1 || !trimmed.startsWith("```")) return "";
  let end = trimmed.length;
  while (end > firstEnd && trimmed[end - 1] === "`") end -= 1;
  return trimmed.slice(firstEnd, end).trim();
}
