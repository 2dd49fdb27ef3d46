import { existsSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createSystemFiles } from "#transports";
import { importGuarded } from "../../src/runtime/config-guard.ts";
import { readReach } from "../../src/runtime/config-reach.ts";
import { temporaryFolder } from "../temporary-folder.ts";

// A configuration that was judged, and files that change before they are loaded: only what was judged runs, on every Node
// that we support. Before Node 22.15 `require` is guarded in another way than `import`.

const top = realpathSync(temporaryFolder("guard"));
let project = "";
let canary = "";
let turn = 0;
beforeEach(() => {
  // Another folder each time: Node runs a module once in a process.
  turn += 1;
  project = join(top, `project-${turn}`);
  canary = join(top, `canary-${turn}`);
});

const put = (name: string, text: string | Uint8Array): void => {
  const path = join(project, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};
const evil = (): string => `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(canary)}, "");`;
const evilScript = (): string => `require("node:fs").writeFileSync(${JSON.stringify(canary)}, "");`;

/** Judges a configuration, lets the files change, and loads it. */
async function load(files: Readonly<Record<string, string | Uint8Array>>, change: () => void): Promise<unknown> {
  for (const [name, text] of Object.entries(files)) put(name, text);
  const file = join(project, "c.mjs");
  const { digests } = await readReach(file, createSystemFiles());
  change();
  try {
    return await importGuarded(file, digests);
  } catch (error) {
    caught.add(error);
    throw error;
  }
}

// Before Node 22 a script that throws while it is imported is reported a second time, as a rejection that no program can handle
// (`ignoreSecondReport`). Vitest is told of every other one.
const caught = new Set<unknown>();
const listeners = process.listeners("unhandledRejection");
const passOn = (reason: unknown, promise: Promise<unknown>): void => {
  if (!caught.has(reason)) for (const listener of listeners) listener(reason, promise);
};
beforeAll(() => {
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", passOn);
});
afterAll(() => {
  process.removeAllListeners("unhandledRejection");
  for (const listener of listeners) process.on("unhandledRejection", listener);
});

/** Before Node 22.15 a required module may not import anything. */
const REFUSED = /has changed since it was checked, and is not used|does not check what it imports/;

const SCRIPT = "module.exports = 1;";
const MODULE = "export default 1;";
const P = "node_modules/p/index.js";
/** A package whose entry is this script. */
const withPackage = (script: string): Readonly<Record<string, string>> => ({
  "c.mjs": 'import "p";',
  "node_modules/p/package.json": '{"name":"p","main":"index.js"}',
  [P]: script,
});

describe("F-A1: a file that changed since it was judged is not run", () => {
  it.each<[string, () => Readonly<Record<string, string>>, string, () => string]>([
    ["the entry of a package", () => withPackage(SCRIPT), P, evilScript],
    [
      "what a package requires",
      () => ({ ...withPackage('require("./a")'), "node_modules/p/a.js": SCRIPT }),
      "node_modules/p/a.js",
      evilScript,
    ],
    [
      "a folder that a package requires",
      () => ({ ...withPackage('require("./a")'), "node_modules/p/a/index.js": SCRIPT }),
      "node_modules/p/a/index.js",
      evilScript,
    ],
    [
      "a file without an ending",
      () => ({ ...withPackage('require("./a")'), "node_modules/p/a": SCRIPT }),
      "node_modules/p/a",
      evilScript,
    ],
    [
      "a package's package",
      () => ({ ...withPackage('require("q")'), "node_modules/q/index.js": SCRIPT }),
      "node_modules/q/index.js",
      evilScript,
    ],
    [
      "a module that a script requires",
      () => ({ ...withPackage('require("./a.mjs")'), "node_modules/p/a.mjs": MODULE }),
      "node_modules/p/a.mjs",
      evil,
    ],
    [
      "a module by the type of its package that a script requires",
      () => ({
        ...withPackage('require("q")'),
        "node_modules/q/package.json": '{"type":"module","main":"index.js"}',
        "node_modules/q/index.js": MODULE,
      }),
      "node_modules/q/index.js",
      evil,
    ],
    [
      "a module that a script imports",
      () => ({
        ...withPackage('module.exports = import("./a.mjs")'),
        "c.mjs": 'import p from "p"; await p;',
        "node_modules/p/a.mjs": MODULE,
      }),
      "node_modules/p/a.mjs",
      evil,
    ],
    [
      "a module that a required script imports",
      () => ({
        ...withPackage('module.exports = require("./b")'),
        "c.mjs": 'import p from "p"; await p;',
        "node_modules/p/b.js": 'module.exports = import("./a.mjs")',
        "node_modules/p/a.mjs": MODULE,
      }),
      "node_modules/p/a.mjs",
      evil,
    ],
    [
      "what a required module imports",
      () => ({
        ...withPackage('require("./b.mjs")'),
        "node_modules/p/b.mjs": 'import "./a.mjs"',
        "node_modules/p/a.mjs": MODULE,
      }),
      "node_modules/p/a.mjs",
      evil,
    ],
    [
      "what a module without a type imports that is required",
      () => ({
        ...withPackage('require("./b.js")'),
        "node_modules/p/b.js": ';import "./a.mjs"',
        "node_modules/p/a.mjs": MODULE,
      }),
      "node_modules/p/a.mjs",
      evil,
    ],
    [
      "what a required module requires",
      () => ({
        ...withPackage('require("./b.mjs")'),
        "node_modules/p/b.mjs": 'import "./a.cjs"',
        "node_modules/p/a.cjs": SCRIPT,
      }),
      "node_modules/p/a.cjs",
      evilScript,
    ],
    [
      "what createRequire of a package loads",
      () => ({
        ...withPackage('require("node:module").createRequire(__filename)("./a.cjs")'),
        "node_modules/p/a.cjs": SCRIPT,
      }),
      "node_modules/p/a.cjs",
      evilScript,
    ],
    [
      "what createRequire of a module in a package loads",
      () => ({
        "c.mjs": 'import "p";',
        "node_modules/p/package.json": '{"exports":"./i.mjs"}',
        "node_modules/p/i.mjs":
          'import { createRequire } from "node:module"; createRequire(import.meta.url)("./a.cjs");',
        "node_modules/p/a.cjs": SCRIPT,
      }),
      "node_modules/p/a.cjs",
      evilScript,
    ],
    [
      "what module.require loads",
      () => ({ ...withPackage('module.require("./a.cjs")'), "node_modules/p/a.cjs": SCRIPT }),
      "node_modules/p/a.cjs",
      evilScript,
    ],
    ["a script of the project", () => ({ "c.mjs": 'import "./a.cjs";', "a.cjs": SCRIPT }), "a.cjs", evilScript],
    [
      "what a script of the project requires",
      () => ({ "c.mjs": 'import "./a.cjs";', "a.cjs": 'require("./b.cjs")', "b.cjs": SCRIPT }),
      "b.cjs",
      evilScript,
    ],
    ["a module beside it", () => ({ "c.mjs": 'import "./a.mjs";', "a.mjs": MODULE }), "a.mjs", evil],
    [
      "through an address with data",
      () => ({
        "c.mjs": `await import("data:text/javascript,import " + JSON.stringify(new URL("./a.mjs", import.meta.url).href));`,
        "a.mjs": MODULE,
      }),
      "a.mjs",
      evil,
    ],
  ])("%s", async (_, files, changed, text) => {
    await expect(load(files(), () => put(changed, text()))).rejects.toThrow(REFUSED);
    expect(existsSync(canary)).toBe(false);
  });

  it("the data that a package requires", async () => {
    const files = { ...withPackage('module.exports = require("./a.json")'), "node_modules/p/a.json": '{"x":1}' };
    await expect(load(files, () => put("node_modules/p/a.json", '{"x":2}'))).rejects.toThrow(
      /a\.json has changed since/,
    );
  });

  it("an addon, before the system opens it", async () => {
    const files = { ...withPackage('require("./a.node")'), "node_modules/p/a.node": "none yet" };
    await expect(load(files, () => put("node_modules/p/a.node", "evil"))).rejects.toThrow(/a\.node has changed since/);
  });
});

describe("F-A1: a file that was not judged is not run", () => {
  it.each<[string, () => Readonly<Record<string, string>>, string, () => string]>([
    ["a name that is put together", () => withPackage('require("." + "/a")'), "node_modules/p/a.js", evilScript],
    [
      "a script that hides another one",
      () => ({ ...withPackage('require("./a")'), "node_modules/p/a/index.js": SCRIPT }),
      "node_modules/p/a.js",
      evilScript,
    ],
    [
      "another entry of a package",
      () => withPackage('require("q")'),
      "node_modules/p/node_modules/q/index.js",
      evilScript,
    ],
    [
      "a module that a script imports",
      () => ({ ...withPackage('module.exports = import("./" + "a.mjs")'), "c.mjs": 'import p from "p"; await p;' }),
      "node_modules/p/a.mjs",
      evil,
    ],
    [
      "through an address with data",
      () => ({
        "c.mjs": `await import("data:text/javascript,import " + JSON.stringify(${JSON.stringify(pathToFileURL(project).href)} + "/a.mjs"));`,
      }),
      "a.mjs",
      evil,
    ],
  ])("%s", async (_, files, added, text) => {
    await expect(load(files(), () => put(added, text()))).rejects.toThrow(/was not among the files that you trusted/);
    expect(existsSync(canary)).toBe(false);
  });

  it("a link that leads elsewhere by now", async () => {
    put("b.cjs", SCRIPT);
    put("evil.cjs", evilScript());
    mkdirSync(join(project, "node_modules/p"), { recursive: true });
    symlinkSync(join(project, "b.cjs"), join(project, "node_modules/p/a.cjs"));
    const relink = () => {
      rmSync(join(project, "node_modules/p/a.cjs"));
      symlinkSync(join(project, "evil.cjs"), join(project, "node_modules/p/a.cjs"));
    };
    await expect(load(withPackage('require("./a.cjs")'), relink)).rejects.toThrow(/was not among the files/);
    expect(existsSync(canary)).toBe(false);
  });
});

describe("F-A1: what was judged is run as Node would run it", () => {
  it("scripts have the whole of require", async () => {
    const script = `
      exports.extensions = Object.keys(require.extensions);
      exports.paths = require.resolve.paths("x").length > 0;
      exports.resolved = require.resolve("./data.txt");
      exports.cached = require.cache[__filename] === module;
      exports.main = "main" in require;
      exports.data = require("./d.json");
      exports.builtin = typeof require("fs").readFileSync;
      exports.again = require("./b") === require("./b");`;
    const files = {
      ...withPackage(script),
      "c.mjs": 'export { default } from "p"; import "./a.cjs";',
      "a.cjs": 'if (require("./d.json").y !== 2) throw new Error("no")',
      "d.json": '\uFEFF{"y":2}',
      "node_modules/p/d.json": '{"x":1}',
      "node_modules/p/b.js": "#!/usr/bin/env node\nmodule.exports = {}",
      "node_modules/p/data.txt": "",
    };
    const loaded = (await load(files, () => undefined)) as { default: object };
    expect(loaded.default).toMatchObject({
      paths: true,
      resolved: join(project, "node_modules/p/data.txt"),
      cached: true,
      main: true,
      data: { x: 1 },
      builtin: "function",
      again: true,
    });
  });

  it("a script that is not UTF-8", async () => {
    const latin1 = Buffer.from("/* caf\xe9 */ module.exports = 7", "latin1");
    expect(
      await load({ ...withPackage(""), "c.mjs": 'export { default } from "p";', [P]: latin1 }, () => undefined),
    ).toMatchObject({ default: 7 });
  });

  it("a module that a script requires", async () => {
    const files = {
      ...withPackage('module.exports = [require("./a.mjs").default, require("./b").default]'),
      "c.mjs": 'export { default } from "p";',
      "node_modules/p/a.mjs": MODULE,
      "node_modules/p/b.js": "export default 2;",
    };
    expect(await load(files, () => undefined)).toMatchObject({ default: [1, 2] });
  });

  const hasTypes = Boolean((process.features as { readonly typescript?: unknown }).typescript);
  it("a script with types, and what it requires, where Node reads them; elsewhere it is refused", async () => {
    const files = {
      "c.mjs": 'export { default } from "./a.cts"; import "./d.cjs";',
      "a.cts": 'const x: number = require("./b.cts"); module.exports = x;',
      "b.cts": "module.exports = 3 as number;",
      "d.cjs": 'require("./b.cts")',
    };
    const loading = load(files, () => undefined);
    if (hasTypes) expect(await loading).toMatchObject({ default: 3 });
    else await expect(loading).rejects.toThrow('Unknown file extension ".cts"');
  });

  it("names that a package puts together, as long as they stay inside of it", async () => {
    const files = {
      ...withPackage('module.exports = require("./locale/" + ["de"][0])'),
      "c.mjs": 'export { default } from "p";',
      "node_modules/p/locale/de.js": "module.exports = 'Hallo'",
    };
    expect(await load(files, () => undefined)).toMatchObject({ default: "Hallo" });
  });

  it("what has no guard is left unchanged", async () => {
    await load({ "c.mjs": "export default 1" }, () => undefined);
    put("other.cjs", evilScript());
    await import(pathToFileURL(join(project, "other.cjs")).href);
    expect(existsSync(canary)).toBe(true);
  });
});
