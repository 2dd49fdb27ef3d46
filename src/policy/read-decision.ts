import { tryCopy } from "./json-copy.ts";
import type { Decision } from "./permission.ts";
import { kindOf, type Read, readFields } from "./read-answer.ts";

/** Reads the answer to a permission question. What is not exactly a decision is none. */
export function readDecision(value: unknown): Read<Decision> {
  const fields = readFields(value);
  if (!fields.fits) return fields;
  const { allow, input, reason, ...more } = Object.fromEntries(fields.answer);
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) return wrong(`answered with "${unknown}", which a decision does not know`);
  if (allow === false) {
    if (input !== undefined) return wrong('answered with an "input" although it said no');
    if (reason !== undefined && typeof reason !== "string") {
      return wrong(`answered with ${kindOf(reason)} as "reason", which takes a text`);
    }
    return { fits: true, answer: reason === undefined ? { allow } : { allow, reason } };
  }
  if (allow !== true) return wrong(`answered with ${kindOf(allow)} as "allow", which takes true or false`);
  if (reason !== undefined) return wrong('answered with a "reason" although it said yes');
  if (input === undefined) return { fits: true, answer: { allow } };
  const copy = tryCopy(input);
  return copy === undefined
    ? wrong('answered with an "input" that is not JSON')
    : { fits: true, answer: { allow, input: copy } };
}

function wrong(text: string): { readonly fits: false; readonly wrong: string } {
  return { fits: false, wrong: text };
}
