import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { type Clock, describeThrown, StartError } from "#domain";
import { describeJsonFault } from "#runtime";
import type { CommandIo } from "./io.ts";
import { say } from "./say.ts";

/** Reads all of stdin as text. */
export async function readStdin(input: AsyncIterable<Uint8Array | string>): Promise<string>;
/** The same; `undefined` if nothing arrives within this time. */
export async function readStdin(
  input: AsyncIterable<Uint8Array | string>,
  limit: { readonly ms?: number; readonly clock?: Clock },
): Promise<string | undefined>;
export async function readStdin(
  input: AsyncIterable<Uint8Array | string>,
  { ms, clock }: { readonly ms?: number; readonly clock?: Clock } = {},
): Promise<string | undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const pieces = input[Symbol.asyncIterator]();
  let text = "";
  try {
    const first = pieces.next();
    if (ms !== undefined && clock !== undefined && !(await comesWithin(first, ms, clock))) return undefined;
    for (let step = await first; step.done !== true; step = await pieces.next()) {
      text += typeof step.value === "string" ? step.value : decoder.decode(step.value, { stream: true });
    }
    return text + decoder.decode();
  } catch (error) {
    throw new StartError("invalid-input", "stdin is not UTF-8 text. Convert it first, for instance with iconv.", {
      cause: error,
    });
  }
}

async function comesWithin(first: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  let stop = (): void => undefined;
  const late = new Promise<false>((resolve) => {
    stop = clock.after(ms, () => resolve(false));
  });
  // A read that finishes too late is ignored, even if it fails.
  const isThere = await Promise.race([
    first.then(
      () => true,
      () => true,
    ),
    late,
  ]);
  stop();
  return isThere;
}

/**
 * The bytes of a captured stream. `-` is stdin. A file that cannot be opened is reported before anything is decoded.
 */
export async function openBytes(file: string, io: CommandIo): Promise<AsyncIterable<Uint8Array>> {
  if (file === "-") return io.input as AsyncIterable<Uint8Array>;
  const path = resolve(io.cwd, file);
  const found = await stat(path).catch((error) => {
    throw new StartError("invalid-input", `There is no file ${path}. Give a captured stream, or - for stdin.`, {
      cause: error,
    });
  });
  if (found.isDirectory()) {
    throw new StartError("invalid-input", `${path} is a folder. Give a captured stream, or - for stdin.`);
  }
  return createReadStream(path);
}

/** Otherwise a person who did not mean to type anything would wait for ever. */
export function sayWaiting(io: CommandIo): void {
  if (io.inputKind === "terminal") say("millrace: reading from the terminal; Ctrl-D on an empty line ends it.", io);
}

/** Reads a text file for a flag; `value` is the value of the flag. */
export async function readTextFile(
  flag: string,
  value: string,
  io: { readonly cwd: string },
  file = value,
): Promise<string> {
  const path = resolve(io.cwd, file);
  return await readFile(path, "utf8").catch((error) => {
    throw new StartError("invalid-option", `${flag} ${value}: the file cannot be read (${path}). Check the path.`, {
      cause: error,
    });
  });
}

/** Reads a JSON file for a flag; `remedy` is what to write instead of something that is not JSON. */
export async function readJsonFile(
  flag: string,
  file: string,
  io: { readonly cwd: string },
  remedy?: string,
): Promise<unknown> {
  return parseJsonFile(`${flag} ${file}`, await readTextFile(flag, file, io), remedy);
}

/** @throws StartError saying where `text` is not JSON. */
export function parseJsonFile(name: string, text: string, remedy = "Correct it there."): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = describeJsonFault(text) ?? describeThrown(error);
    throw new StartError("invalid-option", `${name} is not JSON: ${why}. ${remedy}`, { cause: error });
  }
}
