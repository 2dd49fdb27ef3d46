// Which tests prove which requirement: read from the titles of the tests, written to docs/requirements.md. `npm run
// requirements:write` writes the page; test/pins/requirements.test.ts fails if it is out of date.

import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import ts from "typescript";

/**
 * @typedef {{ id: string, kind: "must" | "superseded" | "elsewhere", says: string, note?: string }} Requirement
 *   `note`: what applies instead, for an id that was decided otherwise or is proven by something other than a test.
 * @typedef {{ requirement: Requirement, files: readonly string[] }} Row
 */

/** Also wrappers: `describeRealCli`, `describeInBrowser`. */
const TEST_FUNCTION = /^(?:describe\w*|it|test)$/;
const TEST_FOLDERS = ["src", "test", "scripts", "web/src"];
/** Its titles are examples. */
const NO_PROOF = "test/pins/requirements.test.ts";

/**
 * The requirements with the test files that name them in a title.
 *
 * @param {string} root
 * @returns {readonly Row[]}
 */
export function readRequirements(root) {
  /** @type {readonly Requirement[]} */
  const requirements = JSON.parse(readFileSync(join(root, "test/requirements/ids.json"), "utf8"));
  /** @type {Map<string, Set<string>>} */
  const proven = new Map();
  for (const file of TEST_FOLDERS.flatMap((folder) => listTests(join(root, folder)))) {
    const path = relative(root, file).split(sep).join("/");
    if (path === NO_PROOF) continue;
    for (const id of readTitles(file).flatMap(readIds)) {
      const files = proven.get(id) ?? new Set();
      proven.set(id, files.add(path));
    }
  }
  return requirements.map((requirement) => ({ requirement, files: [...(proven.get(requirement.id) ?? [])].sort() }));
}

/**
 * The ids in a title: of requirements (`S1-119`), acceptance checks (`AT-4`) and decided contradictions (`C24`).
 * `S1-119 … 125`, `S1-119…S1-125` and `S1-119–125` name a range; `S0-79/80` and `S0-28,63` name several.
 *
 * @param {string} title
 * @returns {readonly string[]}
 */
export function readIds(title) {
  const ids = [];
  for (const [, prefix, first, last, more = ""] of title.matchAll(
    /(?<![-\w%])(S[0-4]-|AT-|C)(\d{1,3})(?!\w)(?:\s*(?:…|\.{2,3}|–)\s*(?:S[0-4]-|AT-|C)?(\d+))?((?:\s*[,/]\s*\d+(?![\d.]*\s*[a-zA-Z%]))*)/g,
  )) {
    for (let number = Number(first); number <= Number(last ?? first); number += 1) ids.push(`${prefix}${number}`);
    for (const [number] of more.matchAll(/\d+/g)) ids.push(`${prefix}${Number(number)}`);
  }
  return ids;
}

/**
 * The page.
 *
 * @param {readonly Row[]} rows
 */
export function writePage(rows) {
  const lines = rows.map(({ requirement: { id, kind, says, note }, files }) => {
    const state = { must: "", superseded: "*superseded* · ", elsewhere: "*not as written* · " }[kind];
    const proof = [...(note === undefined ? [] : [note]), ...files.map((file) => `[${shorten(file)}](../${file})`)];
    return `| ${id} | ${state}${escapeCell(says)} | ${proof.join(" · ")} |`;
  });
  return [
    "# Requirements and their proof",
    "",
    "Made from the titles of the tests by `npm run requirements:write`. An id that must hold and that no test names fails the suite.",
    "*Superseded*: a later requirement takes its place. *Not as written*: it speaks of another language or platform.",
    "",
    "| id | says | proof |",
    "|---|---|---|",
    ...lines,
    "",
  ].join("\n");
}

/**
 * The ids of kind `must` that have neither a test nor a note.
 *
 * @param {readonly Row[]} rows
 */
export function findUnproven(rows) {
  return rows
    .filter(
      ({ requirement, files }) => requirement.kind === "must" && requirement.note === undefined && files.length === 0,
    )
    .map(({ requirement }) => requirement.id);
}

/** @param {string} folder @returns {readonly string[]} */
function listTests(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(?:test|suite)\.tsx?$|^suite\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

/**
 * The first arguments of describe, it and test, also with .each, .skipIf and similar; and the strings in the tables of
 * .each, which become part of titles.
 *
 * @param {string} file
 */
function readTitles(file) {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  /** @type {Map<string, ts.Expression>} */
  const constants = new Map();
  /** @type {string[]} */
  const titles = [];
  const visit = (/** @type {ts.Node} */ node) => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer !== undefined) {
      constants.set(node.name.text, node.initializer);
    }
    if (ts.isCallExpression(node) && isTestFunction(node.expression)) {
      const [first] = node.arguments;
      const isEach = ts.isPropertyAccessExpression(node.expression) && node.expression.name.text === "each";
      if (first !== undefined && isEach) titles.push(...readTexts(first, constants));
      else if (first !== undefined && (ts.isStringLiteralLike(first) || ts.isTemplateExpression(first))) {
        titles.push(first.getText());
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return titles;
}

/**
 * The strings of a table, which may be a constant of the same file.
 *
 * @param {ts.Expression} table
 * @param {Map<string, ts.Expression>} constants
 */
function readTexts(table, constants) {
  /** @type {string[]} */
  const texts = [];
  const visit = (/** @type {ts.Node} */ node) => {
    if (ts.isStringLiteralLike(node)) texts.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.isIdentifier(table) ? (constants.get(table.text) ?? table) : table);
  return texts;
}

/** @param {ts.Expression} expression @returns {boolean} */
function isTestFunction(expression) {
  if (ts.isIdentifier(expression)) return TEST_FUNCTION.test(expression.text);
  if (ts.isPropertyAccessExpression(expression) || ts.isCallExpression(expression))
    return isTestFunction(expression.expression);
  return ts.isTaggedTemplateExpression(expression) && isTestFunction(expression.tag);
}

/** @param {string} file */
function shorten(file) {
  return file.replace(/^(?:src|test)\//, "").replace(/\.test\.tsx?$/, "");
}

/** @param {string} text */
function escapeCell(text) {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
