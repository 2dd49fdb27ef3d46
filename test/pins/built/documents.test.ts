import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../../scripts/set-up.mjs";
import { temporaryFolder } from "../../temporary-folder.ts";
import { listDocuments, readFences } from "../markdown.ts";

// A project of somebody who has installed the package: nothing of this repository but the package itself.
const project = temporaryFolder("documents");
mkdirSync(join(project, "node_modules"));
symlinkSync(ROOT, join(project, "node_modules", "millrace"));

/** Programs with their output right behind them: a block of `ts`, an empty line, a block of `text`. Others may need a key, or never end. */
const programs = listDocuments()
  .filter((document) => !document.startsWith("docs/api/"))
  .flatMap((document) => {
    const fences = readFences(document);
    return fences.flatMap((fence, index) => {
      const output = fences[index + 1];
      const end = fence.line + fence.text.split("\n").length;
      if (fence.language !== "ts" || output?.language !== "text" || output.line !== end + 2) return [];
      return [{ place: `${document}:${fence.line}`, text: fence.text, output: output.text }];
    });
  });

describe("programs in the documents", () => {
  it("F: there are some, in the README and on the page about backends", () => {
    const places = programs.map(({ place }) => place.split(":")[0]);
    expect(places).toContain("README.md");
    expect(places.filter((place) => place === "docs/backends.md")).toHaveLength(2);
  });

  it.each(programs)("$place prints what follows it, without a key", ({ place, text, output }) => {
    const { outputText } = ts.transpileModule(text, {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
    });
    const file = join(project, `${place.replaceAll(/\W/g, "-")}.mjs`);
    writeFileSync(file, outputText);
    const printed = execFileSync(process.execPath, [file], {
      cwd: project,
      encoding: "utf8",
      timeout: 60_000,
      env: { PATH: process.env["PATH"] ?? "" },
    });
    expect(printed).toBe(output);
  });
});
