import type { VNode } from "preact";
import { formatWhen } from "../format.ts";

/** A time: short, and in full as a tooltip. */
export function When({ at }: { readonly at: number }): VNode {
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {formatWhen(at, Date.now())}
    </time>
  );
}
