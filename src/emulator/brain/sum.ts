import { unreachable } from "#domain";

export type Operator = "+" | "-" | "*" | "/" | "%" | "^";

/** Something to be worked out. */
export type Sum =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "operation"; readonly operator: Operator; readonly left: Sum; readonly right: Sum };

export function numberOf(value: number): Sum {
  return { kind: "number", value };
}

export function operation(operator: Operator, left: Sum, right: Sum): Sum {
  return { kind: "operation", operator, left, right };
}

/** How tightly an operator binds. */
export const PRECEDENCE: Readonly<Record<Operator, number>> = { "+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "^": 3 };

export function compute(operator: Operator, left: number, right: number): number {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return left / right;
    case "%":
      return left % right;
    case "^":
      return left ** right;
    default:
      return unreachable(operator);
  }
}

/** A number as people write it: without the dust of binary fractions. */
export function writeNumber(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(12)));
}

/** A sum as people write it, with as few brackets as it needs. */
export function writeSum(sum: Sum): string {
  if (sum.kind === "number") return writeNumber(sum.value);
  const own = PRECEDENCE[sum.operator];
  const left = sum.operator === "^" ? own + 1 : own;
  const right = sum.operator === "^" ? own : own + 1;
  return `${writeSide(sum.left, left)} ${sum.operator} ${writeSide(sum.right, right)}`;
}

function writeSide(side: Sum, least: number): string {
  const text = writeSum(side);
  return side.kind === "operation" && PRECEDENCE[side.operator] < least ? `(${text})` : text;
}
