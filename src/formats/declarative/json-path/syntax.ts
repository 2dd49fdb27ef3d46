import type { Step } from "../steps.ts";

/** One move of a JSONPath: from each node to some of its children, or with `descends` also to theirs, and so on. */
export interface Segment {
  readonly descends: boolean;
  readonly selectors: readonly Selector[];
}

export type Selector =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "index"; readonly index: number }
  | { readonly kind: "slice"; readonly slice: Slice }
  | { readonly kind: "wildcard" }
  | { readonly kind: "filter"; readonly test: Test };

/** Items from `start` up to, not including, `end`. What is not given depends on the direction of `step`. */
export interface Slice {
  readonly start: number | undefined;
  readonly end: number | undefined;
  readonly step: number;
}

/** What a filter asks of each child. */
export type Test =
  | { readonly kind: "any"; readonly tests: readonly Test[] }
  | { readonly kind: "all"; readonly tests: readonly Test[] }
  | { readonly kind: "not"; readonly test: Test }
  | { readonly kind: "exists"; readonly path: InnerPath }
  | {
      readonly kind: "compare";
      readonly operator: Operator;
      readonly left: Operand;
      readonly right: Operand;
    };

export type Operator = "==" | "!=" | "<=" | ">=" | "<" | ">";

/** One side of a comparison. */
export type Operand =
  | { readonly kind: "literal"; readonly value: string | number | boolean | null }
  | { readonly kind: "place"; readonly place: Place };

/** A path inside a filter: one that can find a single node only, or any. */
export type InnerPath =
  | { readonly kind: "place"; readonly place: Place }
  | { readonly kind: "many"; readonly origin: Origin; readonly segments: readonly Segment[] };

/** A path that finds one node at most: RFC 9535 calls it singular. */
export interface Place {
  readonly origin: Origin;
  readonly steps: readonly Step[];
}

/** Where a path inside a filter starts: at the whole value (`$`), or at the child in question (`@`). */
export type Origin = "root" | "child";

/** The segments as steps, when they can find one node only. */
export function stepsOf(segments: readonly Segment[]): readonly Step[] | undefined {
  const steps: Step[] = [];
  for (const { descends, selectors } of segments) {
    const selector = selectors[0];
    if (descends || selectors.length !== 1 || selector === undefined) return undefined;
    if (selector.kind === "name") steps.push({ name: selector.name });
    else if (selector.kind === "index") steps.push({ index: selector.index });
    else return undefined;
  }
  return steps;
}
