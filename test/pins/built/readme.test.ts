import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { afterAll, describe, expect, it } from "vitest";
import { ROOT } from "../../../scripts/set-up.mjs";
import { readFences } from "../markdown.ts";

// A project of somebody who has installed the package: nothing of this repository but the package itself.
const project = mkdtempSync(join(tmpdir(), "millrace-readme-"));
afterAll(() => rmSync(project, { recursive: true, force: true }));
mkdirSync(join(project, "node_modules"));
symlinkSync(ROOT, join(project, "node_modules", "millrace"));

describe("README.md", () => {
  it("its program prints what it says, without a key", () => {
    const [, program, output] = readFences("README.md");
    const { outputText } = ts.transpileModule(program?.text ?? "", {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
    });
    const file = join(project, "program.mjs");
    writeFileSync(file, outputText);
    const printed = execFileSync(process.execPath, [file], {
      cwd: project,
      encoding: "utf8",
      env: { PATH: process.env["PATH"] ?? "" },
    });
    expect(printed).toBe(output?.text);
  });
});
