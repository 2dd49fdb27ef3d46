import type { PromptTool } from "../prompt.ts";
import { isNumeric, isText, type Property, readChoices, readProperties, readType } from "./instance.ts";
import { readNameWords, readWords, type ToolAnswer } from "./question.ts";
import { compute, type Operator, type Sum, writeSum } from "./sums.ts";

/** A planned call: an offered tool and its arguments. */
export interface PlannedCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

const OPERATOR_WORDS: Readonly<Record<Operator, readonly string[]>> = {
  "+": ["add", "addition", "plus", "sum"],
  "-": ["subtract", "subtraction", "minus", "difference"],
  "*": ["multiply", "multiplication", "times", "product", "mul"],
  "/": ["divide", "division", "quotient", "div"],
  "%": ["modulo", "mod", "remainder"],
  "^": ["power", "pow", "exponent", "raise"],
};

const CALCULATOR_WORDS: readonly string[] = [
  "calculator",
  "calculate",
  "calc",
  "math",
  "arithmetic",
  "compute",
  "evaluate",
  "eval",
];
const EXPRESSION_FIELDS: readonly string[] = [
  "expression",
  "expr",
  "formula",
  "calculation",
  "equation",
  "input",
  "query",
  "sum",
];

/** A description longer than this is a manual; a single word in it does not show the tool's purpose. */
const SHORT_DESCRIPTION = 300;

/** Plans the call for one operation, if an offered tool supports it. */
function planOperation(
  tools: readonly PromptTool[],
  { operator, left, right }: { readonly operator: Operator; readonly left: number; readonly right: number },
): PlannedCall | undefined {
  const words = OPERATOR_WORDS[operator];
  for (const tool of byName(tools, words)) {
    const input = fillNumbers(readProperties(tool.schema), [left, right]);
    if (input !== undefined) return { name: tool.name, input };
  }
  for (const tool of byName(tools, CALCULATOR_WORDS)) {
    const input = fillOperation(readProperties(tool.schema), { operator, numbers: [left, right] });
    if (input !== undefined) return { name: tool.name, input };
  }
  return undefined;
}

/** Plans one call for a whole sum, if a calculator for expressions is offered. */
function planExpression(tools: readonly PromptTool[], sum: Sum): PlannedCall | undefined {
  for (const tool of byName(tools, CALCULATOR_WORDS)) {
    const properties = readProperties(tool.schema);
    const field = properties.find(
      ({ name, schema }) => isText(schema) && EXPRESSION_FIELDS.includes(name.toLowerCase()),
    );
    if (field === undefined || readChoices(field.schema) !== undefined) continue;
    if (properties.some((property) => property.isRequired && property !== field)) continue;
    return { name: tool.name, input: { [field.name]: writeSum(sum) } };
  }
  return undefined;
}

/** The value of a sum, computed without tools. */
export function workOut(sum: Sum): number {
  return sum.kind === "number" ? sum.value : compute(sum.operator, workOut(sum.left), workOut(sum.right));
}

/** Tools with one of the words in their name come first, then those with one in a short description. */
function byName(tools: readonly PromptTool[], words: readonly string[]): PromptTool[] {
  const named = tools.filter((tool) => readNameWords(tool.name).some((word) => words.includes(word)));
  const described = tools.filter(
    (tool) =>
      !named.includes(tool) &&
      tool.description.length <= SHORT_DESCRIPTION &&
      readWords(tool.description).some((word) => words.includes(word)),
  );
  return [...named, ...described];
}

/** Fills two number fields in their order, or one list of numbers. Does not fit if anything else is required. */
function fillNumbers(properties: readonly Property[], numbers: readonly number[]): Record<string, unknown> | undefined {
  const numeric = properties.filter((property) => isNumeric(property.schema));
  const needed = properties.filter((property) => property.isRequired);
  const fields = (needed.length === 2 ? needed : numeric).slice(0, 2);
  if (
    fields.length === 2 &&
    fields.every((field) => numeric.includes(field)) &&
    needed.every((field) => fields.includes(field))
  ) {
    return Object.fromEntries(fields.map((field, index) => [field.name, numbers[index]]));
  }
  const list = properties.find((property) => readType(property.schema) === "array");
  if (list === undefined || needed.some((field) => field !== list)) return undefined;
  return { [list.name]: [...numbers] };
}

/** `{ operation: "add", a, b }`. */
function fillOperation(
  properties: readonly Property[],
  asked: { readonly operator: Operator; readonly numbers: readonly number[] },
): Record<string, unknown> | undefined {
  const field = properties.find((property) => readChoices(property.schema) !== undefined);
  const words = [...OPERATOR_WORDS[asked.operator], asked.operator];
  const choice = field && readChoices(field.schema)?.find((name) => words.includes(name.toLowerCase()));
  if (field === undefined || choice === undefined) return undefined;
  const rest = fillNumbers(
    properties.filter((property) => property !== field),
    asked.numbers,
  );
  return rest && { [field.name]: choice, ...rest };
}

/** The state of a sum: it has a value, it needs calls, or a tool returned something that is not a number. */
export type Settled =
  | { readonly kind: "value"; readonly value: number }
  | { readonly kind: "calls"; readonly calls: readonly PlannedCall[] }
  | { readonly kind: "said"; readonly answer: ToolAnswer };

interface SumContext {
  readonly tools: readonly PromptTool[];
  readonly answers: readonly ToolAnswer[];
}

/**
 * Solves a sum as far as the tools' answers allow. Operations with a suitable tool are left to the tool, even if they
 * depend on each other; the others are computed here.
 */
export function settleSum(sum: Sum, context: SumContext): Settled {
  if (sum.kind === "operation" && !isCoveredByOperations(sum, context)) {
    const whole = planExpression(context.tools, sum);
    if (whole !== undefined) return settleCall(whole, context);
  }
  return settleOperations(sum, context);
}

function settleOperations(sum: Sum, context: SumContext): Settled {
  if (sum.kind === "number") return { kind: "value", value: sum.value };
  const left = settleOperations(sum.left, context);
  const right = settleOperations(sum.right, context);
  if (left.kind === "said") return left;
  if (right.kind === "said") return right;
  if (left.kind === "calls" || right.kind === "calls") {
    return { kind: "calls", calls: [left, right].flatMap((side) => (side.kind === "calls" ? side.calls : [])) };
  }
  const asked = { operator: sum.operator, left: left.value, right: right.value };
  const call = planOperation(context.tools, asked);
  return call === undefined
    ? { kind: "value", value: compute(sum.operator, left.value, right.value) }
    : settleCall(call, context);
}

/** Whether every operation of a sum has its own tool. The numbers do not matter for this. */
function isCoveredByOperations(sum: Sum, context: SumContext): boolean {
  if (sum.kind === "number") return true;
  const tool = planOperation(context.tools, { operator: sum.operator, left: 0, right: 0 });
  return tool !== undefined && isCoveredByOperations(sum.left, context) && isCoveredByOperations(sum.right, context);
}

function settleCall(call: PlannedCall, context: SumContext): Settled {
  const answer = context.answers.find(({ name, input }) => name === call.name && sameInput(input, call.input));
  if (answer === undefined) return { kind: "calls", calls: [call] };
  const value = answer.isError ? undefined : readNumber(answer.text);
  return value === undefined ? { kind: "said", answer } : { kind: "value", value };
}

/** Arguments are sent back with their fields in any order. */
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

/** The number that a tool returned: its whole text, or the only number in it. */
function readNumber(text: string): number | undefined {
  const numbers = text.slice(0, 1000).match(/-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi) ?? [];
  if (text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
  const last = numbers.at(-1);
  return numbers.length === 1 && last !== undefined ? Number(last) : undefined;
}
