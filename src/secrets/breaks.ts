/** Characters that are neither digits nor between digits: they end a text in base64 or hexadecimal. */
export const OTHER = 0;
/** Digits of base64 and hexadecimal. */
export const DIGIT = 1;
/** Characters between digits: line breaks, indentation, separators of bytes. */
export const BREAK = 2;

/** Text in base64 or hexadecimal ends at a longer break. */
export const LONGEST_BREAK = 128;

export const BACKSLASH = 0x5c;
export const PERCENT = 0x25;

const KINDS = kinds();

function kinds(): Uint8Array {
  const table = new Uint8Array(128);
  for (const digit of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
    table[digit.charCodeAt(0)] = DIGIT;
  }
  for (const between of "\t\n\v\f\r :,\\%") table[between.charCodeAt(0)] = BREAK;
  return table;
}

/** The kind of a character by itself. After a backslash or a percent sign it may be part of a break. */
export function kindOf(code: number): number {
  return KINDS[code] ?? OTHER;
}

/** `\n` and similar in JSON, also nested in JSON, and `\x` before each byte: the letter belongs to the break. */
export function isEscaped(code: number): boolean {
  return code === 0x6e || code === 0x72 || code === 0x74 || code === 0x78 || code === 0x62 || code === 0x66;
}

/** The first digit of `%0A`, `%0D`, `%09` and `%20`. */
export function beginsEncodedBlank(code: number): boolean {
  return code === 0x30 || code === 0x32;
}

/** Whether two digits after a percent sign are a line feed, a carriage return, a tab or a space. */
export function isEncodedBlank(first: number, second: number): boolean {
  if (first === 0x32) return second === 0x30;
  const isLetter = second === 0x41 || second === 0x44 || second === 0x61 || second === 0x64;
  return first === 0x30 && (isLetter || second === 0x39);
}

/** The kind of a character of a text, with regard to its neighbours. */
export function kindAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  const kind = kindOf(code);
  if (kind !== DIGIT || at === 0) return kind;
  const before = text.charCodeAt(at - 1);
  if (before === BACKSLASH) return isEscaped(code) ? BREAK : DIGIT;
  if (before === PERCENT) {
    const isBlank = at + 1 === text.length || isEncodedBlank(code, text.charCodeAt(at + 1));
    return beginsEncodedBlank(code) && isBlank ? BREAK : DIGIT;
  }
  return at > 1 && text.charCodeAt(at - 2) === PERCENT && isEncodedBlank(before, code) ? BREAK : DIGIT;
}

/** The position, or that of the break which this character is a part of: a text must not be cut within a break. */
export function tokenStart(text: string, at: number): number {
  let start = at;
  while (start > 0 && kindOf(text.charCodeAt(start)) === DIGIT && kindAt(text, start) === BREAK) start -= 1;
  return start;
}

/**
 * The same as a regular expression: a break of any length. Each text can be read in one way only, so that a search takes
 * linear time.
 */
export const BREAK_PATTERN = `(?:[\\t-\\r :,]|\\\\(?:[nrtxbf]|(?![nrtxbf]))|%(?:0[ADad9]|20|(?!0[ADad9]|20))){0,${LONGEST_BREAK}}`;
