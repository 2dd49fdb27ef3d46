import type { PromptTool } from "../prompt.ts";
import type { ToolAnswer } from "./question.ts";
import { compute, type Sum } from "./sum.ts";
import { type PlannedCall, planExpression, planOperation } from "./sum-tools.ts";

/** How far a sum has come: it has a value, it waits for calls, or a tool said something that is no number. */
export type Settled =
  | { readonly kind: "value"; readonly value: number }
  | { readonly kind: "calls"; readonly calls: readonly PlannedCall[] }
  | { readonly kind: "said"; readonly answer: ToolAnswer };

export interface Desk {
  readonly tools: readonly PromptTool[];
  readonly answers: readonly ToolAnswer[];
}

/**
 * Works a sum out as far as the tools' answers allow. Operations with a fitting tool are left to the tool, also when
 * they build on each other; those without one are done here.
 */
export function settleSum(sum: Sum, desk: Desk): Settled {
  if (sum.kind === "operation" && !isCoveredByOperations(sum, desk)) {
    const whole = planExpression(desk.tools, sum);
    if (whole !== undefined) return settleCall(whole, desk);
  }
  return settleOperations(sum, desk);
}

function settleOperations(sum: Sum, desk: Desk): Settled {
  if (sum.kind === "number") return { kind: "value", value: sum.value };
  const left = settleOperations(sum.left, desk);
  const right = settleOperations(sum.right, desk);
  if (left.kind === "said") return left;
  if (right.kind === "said") return right;
  if (left.kind === "calls" || right.kind === "calls") {
    return { kind: "calls", calls: [left, right].flatMap((side) => (side.kind === "calls" ? side.calls : [])) };
  }
  const asked = { operator: sum.operator, left: left.value, right: right.value };
  const call = planOperation(desk.tools, asked);
  return call === undefined
    ? { kind: "value", value: compute(sum.operator, left.value, right.value) }
    : settleCall(call, desk);
}

/** Whether every operation of a sum has a tool of its own. Any numbers do to ask that. */
function isCoveredByOperations(sum: Sum, desk: Desk): boolean {
  if (sum.kind === "number") return true;
  const tool = planOperation(desk.tools, { operator: sum.operator, left: 0, right: 0 });
  return tool !== undefined && isCoveredByOperations(sum.left, desk) && isCoveredByOperations(sum.right, desk);
}

function settleCall(call: PlannedCall, desk: Desk): Settled {
  const answer = desk.answers.find(({ name, input }) => name === call.name && sameInput(input, call.input));
  if (answer === undefined) return { kind: "calls", calls: [call] };
  const value = answer.isError ? undefined : readNumber(answer.text);
  return value === undefined ? { kind: "said", answer } : { kind: "value", value };
}

/** Arguments come back with the fields in any order. */
function sameInput(left: unknown, right: unknown): boolean {
  return canonical(left) === canonical(right);
}

function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_, entry: unknown) =>
      typeof entry === "object" && entry !== null && !Array.isArray(entry)
        ? Object.entries(entry).sort(([left], [right]) => (left < right ? -1 : 1))
        : entry,
    ) ?? ""
  );
}

/** The number a tool returned: all of its text, or the only number in it. */
function readNumber(text: string): number | undefined {
  const numbers = text.slice(0, 1000).match(/-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi) ?? [];
  if (text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
  const last = numbers.at(-1);
  return numbers.length === 1 && last !== undefined ? Number(last) : undefined;
}
