import { readFile } from "node:fs/promises";
import { basename, extname, resolve } from "node:path";
import { type Block, StartError } from "#domain";
import { readStdin, readTextFile, sayWaiting } from "./read-input.ts";
import type { CommandIo } from "./io.ts";
import { say } from "./say.ts";

/** How long a pipe may say nothing before the run begins without it. Many programs leave one open that they never use. */
const PATIENCE_MS = 3000;

/**
 * The words of the command line as one prompt, with what comes through stdin behind them, as the text they are about.
 * Without words it is the prompt. A pipe that says nothing is waited for only when there is nothing else to ask, or when
 * a `-` stands for it; what a terminal says is never waited for without a `-`. `isEnough`: there is something else to ask.
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
  const text = await readStdin(io.input, isEnough && kind === "pipe" ? { ms: PATIENCE_MS, clock: io.world.clock } : {});
  if (text !== undefined) return text;
  say(
    `millrace: stdin is open and has said nothing for ${PATIENCE_MS / 1000} s, so the run begins without it. ` +
      "Write - behind the prompt to wait for it, or </dev/null behind the command to leave it out.",
    io,
  );
  return "";
}

/** A text flag: `@file` is the file's text, `@@` a text that begins with an @. */
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
