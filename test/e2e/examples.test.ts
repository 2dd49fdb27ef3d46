import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../scripts/set-up.mjs";
import { locateRealCli } from "../real-cli.ts";
import { temporaryFolder } from "../temporary-folder.ts";

// A project of a user: the built package in node_modules, and the examples beside it, with their types taken off.
const project = temporaryFolder("examples");
mkdirSync(join(project, "node_modules"));
symlinkSync(ROOT, join(project, "node_modules", "millrace"));
mkdirSync(join(project, "node_modules", "@hono"));
// What users of a router have installed.
for (const name of ["hono", "@hono/node-server", "express"]) {
  symlinkSync(join(ROOT, "node_modules", name), join(project, "node_modules", name));
}

const EXAMPLES = readdirSync(join(ROOT, "examples")).filter((file) => file.endsWith(".ts"));

const claude = locateRealCli();

/** What the comment at the head of an example says it prints. */
function promised(source: string): string {
  const [, lines = ""] = /^\/\/ Prints:\n((?:\/\/ {3}.*\n)+)/m.exec(source) ?? [];
  return lines.replaceAll(/^\/\/ {3}/gm, "");
}

describe("the examples", () => {
  it("are there", () => {
    expect(EXAMPLES.map((file) => file.replace(/\.ts$/, ""))).toEqual([
      "agent-tool",
      "approval",
      "artifacts",
      "claude-code",
      "compare",
      "declarative-format",
      "durable",
      "events",
      "guard",
      "handoff",
      "hello",
      "offline-server",
      "record-and-replay",
      "session",
      "structured-output",
      "test-a-tool",
      "tools",
      "web-express",
      "web-hono",
      "web-next",
    ]);
  });

  it("there is a Claude Code CLI for its example where CI runs", () => {
    expect(claude !== undefined || process.env["CI"] === undefined).toBe(true);
  });

  it.for(EXAMPLES)("%s runs without a key and prints what it says", (name, context) => {
    if (name === "claude-code.ts" && claude === undefined) return context.skip("The Claude Code CLI is not installed.");
    const source = readFileSync(join(ROOT, "examples", name), "utf8");
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
    });
    const file = join(project, name.replace(/\.ts$/, ".mjs"));
    writeFileSync(file, outputText);
    const { status, stdout, stderr } = spawnSync(process.execPath, [file], {
      cwd: project,
      encoding: "utf8",
      env: { PATH: process.env["PATH"] ?? "", ...(claude !== undefined && { MILLRACE_CLAUDE: claude }) },
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(promised(source)).not.toBe("");
    expect(stdout).toBe(promised(source));
  });
});
