import { createMarkdownWriter, type MarkdownOptions } from "./markdown/markdown-writer.ts";
import { createSafeText } from "./safe-text.ts";
import { createWordWrap } from "./word-wrap.ts";

/** Text that is written to a screen piece by piece, and is ended before other output. */
export interface TextColumn {
  push(text: string): void;
  /** Writes what is held back, and ends the line. */
  end(): void;
  readonly isMidLine: boolean;
}

export function createTextColumn(options: {
  readonly write: (text: string) => void;
  readonly markdown?: MarkdownOptions | undefined;
  readonly paint?: (text: string) => string;
  /** Wraps lines at words, at this many columns. Without it lines stay as they are. */
  readonly wrap?: (() => number) | undefined;
}): TextColumn {
  const { write, paint = (text) => text } = options;
  const safe = createSafeText();
  const markdown = options.markdown === undefined ? undefined : createMarkdownWriter(options.markdown);
  const wrap = options.wrap === undefined ? undefined : createWordWrap(options.wrap);
  /** Something was pushed since the last end, shown or held back. */
  let isOpen = false;
  let isMidLine = false;

  const put = (text: string): void => {
    if (text === "") return;
    write(text);
    isMidLine = !text.endsWith("\n");
  };
  const show = (text: string): void => {
    if (text === "") return;
    // Line ends are not coloured: otherwise a terminal may colour the rest of the line.
    const painted = text.split("\n").map(paint).join("\n");
    put(wrap === undefined ? painted : wrap.push(painted));
  };
  return {
    push(text) {
      isOpen = true;
      const piece = safe.push(text);
      show(markdown === undefined ? piece : markdown.push(piece));
    },
    end() {
      if (!isOpen) return;
      isOpen = false;
      const rest = safe.end();
      show(markdown === undefined ? rest : markdown.push(rest) + markdown.end());
      put(wrap?.end() ?? "");
      if (isMidLine) write("\n");
      isMidLine = false;
    },
    get isMidLine() {
      return isMidLine || wrap?.isHolding === true;
    },
  };
}
