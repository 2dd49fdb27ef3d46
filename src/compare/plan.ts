import { checkInput, checkNames, checkOptionNames, describeValue, expects, StartError, wholeNumber } from "#domain";
import { createDraw, shuffle } from "./chance.ts";
import type { CompareDocument, CompareOptions, ComparePrompt, CompareTarget } from "./types.ts";

/** One answer to request. */
export interface Task {
  readonly id: string;
  readonly target: CompareTarget;
  /** The answers of all targets in one group are to the same question; the judge sees them together. */
  readonly group: string;
  readonly prompt: { readonly id: string; readonly text: string };
  readonly document?: CompareDocument;
  readonly repetition: number;
}

/** A comparison with all defaults filled in. */
export interface Plan {
  readonly targets: readonly CompareTarget[];
  readonly prompts: readonly { readonly id: string; readonly text: string }[];
  readonly documents: readonly CompareDocument[];
  readonly repeat: number;
  readonly baseline: string;
  readonly concurrency: number;
  readonly seed: number;
  /** In the order in which they run. */
  readonly tasks: readonly Task[];
}

/** The default number of answers per target (S3-35). */
const WANTED_ANSWERS = 5;
const DEFAULT_CONCURRENCY = 2;

const OPTION_NAMES = [
  "prompts",
  "targets",
  "documents",
  "repeat",
  "options",
  "scorers",
  "judge",
  "baseline",
  "rule",
  "concurrency",
  "folder",
  "seed",
  "signal",
  "onProgress",
] as const satisfies readonly (keyof CompareOptions)[];

/** @throws StartError naming the invalid option. */
export function planComparison(options: CompareOptions): Plan {
  checkOptionNames(options, OPTION_NAMES, "compare");
  const targets = readTargets(options.targets);
  const prompts = readPrompts(options.prompts);
  const documents = readDocuments(options.documents ?? []);
  const cases = prompts.length * Math.max(1, documents.length);
  const repeat = readCount("repeat", options.repeat ?? Math.ceil(WANTED_ANSWERS / cases));
  const baseline = options.baseline ?? (targets[0] as CompareTarget).name;
  if (!targets.some(({ name }) => name === baseline)) {
    refuse(
      `baseline is ${describeValue(baseline)}. It must be one of the targets: ${targets.map(({ name }) => name).join(", ")}.`,
    );
  }
  const seed = options.seed ?? 1;
  checkInput(expects(Number.isInteger, "a whole number"), seed, "seed");
  return {
    targets,
    prompts,
    documents,
    repeat,
    baseline,
    seed,
    concurrency: readCount("concurrency", options.concurrency ?? DEFAULT_CONCURRENCY),
    tasks: listTasks({ targets, prompts, documents, repeat }, createDraw(seed)),
  };
}

/**
 * All targets are asked the same question before the next one, in a new random order, so that changes on a host during
 * the comparison affect all of them equally.
 */
function listTasks(
  { targets, prompts, documents, repeat }: Pick<Plan, "targets" | "prompts" | "documents" | "repeat">,
  draw: () => number,
): readonly Task[] {
  const tasks: Task[] = [];
  for (let repetition = 1; repetition <= repeat; repetition += 1) {
    for (const prompt of prompts) {
      for (const document of documents.length === 0 ? [undefined] : documents) {
        const group = JSON.stringify([prompt.id, document?.name ?? null, repetition]);
        for (const target of shuffle(targets, draw)) {
          const id = JSON.stringify([target.name, prompt.id, document?.name ?? null, repetition]);
          tasks.push({ id, target, group, prompt, repetition, ...(document !== undefined && { document }) });
        }
      }
    }
  }
  return tasks;
}

function readTargets(given: CompareOptions["targets"]): readonly CompareTarget[] {
  if (!Array.isArray(given) || given.length < 2) refuse("targets must name at least two targets to compare.");
  const targets = given.map((one, index): CompareTarget => {
    if (typeof one === "string" && one.trim() !== "") return { name: one, target: one };
    checkEntry("targets", index, one, ["name", "target", "options"] satisfies (keyof CompareTarget)[]);
    if (typeof one === "object" && one !== null && typeof one.name === "string" && one.name.trim() !== "") return one;
    return refuse(`targets[${index}] is ${describeValue(one)}. Give a backend string, or { name, target, options }.`);
  });
  refuseTwice(
    "targets",
    targets.map(({ name }) => name),
    "Give each its own name: { name, target, options }.",
  );
  return targets;
}

function readPrompts(given: CompareOptions["prompts"]): Plan["prompts"] {
  if (!Array.isArray(given) || given.length === 0) refuse("prompts is empty. Give at least one prompt.");
  const prompts = given.map((one, index) => {
    checkEntry("prompts", index, one, ["id", "prompt"] satisfies (keyof ComparePrompt)[]);
    const { id = String(index + 1), prompt } = typeof one === "string" ? { prompt: one } : (one ?? {});
    if (typeof prompt === "string" && prompt.trim() !== "" && typeof id === "string") return { id, text: prompt };
    return refuse(`prompts[${index}] is ${describeValue(one)}. Give a string, or { id, prompt }.`);
  });
  refuseTwice(
    "prompts",
    prompts.map(({ id }) => id),
    "Give each its own id.",
  );
  return prompts;
}

function readDocuments(given: readonly CompareDocument[]): readonly CompareDocument[] {
  for (const [index, one] of given.entries()) {
    const isDocument = typeof one?.name === "string" && typeof one.text === "string" && one.text.trim() !== "";
    if (!isDocument) refuse(`documents[${index}] is ${describeValue(one)}. Give { name, text } with a string.`);
  }
  refuseTwice(
    "documents",
    given.map(({ name }) => name),
    "Give each its own name.",
  );
  return given;
}

function checkEntry(list: string, index: number, one: unknown, known: readonly string[]): void {
  if (typeof one === "object" && one !== null) checkNames(one, known, `${list}[${index}].`);
}

function readCount(name: string, value: number): number {
  checkInput(wholeNumber(1), value, name);
  return value;
}

function refuseTwice(field: string, names: readonly string[], remedy: string): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) refuse(`${field} has "${twice}" twice. ${remedy}`);
}

function refuse(message: string): never {
  throw new StartError("invalid-option", message);
}
