import { readFile } from "node:fs/promises";
import { basename, extname, resolve } from "node:path";
import { type Block, StartError } from "#domain";
import { readStdin, readTextFile } from "./read-input.ts";
import type { CommandIo } from "./io.ts";

/**
 * The words of the command line as one prompt. A `-` among them stands for stdin: alone it is the prompt, beside words it
 * comes behind them, as the text they are about.
 */
export async function readPrompt(words: readonly string[], io: CommandIo): Promise<string> {
  if (!words.includes("-")) return words.join(" ");
  const question = words.filter((word) => word !== "-").join(" ");
  const text = (await readStdin(io.input)).trim();
  return [question, text].filter((part) => part !== "").join("\n\n");
}

/** A text flag: `@file` is the file's text, `@@` a text that begins with an @. */
export async function readTextFlag(flag: string, value: string, io: CommandIo): Promise<string> {
  if (!value.startsWith("@")) return value;
  return value.startsWith("@@") ? value.slice(1) : await readTextFile(flag, value.slice(1), io);
}

const MEDIA_TYPES: ReadonlyMap<string, { readonly type: "image" | "document"; readonly mediaType: string }> = new Map([
  [".png", { type: "image", mediaType: "image/png" }],
  [".jpg", { type: "image", mediaType: "image/jpeg" }],
  [".jpeg", { type: "image", mediaType: "image/jpeg" }],
  [".gif", { type: "image", mediaType: "image/gif" }],
  [".webp", { type: "image", mediaType: "image/webp" }],
  [".pdf", { type: "document", mediaType: "application/pdf" }],
]);
/** What vendors take at most. */
const MAX_BYTES = 32 * 1024 * 1024;

/** A picture or a document a flag names, as a block of the input. */
export async function readMedia(file: string, io: CommandIo): Promise<Block> {
  const kind = MEDIA_TYPES.get(extname(file).toLowerCase());
  if (kind === undefined) {
    throw invalid(
      `--image ${file}: its kind is not known. Give a file ending in ${[...MEDIA_TYPES.keys()].join(", ")}.`,
    );
  }
  const path = resolve(io.cwd, file);
  const bytes = await readFile(path).catch((error) => {
    throw invalid(`--image ${file}: the file cannot be read (${path}).`, error);
  });
  if (bytes.length === 0) throw invalid(`--image ${file}: the file is empty. Give another one.`);
  if (bytes.length > MAX_BYTES)
    throw invalid(`--image ${file} has ${bytes.length} bytes; at most ${MAX_BYTES} can be sent.`);
  return { ...kind, data: bytes.toString("base64"), ...(kind.type === "document" && { title: basename(file) }) };
}

function invalid(message: string, cause?: unknown): StartError {
  return new StartError("invalid-option", message, cause === undefined ? {} : { cause });
}
