/** Where a value is in a frame, compiled. Reading never throws and looks at own properties only. */
export interface Path {
  readonly source: string;
  /** The path may find several values and then gives a list of them. */
  readonly collects: boolean;
  /** The value there, or `undefined` when there is none. `null` is a value. */
  read(value: unknown): unknown;
}

/** One move of a short path: into a field, into an item (negative: from the end), or into every item. */
export type Step = { readonly name: string } | { readonly index: number } | "each";

/** A path made of steps. */
export function compileSteps(source: string, steps: readonly Step[]): Path {
  const first = steps[0];
  // One field of the frame itself is what most paths are, and what every frame is matched by.
  if (steps.length === 1 && first !== undefined && first !== "each" && "name" in first) {
    const { name } = first;
    return { source, collects: false, read: (value) => readField(value, name) };
  }
  if (!steps.includes("each")) {
    return { source, collects: false, read: (value) => walkSteps(value, steps) };
  }
  return { source, collects: true, read: (value) => collect(value, steps) };
}

/** The value at the end of the steps, or `undefined`. For steps without `"each"`. */
export function walkSteps(root: unknown, steps: readonly Step[]): unknown {
  let value = root;
  for (const step of steps) {
    value = readStep(value, step);
    if (value === undefined) return undefined;
  }
  return value;
}

/** Breadth first: one list of values per step, so that a path costs as much as what it visits and no stack. */
function collect(root: unknown, steps: readonly Step[]): unknown {
  let values: unknown[] = [root];
  let sawEmptyList = false;
  for (const step of steps) {
    const next: unknown[] = [];
    for (const value of values) {
      if (step !== "each") {
        const found = readStep(value, step);
        if (found !== undefined) next.push(found);
      } else if (Array.isArray(value)) {
        sawEmptyList ||= value.length === 0;
        for (const item of value) next.push(item);
      }
    }
    values = next;
  }
  return values.length === 0 && !sawEmptyList ? undefined : values;
}

function readStep(value: unknown, step: Step): unknown {
  if (step === "each") return undefined;
  return "name" in step ? readField(value, step.name) : readItem(value, step.index);
}

/** An own field of an object. */
export function readField(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) {
    return undefined;
  }
  return (value as Readonly<Record<string, unknown>>)[name];
}

/** An item of a list; a negative index counts from the end. */
export function readItem(value: unknown, index: number): unknown {
  return Array.isArray(value) ? value.at(index) : undefined;
}
