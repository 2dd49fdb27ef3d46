import type { ComponentChildren, VNode } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { type MarkdownBlock, NO_MARKDOWN, readMarkdown } from "./blocks.ts";
import { renderTokens } from "./render.tsx";

/** A model's text. While it is being written only its last blocks are rendered again. */
export function Markdown({ text, isOpen }: { readonly text: string; readonly isOpen: boolean }): VNode {
  const known = useRef({ read: NO_MARKDOWN, text: "", isOpen: true });
  if (known.current.text !== text || known.current.isOpen !== isOpen) {
    known.current = { read: readMarkdown(known.current.read, text, isOpen), text, isOpen };
  }
  return (
    <div class="prose">
      {known.current.read.blocks.map((block, index) => (
        <Block key={index} block={block} />
      ))}
    </div>
  );
}

/** A block that is the same object is not rendered again. */
function Block({ block }: { readonly block: MarkdownBlock }): ComponentChildren {
  return useMemo(() => renderTokens([block.token]), [block]);
}
