import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/set-up.mjs";

/** A fenced block of a document. */
export interface Fence {
  readonly document: string;
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

/** The documents of the repository: those at its root and those under docs/. */
export function listDocuments(): string[] {
  const atRoot = readdirSync(ROOT).filter((name) => name.endsWith(".md"));
  const pages = readdirSync(join(ROOT, "docs"), { recursive: true }).map((name) => `docs/${String(name)}`);
  return [...atRoot, ...pages.filter((name) => name.endsWith(".md"))].sort();
}

export function readDocument(document: string): string {
  return readFileSync(join(ROOT, document), "utf8");
}

/** The fenced blocks of a document, in order. */
export function readFences(document: string): Fence[] {
  const fences: Fence[] = [];
  let open: { language: string; line: number; text: string[] } | undefined;
  for (const [index, line] of readDocument(document).split("\n").entries()) {
    if (open === undefined) {
      const language = /^```(\w*)$/.exec(line)?.[1];
      if (language !== undefined) open = { language, line: index + 1, text: [] };
    } else if (line === "```") {
      fences.push({ document, line: open.line, language: open.language, text: `${open.text.join("\n")}\n` });
      open = undefined;
    } else {
      open.text.push(line);
    }
  }
  if (open !== undefined) throw new Error(`${document}:${open.line} opens a fence that is never closed.`);
  return fences;
}
