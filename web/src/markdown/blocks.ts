import { Lexer, type Token } from "marked";

/** One top-level block. It stays the same object as long as nothing in it changes, so that it is rendered once. */
export interface MarkdownBlock {
  readonly raw: string;
  readonly token: Token;
}

/** Text split into blocks. */
export interface MarkdownText {
  readonly text: string;
  readonly blocks: readonly MarkdownBlock[];
}

export const NO_MARKDOWN: MarkdownText = { text: "", blocks: [] };

/** Larger text is shown unformatted: parsing it would block the page, and its markup is hardly of use. */
const LONGEST_TEXT = 400_000;
const DEEPEST = 48;

/**
 * Splits text into blocks. While text is being written only its tail is parsed again: everything except the last two
 * blocks is settled. The finished text is parsed as a whole once, because a link may be defined at its end.
 */
export function readMarkdown(before: MarkdownText, written: string, isOpen: boolean): MarkdownText {
  // Otherwise the lexer does this itself, and its tokens are no longer substrings of the text.
  const text = written.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
  const settled = isOpen && text.startsWith(before.text) ? settledOf(before) : [];
  const start = settled.reduce((sum, { raw }) => sum + raw.length, 0);
  const known = before.blocks.slice(settled.length);
  const data = start === 0 ? readData(text, isOpen) : undefined;
  const read = data === undefined ? readBlocks(text.slice(start)) : [{ raw: text, token: data }];
  const tail = read.map((block, index) => {
    const same = known[index];
    return isOpen && same?.raw === block.raw ? same : block;
  });
  return { text, blocks: [...settled, ...tail] };
}

function settledOf({ text, blocks }: MarkdownText): readonly MarkdownBlock[] {
  const settled = blocks.slice(0, -2);
  // If the lexer skipped something, parsing cannot continue from a position in the text.
  return text.startsWith(settled.map(({ raw }) => raw).join("")) ? settled : [];
}

function readBlocks(text: string): readonly MarkdownBlock[] {
  const tokens = lex(text);
  return (tokens ?? [plainToken(text)]).map((token) => ({ raw: token.raw, token }));
}

function lex(text: string): readonly Token[] | undefined {
  if (text.length > LONGEST_TEXT) return undefined;
  try {
    const tokens = new Lexer({ gfm: true, breaks: true }).lex(text);
    return isDeeperThan(tokens, DEEPEST) ? undefined : tokens;
  } catch {
    return undefined;
  }
}

function isDeeperThan(tokens: readonly Token[], levels: number): boolean {
  let layer: Token[] = [...tokens];
  for (let level = 0; layer.length > 0; level += 1) {
    if (level > levels) return true;
    layer = layer.flatMap(childrenOf);
  }
  return false;
}

function childrenOf(token: Token): Token[] {
  const { tokens = [], items = [] } = token as { tokens?: Token[]; items?: Token[] };
  return [...tokens, ...items];
}

const BEGINS_AS_DATA = /^\s*(?:\{\s*"|\[\s*[[{"])/;

/**
 * An answer that is one JSON value, such as structured output. As Markdown it would lose its asterisks and underscores.
 */
function readData(text: string, isOpen: boolean): Token | undefined {
  if (isOpen) return BEGINS_AS_DATA.test(text) ? { type: "code", raw: text, text, lang: "json" } : undefined;
  const written = text.trim();
  if (!/^[[{]/.test(written)) return undefined;
  try {
    const value: unknown = JSON.parse(written);
    // Indented only if nothing else changes: a long number would lose its last digits.
    const shown = JSON.stringify(value) === written ? JSON.stringify(value, null, 2) : written;
    return { type: "code", raw: text, text: shown, lang: "json" };
  } catch {
    return undefined;
  }
}

function plainToken(text: string): Token {
  return { type: "code", raw: text, text, lang: "" };
}
