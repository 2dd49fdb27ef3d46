import { existsSync, readFileSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { removeFolder, temporaryFolder } from "../test/temporary-folder.ts";
import { build, checkNode, isInstalled, ROOT } from "./set-up.mjs";

let root = "";
beforeEach(() => {
  root = temporaryFolder("set-up");
});

describe("checkNode", () => {
  it.each(["20.19.0", "20.20.2", "22.0.0", "24.1.0"])("Node %s will do", (version) => {
    expect(() => checkNode(version)).not.toThrow();
  });

  it.each(["18.20.0", "20.18.3", "16.0.0"])(
    "Node %s is refused, and the message says which one to install",
    (version) => {
      expect(() => checkNode(version)).toThrow(`Node ${version} is too old. Install Node 20.19 or newer.`);
    },
  );
});

describe("isInstalled", () => {
  const YOUNG = new Date("2026-01-02");
  const OLD = new Date("2026-01-01");
  const PACKAGES = {
    "": { name: "x" },
    "node_modules/a": { version: "1.0.0" },
    "node_modules/a-win32": { version: "1.0.0", optional: true },
  };

  function lock(path: string, packages: object, time: Date): void {
    write(path, JSON.stringify({ packages }));
    utimesSync(join(root, path), time, time);
  }

  it("no node_modules: no", () => {
    lock("package-lock.json", PACKAGES, OLD);
    expect(isInstalled(root)).toBe(false);
  });

  it("an interrupted installation: no", () => {
    lock("package-lock.json", PACKAGES, OLD);
    write("node_modules/a/package.json", "{}");
    expect(isInstalled(root)).toBe(false);
  });

  it("an installation younger than the lockfile: yes", () => {
    lock("package-lock.json", PACKAGES, OLD);
    lock("node_modules/.package-lock.json", { "node_modules/a": { version: "1.0.0" } }, YOUNG);
    expect(isInstalled(root)).toBe(true);
  });

  it.each([
    {
      name: "the same packages, without those of other platforms",
      present: { "node_modules/a": { version: "1.0.0" } },
      yes: true,
    },
    { name: "another version", present: { "node_modules/a": { version: "0.9.0" } }, yes: false },
    { name: "a package missing", present: {}, yes: false },
    {
      name: "a package too many",
      present: { "node_modules/a": { version: "1.0.0" }, "node_modules/b": { version: "1.0.0" } },
      yes: false,
    },
  ])("a younger lockfile and $name: $yes", ({ present, yes }) => {
    lock("package-lock.json", PACKAGES, YOUNG);
    lock("node_modules/.package-lock.json", present, OLD);
    expect(isInstalled(root)).toBe(yes);
  });
});

describe("build", () => {
  beforeEach(() => {
    symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
    write("package.json", JSON.stringify({ type: "module" }));
    write("package-lock.json", "{}");
    const output = {
      outDir: "dist",
      declaration: true,
      emitDeclarationOnly: true,
      incremental: true,
      tsBuildInfoFile: "dist/.tsbuildinfo",
    };
    const compilerOptions = { module: "nodenext", types: [], skipLibCheck: true, rootDir: "src", ...output };
    write("tsconfig.json", "{}");
    write("tsconfig.build.json", JSON.stringify({ compilerOptions, include: ["src"], exclude: ["src/**/*.test.ts"] }));
    write("scripts/bundle.mjs", readFileSync(join(ROOT, "scripts", "bundle.mjs"), "utf8"));
    write("src/a/index.ts", "export const a = 1;\n");
    write("src/b/index.ts", "export const b = 1;\n");
  });

  it("builds once, and again when a source is changed, added or removed, but not for a test", async () => {
    expect(build(root)).toBe(true);
    expect(build(root)).toBe(false);

    write("src/a/a.test.ts", "export const t = 1;\n");
    expect(build(root)).toBe(false);

    write("src/a/index.ts", "export const a = 22;\n");
    write("src/c/index.ts", "export const c = 1;\n");
    expect(build(root)).toBe(true);
    expect(readFileSync(join(root, "dist/a/index.js"), "utf8")).toContain("22");
    expect(existsSync(join(root, "dist/c/index.js"))).toBe(true);
    expect(existsSync(join(root, "dist/c/index.d.ts"))).toBe(true);

    await removeFolder(join(root, "src/b"));
    expect(build(root)).toBe(true);
    expect(existsSync(join(root, "dist/b"))).toBe(false);
    expect(build(root)).toBe(false);
  });

  it("builds the chat page when it changed, and again when dist was thrown away", async () => {
    const outDir = JSON.stringify(join(root, "dist/web"));
    write("scripts/build-web.mjs", readFileSync(join(ROOT, "scripts", "build-web.mjs"), "utf8"));
    write(
      "web/vite.config.ts",
      `export default { root: ${JSON.stringify(join(root, "web"))}, logLevel: "warn", build: { outDir: ${outDir} } };`,
    );
    write("web/index.html", '<script type="module" src="/main.ts"></script>');
    write("web/main.ts", 'document.title = "first";\n');
    expect(build(root)).toBe(true);
    expect(existsSync(join(root, "dist/web/index.html"))).toBe(true);
    expect(build(root)).toBe(false);

    write("web/main.test.ts", "export const t = 1;\n");
    expect(build(root)).toBe(false);
    write("web/main.ts", 'document.title = "the second";\n');
    expect(build(root)).toBe(true);

    // A removed source deletes all of dist, and the page must be built again.
    await removeFolder(join(root, "src/b"));
    expect(build(root)).toBe(true);
    expect(existsSync(join(root, "dist/web/index.html"))).toBe(true);
  });

  it("sources that do not compile are an error, every time", () => {
    write("src/a/index.ts", "export const a: number = 'text';\n");
    expect(() => build(root)).toThrow("do not compile");
    expect(() => build(root)).toThrow("do not compile");
  });
});

function write(path: string, text: string): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
