import type { PromptTool } from "../prompt.ts";
import { isNumeric, isText, type Property, readChoices, readProperties, readType } from "./schema.ts";
import { compute, type Operator, type Sum, writeSum } from "./sum.ts";
import { readNameWords, readWords } from "./words.ts";

/** A call to make: a tool that was offered, and its arguments. */
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

/** A description longer than this is a manual; a word in it says little about what the tool is for. */
const SHORT_DESCRIPTION = 300;

/** Plans the call that works out one operation, if a tool that was offered can do it. */
export function planOperation(
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

/** Plans the one call that works out a whole sum, if a calculator that reads expressions was offered. */
export function planExpression(tools: readonly PromptTool[], sum: Sum): PlannedCall | undefined {
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

/** What a sum comes to without any tool. */
export function workOut(sum: Sum): number {
  return sum.kind === "number" ? sum.value : compute(sum.operator, workOut(sum.left), workOut(sum.right));
}

/** Tools named by one of the words come first, then those whose short description has one. */
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

/** Two number fields in the order they are written, or one list of numbers. Anything else that is required does not fit. */
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
