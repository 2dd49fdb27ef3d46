import { createMarkdownWriter, type MarkdownOptions } from "./markdown/markdown-writer.ts";
import { createSafeText } from "./safe-text.ts";

/** Text that goes to a screen piece by piece, and ends before something else is written there. */
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
}): TextColumn {
  const { write, paint = (text) => text } = options;
  const safe = createSafeText();
  const markdown = options.markdown === undefined ? undefined : createMarkdownWriter(options.markdown);
  /** Something was pushed since the last end, shown or held back. */
  let isOpen = false;
  let isMidLine = false;

  const show = (text: string): void => {
    if (text === "") return;
    write(paint(text));
    isMidLine = !text.endsWith("\n");
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
      if (isMidLine) write("\n");
      isMidLine = false;
    },
    get isMidLine() {
      return isMidLine;
    },
  };
}
