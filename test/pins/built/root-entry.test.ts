import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../../scripts/set-up.mjs";

/** Built-in modules that a program has loaded after running `code`, in a process of its own. */
function loadedBy(code: string): Set<string> {
  const script = `${code}\nconsole.log(JSON.stringify(process.moduleLoadList));`;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], { cwd: ROOT, encoding: "utf8" });
  const list: string[] = JSON.parse(output);
  return new Set(list.map((entry) => entry.replace(/^(NativeModule|Internal Binding) /, "")));
}

/** The code of a built file and of everything it imports, by file. */
function readWithImports(file: string, found = new Map<string, string>()): ReadonlyMap<string, string> {
  if (found.has(file)) return found;
  const code = readFileSync(file, "utf8");
  found.set(file, code);
  for (const [, path = ""] of code.matchAll(/^(?:import|export) .*from "(\.[^"]+)";$/gm)) {
    readWithImports(join(dirname(file), path), found);
  }
  return found;
}

const HEAVY = [
  "child_process",
  "cluster",
  "dgram",
  "http",
  "http2",
  "https",
  "inspector",
  "net",
  "readline",
  "repl",
  "sqlite",
  "tls",
  "worker_threads",
  "zlib",
];

describe("what importing an entry loads", () => {
  const bare = loadedBy("");

  it.each([
    "millrace",
    "millrace/anthropic",
    "millrace/openai",
    "millrace/google",
    "millrace/formats",
    "millrace/views",
    "millrace/testing",
    "millrace/sinks",
    "millrace/compare",
  ])("I11: %s loads no server, no socket, no process and no database", (entry) => {
    const loaded = loadedBy(`await import("${entry}");`);
    expect(HEAVY.filter((name) => loaded.has(name) && !bare.has(name))).toEqual([]);
  });

  it("this check sees what is loaded", () => {
    expect(loadedBy('await import("node:http");').has("http")).toBe(true);
    expect(bare.has("http")).toBe(false);
  });

  it("W6: the root loads few files of a bounded size, in ASCII: reading code is most of what an import costs", () => {
    const code = readWithImports(join(ROOT, "dist", "index.js"));
    expect([...code.keys()].map((file) => file.slice(ROOT.length)).toSorted()).toEqual([
      "dist/folders/base-dialects.js",
      "dist/folders/base.js",
      "dist/folders/core.js",
      "dist/index.js",
    ]);
    const all = [...code.values()].join("");
    expect(all).not.toMatch(/[\u0080-\uffff]/);
    // Raise it on purpose only: what few runs need is imported when they need it.
    expect(all.length).toBeLessThan(1_042_000);
  });
});
