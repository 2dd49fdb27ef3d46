import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../scripts/set-up.mjs";
import { temporaryFolder } from "../temporary-folder.ts";

const root = temporaryFolder("lint");

/** One fault per file, and the rule that is meant for it. */
const FAULTS = {
  "src/floating.ts": ["typescript(no-floating-promises)", "async function go() {}\nexport function f() { go(); }\n"],
  "src/ignored.ts": [
    "typescript(no-floating-promises)",
    "async function go() {}\nexport function f() { void go(); }\n",
  ],
  "src/gap.ts": [
    "typescript(switch-exhaustiveness-check)",
    'export function f(x: "a" | "b") { switch (x) { case "a": return 1; } return 2; }\n',
  ],
  "src/misused.ts": [
    "typescript(no-misused-promises)",
    "export function f(p: Promise<boolean>) { if (p) return 1; return 2; }\n",
  ],
  "src/thrown.ts": ["typescript(only-throw-error)", 'export function f() { throw "text"; }\n'],
  "src/anything.ts": ["typescript(no-explicit-any)", "export function f(x: any) { return x; }\n"],
  "src/value-import.ts": [
    "typescript(consistent-type-imports)",
    'import { T } from "./a-type.ts";\nexport const x: T = 1;\n',
  ],
  "src/default.ts": ["import(no-default-export)", "export default 1;\n"],
  "src/cycle-a.ts": ["import(no-cycle)", 'import { b } from "./cycle-b.ts";\nexport const a = () => b;\n'],
  "src/CamelCase.ts": ["unicorn(filename-case)", "export const x = 1;\n"],
  "src/printing.ts": ["eslint(no-console)", 'console.log("x");\n'],
  "src/exiting.ts": ["unicorn(no-process-exit)", "process.exit(1);\n"],
  "src/evaluating.ts": ["eslint(no-eval)", 'export const x = eval("1");\n'],
  "src/compiling.ts": ["eslint(no-new-func)", 'export const x = new Function("return 1");\n'],
  "src/loose.ts": ["eslint(eqeqeq)", "export const f = (x: unknown) => x == 1;\n"],
} as const satisfies Record<string, readonly [string, string]>;

const FINE = {
  "src/a-type.ts": "export type T = number;\n",
  "src/cli/printing.ts": 'console.log("x");\n',
  "src/ignored.test.ts": "async function go() {}\nvoid go();\n",
};

describe("lint", () => {
  for (const name of [".oxlintrc.json", "tsconfig.json"]) copyFileSync(join(ROOT, name), join(root, name));
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  for (const [path, [, text]] of Object.entries(FAULTS)) write(path, text);
  for (const [path, text] of Object.entries(FINE)) write(path, text);
  write("src/cycle-b.ts", 'import { a } from "./cycle-a.ts";\nexport const b = () => a;\n');

  const oxlint = join(ROOT, "node_modules", "oxlint", "bin", "oxlint");
  const { stdout } = spawnSync(process.execPath, [oxlint, "--type-aware", "--format=json", "src"], {
    cwd: root,
    encoding: "utf8",
  });
  const { diagnostics }: { diagnostics: { code: string; filename: string }[] } = JSON.parse(stdout);
  const codesOf = (path: string) => [
    ...new Set(diagnostics.filter((found) => found.filename === path).map((found) => found.code)),
  ];

  it.each(Object.entries(FAULTS).map(([path, [rule]]) => [path, rule] as const))("%s breaks %s", (path, rule) => {
    expect(codesOf(path)).toContain(rule);
  });

  it.each(Object.keys(FINE))("%s is fine", (path) => {
    expect(codesOf(path)).toEqual([]);
  });
});

function write(path: string, text: string): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
