import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../test/temporary-folder.ts";
import { findReaches } from "./seams.mjs";
import { ROOT } from "./set-up.mjs";

const root = temporaryFolder("seams");

const REACHING = {
  "Date.now": "export const a = Date.now();",
  "Date()": "export const a = new Date();",
  "performance.now": "export const a = performance.now();",
  "Math.random": "export const a = Math.random();",
  "crypto.randomUUID": "export const a = globalThis.crypto.randomUUID();",
  "AbortSignal.timeout": "export const a = AbortSignal.timeout(5);",
  setTimeout: "setTimeout(() => {}, 5);",
  setInterval: "globalThis.setInterval(() => {}, 5);",
  setImmediate: "export const world = { later: setImmediate };",
  fetch: "export const world = { fetch };",
  "node:timers/promises": 'import { setTimeout as wait } from "node:timers/promises"; await wait(5);',
  "node:fs": 'export { readFileSync } from "node:fs";',
  "fs/promises": 'export const files = import("fs/promises");',
  fs: 'export const { readFileSync } = process.getBuiltinModule("fs");',
  "node:http": 'export const { request } = globalThis.process.getBuiltinModule("node:http");',
};

const WRITING = {
  "the module's variable last": "let last = 0; export const next = () => (last += 1);",
  "the module's collection seen": "const seen = new Map<string, number>(); export const see = () => seen.set('a', 1);",
  "the module's collection open": "const open = new Set<string>(); export const add = () => open.add('a');",
  "the module's state.count": "const state = { count: 0 }; export const count = () => { state.count += 1; };",
  "the module's names[0]": "const names = ['a']; export const name = () => { names[0] = 'b'; };",
  "the static field made": "export class Made { static made = 0; }",
  "a cast to write to (event as { text: string }).text":
    "export function write(event: { readonly text: string }) { (event as { text: string }).text = 'a'; }",
  "a cast to write to (event as { text?: string }).text":
    "export function drop(event: { readonly text: string }) { delete (event as { text?: string }).text; }",
};

const KEPT = {
  "a constant": "export const LIMIT = 1; export const NAMES: ReadonlySet<string> = new Set(['a']);",
  "a variable of a function":
    "export function sum(a: number[]) { let all = 0; for (const one of a) all += one; return all; }",
  "a field of an object":
    "export class Counter { private _count = 0; static readonly most = 9; add() { this._count += 1; } }",
  "a collection of a function": "export function open() { const seen = new Map<string, number>(); return seen; }",
  "the position of a sticky pattern": "const WORD = /a/y; export const at = (n: number) => { WORD.lastIndex = n; };",
  "a cast that excludes undefined": "export function set(a: { n: number }[]) { (a[0] as { n: number }).n = 1; }",
};

const GIVEN = {
  "a parameter of the same name": "export function get(fetch: (url: string) => string) { return fetch('x'); }",
  "a member of the same name":
    "export const f = (world: { fetch(): void; Date: { now(): number } }) => [world.fetch(), world.Date.now()];",
  "a date made of a number": "export const text = (ts: number) => new Date(ts).toISOString();",
  "a type": 'import type { Stats } from "node:fs"; export type Get = typeof fetch; export type S = Stats;',
  "a property that is only named": "export const names = { setTimeout: 1 };",
  "a module that reaches nothing": 'export const { createHash } = process.getBuiltinModule("node:crypto");',
};

describe("seams", () => {
  const typeRoots = join(ROOT, "node_modules", "@types");
  write(
    "tsconfig.json",
    JSON.stringify({
      extends: join(ROOT, "tsconfig.json"),
      compilerOptions: { typeRoots: [typeRoots] },
      include: ["src"],
    }),
  );
  for (const [place, text] of Object.values(REACHING).entries()) write(`src/agents/reach-${place}.ts`, text);
  for (const [place, text] of Object.values(GIVEN).entries()) write(`src/agents/given-${place}.ts`, text);
  for (const [place, text] of Object.values(WRITING).entries()) write(`src/server/write-${place}.ts`, text);
  for (const [place, text] of Object.values(KEPT).entries()) write(`src/server/kept-${place}.ts`, text);
  write("src/transports/system-clock.ts", "export const now = () => Date.now();");
  write("src/testing/virtual-clock.ts", "setImmediate(() => {});\nsetTimeout(() => {}, 5);\n");
  write("src/agents/own.test.ts", "export const now = () => Date.now();");
  const { reaches, files } = findReaches(root);
  const reachesIn = (path: string) => reaches.filter((reach) => reach.path === path).map((reach) => reach.reached);

  it.each([...Object.keys(REACHING).entries()])("%i: reaching for %s is found", (place, reached) => {
    expect(reachesIn(`src/agents/reach-${place}.ts`)).toEqual([reached]);
  });

  it.each([...Object.keys(GIVEN).entries()])("%i: %s is not a reach", (place) => {
    expect(reachesIn(`src/agents/given-${place}.ts`)).toEqual([]);
  });

  it.each([...Object.keys(WRITING).entries()])("%i: writing to %s is found, in outer folders too", (place, reached) => {
    expect(reachesIn(`src/server/write-${place}.ts`)).toEqual([reached]);
  });

  it.each([...Object.keys(KEPT).entries()])("%i: %s is allowed", (place) => {
    expect(reachesIn(`src/server/kept-${place}.ts`)).toEqual([]);
  });

  it("outer folders may reach, and tests are not read", () => {
    expect(reachesIn("src/transports/system-clock.ts")).toEqual([]);
    const read = [REACHING, GIVEN, WRITING, KEPT].flatMap((sources) => Object.keys(sources));
    expect(files).toBe(read.length + 2);
  });

  it("the testing kit may wait for a turn of the event loop, and for nothing else", () => {
    expect(reachesIn("src/testing/virtual-clock.ts")).toEqual(["setTimeout"]);
  });

  it("a reach names its line and what to take instead", () => {
    expect(reaches.find((reach) => reach.reached === "Date.now")).toEqual({
      path: "src/agents/reach-0.ts",
      line: 1,
      reached: "Date.now",
      instead: "clock.now",
    });
  });
});

function write(path: string, text: string): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
