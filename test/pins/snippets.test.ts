import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../scripts/set-up.mjs";
import { temporaryFolder } from "../temporary-folder.ts";
import { listDocuments, readFences } from "./markdown.ts";

const folder = temporaryFolder("snippets");

// The API reference is made of signatures and of the examples that api-examples.test.ts compiles.
const snippets = listDocuments()
  .filter((document) => !document.startsWith("docs/api/"))
  .flatMap(readFences)
  .filter((fence) => fence.language === "ts");

describe("code in the documents", () => {
  it("there is some", () => {
    expect(snippets.length).toBeGreaterThan(5);
  });

  it("compiles against the sources, every ts block as a module of its own", () => {
    const names = new Map<string, string>();
    for (const { document, line, text } of snippets) {
      const name = `${document.replaceAll(/[/.]/g, "-")}-${line}.ts`;
      names.set(name, `${document}:${line}`);
      writeFileSync(join(folder, name), text);
    }
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(configuration()));

    const compiler = join(ROOT, "node_modules", "typescript", "bin", "tsc");
    const { stdout } = spawnSync(process.execPath, [compiler, "-p", folder], { cwd: folder, encoding: "utf8" });
    // Faults of the sources themselves are the business of `npm run types`.
    const complaints = stdout.split("\n").filter((line) => names.has(line.split("(")[0] ?? ""));
    expect(complaints.map((line) => line.replace(/^[\w-]+\.ts/, (name) => names.get(name) ?? name))).toEqual([]);
    expect(stdout, "a snippet was not read").not.toMatch(/error TS18003/);
  });
});

function configuration(): object {
  return {
    extends: join(ROOT, "tsconfig.json"),
    compilerOptions: {
      moduleDetection: "force",
      typeRoots: [join(ROOT, "node_modules", "@types")],
      // A snippet may show a value without using it.
      noUnusedLocals: false,
      noUnusedParameters: false,
      pretty: false,
      rewriteRelativeImportExtensions: false,
      allowImportingTsExtensions: true,
      // An entry is a folder's door, or a file of the composition root.
      paths: {
        millrace: [join(ROOT, "src/index.ts")],
        "millrace/*": [join(ROOT, "src/*/index.ts"), join(ROOT, "src/runtime/*.ts")],
      },
    },
    include: ["*.ts"],
  };
}
