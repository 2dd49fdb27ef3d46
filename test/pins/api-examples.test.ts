import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { readEntries } from "../../scripts/entries.mjs";
import { ROOT } from "../../scripts/set-up.mjs";

// Examples in doc comments leave the imports out, and some name a thing that everybody knows: these.
const KNOWN = `
import assert from "node:assert/strict"
import { createReadStream } from "node:fs"
import { appendFile, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { z } from "zod"
declare function ask(question: string): Promise<string>
declare const add: import("millrace").Tool
declare const bytes: Uint8Array
declare const events: import("millrace").AgentEvent[]
declare const folder: string
declare const log: import("millrace/sinks").Sink
declare const progress: import("millrace/sinks").Sink
declare const prompts: string[]
declare const response: import("node:http").ServerResponse
declare const store: import("millrace/testing").Store
declare const targets: string[]
declare const terminal: import("millrace/sinks").Sink
declare const url: string
`;

const entries = readEntries(ROOT);
const folder = join(ROOT, "test", "pins"); // nothing is written: the files exist in memory

interface Example {
  readonly name: string;
  readonly entry: string;
  readonly text: string;
}

const program = ts.createProgram([...entries.values()], readOptions());
const examples = [...entries].flatMap(([entry, source]) => readExamples(entry, source));
const exported = new Map([...entries].map(([entry, source]) => [entry, [...readExports(source).keys()]]));

describe("examples in the comments of exports", () => {
  it("there are some for every entry", () => {
    for (const entry of entries.keys()) expect(examples.filter((example) => example.entry === entry)).not.toEqual([]);
  });

  it("compile, with the names of the package imported", () => {
    const files = new Map(examples.map((example, index) => [join(folder, `example-${index}.ts`), example]));
    const host = ts.createCompilerHost(readOptions());
    const { getSourceFile, fileExists, readFile } = host;
    const texts = new Map([...files].map(([file, example]) => [file, complete(example)]));
    host.fileExists = (file) => texts.has(file) || fileExists.call(host, file);
    host.readFile = (file) => texts.get(file) ?? readFile.call(host, file);
    host.getSourceFile = (file, target, ...rest) => {
      const text = texts.get(file);
      if (text !== undefined) return ts.createSourceFile(file, text, target);
      return program.getSourceFile(file) ?? getSourceFile.call(host, file, target, ...rest);
    };
    const compiled = ts.createProgram([...files.keys()], readOptions(), host);
    const faults = [...files].flatMap(([file, example]) => {
      const source = compiled.getSourceFile(file);
      const found = [...compiled.getSyntacticDiagnostics(source), ...compiled.getSemanticDiagnostics(source)];
      return found.map(
        (fault) => `${example.entry} ${example.name}: ${ts.flattenDiagnosticMessageText(fault.messageText, " ")}`,
      );
    });
    expect(faults).toEqual([]);
  });
});

/** The example as a module: with imports of what it names, from its own entry before any other. */
function complete({ entry, text }: Example): string {
  const bound = new Set(
    [...text.matchAll(/\b(?:const|let|function|import \* as|import) (?:(\w+)|[{[]([^}\]]*)[}\]])/g)].flatMap(
      (match) => (match[1] ?? match[2] ?? "").match(/\w+/g) ?? [],
    ),
  );
  const words = new Set(text.match(/[A-Za-z_]\w*/g));
  const taken = new Set(bound);
  const lines: string[] = [];
  for (const from of [entry, "millrace", ...entries.keys()]) {
    for (const name of exported.get(from) ?? []) {
      if (taken.has(name) || !words.has(name)) continue;
      taken.add(name);
      lines.push(`import { ${name} } from "${from}"`);
    }
  }
  const known = KNOWN.trim()
    .split("\n")
    .filter((line) => !bound.has(/declare \w+ (\w+)/.exec(line)?.[1] ?? ""));
  return `${[...lines, ...known].join("\n")}\n${text}\nexport {}\n`;
}

function readExamples(entry: string, source: string): Example[] {
  return [...readExports(source)].flatMap(([name, symbol]) =>
    symbol
      .getJsDocTags(program.getTypeChecker())
      .filter((tag) => tag.name === "example")
      .map((tag) => ({ name, entry, text: ts.displayPartsToString(tag.text).replaceAll(/^```\w*$/gm, "") })),
  );
}

/** What an entry exports: the name there, and what it stands for. */
function readExports(source: string): Map<string, ts.Symbol> {
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(source);
  const module = file === undefined ? undefined : checker.getSymbolAtLocation(file);
  if (module === undefined) throw new Error(`${relative(ROOT, source)} is not a module.`);
  return new Map(
    checker
      .getExportsOfModule(module)
      .map((symbol) => [symbol.name, symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol]),
  );
}

function readOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(ROOT, "tsconfig.json"), (path) => readFileSync(path, "utf8"));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  return {
    ...options,
    incremental: false,
    moduleDetection: ts.ModuleDetectionKind.Force,
    verbatimModuleSyntax: false,
    noUnusedLocals: false,
    noUnusedParameters: false,
    allowImportingTsExtensions: true,
    rewriteRelativeImportExtensions: false,
  };
}
