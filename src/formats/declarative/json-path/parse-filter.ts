import {
  type Cursor,
  isDigit,
  need,
  peek,
  refuseHere,
  refuseNext,
  skipBlanks,
  take,
  takeBehindBlanks,
} from "./cursor.ts";
import { parseNumber, parseString } from "./literals.ts";
import { type InnerPath, type Operand, type Operator, type Segment, stepsOf, type Test } from "./syntax.ts";

/** Given by the parser of paths, because paths hold filters and filters hold paths. */
type ParseSegments = (cursor: Cursor) => readonly Segment[];

/** The longer ones first: `<` is the start of `<=`. */
const OPERATORS = ["==", "!=", "<=", ">=", "<", ">"] as const satisfies readonly Operator[];

/** Parses what stands behind the question mark of a filter. `&&` binds closer than `||`. */
export function parseTest(cursor: Cursor, parseSegments: ParseSegments): Test {
  const alternatives: Test[] = [];
  do {
    skipBlanks(cursor);
    alternatives.push(parseConjunction(cursor, parseSegments));
  } while (takeBehindBlanks(cursor, ["||"]) !== undefined);
  return alternatives.length === 1 && alternatives[0] !== undefined
    ? alternatives[0]
    : { kind: "any", tests: alternatives };
}

function parseConjunction(cursor: Cursor, parseSegments: ParseSegments): Test {
  const conditions: Test[] = [];
  do {
    skipBlanks(cursor);
    conditions.push(parseCondition(cursor, parseSegments));
  } while (takeBehindBlanks(cursor, ["&&"]) !== undefined);
  return conditions.length === 1 && conditions[0] !== undefined ? conditions[0] : { kind: "all", tests: conditions };
}

function parseCondition(cursor: Cursor, parseSegments: ParseSegments): Test {
  if (take(cursor, "!")) {
    skipBlanks(cursor);
    const test = peek(cursor) === "(" ? parseParentheses(cursor, parseSegments) : parseExistence(cursor, parseSegments);
    return { kind: "not", test };
  }
  if (peek(cursor) === "(") return parseParentheses(cursor, parseSegments);
  const left = parseTerm(cursor, parseSegments);
  const operator = takeBehindBlanks(cursor, OPERATORS);
  if (operator === undefined) return left.kind === "literal" ? refuseLiteral(cursor) : { kind: "exists", path: left };
  skipBlanks(cursor);
  const right = parseTerm(cursor, parseSegments);
  return { kind: "compare", operator, left: comparable(cursor, left), right: comparable(cursor, right) };
}

function parseParentheses(cursor: Cursor, parseSegments: ParseSegments): Test {
  need(cursor, "(");
  const test = parseTest(cursor, parseSegments);
  skipBlanks(cursor);
  need(cursor, ")");
  return test;
}

function parseExistence(cursor: Cursor, parseSegments: ParseSegments): Test {
  const path = parseTerm(cursor, parseSegments);
  return path.kind === "literal" ? refuseLiteral(cursor) : { kind: "exists", path };
}

function refuseLiteral(cursor: Cursor): never {
  return refuseHere(cursor, "a literal that is compared with nothing");
}

/** A list of nodes is no value: RFC 9535 compares only paths that can find one node at most. */
function comparable(cursor: Cursor, term: Operand | InnerPath): Operand {
  return term.kind === "many" ? refuseHere(cursor, "a comparison with a path that may find several values") : term;
}

function parseTerm(cursor: Cursor, parseSegments: ParseSegments): Operand | InnerPath {
  const next = peek(cursor);
  if (next === "@" || next === "$") {
    cursor.position += 1;
    const origin = next === "$" ? "root" : "child";
    const segments = parseSegments(cursor);
    const steps = stepsOf(segments);
    return steps === undefined ? { kind: "many", origin, segments } : { kind: "place", place: { origin, steps } };
  }
  if (next === '"' || next === "'") return { kind: "literal", value: parseString(cursor) };
  if (isDigit(next) || next === "-") return { kind: "literal", value: parseNumber(cursor) };
  return { kind: "literal", value: parseWord(cursor) };
}

function parseWord(cursor: Cursor): boolean | null {
  const { source, position } = cursor;
  let end = position;
  while (isWordCharacter(source[end])) end += 1;
  const word = source.slice(position, end);
  if (word === "") return refuseNext(cursor);
  if (source[end] === "(") refuseHere(cursor, `the function ${word}() is left out`);
  if (word !== "true" && word !== "false" && word !== "null") {
    refuseHere(cursor, `${JSON.stringify(word)} stands for nothing`);
  }
  cursor.position = end;
  return word === "null" ? null : word === "true";
}

/** What the name of a function is made of; the digits do not start one, and never come here first. */
function isWordCharacter(character = ""): boolean {
  return (character >= "a" && character <= "z") || character === "_" || isDigit(character);
}
