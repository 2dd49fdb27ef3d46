import type { Scorer } from "../types.ts";
import { plainTitle, readOutline } from "./outline.ts";

/** Abbreviations that every reader of such a document knows. */
const KNOWN: ReadonlySet<string> = new Set(
  "AC API APIS AM CEO CLI CPU CSS CSV CTO DNS EU FAQ FR GB HTML HTTP HTTPS ID IDS IP ISO IT JPEG JSON KB LAN MB NFR NO OK OS PC PDF PM PNG QA RAM REQ REST SMS SQL SSL TB TLS TODO UI UK URL URLS US USA USD UTC UX VPN WIFI XML YAML ZIP".split(
    " ",
  ),
);

/**
 * Checks that a document is consistent: no heading twice below the same parent, no unexplained abbreviation. Score: the
 * mean of the share of unique headings and the share of explained abbreviations; a share of nothing is 1, an empty
 * document 0. An abbreviation is explained by `long form (ABC)`, `ABC (long form)`, or an entry `ABC: …` in a list, a
 * table or a glossary.
 *
 * @example
 * await compare({ prompts: ["Write the requirements."], targets: ["offline", "claude-code"], scorers: [consistency()] })
 */
export function consistency(): Scorer {
  return {
    name: "consistency",
    score({ text }) {
      if (text.trim() === "") return { value: 0, detail: "the document is empty" };
      const headings = readOutline(text).filter(({ level }) => level > 0);
      const unique = new Set(headings.map(({ path, title }) => [...path, title].map(plainTitle).join("\n")));
      const used = findAbbreviations(text);
      const missing = used.filter((name) => !isExplained(name, text));
      const doubled = headings.length - unique.size;
      const value = (part(unique.size, headings.length) + part(used.length - missing.length, used.length)) / 2;
      const faults = [
        ...(doubled > 0 ? [`${doubled} duplicate ${doubled === 1 ? "heading" : "headings"}`] : []),
        ...(missing.length > 0 ? [`not defined: ${missing.join(", ")}`] : []),
      ];
      return { value, detail: faults.length === 0 ? "no fault" : faults.join("; ") };
    },
  };
}

function part(some: number, all: number): number {
  return all === 0 ? 1 : some / all;
}

/** Words of two to six capital letters, each once, except ids of requirements and words in code. */
function findAbbreviations(text: string): readonly string[] {
  const prose = text.replace(/```[\s\S]*?(?:```|$)|`[^`\n]*`/g, " ");
  const found = [...prose.matchAll(/(?<![\p{L}\p{N}_-])[A-Z][A-Z0-9]{1,5}(?![\p{L}\p{N}_]|-\d)/gu)].map(
    ([name]) => name,
  );
  return [...new Set(found)].filter((name) => /[A-Z].*[A-Z]/.test(name) && !KNOWN.has(name));
}

function isExplained(name: string, text: string): boolean {
  return [
    new RegExp(`\\p{L}[\\s*_]{0,5}\\(\\W{0,3}${name}s?\\W{0,3}\\)`, "u"),
    new RegExp(`\\b${name}\\W{0,3}\\(\\s{0,3}\\p{L}`, "u"),
    new RegExp(
      `^[ \\t]{0,12}(?:[-*+][ \\t]+|\\|[ \\t]*|\\d{1,3}[.)][ \\t]+)?[*_]{0,3}${name}[*_]{0,3}[ \\t]*(?:[:|–—]|-[ \\t])`,
      "mu",
    ),
  ].some((pattern) => pattern.test(text));
}
