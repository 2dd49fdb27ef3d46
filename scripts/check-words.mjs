// `npm run words`: fails if the name of a type, file or folder contains a word that is neither in GLOSSARY.md nor in
// plain-words.txt, or if a comment explains the engine outside the folders for speed.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./set-up.mjs";
import { findEngineComments, findUnknownWords, glossaryWords } from "./words.mjs";

const lines = readFileSync(join(ROOT, "scripts/plain-words.txt"), "utf8").split("\n");
const plain = lines.filter((line) => !line.startsWith("#")).flatMap((line) => line.split(" "));
const glossary = glossaryWords(readFileSync(join(ROOT, "GLOSSARY.md"), "utf8"));
const unknown = findUnknownWords(ROOT, ["src", "web/src"], new Set([...plain, ...glossary]));
for (const { word, place } of unknown) {
  process.stderr.write(
    `"${word}" (${place}) is not a word we use. Take a plain one; if it is plain English in its usual sense, add it to scripts/plain-words.txt; if it means something of ours, explain it in GLOSSARY.md.\n`,
  );
}
const engine = findEngineComments(ROOT, ["src", "web/src"]);
for (const { word, place } of engine) {
  process.stderr.write(
    `${place}: the comment explains the engine ("${word}"). Say what the code is for. Speed belongs in wire, streams, transports or a store.\n`,
  );
}
process.stdout.write(`words: ${unknown.length} unknown, ${engine.length} comments about the engine\n`);
process.exitCode = unknown.length + engine.length === 0 ? 0 : 1;
