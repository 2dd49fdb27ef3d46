// Finds places where sources use the outside world directly instead of receiving it. Clock, randomness, processes,
// network and files are passed in (src/domain/seams.ts), because only then can a test simulate them.
//
// Also finds what a caller cannot see: variables of a module that change, and casts that write to a `readonly` field.

import { readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import ts from "typescript";

/** Folders that use the outside world on purpose. */
const OUTER_FOLDERS = ["transports", "cli", "server", "emulator"];

/** The virtual clock lets pending work continue between two timers; that needs a turn of the event loop, not time. */
const EXCEPTIONS = new Map([["testing", "setImmediate"]]);

/** Forbidden globals, with their replacements. */
const GLOBALS = new Map([
  ["setTimeout", "clock.after"],
  ["setInterval", "clock.after"],
  ["setImmediate", "clock.after"],
  ["fetch", "the Fetch seam"],
  ["WebSocket", "a transport"],
  ["EventSource", "a transport"],
]);

/** Forbidden members of globals, with their replacements. */
const MEMBERS = new Map([
  ["Date.now", "clock.now"],
  ["performance.now", "clock.now"],
  ["process.hrtime", "clock.now"],
  ["AbortSignal.timeout", "clock.after and an AbortController"],
  ["Math.random", "random.next"],
  ["crypto.randomUUID", "random.id"],
  ["crypto.getRandomValues", "random.id"],
]);

/** Forbidden modules, with their replacements. The layer rules cover child_process, http and the other sockets. */
const MODULES = new Map([
  ["timers", "clock.after"],
  ["timers/promises", "clock.after"],
  ["perf_hooks", "clock.now"],
  ["fs", "the FileSystem seam"],
  ["fs/promises", "the FileSystem seam"],
]);

/** Modules that must not be loaded by name: imports of them are covered by the layer rules. */
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
 * Reads the sources under `<root>/src` and returns every violation, in the order of files and lines. Outer folders may
 * use the outside world, and nothing else that is forbidden here.
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
    const isOuter = OUTER_FOLDERS.includes(folderOf(root, path));
    const visit = (/** @type {ts.Node} */ node) => {
      const found = judgeWrite(node, checker) ?? (isOuter ? undefined : judge(node, checker));
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

const OPEN_COLLECTIONS = new Set(["Map", "Set", "WeakMap", "WeakSet"]);

/**
 * @param {ts.Node} node
 * @param {ts.TypeChecker} checker
 * @returns {{ reached: string, instead: string } | undefined}
 */
function judgeWrite(node, checker) {
  if (ts.isVariableDeclaration(node) && isOfModule(node)) {
    const name = node.name.getText();
    if ((ts.getCombinedNodeFlags(node) & ts.NodeFlags.Const) === 0) {
      return { reached: `the module's variable ${name}`, instead: "a field of an object or a variable of a function" };
    }
    if (isCollection(checker.getTypeAtLocation(node.name))) {
      return {
        reached: `the module's collection ${name}`,
        instead: "ReadonlyMap or ReadonlySet as its type",
      };
    }
    return undefined;
  }
  if (ts.isPropertyDeclaration(node) && hasModifier(node, ts.SyntaxKind.StaticKeyword)) {
    if (hasModifier(node, ts.SyntaxKind.ReadonlyKeyword)) return undefined;
    return {
      reached: `the static field ${node.name.getText()}`,
      instead: "a field of an object or a variable of a function",
    };
  }
  const target = writtenBy(node);
  if (target === undefined) return undefined;
  const left = leftmost(target);
  // A sticky pattern is set to its position before each use.
  const isPosition = ts.isPropertyAccessExpression(target) && target.name.text === "lastIndex";
  if (left !== target && !isPosition && ts.isIdentifier(left) && isModuleVariable(left, checker)) {
    return { reached: `the module's ${target.getText()}`, instead: "a field of an object or a variable of a function" };
  }
  if (!writesThroughCast(target, checker)) return undefined;
  return { reached: `a cast to write to ${target.getText()}`, instead: "a changed copy" };
}

/** @param {ts.Type} type */
function isCollection(type) {
  const symbol = type.getSymbol();
  if (symbol === undefined) return false;
  return (
    OPEN_COLLECTIONS.has(symbol.name) &&
    (symbol.declarations ?? []).every((one) => one.getSourceFile().isDeclarationFile)
  );
}

/**
 * What a node assigns to, counts, or deletes.
 *
 * @param {ts.Node} node
 * @returns {ts.Expression | undefined}
 */
function writtenBy(node) {
  if (ts.isBinaryExpression(node) && node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment) {
    return node.operatorToken.kind <= ts.SyntaxKind.LastAssignment ? node.left : undefined;
  }
  if (ts.isDeleteExpression(node)) return node.expression;
  if (ts.isPostfixUnaryExpression(node)) return node.operand;
  const counts = ts.isPrefixUnaryExpression(node) && [ts.SyntaxKind.PlusPlusToken, ts.SyntaxKind.MinusMinusToken];
  return counts && counts.includes(node.operator) ? node.operand : undefined;
}

/**
 * A cast that only excludes `undefined` does not count.
 *
 * @param {ts.Expression} target
 * @param {ts.TypeChecker} checker
 */
function writesThroughCast(target, checker) {
  if (!ts.isPropertyAccessExpression(target) && !ts.isElementAccessExpression(target)) return false;
  const owner = ts.isParenthesizedExpression(target.expression) ? target.expression.expression : target.expression;
  if (!ts.isAsExpression(owner)) return false;
  const before = checker.getNonNullableType(checker.getTypeAtLocation(owner.expression));
  const declaration = ts.isPropertyAccessExpression(target)
    ? before.getProperty(target.name.text)?.valueDeclaration
    : undefined;
  if (declaration !== undefined) return (ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Readonly) !== 0;
  return checker.getIndexInfosOfType(before).every((info) => info.isReadonly);
}

/**
 * @param {ts.Identifier} name
 * @param {ts.TypeChecker} checker
 */
function isModuleVariable(name, checker) {
  const declaration = checker.getSymbolAtLocation(name)?.valueDeclaration;
  if (declaration === undefined || declaration.getSourceFile().isDeclarationFile) return false;
  return ts.isVariableDeclaration(declaration) && isOfModule(declaration);
}

/** @param {ts.VariableDeclaration} node */
function isOfModule(node) {
  return ts.isVariableStatement(node.parent.parent) && ts.isSourceFile(node.parent.parent.parent);
}

/**
 * @param {ts.PropertyDeclaration} node
 * @param {ts.SyntaxKind} kind
 */
function hasModifier(node, kind) {
  return node.modifiers?.some((modifier) => modifier.kind === kind) === true;
}

/** @param {ts.Expression | undefined} specifier */
function judgeModule(specifier, modules = MODULES) {
  if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return undefined;
  const instead = modules.get(specifier.text.replace(/^node:/, ""));
  return instead === undefined ? undefined : { reached: specifier.text, instead };
}

/** @param {ts.Expression} node */
function leftmost(node) {
  let left = node;
  while (ts.isPropertyAccessExpression(left) || ts.isElementAccessExpression(left)) left = left.expression;
  return left;
}

/**
 * Whether an identifier is a value: not the name of a member, a property or a declaration.
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
 * Whether a name is a global of the platform. A parameter called `fetch` is not.
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
