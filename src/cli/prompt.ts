import { readFile } from "node:fs/promises";
import { basename, extname, resolve } from "node:path";
import { type Block, StartError } from "#domain";
import { readStdin, readTextFile, sayWaiting } from "./read-input.ts";
import type { CommandIo } from "./io.ts";
import { say } from "./say.ts";

/** How long to wait for a silent pipe before the run starts without it. Many programs leave an unused pipe open. */
const STDIN_WAIT_MS = 3000;

/**
 * The words of the command line as one prompt, followed by the text from stdin. Without words, stdin is the prompt. A
 * silent pipe is awaited without limit only if there is nothing else to ask or a `-` names it; a terminal is never read
 * without a `-`. `isEnough`: there is something else to ask.
 */
export async function readPrompt(words: readonly string[], io: CommandIo, isEnough = false): Promise<string> {
  const question = words.filter((word) => word !== "-").join(" ");
  const text = (await readBeside(words.includes("-"), isEnough || question !== "", io)).trim();
  return [question, text].filter((part) => part !== "").join("\n\n");
}

async function readBeside(isNamed: boolean, isEnough: boolean, io: CommandIo): Promise<string> {
  if (isNamed) {
    sayWaiting(io);
    return await readStdin(io.input);
  }
  const kind = io.inputKind;
  if (kind === "terminal" || kind === "nothing") return "";
  const text = await readStdin(
    io.input,
    isEnough && kind === "pipe" ? { ms: STDIN_WAIT_MS, clock: io.world.clock } : {},
  );
  if (text !== undefined) return text;
  say(
    `millrace: nothing arrived on stdin for ${STDIN_WAIT_MS / 1000} s, so the run begins without it. ` +
      "Write - after the prompt to wait for it, or </dev/null after the command to leave it out.",
    io,
  );
  return "";
}

/** Reads a text flag: `@file` is the file's text, `@@` a text that begins with an @. */
export async function readTextFlag(flag: string, value: string, io: CommandIo): Promise<string> {
  if (!value.startsWith("@")) return value;
  return value.startsWith("@@") ? value.slice(1) : await readTextFile(flag, value, io, value.slice(1));
}

const MEDIA_TYPES: ReadonlyMap<string, { readonly type: "image" | "document"; readonly mediaType: string }> = new Map([
  [".png", { type: "image", mediaType: "image/png" }],
  [".jpg", { type: "image", mediaType: "image/jpeg" }],
  [".jpeg", { type: "image", mediaType: "image/jpeg" }],
  [".gif", { type: "image", mediaType: "image/gif" }],
  [".webp", { type: "image", mediaType: "image/webp" }],
  [".pdf", { type: "document", mediaType: "application/pdf" }],
]);
/** The most that vendors accept. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Reads a picture or a document for a flag, as a block of the input. */
export async function readMedia(file: string, io: CommandIo): Promise<Block> {
  const kind = MEDIA_TYPES.get(extname(file).toLowerCase());
  if (kind === undefined) {
    throw invalid(
      `--image ${file}: its kind is not known. Give a file ending in ${[...MEDIA_TYPES.keys()].join(", ")}.`,
    );
  }
  const path = resolve(io.cwd, file);
  const bytes = await readFile(path).catch((error) => {
    throw invalid(`--image ${file}: the file cannot be read (${path}). Check the path.`, error);
  });
  if (bytes.length === 0) throw invalid(`--image ${file}: the file is empty. Give another one.`);
  if (bytes.length > MAX_BYTES)
    throw invalid(`--image ${file} has ${bytes.length} bytes; at most ${MAX_BYTES} can be sent.`);
  return { ...kind, data: bytes.toString("base64"), ...(kind.type === "document" && { title: basename(file) }) };
}

function invalid(message: string, cause?: unknown): StartError {
  return new StartError("invalid-option", message, cause === undefined ? {} : { cause });
}
