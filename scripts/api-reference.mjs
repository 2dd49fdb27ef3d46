// Generates the API reference from the sources: a page for each entry of the package, and one for the types that occur
// in signatures but cannot be imported by name.

import { join } from "node:path";
import { Application, Comment, Converter, makeRecursiveVisitor, ReflectionKind } from "typedoc";
import ts from "typescript";
import { readEntries } from "./entries.mjs";

/** The page of types that occur only in signatures. */
const UNNAMED = "types";
const UNNAMED_COMMENT =
  "Types that occur in the signatures of the other pages. They cannot be imported by these names: take them from where " +
  'they occur, for example `EventOf<"text-delta">` or `AgentLink["policy"]`.';

const VALUES = ReflectionKind.Function | ReflectionKind.Class | ReflectionKind.Variable | ReflectionKind.Enum;

/**
 * Writes the pages into a folder, which is emptied first.
 *
 * @param {string} root
 * @param {string} out
 * @returns {Promise<string[]>} the problems: exports without a comment or an example, broken links
 */
export async function writeReference(root, out) {
  const entries = readEntries(root);
  const app = await Application.bootstrapWithPlugins(settings(root, out, [...entries.values()]));
  const names = new Map([...entries].map(([name, source]) => [source, name]));
  // After items marked @internal were removed: they refer to many types that nothing else uses.
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, (context) => addUnnamed(context, root), -100);
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => nameModules(project, names), 900);
  const faults = listen(app.logger);
  const project = await app.convert();
  if (project === undefined) return ["The sources cannot be read.", ...faults];
  app.validate(project);
  faults.push(...findUndocumented(project));
  await app.generateOutputs(project);
  return faults;
}

/**
 * @param {string} root
 * @param {string} out
 * @param {string[]} entryPoints
 * @returns {import("typedoc").TypeDocOptions & import("typedoc-plugin-markdown").PluginOptions}
 */
function settings(root, out, entryPoints) {
  return {
    entryPoints,
    tsconfig: join(root, "tsconfig.json"),
    skipErrorChecking: true, // `npm run types` checks those
    plugin: ["typedoc-plugin-markdown"],
    readme: "none",
    // No line numbers: a page should change only if its subject does.
    disableSources: true,
    excludeExternals: true,
    excludePrivate: true,
    excludeInternal: true,
    sort: ["kind", "alphabetical"],
    validation: { notExported: false, invalidLink: true, invalidPath: true, notDocumented: false },
    outputs: [{ name: "markdown", path: out }],
    router: "module",
    entryFileName: "README",
    hidePageHeader: true,
    hideBreadcrumbs: true,
    useCodeBlocks: true,
    pageTitleTemplates: { index: () => "API reference", module: ({ name }) => `\`${name}\`` },
    parametersFormat: "table",
    interfacePropertiesFormat: "table",
    classPropertiesFormat: "table",
    typeAliasPropertiesFormat: "table",
    typeDeclarationFormat: "table",
    propertyMembersFormat: "table",
    tableColumnSettings: { hideModifiers: true, hideInherited: true, hideOverrides: true, hideSources: true },
  };
}

/**
 * Collects warnings and errors instead of printing them.
 *
 * @param {import("typedoc").Logger} logger
 * @returns {string[]}
 */
function listen(logger) {
  /** @type {string[]} */
  const faults = [];
  const { log } = logger;
  logger.log = (message, level) => {
    if (level >= 2) faults.push(message);
    else log.call(logger, message, 0);
  };
  return faults;
}

/**
 * Names modules by their import specifier.
 *
 * @param {import("typedoc").ProjectReflection} project
 * @param {ReadonlyMap<string, string>} names
 */
function nameModules(project, names) {
  for (const module of project.children ?? []) {
    const source = project.getSymbolIdFromReflection(module)?.fileName;
    const name = source === undefined ? undefined : names.get(source);
    if (name !== undefined) module.name = name;
  }
}

/**
 * Puts referenced types that no entry exports on a separate page, until none is left.
 *
 * @param {import("typedoc").Context} context
 * @param {string} root
 */
function addUnnamed(context, root) {
  const { project, programs } = context;
  const [program] = programs;
  if (program === undefined) return;
  context.setActiveProgram(program);
  const module = context.createDeclarationReflection(ReflectionKind.Module, undefined, undefined, UNNAMED);
  module.comment = new Comment([{ kind: "text", text: UNNAMED_COMMENT }]);
  context.finalizeDeclarationReflection(module);
  const scope = context.withScope(module);
  const seen = new Set();
  for (let isDone = false; !isDone; ) {
    isDone = true;
    for (const { fileName, qualifiedName } of findUnresolved(project)) {
      const key = `${fileName} ${qualifiedName}`;
      if (seen.has(key) || !fileName?.startsWith(join(root, "src"))) continue;
      seen.add(key);
      const symbol = findSymbol(program, fileName, qualifiedName);
      if (symbol === undefined) continue;
      context.converter.convertSymbol(scope, symbol);
      isDone = false;
    }
  }
}

/**
 * The referenced types that are on no page.
 *
 * @param {import("typedoc").ProjectReflection} project
 * @returns {import("typedoc").ReflectionSymbolId[]}
 */
function findUnresolved(project) {
  /** @type {import("typedoc").ReflectionSymbolId[]} */
  const found = [];
  const visitor = makeRecursiveVisitor({
    reference(type) {
      const id = type.reflection === undefined ? type.symbolId : undefined;
      if (id !== undefined && !type.isIntentionallyBroken()) found.push(id);
    },
  });
  for (const reflection of Object.values(project.reflections)) {
    for (const type of typesOf(reflection)) type?.visit(visitor);
  }
  return found;
}

/** @param {import("typedoc").Reflection} reflection */
function typesOf(reflection) {
  if (reflection.isDeclaration()) return [reflection.type, ...(reflection.extendedTypes ?? [])];
  if (reflection.isTypeParameter()) return [reflection.type, reflection.default];
  return reflection.isSignature() || reflection.isParameter() ? [reflection.type] : [];
}

/**
 * @param {ts.Program} program
 * @param {string} fileName
 * @param {string} name
 */
function findSymbol(program, fileName, name) {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(fileName);
  if (source === undefined) return undefined;
  // The scope also contains the exports of a module, but under a symbol without a declaration.
  const module = checker.getSymbolAtLocation(source);
  const exported = module === undefined ? [] : checker.getExportsOfModule(module);
  const inScope = checker.getSymbolsInScope(source, ts.SymbolFlags.Type | ts.SymbolFlags.Value);
  return [...exported, ...inScope].find((symbol) => symbol.name === name && isDeclaredIn(symbol, source));
}

/**
 * @param {ts.Symbol} symbol
 * @param {ts.SourceFile} source
 */
function isDeclaredIn(symbol, source) {
  return symbol.declarations?.some((declaration) => declaration.getSourceFile() === source) ?? false;
}

/**
 * Exports without a comment, and values without an example.
 *
 * @param {import("typedoc").ProjectReflection} project
 * @returns {string[]}
 */
function findUndocumented(project) {
  /** @type {string[]} */
  const faults = [];
  for (const module of project.children ?? []) {
    if (!module.comment) faults.push(`${module.name} has no comment that says what it is for (@module).`);
    for (const item of module.children ?? []) {
      if (item.isReference() || module.name === UNNAMED) continue;
      const comments = [item.comment, ...(item.signatures ?? []).map((signature) => signature.comment)];
      const comment = comments.find((candidate) => candidate !== undefined);
      if (comment === undefined) faults.push(`${module.name}: ${item.name} has no comment.`);
      else if (item.kindOf(VALUES) && !comments.some((candidate) => candidate?.getTag("@example")))
        faults.push(`${module.name}: ${item.name} has no @example.`);
    }
  }
  return faults;
}
