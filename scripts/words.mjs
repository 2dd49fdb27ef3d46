// The words in the names of our types, files and folders: each is plain English, or explained in GLOSSARY.md.

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
  for (const folder of folders) {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true, recursive: true })) {
      const path = join(entry.parentPath, entry.name);
      const place = relative(root, path).split(sep).join("/");
      if (entry.isDirectory()) look(entry.name, place);
      if (!entry.isFile() || !/(?<!\.test|\.d)\.tsx?$/.test(entry.name)) continue;
      look(entry.name.replace(/\.tsx?$/, ""), place);
      for (const name of typeNames(readFileSync(path, "utf8"))) look(name, `${name} in ${place}`);
    }
  }
  return [...unknown].map(([word, place]) => ({ word, place }));
}
