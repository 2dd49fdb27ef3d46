import { pathToFileURL } from "node:url";

/** What Node is told when it loads a configuration. */
interface GuardData {
  /** Addresses and digests of the files that may be loaded. */
  readonly digests: Readonly<Record<string, string>>;
  /** The address of the configuration. */
  readonly entry: string;
  /** The address of this package's folder, which is trusted. */
  readonly own: string;
}

/**
 * A program text, because before Node 22.15 such functions run in a thread of their own. It follows who imports whom,
 * from the configuration on, and lets only those bytes through that were judged.
 */
const GUARD = `
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const then = (value, next) => (value instanceof Promise ? value.then(next) : next(value));

export function createHooks({ digests, entry, own }) {
  const guarded = new Set([entry]);
  return {
    resolve(specifier, context, nextResolve) {
      return then(nextResolve(specifier, context), (found) => {
        const isOurs = guarded.has(context.parentURL) && found.url.startsWith("file:") && !found.url.startsWith(own);
        if (isOurs) guarded.add(found.url);
        return found;
      });
    },
    load(url, context, nextLoad) {
      if (!guarded.has(url)) return nextLoad(url, context);
      const path = fileURLToPath(url);
      const expected = digests[path];
      if (expected === undefined) {
        throw new Error(path + " was not among the files that you trusted. Import it by its full name, and trust the configuration again.");
      }
      return then(nextLoad(url, context), (found) => {
        const source = found.source ?? readFileSync(path);
        if (createHash("sha256").update(source).digest("hex") !== expected) {
          throw new Error(path + " has changed since it was looked at, and is not used.");
        }
        // A script with a source of ours gets a lesser "require" on an old Node, which many packages cannot live with.
        return found.source == null && /[\\\\/]node_modules[\\\\/]/.test(path) ? found : { ...found, source };
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
  createHooks(data: GuardData): unknown;
  /** Imports in that program: a bundler that runs this file would load the module itself, past the guard. */
  bring(url: string): Promise<unknown>;
}

/** Imports a module; of the files it imports, now and later, only those are loaded that are as they were judged. */
export async function importGuarded(file: string, digests: ReadonlyMap<string, string>): Promise<unknown> {
  const entry = pathToFileURL(file).href;
  const data: GuardData = { entry, digests: Object.fromEntries(digests), own: new URL("../../", import.meta.url).href };
  const program = `data:text/javascript,${encodeURIComponent(GUARD)}`;
  const { createHooks, bring } = (await import(program)) as GuardProgram;
  const module = process.getBuiltinModule("node:module");
  const { registerHooks } = module as { registerHooks?(hooks: unknown): unknown };
  if (registerHooks === undefined) module.register(program, { parentURL: import.meta.url, data });
  else registerHooks(createHooks(data));
  return await bring(entry);
}
