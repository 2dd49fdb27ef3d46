import { createHash } from "node:crypto";
import { join } from "node:path";
import { describeThrown, describeWriteFailure, StartError } from "#domain";
import type { World } from "#runtime";
import type { Judgement } from "./judge.ts";
import type { Sample } from "./types.ts";

/** Stores what is finished, so that an interrupted comparison can continue. */
export interface Journal {
  readonly samples: readonly Sample[];
  readonly judgements: readonly Judgement[];
  addSample(sample: Sample): Promise<void>;
  addJudgement(judgement: Judgement): Promise<void>;
}

interface Header {
  readonly type: "comparison";
  readonly version: 1;
  /** A digest of everything besides the targets that the answers depend on. */
  readonly asked: string;
}

type Line =
  | Header
  | { readonly type: "sample"; readonly sample: Sample }
  | { readonly type: "judgement"; readonly judgement: Judgement };

/**
 * The file in a comparison's folder that stores every sample as soon as it is finished.
 *
 * @example
 * const lines = (await readFile(join(folder, JOURNAL_FILE), "utf8")).split("\n")
 */
export const JOURNAL_FILE = "comparison.ndjson";

/** A journal that stores nothing. */
export function createMemoryJournal(): Journal {
  return { samples: [], judgements: [], addSample: async () => undefined, addJudgement: async () => undefined };
}

/**
 * Opens the journal of a folder, or creates one. An incomplete last line is dropped.
 *
 * @throws StartError if the folder contains the journal of another comparison, or cannot be used.
 */
export async function openJournal(folder: string, asked: unknown, files: World["files"]): Promise<Journal> {
  const path = join(folder, JOURNAL_FILE);
  const header: Header = { type: "comparison", version: 1, asked: digest(asked) };
  const { lines, isTorn } = await readLines(path, files);
  if (lines.length === 0) await write(path, [header], files);
  else checkHeader(lines[0], header, folder);
  if (lines.length > 0 && isTorn) await write(path, lines, files);
  const append = (line: Line) => files.append(path, encode([line]));
  return {
    samples: lines.flatMap((line) => (line.type === "sample" ? [line.sample] : [])),
    judgements: lines.flatMap((line) => (line.type === "judgement" ? [line.judgement] : [])),
    addSample: (sample) => append({ type: "sample", sample }),
    addJudgement: (judgement) => append({ type: "judgement", judgement }),
  };
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 32);
}

async function readLines(path: string, files: World["files"]): Promise<{ lines: readonly Line[]; isTorn: boolean }> {
  if (!(await files.exists(path))) return { lines: [], isTorn: false };
  const text = new TextDecoder().decode(await files.read(path));
  const parts = text.split("\n");
  const torn = parts.pop() ?? "";
  const lines = parts.map((part, index) => {
    try {
      return JSON.parse(part) as Line;
    } catch (error) {
      throw new StartError(
        "invalid-input",
        `${path}, line ${index + 1}, is not JSON: ${describeThrown(error)}. Remove the file to begin again.`,
        { cause: error },
      );
    }
  });
  return { lines, isTorn: torn !== "" };
}

function checkHeader(first: Line | undefined, header: Header, folder: string): void {
  if (first?.type === "comparison" && first.version === 1 && first.asked === header.asked) return;
  throw new StartError(
    "invalid-option",
    `The folder ${folder} holds another comparison: its prompts, documents or options are not the same. Choose another folder, or remove ${JOURNAL_FILE} from it.`,
  );
}

async function write(path: string, lines: readonly Line[], files: World["files"]): Promise<void> {
  await files.write(path, encode(lines)).catch((error: unknown) => {
    throw new StartError(
      "invalid-option",
      `${path} cannot be written: ${describeWriteFailure(error)}. Choose another folder.`,
      {
        cause: error,
      },
    );
  });
}

function encode(lines: readonly Line[]): Uint8Array {
  return new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}
