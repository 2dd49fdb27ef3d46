import type { VNode } from "preact";
import { CopyButton } from "./copy-button.tsx";

export function CodeBlock({ text, language }: { readonly text: string; readonly language: string }): VNode {
  const name = language.split(/\s/, 1)[0]?.slice(0, 40) ?? "";
  return (
    <figure class="code">
      <figcaption>
        <span>{name || "text"}</span>
        <CopyButton text={() => text} label="Copy code" />
      </figcaption>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}
