import DOMPurify from "dompurify";
import { marked } from "marked";

const ALLOWED_TAGS = [
  "a", "b", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "input", "li", "ol", "p", "pre",
  "s", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul", "span",
];

const purify = DOMPurify(window);

// What a model writes is foreign: nothing of it runs, nothing of it is loaded, and links tell where they lead.
purify.addHook("uponSanitizeElement", (node) => {
  const element = node as Element;
  if (element.nodeName !== "IMG") return;
  const source = element.getAttribute("src") ?? "";
  const label = element.getAttribute("alt") || source;
  const shown = document.createElement("span");
  shown.textContent = `[image: ${label}]`;
  element.replaceWith(shown);
});
purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.nodeName === "A") {
    const href = node.getAttribute("href") ?? "";
    if (!/^(https?:|mailto:)/i.test(href)) node.removeAttribute("href");
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer nofollow");
  }
  if (node.nodeName === "INPUT") {
    if (node.getAttribute("type") !== "checkbox") node.remove();
    else node.setAttribute("disabled", "");
  }
});

function sanitise(html: string): string {
  return purify.sanitize(html, {
    ALLOWED_TAGS,
    ALLOWED_ATTR: ["href", "title", "align", "type", "checked", "disabled", "start", "class"],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  });
}

/** One top-level block of markdown as safe HTML. */
export interface MarkdownBlock {
  readonly raw: string;
  readonly html: string;
}

/**
 * Markdown as blocks. Blocks that were there before are taken over as they are: while text streams in, only the last
 * one is made anew.
 */
export function renderMarkdown(text: string, before: readonly MarkdownBlock[]): readonly MarkdownBlock[] {
  const tokens = marked.lexer(text, { gfm: true, breaks: true }).filter((token) => token.type !== "space");
  return tokens.map((token, index) => {
    const known = before[index];
    if (known?.raw === token.raw) return known;
    return { raw: token.raw, html: sanitise(marked.parser([token])) };
  });
}
