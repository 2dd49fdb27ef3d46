import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../../scripts/set-up.mjs";
import { makeFolder, removeFolder } from "../temporary-folder.ts";

const here = join(ROOT, "test/outside");
const project = makeFolder("outside");
const execute = (file: string, args: readonly string[], cwd = project) =>
  execFileSync(file, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

/** Installs the packed package as npm would, without a network: what it depends on is linked. */
beforeAll(() => {
  const files = readdirSync(here).filter((name) => !name.endsWith(".test.ts"));
  for (const name of files) cpSync(join(here, name), join(project, name));
  execute("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", project], ROOT);
  const packed = readdirSync(project).find((name) => name.endsWith(".tgz")) ?? "";
  const modules = join(project, "node_modules");
  mkdirSync(join(modules, "millrace"), { recursive: true });
  execute("tar", ["-xzf", packed, "--strip-components=1", "-C", join(modules, "millrace")]);
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  for (const name of [...Object.keys(dependencies), "@types/node"]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  }
});

afterAll(() => removeFolder(project));

describe("S1-142: a project outside the package", () => {
  it("implements a store, a queue, a format and both kinds of backend with public types, and keeps every promise", () => {
    execute(process.execPath, [
      join(ROOT, "node_modules/typescript/bin/tsc"),
      "-p",
      join(project, "tsconfig.outside.json"),
    ]);
    expect(JSON.parse(execute(process.execPath, [join(project, "built/check.js")]))).toEqual({
      failures: { store: [], format: [], model: [], agent: [], queue: [] },
      answers: ["Hello there.", "Done."],
    });
  });

  it("casts nothing", () => {
    const sources = readdirSync(here).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
    const casts = sources.flatMap(
      (name) => readFileSync(join(here, name), "utf8").match(/\bas (?!const\b)\w+|: any\b|@ts-/g) ?? [],
    );
    expect(casts).toEqual([]);
  });
});
