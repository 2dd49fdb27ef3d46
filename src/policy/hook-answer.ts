import { tryCopy } from "./json-copy.ts";
import type { HookAnswer, Point } from "./point.ts";
import { kindOf, type Read, readFields } from "./read-answer.ts";

/** The fields a hook may answer with, by point. */
const FIELDS: { readonly [Name in Point]: readonly (keyof HookAnswer)[] } = {
  prompt: ["block", "context", "stop"],
  "before-tool": ["block", "allow", "ask", "input", "context", "stop"],
  "after-tool": ["block", "output", "context", "stop"],
  "before-handoff": ["block", "message", "stop"],
  "after-handoff": ["stop"],
  "before-stop": ["block", "stop"],
  "run-end": [],
};

/** Reads a hook's answer. `undefined` is valid and means "no opinion". */
export function readHookAnswer(
  point: Point,
  value: unknown,
  copyOf: (value: unknown) => unknown = tryCopy,
): Read<HookAnswer> {
  if (value === undefined) return { fits: true, answer: {} };
  const fields = readFields(value);
  if (!fields.fits) return fields;
  const answer: { -readonly [Name in keyof HookAnswer]: unknown } = {};
  for (const [name, field] of fields.answer) {
    if (!isFieldOf(point, name)) return { fits: false, wrong: `answered with "${name}", ${whyNot(point)}` };
    const read = readField(name, field, copyOf);
    if (!read.fits) return read;
    answer[name] = read.answer;
  }
  return { fits: true, answer: answer as HookAnswer };
}

/** What is wrong with an answer that JSON cannot hold. */
export function notJson(name: "input" | "output"): string {
  return `answered with an ${name} that is not JSON`;
}

function isFieldOf(point: Point, name: string): name is keyof HookAnswer {
  return (FIELDS[point] as readonly string[]).includes(name);
}

function whyNot(point: Point): string {
  const known = FIELDS[point];
  return known.length === 0
    ? `but at ${point} nothing can be answered`
    : `which ${point} does not know (it knows ${known.join(", ")})`;
}

function readField(name: keyof HookAnswer, value: unknown, copyOf: (value: unknown) => unknown): Read<unknown> {
  if (name === "input" || name === "output") {
    const copy = copyOf(value);
    return copy === undefined ? { fits: false, wrong: notJson(name) } : { fits: true, answer: copy };
  }
  if (name === "allow" ? value === true : typeof value === "string" || (name === "ask" && value === true)) {
    return { fits: true, answer: value };
  }
  const wanted = name === "allow" ? "true" : name === "ask" ? "true or a string" : "a string";
  const given = typeof value === "boolean" ? String(value) : kindOf(value);
  return { fits: false, wrong: `answered with ${given} as "${name}", which takes ${wanted}` };
}
