import type { VNode } from "preact";
import { Link } from "../markdown/link.tsx";
import type { ReportItem } from "../state/items.ts";
import { Icon } from "./icons.tsx";

/** What a tool has made or used. */
export function ReportRow({ item: { tool, verb, entries, others } }: { readonly item: ReportItem }): VNode {
  return (
    <div class="report">
      <Icon name="file" />
      <span>{`${tool} ${verb}`.trim()}</span>
      {entries.map(({ label, href, about }, at) => (
        <span key={at}>
          {href === undefined ? <strong>{label}</strong> : <Link href={href}>{label}</Link>}
          {about !== undefined && <span class="report-about"> {about}</span>}
        </span>
      ))}
      {others > 0 && <span class="report-about">and {others} more</span>}
    </div>
  );
}
