import { pathToFileURL } from "node:url";
import { type GuardData, guardScripts, type RequireJudged } from "./config-guard-scripts.ts";

/**
 * A program in a string, because before Node 25 it runs in a separate thread. It follows imports starting from the
 * trusted files and only lets trusted bytes through. CommonJS modules are passed on without their source, because Node
 * gives a module that comes with its source a limited `require`; `guardScripts` checks their text when it is compiled.
 */
const GUARD = `
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const then = (value, next) => (value instanceof Promise ? value.then(next) : next(value));
const pathOf = (url) => (url?.startsWith("file:") ? fileURLToPath(url) : undefined);

export function requireJudged(path, expected, source) {
  if (expected === undefined) {
    throw new Error(path + " was not among the files that you trusted. Import it by its full name and trust the configuration again, or use --config.");
  }
  // What is run is compared, too: the file may change again after this look.
  const bytes = readFileSync(path);
  const isSame = source === undefined || (typeof source === "string" ? bytes.toString() === source : bytes.equals(source));
  if (isSame && createHash("sha256").update(bytes).digest("hex") === expected) return bytes.toString();
  throw new Error(path + " has changed since it was checked, and is not used.");
}

export function createHooks({ digests, own }) {
  const reached = new Set();
  const isGuarded = (url) => reached.has(url) || Object.hasOwn(digests, pathOf(url) ?? "");
  return {
    resolve(specifier, context, nextResolve) {
      return then(nextResolve(specifier, context), (found) => {
        const isTrusted = found.url.startsWith("node:") || found.url.startsWith(own);
        if (!isTrusted && isGuarded(context.parentURL)) reached.add(found.url);
        return found;
      });
    },
    load(url, context, nextLoad) {
      const path = pathOf(url);
      // An address with data holds its own source, which stands in a judged file.
      if (path === undefined || !isGuarded(url)) return nextLoad(url, context);
      return then(nextLoad(url, context), (found) => {
        requireJudged(path, digests[path], found.source ?? undefined);
        const isScript = found.format === "commonjs" && context.conditions?.includes("import");
        return isScript ? { ...found, source: null } : found;
      });
    },
  };
}

let hooks;
export const initialize = (data) => { hooks = createHooks(data); };
export const resolve = (...args) => hooks.resolve(...args);
export const load = (...args) => hooks.load(...args);
export const bring = (url) => import(url);
`;

interface GuardProgram {
  readonly requireJudged: RequireJudged;
  createHooks(data: GuardData): unknown;
  /**
   * Imports from within that program: a bundler that runs this file would load the module itself and bypass the guard.
   */
  bring(url: string): Promise<unknown>;
}

/** In earlier versions, hooks in this thread must return the source of a CommonJS module. */
const FIRST_WITH_HOOKS_FOR_SCRIPTS = 25;

/** Imports a module; of the files it loads, now and later, only those with the trusted content are accepted. */
export async function importGuarded(file: string, digests: ReadonlyMap<string, string>): Promise<unknown> {
  const data: GuardData = { digests: Object.fromEntries(digests), own: new URL("../../", import.meta.url).href };
  const program = `data:text/javascript,${encodeURIComponent(GUARD)}`;
  const { createHooks, requireJudged, bring } = (await import(program)) as GuardProgram;
  const module = process.getBuiltinModule("node:module");
  const { registerHooks } = module as { registerHooks?(hooks: unknown): unknown };
  const major = Number.parseInt(process.versions.node, 10);
  if (registerHooks === undefined || major < FIRST_WITH_HOOKS_FOR_SCRIPTS) {
    module.register(program, { parentURL: import.meta.url, data });
  } else registerHooks(createHooks(data));
  guardScripts(data, requireJudged);
  return await bring(pathToFileURL(file).href);
}
