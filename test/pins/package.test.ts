import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findMissing, type LockedPackage } from "../../scripts/complete-lockfile.mjs";
import { ROOT } from "../../scripts/set-up.mjs";

const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const settings = JSON.parse(readFileSync(join(ROOT, "tsconfig.json"), "utf8"));
const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));

const locked = Object.entries<LockedPackage>(lock.packages).filter(([place]) => place !== "");

describe("the package", () => {
  it("has these entries", () => {
    expect(manifest.exports).toEqual({
      ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
      "./anthropic": { types: "./dist/runtime/anthropic.d.ts", default: "./dist/runtime/anthropic.js" },
      "./openai": { types: "./dist/runtime/openai.d.ts", default: "./dist/runtime/openai.js" },
      "./google": { types: "./dist/runtime/google.d.ts", default: "./dist/runtime/google.js" },
      "./claude-code": { types: "./dist/runtime/claude-code.d.ts", default: "./dist/runtime/claude-code.js" },
      "./formats": { types: "./dist/formats/index.d.ts", default: "./dist/formats/index.js" },
      "./views": { types: "./dist/views/index.d.ts", default: "./dist/views/index.js" },
      "./testing": { types: "./dist/testing/index.d.ts", default: "./dist/testing/index.js" },
      "./sinks": { types: "./dist/sinks/index.d.ts", default: "./dist/sinks/index.js" },
      "./emulator": { types: "./dist/emulator/index.d.ts", default: "./dist/emulator/index.js" },
      "./server": { types: "./dist/server/index.d.ts", default: "./dist/server/index.js" },
      "./compare": { types: "./dist/compare/index.d.ts", default: "./dist/compare/index.js" },
      "./durable": { types: "./dist/runtime/durable.d.ts", default: "./dist/runtime/durable.js" },
      "./stores/memory": { types: "./dist/runtime/stores/memory.d.ts", default: "./dist/runtime/stores/memory.js" },
      "./stores/sqlite": { types: "./dist/runtime/stores/sqlite.d.ts", default: "./dist/runtime/stores/sqlite.js" },
      "./queues/bullmq": { types: "./dist/runtime/queues/bullmq.d.ts", default: "./dist/runtime/queues/bullmq.js" },
      "./queues/pg-boss": { types: "./dist/runtime/queues/pg-boss.d.ts", default: "./dist/runtime/queues/pg-boss.js" },
      "./queues/in-process": {
        types: "./dist/runtime/queues/in-process.d.ts",
        default: "./dist/runtime/queues/in-process.js",
      },
      "./stores/postgres": {
        types: "./dist/runtime/stores/postgres.d.ts",
        default: "./dist/runtime/stores/postgres.js",
      },
      "./package.json": "./package.json",
    });
    expect(manifest.bin).toEqual({ millrace: "./bin/millrace.js" });
  });

  it("compiles every entry from the sources, so that a clone without a build can be checked", () => {
    const paths = Object.entries<string[]>(settings.compilerOptions.paths);
    const sourceOf = (name: string) => {
      for (const [pattern, [target = ""]] of paths) {
        if (pattern === name) return target;
        const start = pattern.replace(/\*$/u, "");
        if (start !== pattern && name.startsWith(start)) return target.replace("*", name.slice(start.length));
      }
      return "";
    };
    for (const [entry, files] of Object.entries<{ default: string }>(manifest.exports)) {
      if (entry === "./package.json") continue;
      const source = files.default.replace("./dist/", "./src/").replace(/\.js$/u, ".ts");
      expect(sourceOf(join("millrace", entry)), entry).toBe(source);
    }
  });

  it("resolves folders to their doors, in the sources and in the build", () => {
    expect(manifest.imports).toEqual({
      // The first two are for our tests alone: workers as they build them, and the sources.
      "#*": {
        "millrace-workers": "./.workers/*.js",
        "millrace-source": "./src/*/index.ts",
        default: "./dist/*/index.js",
      },
    });
  });

  it("runs on these versions of Node, as ESM, and importing it does nothing else", () => {
    expect(manifest.engines).toEqual({ node: ">=20.19" });
    expect(manifest.type).toBe("module");
    expect(manifest.sideEffects).toBe(false);
  });

  it("SEC22: needs these packages at run time, in exact versions, and at most eight", () => {
    expect(manifest.dependencies).toEqual({
      "@cfworker/json-schema": "4.1.6",
      "@hono/node-server": "2.1.6",
      commander: "14.0.3",
      hono: "4.13.17",
      "partial-json": "0.1.7",
    });
    expect(manifest.optionalDependencies).toEqual({ libsql: "0.5.29" });
    expect(manifest.peerDependencies).toEqual({
      "@opentelemetry/api": ">=1.9.0 <2",
      "@valibot/to-json-schema": ">=1.5.0 <2",
      bullmq: ">=6.7.0 <7",
      ioredis: ">=5.4.0 <6",
      pg: ">=8.16.0 <9",
      "pg-boss": "12.35.0",
      "zod-to-json-schema": ">=3.24.0 <4",
    });
    expect(Object.keys(manifest.dependencies).length).toBeLessThanOrEqual(8);
    for (const versions of [manifest.dependencies, manifest.devDependencies]) {
      for (const version of Object.values<string>(versions)) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    }
  });

  it("SEC22: no package users get runs a script when it is installed, and neither does this one", () => {
    expect(locked.filter(([, entry]) => !entry.dev && entry.hasInstallScript).map(([place]) => place)).toEqual([]);
    for (const name of ["preinstall", "install", "postinstall", "prepare"])
      expect(manifest.scripts).not.toHaveProperty(name);
  });

  it("SEC22: the lockfile pins the content of every package that is installed here", () => {
    const lacking = locked.filter(([, entry]) => entry.integrity === undefined);
    expect(locked.length).toBeGreaterThan(100);
    for (const [place, entry] of lacking) {
      expect(entry, place).toMatchObject({ optional: true, dev: true });
      expect(existsSync(join(ROOT, place)), `${place} is installed, and its content is not pinned`).toBe(false);
    }
  });

  it("npm ci takes the lockfile: the binaries of all platforms are in it (npm run lock:complete)", () => {
    expect(Object.keys(findMissing(lock.packages))).toEqual([]);
  });

  it("says the same name and version in the lockfile", () => {
    expect([lock.name, lock.version]).toEqual([manifest.name, manifest.version]);
  });
});
