import type { ComparePrompt, SectionName } from "#compare";
import { describeThrown, describeValue } from "#domain";
import { readTextFile } from "./read-input.ts";
import type { CommandIo } from "./io.ts";
import { usageError } from "./usage-error.ts";

/** What the file of prompts holds. */
export interface PromptFile {
  readonly prompts: readonly (string | ComparePrompt)[];
  readonly sections?: readonly (string | SectionName)[];
}

const FIELDS = ["prompts", "sections"];

/** Reads a list of prompts, or an object with one. What the prompts themselves must be is checked where they are used. */
export async function readPromptFile(file: string, io: CommandIo): Promise<PromptFile> {
  const text = await readTextFile("<prompts>", file, io);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw usageError(`${file} is no JSON: ${describeThrown(error)}. Write ["a prompt", "another"].`, error);
  }
  if (Array.isArray(value)) return { prompts: value as PromptFile["prompts"] };
  if (typeof value !== "object" || value === null || !Array.isArray((value as { prompts?: unknown }).prompts)) {
    throw usageError(`${file} holds ${describeValue(value)}. Write a list of prompts, or { "prompts": [...] }.`);
  }
  const unknown = Object.keys(value).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined)
    throw usageError(`${file}: the field "${unknown}" is not known. Known are: ${FIELDS.join(", ")}.`);
  return value as PromptFile;
}
