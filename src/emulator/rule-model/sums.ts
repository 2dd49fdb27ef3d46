import { unreachable } from "#domain";

export type Operator = "+" | "-" | "*" | "/" | "%" | "^";

/** An arithmetic expression. */
export type Sum =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "operation"; readonly operator: Operator; readonly left: Sum; readonly right: Sum };

export function numberOf(value: number): Sum {
  return { kind: "number", value };
}

export function operation(operator: Operator, left: Sum, right: Sum): Sum {
  return { kind: "operation", operator, left, right };
}

/** The precedence of each operator. */
const PRECEDENCE: Readonly<Record<Operator, number>> = { "+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "^": 3 };

export function compute(operator: Operator, left: number, right: number): number {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return left / right;
    case "%":
      return left % right;
    case "^":
      return left ** right;
    default:
      return unreachable(operator);
  }
}

/** A number without the rounding errors of binary fractions. */
export function writeNumber(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(12)));
}

/** A sum in the usual notation, with as few brackets as possible. */
export function writeSum(sum: Sum): string {
  if (sum.kind === "number") return writeNumber(sum.value);
  const own = PRECEDENCE[sum.operator];
  const left = sum.operator === "^" ? own + 1 : own;
  const right = sum.operator === "^" ? own : own + 1;
  return `${writeSide(sum.left, left)} ${sum.operator} ${writeSide(sum.right, right)}`;
}

function writeSide(side: Sum, least: number): string {
  const text = writeSum(side);
  return side.kind === "operation" && PRECEDENCE[side.operator] < least ? `(${text})` : text;
}

type Token =
  | { readonly kind: "number"; readonly value: number }
  /** `isClear`: certainly an operator. A hyphen between two numbers may be a range, a slash a date. */
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

// One alternative per kind of token; dates and versions come before numbers, so that they are not read as such.
const TOKEN =
  /(\d{4}-\d{1,2}-\d{1,2}|\d{1,2}\/\d{1,2}\/\d{2,4}|\d+(?:\.\d+){2,}|[\p{L}_][\p{L}\p{N}_'-]*)|(\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?)|(\*\*|[-+*/%^×·÷−–])|([(),])|([$€£\s]+)|[^]/gu;

/** Splits a text into tokens. Linear in the text. */
function readTokens(text: string): Token[] {
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

/** Words that are operators, including the `x` of `3x4`, which the pattern reads together with what follows. */
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

const MAX_SUMS = 16;
const MAX_DEPTH = 40;

/** Phrases that ask for a sum. Without one, `1-3` and `24/7` probably mean something else. */
const ASKS = /\b(what is|what's|whats|how much|calculate|compute|evaluate|solve|work out)\b|=/i;

/** Verbs and nouns that precede their numbers: "add 2 and 3", "the product of 6 and 7". */
const NAMES: ReadonlyMap<string, Operator> = new Map([
  ["add", "+"],
  ["sum", "+"],
  ["total", "+"],
  ["subtract", "-"],
  ["difference", "-"],
  ["multiply", "*"],
  ["product", "*"],
  ["divide", "/"],
  ["quotient", "/"],
]);

const FILLERS: ReadonlySet<string> = new Set(["of", "the", "numbers", "between", "up", "together", "both"]);
const JOINTS: ReadonlySet<string> = new Set(["and", "by", "with", "to", "from"]);
const FROM: ReadonlySet<string> = new Set(["from"]);

/** A position in the tokens; reading advances it. */
interface Cursor {
  readonly tokens: readonly Token[];
  at: number;
}

/** Finds the sums in a text, in order. A single number is not a sum. */
export function findSums(text: string): Sum[] {
  const tokens = readTokens(text);
  const isAsked = ASKS.test(text) || tokens.every((token) => token.kind !== "word");
  const sums: Sum[] = [];
  const cursor: Cursor = { tokens, at: 0 };
  while (cursor.at < tokens.length && sums.length < MAX_SUMS) {
    const start = cursor.at;
    const sum = readNamed(cursor) ?? readPercent(cursor) ?? readWritten(cursor, isAsked);
    if (sum !== undefined) sums.push(sum);
    else if (cursor.at === start) cursor.at += 1;
  }
  return sums;
}

/** "add 2, 3 and 4", "subtract 3 from 10". */
function readNamed(cursor: Cursor): Sum | undefined {
  const start = cursor.at;
  const name = cursor.tokens[start];
  const operator = name?.kind === "word" ? NAMES.get(name.word) : undefined;
  if (operator === undefined) return undefined;
  cursor.at += 1;
  while (isWord(cursor, FILLERS)) cursor.at += 1;
  const first = readPrimary(cursor, 0);
  let sum = first;
  while (sum !== undefined) {
    const isFrom = isWord(cursor, FROM);
    const before = cursor.at;
    while (cursor.tokens[cursor.at]?.kind === "comma" || isWord(cursor, JOINTS)) cursor.at += 1;
    const next = cursor.at === before ? undefined : readPrimary(cursor, 0);
    if (next === undefined) {
      cursor.at = before;
      break;
    }
    sum = isFrom && operator === "-" ? operation("-", next, sum) : operation(operator, sum, next);
  }
  if (sum !== undefined && sum !== first) return sum;
  cursor.at = start;
  return undefined;
}

/** "15% of 80". */
function readPercent(cursor: Cursor): Sum | undefined {
  const [share, sign, of, whole] = cursor.tokens.slice(cursor.at, cursor.at + 4);
  if (share?.kind !== "number" || whole?.kind !== "number" || of?.kind !== "word" || of.word !== "of") return undefined;
  const isPercent =
    (sign?.kind === "operator" && sign.operator === "%") || (sign?.kind === "word" && sign.word === "percent");
  if (!isPercent) return undefined;
  cursor.at += 4;
  return operation("/", operation("*", numberOf(share.value), numberOf(whole.value)), numberOf(100));
}

/** "25 + 17", "12 * (3 + 4)", "10 divided by 4". */
function readWritten(cursor: Cursor, isAsked: boolean): Sum | undefined {
  const start = cursor.at;
  const sum = readOperations(cursor, 1, 0);
  // Within a sum, a word is a spelled-out operator.
  const isClear =
    isAsked ||
    cursor.tokens
      .slice(start, cursor.at)
      .some((token) => token.kind === "word" || (token.kind === "operator" && token.isClear));
  if (sum?.kind === "operation" && isClear) return sum;
  // A single number, or what only looks like a sum, is skipped as a whole.
  return undefined;
}

function readOperations(cursor: Cursor, least: number, depth: number): Sum | undefined {
  let left = readPrimary(cursor, depth);
  while (left !== undefined) {
    const before = cursor.at;
    const operator = readOperator(cursor);
    if (operator === undefined || PRECEDENCE[operator] < least) {
      cursor.at = before;
      break;
    }
    // Powers bind to the right, everything else to the left.
    const right = readOperations(cursor, PRECEDENCE[operator] + (operator === "^" ? 0 : 1), depth + 1);
    if (right === undefined) {
      cursor.at = before;
      break;
    }
    left = operation(operator, left, right);
  }
  return left;
}

function readOperator(cursor: Cursor): Operator | undefined {
  const token = cursor.tokens[cursor.at];
  if (token?.kind === "operator") {
    cursor.at += 1;
    return token.operator;
  }
  const next = cursor.tokens[cursor.at + 1];
  if (token?.kind !== "word" || next?.kind !== "word" || next.word !== "by") return undefined;
  const operator = token.word === "multiplied" ? "*" : token.word === "divided" ? "/" : undefined;
  if (operator !== undefined) cursor.at += 2;
  return operator;
}

function readPrimary(cursor: Cursor, depth: number): Sum | undefined {
  const start = cursor.at;
  const token = cursor.tokens[start];
  if (depth > MAX_DEPTH) return undefined;
  if (token?.kind === "number") {
    cursor.at += 1;
    return numberOf(token.value);
  }
  if (token?.kind === "operator" && token.operator === "-") {
    const figure = cursor.tokens[start + 1];
    if (figure?.kind !== "number") return undefined;
    cursor.at += 2;
    return numberOf(-figure.value);
  }
  if (token?.kind !== "open") return undefined;
  cursor.at += 1;
  const inner = readOperations(cursor, 1, depth + 1);
  if (inner !== undefined && cursor.tokens[cursor.at]?.kind === "close") {
    cursor.at += 1;
    return inner;
  }
  cursor.at = start;
  return undefined;
}

function isWord(cursor: Cursor, words: ReadonlySet<string>): boolean {
  const token = cursor.tokens[cursor.at];
  return token?.kind === "word" && words.has(token.word);
}
