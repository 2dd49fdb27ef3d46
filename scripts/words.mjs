// The words in the names of our types, files and folders: each is plain English, or explained in GLOSSARY.md. And the
// words of comments about the JavaScript engine: where speed is not the subject, they say nothing to a reader.

import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import ts from "typescript";

/**
 * A word and where it was first found.
 *
 * @typedef {{ readonly word: string, readonly place: string }} Found
 */

/**
 * The words of a name: `RunState` and `run-state` are both `run` and `state`.
 *
 * @param {string} name
 */
export function wordsOf(name) {
  const spaced = name.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll(/([A-Z]+)([A-Z][a-z])/g, "$1 $2");
  return spaced
    .split(/[^A-Za-z]+/)
    .filter((word) => word.length > 1)
    .map((word) => word.toLowerCase());
}

/**
 * The names of the interfaces, type aliases and classes of a source file.
 *
 * @param {string} text
 */
export function typeNames(text) {
  const source = ts.createSourceFile("file.tsx", text, ts.ScriptTarget.Latest);
  /** @type {string[]} */
  const names = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    const isType = ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isClassDeclaration(node);
    if (isType && node.name !== undefined) names.push(node.name.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return names;
}

/**
 * The words that GLOSSARY.md explains: those in the first column of its tables.
 *
 * @param {string} glossary
 */
export function glossaryWords(glossary) {
  const rows = [...glossary.matchAll(/^\| ([^|]+) \|/gm)].map((row) => row[1] ?? "");
  return new Set(rows.flatMap(wordsOf));
}

/**
 * The words under these folders that are neither plain nor in the glossary.
 *
 * @param {string} root
 * @param {readonly string[]} folders
 * @param {ReadonlySet<string>} known
 * @returns {readonly Found[]}
 */
export function findUnknownWords(root, folders, known) {
  /** @type {Map<string, string>} */
  const unknown = new Map();
  /** @param {string} name @param {string} place */
  const look = (name, place) => {
    for (const word of wordsOf(name)) if (!known.has(word) && !unknown.has(word)) unknown.set(word, place);
  };
  for (const { place, text } of listSources(root, folders)) {
    const within = folders.find((folder) => place.startsWith(`${folder}/`)) ?? "";
    look(place.slice(within.length).replace(/\.tsx?$/, ""), place);
    for (const name of typeNames(text)) look(name, `${name} in ${place}`);
  }
  return [...unknown].map(([word, place]) => ({ word, place }));
}

/** Folders in which speed is part of the subject. */
const FAST_FOLDERS = ["src/wire/", "src/streams/", "src/transports/", "src/sessions/stores/"];

const ABOUT_THE_ENGINE =
  /\b(V8|hidden class(es)?|(de)?optimi[sz]e[sdr]?( code)?|garbage( collector)?|inlined by|inlining|monomorphic|megamorphic|JIT|(class|separate (function|loop))\b[^.]*\bonce (per|for each) \w+)\b/i;

/**
 * The comments about the engine outside the folders for speed.
 *
 * @param {string} root
 * @param {readonly string[]} folders
 * @returns {readonly Found[]}
 */
export function findEngineComments(root, folders) {
  return listSources(root, folders).flatMap(({ place, text }) => {
    if (FAST_FOLDERS.some((folder) => place.startsWith(folder))) return [];
    return commentsOf(text).flatMap(({ comment, line }) => {
      const word = ABOUT_THE_ENGINE.exec(comment.replaceAll(/\s+(\*|\/\/)?\s*/g, " "))?.[0];
      return word === undefined ? [] : [{ word, place: `${place}:${line}` }];
    });
  });
}

/**
 * The comments of a source file, with the numbers of their lines.
 *
 * @param {string} text
 */
function commentsOf(text) {
  const source = ts.createSourceFile("file.tsx", text, ts.ScriptTarget.Latest, true);
  /** @type {Map<number, { readonly comment: string, readonly line: number }>} */
  const comments = new Map();
  /** @param {ts.Node} node */
  const visit = (node) => {
    const before = ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [];
    const after = ts.getTrailingCommentRanges(text, node.getEnd()) ?? [];
    for (const { pos, end } of [...before, ...after]) {
      comments.set(pos, { comment: text.slice(pos, end), line: source.getLineAndCharacterOfPosition(pos).line + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  visit(source.endOfFileToken);
  return [...comments.values()];
}

/**
 * The sources under these folders, without tests and declarations.
 *
 * @param {string} root
 * @param {readonly string[]} folders
 */
function listSources(root, folders) {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && /(?<!\.test|\.d)\.tsx?$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => ({ place: relative(root, path).split(sep).join("/"), text: readFileSync(path, "utf8") })),
  );
}
