import { unreachable } from "#domain";
import { walkSteps } from "../steps.ts";
import { compare } from "./compare.ts";
import { type Effort, isSpent, spend } from "./effort.ts";
import type { InnerPath, Operand, Place, Segment, Test } from "./syntax.ts";

/** What stays the same during one reading of a path. */
export interface Reading {
  readonly root: unknown;
  readonly effort: Effort;
  /** Given here, because selecting needs filters and filters need selecting. */
  select(segments: readonly Segment[], start: unknown, reading: Reading): readonly unknown[];
}

/** Whether a child passes a filter. Says no as soon as the effort is spent. */
export function passes(test: Test, child: unknown, reading: Reading): boolean {
  if (isSpent(reading.effort)) return false;
  switch (test.kind) {
    case "any":
      return test.tests.some((inner) => passes(inner, child, reading));
    case "all":
      return test.tests.every((inner) => passes(inner, child, reading));
    case "not":
      return !passes(test.test, child, reading);
    case "exists":
      return exists(test.path, child, reading);
    case "compare":
      return compare(
        test.operator,
        readOperand(test.left, child, reading),
        readOperand(test.right, child, reading),
        reading.effort,
      );
    default:
      return unreachable(test);
  }
}

function exists(path: InnerPath, child: unknown, reading: Reading): boolean {
  if (path.kind === "place") return readPlace(path.place, child, reading) !== undefined;
  return reading.select(path.segments, path.origin === "root" ? reading.root : child, reading).length > 0;
}

function readOperand(operand: Operand, child: unknown, reading: Reading): unknown {
  return operand.kind === "literal" ? operand.value : readPlace(operand.place, child, reading);
}

function readPlace({ origin, steps }: Place, child: unknown, { root, effort }: Reading): unknown {
  return spend(effort, steps.length) ? walkSteps(origin === "root" ? root : child, steps) : undefined;
}
