/** The kind of a line, according to its beginning. `prefix` is shown before `rest`. */
export type LineKind =
  | { readonly kind: "text"; readonly prefix: string; readonly rest: string }
  | { readonly kind: "quote"; readonly rest: string }
  | { readonly kind: "heading"; readonly level: number; readonly rest: string }
  | { readonly kind: "fence"; readonly mark: string; readonly rest: string }
  | { readonly kind: "table"; readonly rest: string }
  | { readonly kind: "rule" };

/** A longer beginning is treated as text, so that little is held back. */
export const MAX_HEAD = 64;

const RULE = /^[-*_ \t]+$/;
const MARK_ONLY = /^(?:#{1,6}|`{1,2}|~{1,2}|>|[-*+]|\d{1,9}[.)]?)$/;
const BULLET = /^[-*+][ \t]/;
const NUMBER = /^\d{1,9}[.)][ \t]/;
const BOX = /^\[[ xX]\][ \t]/;
const HALF_BOX = /^(?:\[(?:[ xX]\]?)?)?$/;

/**
 * Reads the beginning of a line; `undefined` while it is ambiguous. Only a limited number of characters is examined, so
 * that a line gives the same result whether it arrives at once or letter by letter.
 */
export function readLineKind(head: string, isWhole: boolean): LineKind | undefined {
  const seen = head.slice(0, MAX_HEAD + 1).trimStart();
  const indent = head.slice(0, Math.min(head.length, MAX_HEAD + 1) - seen.length);
  const settled = isWhole || head.length > MAX_HEAD;
  const text: LineKind = { kind: "text", prefix: "", rest: head };
  if (seen === "") return settled ? text : undefined;
  if (!settled && (MARK_ONLY.test(seen) || isPartOfRule(seen))) return undefined;
  if (head.length <= MAX_HEAD && isRule(seen)) return { kind: "rule" };
  const body = head.slice(indent.length);
  switch (body[0]) {
    case "#":
      return readHeading(body) ?? text;
    case ">":
      return { kind: "quote", rest: body.slice(body[1] === " " ? 2 : 1) };
    case "`":
    case "~":
      return readFence(body) ?? text;
    case "|":
      return { kind: "table", rest: head };
    default:
      return readListItem(body, indent, settled, text);
  }
}

function readHeading(body: string): LineKind | undefined {
  const level = body.search(/[^#]/);
  if (level < 1 || level > 6 || body[level] !== " ") return undefined;
  return { kind: "heading", level, rest: body.slice(level + 1) };
}

function readFence(body: string): LineKind | undefined {
  const mark = (body[0] ?? "").repeat(3);
  return body.startsWith(mark) ? { kind: "fence", mark, rest: body } : undefined;
}

function readListItem(body: string, indent: string, settled: boolean, text: LineKind): LineKind | undefined {
  const isBullet = BULLET.test(body);
  if (!isBullet && !NUMBER.test(body)) return text;
  const end = isBullet ? 2 : body.search(/[ \t]/) + 1;
  const prefix = indent + (isBullet ? "• " : body.slice(0, end));
  const rest = body.slice(end);
  if (!settled && HALF_BOX.test(rest)) return undefined;
  if (!BOX.test(rest)) return { kind: "text", prefix, rest };
  return { kind: "text", prefix: prefix + (rest[1] === " " ? "☐ " : "☑ "), rest: rest.slice(4) };
}

/** Three or more of one mark, separated only by blanks. */
function isRule(body: string): boolean {
  if (!isPartOfRule(body)) return false;
  return body.replace(/[ \t]/g, "").length >= 3;
}

function isPartOfRule(body: string): boolean {
  if (!RULE.test(body)) return false;
  const marks = body.replace(/[ \t]/g, "");
  return marks === (marks[0] ?? "").repeat(marks.length);
}
