import { readdirSync, readFileSync } from "node:fs";
import type { DataFrame } from "#wire";

/** A captured run of the real CLI: what it wrote to stdout, byte for byte. */
export interface Transcript {
  /** `<version>/<name>` */
  readonly name: string;
  readonly kind: "plain" | "control";
  readonly bytes: Uint8Array;
}

export const VERSIONS = ["2.1.325", "2.1.197"] as const;

const FOLDER = new URL("../fixtures/claude-code/", import.meta.url);

/** Where the reviewed events of a transcript are pinned. */
export function expectedFile(name: string): string {
  return new URL(`expected/${name}.txt`, FOLDER).pathname;
}

/** All transcripts, in the order of their names. */
export function readTranscripts(): Transcript[] {
  return VERSIONS.flatMap((version) =>
    readdirSync(new URL(`${version}/`, FOLDER))
      .filter((file) => file.endsWith(".ndjson"))
      .sort()
      .map((file) => readTranscript(`${version}/${file.slice(0, -".ndjson".length)}`)),
  );
}

/** One transcript. Of a two-sided log only what the CLI wrote is kept. */
export function readTranscript(name: string): Transcript {
  const bytes = readFileSync(new URL(`${name}.ndjson`, FOLDER));
  const entries = parseLines(bytes);
  if (!entries.some((entry) => typeof entry === "object" && entry !== null && "dir" in entry)) {
    return { name, kind: "plain", bytes };
  }
  const out = (entries as { dir: string; line: string }[]).filter((entry) => entry.dir === "out");
  return { name, kind: "control", bytes: new TextEncoder().encode(out.map((entry) => `${entry.line}\n`).join("")) };
}

/** The frames of a transcript as values, for tests that change them. */
export function valuesOf(transcript: Transcript): unknown[] {
  return parseLines(transcript.bytes);
}

/** A value as the frame it would have come in. */
export function asFrame(value: unknown): DataFrame {
  const text = JSON.stringify(value);
  return { kind: "data", name: "", id: "", text, value };
}

function parseLines(bytes: Uint8Array): unknown[] {
  return new TextDecoder()
    .decode(bytes)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as unknown);
}
