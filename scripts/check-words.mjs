// `npm run words`: fails when the name of a type, file or folder holds a word that is neither in GLOSSARY.md nor in plain-words.txt.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./set-up.mjs";
import { findUnknownWords, glossaryWords } from "./words.mjs";

const lines = readFileSync(join(ROOT, "scripts/plain-words.txt"), "utf8").split("\n");
const plain = lines.filter((line) => !line.startsWith("#")).flatMap((line) => line.split(" "));
const glossary = glossaryWords(readFileSync(join(ROOT, "GLOSSARY.md"), "utf8"));
const unknown = findUnknownWords(ROOT, ["src", "web/src"], new Set([...plain, ...glossary]));
for (const { word, place } of unknown) {
  process.stderr.write(
    `"${word}" (${place}) is not a word we use. Take a plain one; if it is plain English in its usual sense, add it to scripts/plain-words.txt; if it means something of ours, explain it in GLOSSARY.md.\n`,
  );
}
process.stdout.write(`words: ${unknown.length} unknown\n`);
process.exitCode = unknown.length === 0 ? 0 : 1;
