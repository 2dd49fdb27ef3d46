import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createSystemFiles } from "#transports";
import { main } from "../../src/cli/main.ts";
import { loadConfig, trustListOf } from "../../src/runtime/config-load.ts";
import { createMemoryIo } from "../e2e/memory-io.ts";
import { temporaryFolder } from "../temporary-folder.ts";

// A configuration that was trusted, and whose imports change afterwards: nothing of the new ones runs.

const top = temporaryFolder("imports");
const home = join(top, "home");
let repository = "";
let canary = "";
let turn = 0;
beforeEach(() => {
  // Another folder each time: Node runs a module once in a process.
  turn += 1;
  repository = join(top, `repository-${turn}`);
  canary = join(top, `canary-${turn}`);
  mkdirSync(join(repository, ".git"), { recursive: true });
  mkdirSync(home, { recursive: true });
});

const put = (name: string, text: string): string => {
  const path = join(repository, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
};
const evil = (): string =>
  `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(canary)}, ""); export default 1;`;
const evilScript = (): string => `require("node:fs").writeFileSync(${JSON.stringify(canary)}, "")`;
const CONFIG = 'export const config = { backend: "offline" };';

async function millrace(args: readonly string[], env: Record<string, string> = {}, cwd = repository) {
  const io = createMemoryIo({ cwd, env: { HOME: home, ...env } });
  const code = await main(args, io);
  return { code, stdout: io.stdout(), stderr: io.stderr() };
}

describe("F-A1: what a trusted configuration imports is trusted as it was", () => {
  const asBefore = "export default 1;";
  const scriptBefore = "module.exports = 1;";
  it.each<[string, Readonly<Record<string, string>>, string, () => string]>([
    ["a file beside it", { "c.mjs": 'import "./a.mjs";', "a.mjs": asBefore }, "a.mjs", evil],
    ["without blanks", { "c.mjs": "import'./a.mjs';", "a.mjs": asBefore }, "a.mjs", evil],
    ["named exports", { "c.mjs": 'export { default as x } from\n"./a.mjs";', "a.mjs": asBefore }, "a.mjs", evil],
    [
      "from a folder above",
      { "c.mjs": 'import "../shared/a.mjs";', "../shared/a.mjs": asBefore },
      "../shared/a.mjs",
      evil,
    ],
    ["by its address", { "c.mjs": 'import "./a.mjs?x=1#y";', "a.mjs": asBefore }, "a.mjs", evil],
    ["escaped in its address", { "c.mjs": 'import "./%61.mjs";', "a.mjs": asBefore }, "a.mjs", evil],
    [
      "what that imports",
      { "c.mjs": 'import "./a.mjs";', "a.mjs": 'import "./b/b.mjs"', "b/b.mjs": asBefore },
      "b/b.mjs",
      evil,
    ],
    ["while it runs", { "c.mjs": 'await import("./a.mjs");', "a.mjs": asBefore }, "a.mjs", evil],
    ["while it runs, in a text with holes", { "c.mjs": "await import(`./a.mjs`);", "a.mjs": asBefore }, "a.mjs", evil],
    [
      "a name that is put together",
      { "c.mjs": 'await import("./" + "a.mjs").catch(() => 0);', "a.mjs": asBefore },
      "a.mjs",
      evil,
    ],
    [
      "a name with escapes",
      { "c.mjs": 'await import("./\\x61.mjs").catch(() => 0);', "a.mjs": asBefore },
      "a.mjs",
      evil,
    ],
    [
      "a name in a comment's shadow",
      { "c.mjs": "// don't\nimport './a.mjs'; // won't", "a.mjs": asBefore },
      "a.mjs",
      evil,
    ],
    ["a file that was not there", { "c.mjs": 'await import("./a.mjs").catch(() => 0);' }, "a.mjs", evil],
    ["a script", { "c.mjs": 'import "./a.cjs";', "a.cjs": scriptBefore }, "a.cjs", evilScript],
    [
      "what a script requires",
      { "c.mjs": 'import "./a.cjs";', "a.cjs": 'require("./b")', "b.js": scriptBefore },
      "b.js",
      evilScript,
    ],
    [
      "what a script requires, put together",
      { "c.mjs": 'import "./a.cjs";', "a.cjs": 'try { require("./" + "b.cjs") } catch {}', "b.cjs": scriptBefore },
      "b.cjs",
      evilScript,
    ],
    [
      "a package in the repository",
      {
        "c.mjs": 'import "p";',
        "node_modules/p/package.json": '{"exports":{".":{"import":"./x.mjs"}}}',
        "node_modules/p/x.mjs": asBefore,
      },
      "node_modules/p/x.mjs",
      evil,
    ],
    [
      "a package without exports",
      {
        "c.mjs": 'import "@s/p";',
        "node_modules/@s/p/package.json": '{"main":"lib"}',
        "node_modules/@s/p/lib/index.js": scriptBefore,
      },
      "node_modules/@s/p/lib/index.js",
      evilScript,
    ],
    [
      "a package's package",
      {
        "c.mjs": 'import "p";',
        "node_modules/p/package.json": '{"exports":"./x.mjs"}',
        "node_modules/p/x.mjs": 'import "q/sub"',
        "node_modules/q/package.json": '{"exports":{"./*":"./src/*.mjs"}}',
        "node_modules/q/src/sub.mjs": asBefore,
      },
      "node_modules/q/src/sub.mjs",
      evil,
    ],
    [
      "a package whose entry moves",
      {
        "c.mjs": 'import "p";',
        "node_modules/p/package.json": '{"exports":"./x.mjs"}',
        "node_modules/p/x.mjs": asBefore,
        "node_modules/p/y.mjs": asBefore,
      },
      "node_modules/p/package.json",
      () => {
        put("node_modules/p/y.mjs", evil());
        return '{"exports":"./y.mjs"}';
      },
    ],
    [
      "an inner name",
      { "c.mjs": 'import "#x";', "package.json": '{"imports":{"#x":"./a.mjs"}}', "a.mjs": asBefore },
      "a.mjs",
      evil,
    ],
    [
      "an inner name that moves",
      { "c.mjs": 'import "#x";', "package.json": '{"imports":{"#x":"./a.mjs"}}', "a.mjs": asBefore, "b.mjs": asBefore },
      "package.json",
      () => {
        put("b.mjs", evil());
        return '{"imports":{"#x":"./b.mjs"}}';
      },
    ],
    [
      "the project under its own name",
      { "c.mjs": 'import "app/x";', "package.json": '{"name":"app","exports":{"./x":"./a.mjs"}}', "a.mjs": asBefore },
      "a.mjs",
      evil,
    ],
  ])("%s", async (_, files, changed, change) => {
    for (const [name, text] of Object.entries(files)) {
      put(name === "c.mjs" ? "millrace.config.mjs" : name, name === "c.mjs" ? `${text}\n${CONFIG}` : text);
    }
    expect((await millrace(["trust"])).code).toBe(0);
    put(changed, change());
    const { stdout, stderr } = await millrace(["explain"]);
    expect({ ran: existsSync(canary), stdout, stderr }).toMatchObject({ ran: false });
  });

  it("is used with everything it imports, as long as that stays", async () => {
    put("package.json", '{"imports":{"#d":"./d.cjs"}}');
    put(
      "millrace.config.mjs",
      'import { backend } from "./a.mjs";\nimport "#d";\nimport p from "p";\nexport const config = { backend, instructions: p };',
    );
    put("a.mjs", 'import data from "./b.json" with { type: "json" };\nexport const { backend } = data;');
    put("b.json", '{ "backend": "claude-code" }');
    put("d.cjs", `${evilScript()}; require("./e");`);
    put("e.js", "");
    put("node_modules/p/package.json", '{"main":"./i.js"}');
    put("node_modules/p/i.js", 'module.exports = "Be brief."');
    const { stdout } = await millrace(["trust"]);
    expect(stdout).toContain(`  with ${join(repository, "a.mjs")}\n`);
    expect(existsSync(canary), "trusting runs nothing").toBe(false);
    const used = await millrace(["explain"]);
    expect(used).toMatchObject({ code: 0, stderr: "" });
    expect(used.stdout).toContain("Backend: claude-code");
    expect(existsSync(canary)).toBe(true);
    put("b.json", '{ "backend": "offline" }');
    expect((await millrace(["explain"])).stderr).toContain("it has changed since you trusted it");
  });

  it.each(['import { createRequire } from "node:module";', 'await import("node:vm");', 'import m from "module";'])(
    "one with %s is not trusted permanently, which is reported",
    async (text) => {
      const file = put("millrace.config.mjs", `${text}\n${CONFIG}`);
      const { code, stderr } = await millrace(["trust"]);
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/so it cannot be determined which files it loads.*--config/),
      ]);
      expect((await millrace(["explain"])).stderr).toContain("so it cannot be determined which files it loads");
      expect((await millrace(["explain", "--config", file])).code).toBe(0);
    },
  );

  it("a link to another file is another file", async () => {
    put("millrace.config.mjs", `import "./a.mjs";\n${CONFIG}`);
    put("b.mjs", asBefore);
    put("c.mjs", evil());
    symlinkSync("b.mjs", join(repository, "a.mjs"));
    await millrace(["trust"]);
    rmSync(join(repository, "a.mjs"));
    symlinkSync("c.mjs", join(repository, "a.mjs"));
    expect((await millrace(["explain"])).stderr).toContain("it has changed since you trusted it");
    expect(existsSync(canary)).toBe(false);
  });

  it.each(["millrace.config.mjs", "a.mjs"])(
    "%s that changes between the look and the load is not run",
    async (name) => {
      const file = put("millrace.config.mjs", `import "./a.mjs";\n${CONFIG}`);
      put("a.mjs", asBefore);
      await millrace(["trust"]);
      const files = createSystemFiles();
      let looks = 0;
      const changing = {
        ...files,
        async read(path: string) {
          const bytes = await files.read(path);
          // Once it was judged, and once more just before it is used.
          if (path === join(repository, name) && (looks += 1) === 2) writeFileSync(path, `${evil()}\n${CONFIG}`);
          return bytes;
        },
      };
      const loading = loadConfig({ cwd: repository, env: { HOME: home }, files: changing });
      await expect(loading).rejects.toThrow(/has changed since it was checked, and is not used/);
      expect([looks, existsSync(canary), file]).toEqual([2, false, file]);
    },
  );
});

describe("F-A1: a home inside of the project is nobody's home", () => {
  it.each<[string, () => Record<string, string>]>([
    ["HOME is the project", () => ({ HOME: repository })],
    ["HOME is in the project", () => ({ HOME: join(repository, "home") })],
    ["XDG_CONFIG_HOME is in the project", () => ({ XDG_CONFIG_HOME: join(repository, "home/.config") })],
    [
      "HOME leads there by a link",
      () => (symlinkSync(repository, join(top, `link-${turn}`)), { HOME: join(top, `link-${turn}`) }),
    ],
  ])("%s", async (_, env) => {
    for (const where of [".config", "home/.config"]) put(`${where}/millrace/config.mjs`, `${evil()}\n${CONFIG}`);
    const file = put("millrace.config.mjs", `${evil()}\n${CONFIG}`);
    // What somebody who wrote the repository could have written.
    const book = await trustListOf({ cwd: home, env: { HOME: repository }, files: createSystemFiles() });
    const { proof } = { proof: new TextEncoder().encode(`${evil()}\n${CONFIG}`) };
    await book.add(file, proof);
    for (const args of [["run", "hi"], ["explain"], ["doctor"]]) {
      const { stdout, stderr } = await millrace(args, env());
      expect(stdout + stderr).toMatch(/is not used as your own configuration: it is inside this project/);
      rmSync(join(top, `link-${turn}`), { force: true });
    }
    expect(existsSync(canary)).toBe(false);
    expect((await millrace(["trust"], env())).stderr).toMatch(/is inside this project\. Set HOME/);
  });

  it("the home that the system has for this user is, also when it is a repository", async () => {
    const env = { HOME: repository };
    put(".config/millrace/config.json", '{ "backend": "offline/mine" }');
    const options = { cwd: repository, env, files: createSystemFiles() };
    expect((await loadConfig({ ...options, account: () => repository })).config).toEqual({ backend: "offline/mine" });
    expect((await loadConfig({ ...options, account: () => undefined })).config).toEqual({});
    expect((await loadConfig({ ...options, cwd: join(repository, ".config"), account: () => home })).config).toEqual(
      {},
    );
  });
});

describe("F-A1: other ways into a project", () => {
  it.each<[string, () => void]>([
    [
      "a git file that points elsewhere",
      () => (
        rmSync(join(repository, ".git"), { recursive: true }),
        put(".git", "gitdir: /nowhere"),
        put("millrace.config.mjs", evil())
      ),
    ],
    [
      "a repository in the repository",
      () => (put("inner/.git/HEAD", ""), put("inner/millrace.config.mjs", evil()), put("millrace.config.mjs", evil())),
    ],
    ["package.json", () => put("package.json", '{"millrace":{"backend":"claude-code"},"type":"commonjs"}')],
    ["names in capitals", () => (put("MILLRACE.CONFIG.MJS", evil()), put("millrace.config.cjs", evilScript()))],
    [
      "other folders of settings",
      () => (put(".config/millrace/config.mjs", evil()), put(".millrace/config.mjs", evil())),
    ],
  ])("%s: nothing runs", async (_, prepare) => {
    prepare();
    for (const cwd of [repository, join(repository, "inner")]) {
      mkdirSync(cwd, { recursive: true });
      const { stdout } = await millrace(["explain"], {}, cwd);
      expect(stdout).toContain("offline");
    }
    expect(existsSync(canary)).toBe(false);
  });

  it("--config with a folder says that it is one", async () => {
    const { code, stderr } = await millrace(["explain", "--config", "."]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/cannot be read: it is a folder/)]);
  });
});
