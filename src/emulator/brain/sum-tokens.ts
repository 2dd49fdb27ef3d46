import type { Operator } from "./sum.ts";

export type Token =
  | { readonly kind: "number"; readonly value: number }
  /** `isClear`: nobody writes it by accident. A hyphen between two figures may be a range, a slash a date. */
  | { readonly kind: "operator"; readonly operator: Operator; readonly isClear: boolean }
  | { readonly kind: "open" | "close" | "comma" | "other" }
  | { readonly kind: "word"; readonly word: string };

const SYMBOLS: ReadonlyMap<string, Operator> = new Map([
  ["+", "+"],
  ["-", "-"],
  ["−", "-"],
  ["–", "-"],
  ["*", "*"],
  ["×", "*"],
  ["·", "*"],
  ["/", "/"],
  ["÷", "/"],
  ["%", "%"],
  ["^", "^"],
]);

const WORDS: ReadonlyMap<string, Operator> = new Map([
  ["plus", "+"],
  ["minus", "-"],
  ["times", "*"],
  ["mod", "%"],
  ["modulo", "%"],
]);

const PUNCTUATION: ReadonlyMap<string, Token> = new Map([
  ["(", { kind: "open" }],
  [")", { kind: "close" }],
  [",", { kind: "comma" }],
]);

// One alternative per thing that can stand at a place; dates and versions come before numbers, which they are not.
const TOKEN =
  /(\d{4}-\d{1,2}-\d{1,2}|\d{1,2}\/\d{1,2}\/\d{2,4}|\d+(?:\.\d+){2,}|[\p{L}_][\p{L}\p{N}_'-]*)|(\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?)|(\*\*|[-+*/%^×·÷−–])|([(),])|([$€£\s]+)|[^]/gu;

/** Cuts a text into what a sum is made of. Linear in the text. */
export function readTokens(text: string): Token[] {
  const tokens: Token[] = [];
  for (const match of text.matchAll(TOKEN)) {
    const [all, word, figures, symbol, mark, blank] = match;
    if (blank !== undefined) continue;
    if (word !== undefined) tokens.push(...readWord(word, tokens.at(-1)));
    else if (figures !== undefined) tokens.push({ kind: "number", value: Number(figures.replaceAll(",", "")) });
    else if (symbol !== undefined) tokens.push(readSymbol(symbol, text, match.index));
    else tokens.push(PUNCTUATION.get(mark ?? all) ?? { kind: "other" });
  }
  return tokens;
}

function readSymbol(symbol: string, text: string, at: number): Token {
  if (symbol === "**") return { kind: "operator", operator: "^", isClear: true };
  const operator = SYMBOLS.get(symbol) ?? "+";
  const before = text[at - 1] ?? " ";
  const after = text[at + 1] ?? " ";
  const isSpaced = /\s/.test(before) && /\s/.test(after);
  return { kind: "operator", operator, isClear: isSpaced || operator === "+" || operator === "*" };
}

/** Words that are operators, among them the `x` of `3x4`, which the pattern reads together with what follows. */
function readWord(word: string, before: Token | undefined): Token[] {
  const lower = word.toLowerCase();
  const operator = WORDS.get(lower);
  if (operator !== undefined) return [{ kind: "operator", operator, isClear: true }];
  if (before?.kind === "number" && /^x\d*$/.test(lower)) {
    const times: Token = { kind: "operator", operator: "*", isClear: true };
    return lower === "x" ? [times] : [times, { kind: "number", value: Number(lower.slice(1)) }];
  }
  return [{ kind: "word", word: lower }];
}
