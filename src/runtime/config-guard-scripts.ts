import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";

/** What is known about a configuration when Node loads it. */
export interface GuardData {
  /** The real paths and digests of the files that may be loaded. */
  readonly digests: Readonly<Record<string, string>>;
  /** The URL of this package's folder, which is trusted. */
  readonly own: string;
}

/**
 * Returns the text of a file if its digest is the trusted one. `source`: the code about to run, where known.
 *
 * @throws Error when the file has changed or was never trusted.
 */
export type RequireJudged = (path: string, expected: string | undefined, source?: string) => string;

/** A CommonJS module as Node represents it. */
interface Script {
  readonly filename?: string | null;
  exports: unknown;
}

/** The parts of `node:module` through which every CommonJS module is loaded. */
interface ScriptLoader {
  readonly prototype: { _compile(this: Script, content: string, filename: string, ...others: unknown[]): unknown };
  _resolveFilename(request: string, parent?: Script | null, ...others: unknown[]): string;
  readonly _extensions: Record<string, (script: Script, filename: string) => void>;
  /** Since Node 22.15. */
  readonly registerHooks?: unknown;
}

/**
 * Restricts trusted files to `require` only trusted files, with the text that was trusted. The hooks for imports do not
 * see what a CommonJS module requires.
 */
export function guardScripts({ digests, own }: GuardData, requireJudged: RequireJudged): void {
  const loader = process.getBuiltinModule("node:module") as unknown as ScriptLoader;
  const ownFolder = fileURLToPath(own);
  const reached = new Set<string>();
  const isGuarded = (path: string): boolean => reached.has(path) || Object.hasOwn(digests, path);

  const resolve = loader._resolveFilename;
  loader._resolveFilename = function (request, parent, ...others) {
    const found = resolve.call(this, request, parent, ...others);
    const isTrusted = !isAbsolute(found) || found.startsWith(ownFolder);
    if (!isTrusted && isGuarded(parent?.filename ?? "")) reached.add(found);
    return found;
  };

  const compile = loader.prototype._compile;
  loader.prototype._compile = function (content, filename, ...others) {
    if (isGuarded(filename)) {
      // Some versions of Node have stripped the types by now.
      const source = String(others[0]).endsWith("-typescript") ? undefined : content;
      requireJudged(filename, digests[filename], source);
      if (loader.registerHooks === undefined && isModule(content, others[0])) requireNoImports(filename, content);
    }
    return compile.call(this, content, filename, ...others);
  };

  const readData = loader._extensions[".json"];
  loader._extensions[".json"] = (script, filename) => {
    if (!isGuarded(filename)) return readData?.(script, filename);
    const text = requireJudged(filename, digests[filename]);
    script.exports = JSON.parse(text.replace(/^\uFEFF/, ""));
  };

  // Node opens these once more by name, so a file could change in between; the gap is as short as possible.
  for (const ending of [".node", ".mjs"]) {
    const load = loader._extensions[ending];
    if (load === undefined) continue;
    loader._extensions[ending] = (script, filename) => {
      if (isGuarded(filename)) {
        const text = requireJudged(filename, digests[filename]);
        if (loader.registerHooks === undefined && ending === ".mjs") requireNoImports(filename, text);
      }
      load(script, filename);
    };
  }
}

/** Whether Node would run a text as an ES module: it tries this when the text does not parse as CommonJS. */
function isModule(content: string, format: unknown): boolean {
  if (format === "module") return true;
  if (format === "commonjs") return false;
  try {
    process.getBuiltinModule("node:vm").compileFunction(content, ["exports", "require", "module"]);
    return false;
  } catch {
    return true;
  }
}

/** Before Node 22.15, no hook is called for the imports of an ES module that CommonJS code requires. */
function requireNoImports(filename: string, text: string): void {
  if (!/\b(?:import|from)\b/.test(text)) return;
  throw new Error(
    `${filename} is a module that a script requires, and this Node (${process.versions.node}) does not check what it imports. ` +
      "Use Node 22.15 or later, import it instead, or use --config.",
  );
}
