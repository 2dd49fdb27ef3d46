import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../../scripts/set-up.mjs";

/** Built-in modules that a program has loaded after running `code`, in a process of its own. */
function loadedBy(code: string): Set<string> {
  const script = `${code}\nconsole.log(JSON.stringify(process.moduleLoadList));`;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], { cwd: ROOT, encoding: "utf8" });
  const list: string[] = JSON.parse(output);
  return new Set(list.map((entry) => entry.replace(/^(NativeModule|Internal Binding) /, "")));
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
  ])("I11: %s loads no server, no socket, no process and no database", (entry) => {
    const loaded = loadedBy(`await import("${entry}");`);
    expect(HEAVY.filter((name) => loaded.has(name) && !bare.has(name))).toEqual([]);
  });

  it("this check sees what is loaded", () => {
    expect(loadedBy('await import("node:http");').has("http")).toBe(true);
    expect(bare.has("http")).toBe(false);
  });
});
