import { Lexer, type Token } from "marked";

/** One top-level block. The same object as long as nothing in it changes, so that it is drawn once. */
export interface MarkdownBlock {
  readonly raw: string;
  readonly token: Token;
}

/** Text cut into blocks. */
export interface MarkdownText {
  readonly text: string;
  readonly blocks: readonly MarkdownBlock[];
}

export const NO_MARKDOWN: MarkdownText = { text: "", blocks: [] };

/** Beyond these nobody reads markup any more, and reading it would hold up the page: it is shown as it was written. */
const LONGEST_TEXT = 400_000;
const DEEPEST = 48;

/**
 * Cuts text into blocks. While text is being written only its tail is read anew: everything but the last two blocks
 * is settled. The finished text is read whole once, because a link may be explained at its end.
 */
export function readMarkdown(before: MarkdownText, written: string, isOpen: boolean): MarkdownText {
  // The lexer would do this by itself, and its pieces would not be pieces of the text any more.
  const text = written.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
  const settled = isOpen && text.startsWith(before.text) ? settledOf(before) : [];
  const start = settled.reduce((sum, { raw }) => sum + raw.length, 0);
  const known = before.blocks.slice(settled.length);
  const tail = readBlocks(text.slice(start)).map((block, index) => {
    const same = known[index];
    return isOpen && same?.raw === block.raw ? same : block;
  });
  return { text, blocks: [...settled, ...tail] };
}

function settledOf({ text, blocks }: MarkdownText): readonly MarkdownBlock[] {
  const settled = blocks.slice(0, -2);
  // A lexer that left something out cannot be continued from a place in the text.
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

function plainToken(text: string): Token {
  return { type: "code", raw: text, text, lang: "" };
}
