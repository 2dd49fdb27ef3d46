// Finds places where sources reach for the outside world instead of being given it. Clock, chance, processes, network
// and files are passed in (src/domain/seams.ts), because only then can a test play the world.

import { readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import ts from "typescript";

/** Folders that meet the outside world on purpose. */
const OUTER_FOLDERS = ["transports", "cli", "server", "emulator"];

/** The virtual clock lets waiting work go on between two timers; that takes a turn of the event loop, not time. */
const EXCEPTIONS = new Map([["testing", "setImmediate"]]);

/** Globals that must not be used, with what to use instead. */
const GLOBALS = new Map([
  ["setTimeout", "clock.after"],
  ["setInterval", "clock.after"],
  ["setImmediate", "clock.after"],
  ["fetch", "the Fetch seam"],
  ["WebSocket", "a transport"],
  ["EventSource", "a transport"],
]);

/** Members of globals, likewise. */
const MEMBERS = new Map([
  ["Date.now", "clock.now"],
  ["performance.now", "clock.now"],
  ["process.hrtime", "clock.now"],
  ["AbortSignal.timeout", "clock.after and an AbortController"],
  ["Math.random", "random.next"],
  ["crypto.randomUUID", "random.id"],
  ["crypto.getRandomValues", "random.id"],
]);

/** Modules, likewise. The layer rules hold child_process, http and the other sockets. */
const MODULES = new Map([
  ["timers", "clock.after"],
  ["timers/promises", "clock.after"],
  ["perf_hooks", "clock.now"],
  ["fs", "the FileSystem seam"],
  ["fs/promises", "the FileSystem seam"],
]);

/** Modules that nobody may take by name: where they are imported, the layer rules see it. */
const HELD_MODULES = new Map(
  ["child_process", "http", "https", "http2", "net", "tls", "dgram", "worker_threads"].map((name) => [
    name,
    "a transport",
  ]),
);

/**
 * @typedef {{ path: string, line: number, reached: string, instead: string }} Reach
 */

/**
 * Reads the sources under `<root>/src` and returns every reach, in the order of files and lines.
 *
 * @param {string} root
 * @returns {{ files: number, reaches: Reach[] }}
 */
export function findReaches(root) {
  const paths = listSources(root);
  const program = ts.createProgram(paths, readOptions(root));
  const checker = program.getTypeChecker();
  /** @type {Reach[]} */
  const reaches = [];
  for (const path of paths) {
    const source = program.getSourceFile(path);
    if (source === undefined) continue;
    const visit = (/** @type {ts.Node} */ node) => {
      const found = judge(node, checker);
      if (found !== undefined && EXCEPTIONS.get(folderOf(root, path)) !== found.reached) {
        const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
        reaches.push({ path: relative(root, path), line, ...found });
      } else {
        ts.forEachChild(node, visit);
      }
    };
    visit(source);
  }
  return { files: paths.length, reaches };
}

/** @param {string} root */
function listSources(root) {
  const source = join(root, "src");
  return readdirSync(source, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .filter((name) => !OUTER_FOLDERS.some((folder) => name.replaceAll("\\", "/").startsWith(`${folder}/`)))
    .sort()
    .map((name) => join(source, name));
}

/**
 * @param {string} root
 * @param {string} path
 */
function folderOf(root, path) {
  return relative(join(root, "src"), path).split(sep)[0] ?? "";
}

/** @param {string} root */
function readOptions(root) {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), (path) => ts.sys.readFile(path));
  return { ...ts.parseJsonConfigFileContent(config, ts.sys, root).options, noEmit: true };
}

/**
 * @param {ts.Node} node
 * @param {ts.TypeChecker} checker
 * @returns {{ reached: string, instead: string } | undefined}
 */
function judge(node, checker) {
  if (ts.isPropertyAccessExpression(node)) {
    // `globalThis.setTimeout` is `setTimeout`, and `globalThis.Date.now` is `Date.now`.
    const reached = node
      .getText()
      .replaceAll(/\s|\?/g, "")
      .replace(/^(globalThis|global)\./, "");
    const instead = MEMBERS.get(reached) ?? (node.getText() === reached ? undefined : GLOBALS.get(reached));
    if (instead !== undefined && isGlobal(leftmost(node), checker)) return { reached, instead };
    return undefined;
  }
  if (ts.isIdentifier(node) && isValue(node)) {
    const instead = GLOBALS.get(node.text);
    if (instead !== undefined && isGlobal(node, checker)) return { reached: node.text, instead };
    return undefined;
  }
  if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === "Date") {
    const readsClock = ts.isCallExpression(node) || (node.arguments ?? []).length === 0;
    if (readsClock && isGlobal(node.expression, checker)) return { reached: "Date()", instead: "clock.now" };
    return undefined;
  }
  if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined) {
    if (ts.isImportDeclaration(node) && node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword)
      return undefined;
    return judgeModule(node.moduleSpecifier);
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return judgeModule(node.arguments[0]);
  }
  if (ts.isCallExpression(node) && /\bgetBuiltinModule$/.test(node.expression.getText())) {
    return judgeModule(node.arguments[0]) ?? judgeModule(node.arguments[0], HELD_MODULES);
  }
  return undefined;
}

/** @param {ts.Expression | undefined} specifier */
function judgeModule(specifier, modules = MODULES) {
  if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return undefined;
  const instead = modules.get(specifier.text.replace(/^node:/, ""));
  return instead === undefined ? undefined : { reached: specifier.text, instead };
}

/** @param {ts.PropertyAccessExpression} node */
function leftmost(node) {
  /** @type {ts.Expression} */
  let left = node;
  while (ts.isPropertyAccessExpression(left)) left = left.expression;
  return left;
}

/**
 * Whether an identifier stands for a value: not the name of a member, a property or a declaration.
 *
 * @param {ts.Identifier} node
 */
function isValue(node) {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isPropertyAssignment(parent) || ts.isBindingElement(parent)) return parent.initializer === node;
  return !ts.isTypeNode(parent) && !ts.isTypeElement(parent) && !ts.isClassElement(parent);
}

/**
 * Whether a name is the platform's. A parameter called `fetch` is the caller's own.
 *
 * @param {ts.Node} node
 * @param {ts.TypeChecker} checker
 */
function isGlobal(node, checker) {
  const parent = node.parent;
  const symbol = ts.isShorthandPropertyAssignment(parent)
    ? checker.getShorthandAssignmentValueSymbol(parent)
    : checker.getSymbolAtLocation(node);
  const declarations = symbol?.declarations ?? [];
  return declarations.every((declaration) => declaration.getSourceFile().isDeclarationFile);
}
