/** A heading with its text, up to the next heading of any level. */
export interface Section {
  /** 1 to 6; 0 for text before the first heading. */
  readonly level: number;
  readonly title: string;
  /** The titles of its parent headings, outermost first. */
  readonly path: readonly string[];
  readonly lines: readonly string[];
}

/**
 * The sections of a Markdown text, in order. Headings inside fenced code are text.
 *
 * @example
 * readOutline("# A\ntext\n## B").map(({ title }) => title) // ["", "A", "B"]
 */
export function readOutline(text: string): readonly Section[] {
  const sections: { level: number; title: string; path: string[]; lines: string[] }[] = [
    { level: 0, title: "", path: [], lines: [] },
  ];
  const parents: { level: number; title: string }[] = [];
  let fence: string | undefined;
  for (const line of text.split(/\r\n|\r|\n/)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined) {
      if (fence === undefined) fence = mark;
      else if (mark[0] === fence[0] && mark.length >= fence.length) fence = undefined;
    }
    const heading = fence === undefined ? /^ {0,3}(#{1,6})[ \t]+([^\n]*)$/.exec(line) : null;
    if (heading === null) {
      sections.at(-1)?.lines.push(line);
      continue;
    }
    const level = (heading[1] as string).length;
    const title = (heading[2] as string).replace(/[ \t]*#*[ \t]*$/, "").trim();
    while ((parents.at(-1)?.level ?? 0) >= level) parents.pop();
    sections.push({ level, title, path: parents.map((parent) => parent.title), lines: [] });
    parents.push({ level, title });
  }
  return sections;
}

/** A title in lower case without numbering, emphasis and punctuation: `**2.1 Scope:**` is `scope`. */
export function plainTitle(title: string): string {
  return title
    .toLowerCase()
    .replace(/[*_`~]/g, "")
    .replace(/^(?:section\s+|appendix\s+)?(?:[0-9]{1,3}(?:\.[0-9]{1,3}){0,5}|[ivxlc]{1,6}|[a-z])[.):]\s+/, "")
    .replace(/^[0-9]{1,3}(?:\.[0-9]{1,3}){0,5}\s+/, "")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** The maximum length of an item: patterns are matched against each item. */
const MAX_ITEM = 2000;

/** A statement of a document. */
export interface Item {
  readonly text: string;
  /** Whether it is an entry of a list or a row of a table, not a paragraph. */
  readonly isEntry: boolean;
}

/** The entries of lists, the rows of tables and the paragraphs of a text, in order. */
export function readItems(lines: readonly string[]): readonly Item[] {
  const items: { text: string; isEntry: boolean }[] = [];
  let goesOn = false;
  for (const line of lines) {
    if (/^\s*$/.test(line) || /^\s*\|?[\s:|-]+\|[\s:|-]*$/.test(line)) {
      goesOn = false;
      continue;
    }
    const entry = /^\s*(?:[-*+]|\d{1,4}[.)])\s+(?:\[[ xX]\]\s+)?(\S[^\n]*)$/.exec(line)?.[1];
    const isRow = /^\s*\|/.test(line);
    const last = items.at(-1);
    if (entry !== undefined || isRow || !goesOn || last === undefined) {
      items.push({ text: entry ?? line.trim(), isEntry: entry !== undefined || isRow });
    } else last.text = `${last.text} ${line.trim()}`;
    goesOn = !isRow;
  }
  return items.map(({ text, isEntry }) => ({ text: text.slice(0, MAX_ITEM), isEntry }));
}
