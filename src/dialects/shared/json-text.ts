/**
 * Detects whether JSON text that arrives in parts is complete, without parsing it repeatedly.
 *
 * Only objects and arrays have a visible end; `12` may be the beginning of `123`.
 */
export interface JsonScan {
  /**
   * Whether the parts contain a closed object or array. Parts may only be appended between calls; each is read once.
   */
  isClosed(parts: readonly string[]): boolean;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENERS: ReadonlySet<number> = new Set([0x7b, 0x5b]);
const CLOSERS: ReadonlySet<number> = new Set([0x7d, 0x5d]);

export function createJsonScan(): JsonScan {
  let nextPart = 0;
  let depth = 0;
  let inString = false;
  let escaped = false;
  let closed = false;

  const read = (code: number): void => {
    if (escaped) escaped = false;
    else if (inString && code === BACKSLASH) escaped = true;
    else if (code === QUOTE) inString = !inString;
    else if (inString) return;
    else if (OPENERS.has(code)) depth++;
    else if (CLOSERS.has(code)) closed = --depth <= 0;
  };

  return {
    isClosed(parts) {
      for (; nextPart < parts.length && !closed; nextPart++) {
        const part = parts[nextPart] ?? "";
        for (let at = 0; at < part.length && !closed; at++) read(part.charCodeAt(at));
      }
      return closed;
    },
  };
}

/** A JSON value as text; `undefined` if it has none or is nested too deeply. Never throws. */
export function writeJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** Whether two JSON values give the same text: the same members in the same order. Does not serialise them. */
export function isSameJson(left: unknown, right: unknown): boolean {
  if (typeof left !== "object" || left === null || typeof right !== "object" || right === null) {
    // JSON has no negative zero.
    return left === right;
  }
  if (Array.isArray(left) || Array.isArray(right)) {
    return Array.isArray(left) && Array.isArray(right) && isSameList(left, right);
  }
  const keys = Object.keys(left);
  const others = Object.keys(right);
  if (keys.length !== others.length) return false;
  for (let at = 0; at < keys.length; at += 1) {
    const key = keys[at] as string;
    if (key !== others[at]) return false;
    if (!isSameJson((left as Record<string, unknown>)[key], (right as Record<string, unknown>)[key])) return false;
  }
  return true;
}

/** By index: a list of the keys would be longer than the list itself. */
function isSameList(left: readonly unknown[], right: readonly unknown[]): boolean {
  if (left.length !== right.length) return false;
  for (let at = 0; at < left.length; at += 1) if (!isSameJson(left[at], right[at])) return false;
  return true;
}
