import type { ComponentChildren, VNode } from "preact";
import { safeLink } from "./links.ts";

/** A link to an untrusted address: it opens a new tab and tells the other side nothing. Without an allowed address it is text. */
export function Link({ href, children }: { readonly href: string; readonly children: ComponentChildren }): VNode {
  const safe = safeLink(href);
  if (safe === undefined) return <span class="no-link">{children}</span>;
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer nofollow" title={safe}>
      {children}
    </a>
  );
}
