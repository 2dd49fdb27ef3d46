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

  it("outer folders and tests may reach", () => {
    expect(files).toBe(Object.keys(REACHING).length + Object.keys(GIVEN).length + 1);
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
