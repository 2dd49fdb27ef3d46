import type { VNode } from "preact";
import { formatWhen } from "../format.ts";

/** When something was: in short, and in full where the pointer rests. */
export function When({ at }: { readonly at: number }): VNode {
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {formatWhen(at, Date.now())}
    </time>
  );
}
