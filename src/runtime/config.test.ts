import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isStartError } from "#domain";
import { createMemoryFiles } from "#testing";
import { tool } from "#tools";
import { temporaryFolder } from "../../test/temporary-folder.ts";
import { applyConfig, type Config } from "./config.ts";
import { defineConfig } from "./define-config.ts";
import { readJsonPlaces } from "./config-json.ts";
import { loadConfig, trustListOf } from "./config-load.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

const env = { HOME: "/home/ada" };
const look = async (path: string) => ({ realPath: path, isOwn: true });

/** Loads from files in memory, all of them trusted. */
async function loadFrom(tree: Readonly<Record<string, string>>, cwd = "/home/ada/work/app", file?: string) {
  const files = createMemoryFiles();
  const trustList = await trustListOf({ cwd, env, files });
  for (const [path, text] of Object.entries(tree)) {
    await files.write(path, encode(text));
    await trustList.add(path, encode(text));
  }
  return loadConfig({ cwd, file, files, env, look });
}

async function refusal(text: string): Promise<string> {
  const error: unknown = await loadFrom({ "/home/ada/work/app/millrace.config.json": text }).catch(
    (why: unknown) => why,
  );
  if (!isStartError(error)) throw new Error("nothing was refused");
  expect(error.code).toBe("invalid-config");
  return error.message;
}

describe("where a configuration is found", () => {
  const text = '{ "backend": "offline" }';
  it.each<[string, Record<string, string>, string | undefined]>([
    ["here", { "/home/ada/work/app/millrace.config.json": text }, "/home/ada/work/app/millrace.config.json"],
    ["F-A1: not further up, outside of a repository", { "/home/ada/work/millrace.config.json": text }, undefined],
    [
      "the nearest one",
      {
        "/home/ada/work/.git/HEAD": "",
        "/home/ada/work/millrace.config.json": "{",
        "/home/ada/work/app/millrace.config.json": text,
      },
      "/home/ada/work/app/millrace.config.json",
    ],
    [
      "in the folder of the repository",
      { "/home/ada/work/.git/HEAD": "", "/home/ada/work/millrace.config.json": text },
      "/home/ada/work/millrace.config.json",
    ],
    [
      "F-A1: not above that",
      { "/home/ada/work/app/.git/HEAD": "", "/home/ada/work/millrace.config.json": text },
      undefined,
    ],
    ["nowhere", {}, undefined],
  ])("%s", async (_, tree, file) => {
    const loaded = await loadFrom(tree);
    expect({ config: loaded.config, file: loaded.file }).toEqual({
      config: file === undefined ? {} : { backend: "offline" },
      file,
    });
  });

  it("the file that is named, relative to the working folder", async () => {
    const tree = { "/home/ada/work/other.json": text, "/home/ada/work/app/millrace.config.json": "{" };
    expect((await loadFrom(tree, undefined, "../other.json")).file).toBe("/home/ada/work/other.json");
    await expect(loadFrom(tree, undefined, "none.json")).rejects.toThrow(
      /^\/home\/ada\/work\/app\/none\.json cannot be read: there is no such file\. Check the path/,
    );
    await expect(loadFrom({ "/x/a.yaml": "a" }, "/x", "a.yaml")).rejects.toThrow(
      /ends in "\.yaml"\. Name it \.ts, \.js, \.mjs or \.json/,
    );
  });

  it("two in one folder are an error", async () => {
    const tree = { "/home/ada/work/app/millrace.config.json": text, "/home/ada/work/app/millrace.config.mjs": "" };
    await expect(loadFrom(tree)).rejects.toThrow(/has millrace\.config\.mjs and millrace\.config\.json\. Keep one/);
  });
});

describe("F-A1: a project's configuration", () => {
  const file = "/home/ada/work/app/millrace.config.json";
  const text = '{ "backend": "offline" }';
  const inProject = async (
    facts: Partial<Record<string, { readonly realPath?: string; readonly isOwn?: boolean }>>,
  ) => {
    const files = createMemoryFiles();
    await files.write(file, encode(text));
    await (await trustListOf({ cwd: "/home/ada/work/app", env, files })).add(file, encode(text));
    const seen = async (path: string) => ({ realPath: path, isOwn: true, ...facts[path] });
    return loadConfig({ cwd: "/home/ada/work/app", files, env, look: seen });
  };

  it.each<[string, Parameters<typeof inProject>[0], string]>([
    ["of another user", { [file]: { isOwn: false } }, "it belongs to another user"],
    ["in another user's folder", { "/home/ada/work/app": { isOwn: false } }, "its folder belongs to another user"],
    ["that leads out of the project", { [file]: { realPath: "/etc/millrace.config.json" } }, "it leads out of"],
    ["that leads to a neighbour", { [file]: { realPath: "/home/ada/work/app-2/x.json" } }, "it leads out of"],
  ])("%s is never used, trusted or not", async (_, facts, why) => {
    const { config, file: used, project } = await inProject(facts);
    expect({ config, used }).toEqual({ config: {}, used: undefined });
    expect(project).toMatchObject({ file, state: "refused", why: expect.stringContaining(why) });
  });

  it("is used if all of that is in order", async () => {
    expect((await inProject({})).file).toBe(file);
  });

  it.each(["millrace.config.json", "millrace.config.mjs"])(
    "%s that changes after it was checked is not used",
    async (name) => {
      const path = `/home/ada/work/app/${name}`;
      const files = createMemoryFiles();
      await files.write(path, encode(text));
      await (await trustListOf({ cwd: "/home/ada/work/app", env, files })).add(path, encode(text));
      let reads = 0;
      const changing = {
        ...files,
        async read(from: string) {
          if (from !== path) return files.read(from);
          reads += 1;
          return reads === 1 ? files.read(from) : encode('{ "backend": "claude-code" }');
        },
      };
      let loads = 0;
      const load = async () => {
        loads += 1;
        return { config: {} };
      };
      const loading = loadConfig({ cwd: "/home/ada/work/app", files: changing, env, look, load });
      await expect(loading).rejects.toThrow(/changed while it was read, and is not used/);
      expect(loads).toBe(0);
    },
  );

  it("folders further up that may not be read are skipped", async () => {
    const memory = createMemoryFiles();
    await memory.write(file, encode(text));
    const files = {
      ...memory,
      exists: async (path: string) => {
        if (path === "/home/.git") throw Object.assign(new Error("EACCES"), { code: "EACCES" });
        return memory.exists(path);
      },
    };
    const loaded = await loadConfig({ cwd: "/home/ada/work/app", files, env, look });
    expect(loaded.project).toEqual({ file, state: "unknown" });
  });

  it("without a home folder nothing can be trusted, and nothing is used", async () => {
    const files = createMemoryFiles();
    await files.write(file, encode(text));
    const loaded = await loadConfig({ cwd: "/home/ada/work/app", files, env: {}, look });
    expect(loaded).toMatchObject({ config: {}, project: { state: "unknown" } });
    await expect(trustListOf({ cwd: "/home/ada", env: {}, files })).rejects.toThrow(/XDG_CONFIG_HOME/);
  });

  it("F-F: the stated reason why nothing can be trusted is the true one", async () => {
    const files = createMemoryFiles();
    await files.write(file, encode(text));
    const whyNot = (HOME: string): Promise<unknown> =>
      trustListOf({ cwd: "/home/ada/work/app", env: { HOME }, files }).catch((error: unknown) => error);
    // The folder does not exist in the project yet.
    expect(await whyNot("/home/ada/work/app/home")).toMatchObject({
      message: expect.stringMatching(/app\/home\/\.config\/millrace is inside this project\. Set HOME or/),
    });
    expect(await whyNot("ada")).toMatchObject({ message: expect.stringContaining("set to an absolute path") });
  });
});

describe("R16: a wrong configuration is reported with file, line, column, field and remedy", () => {
  const file = "/home/ada/work/app/millrace.config.json";
  it.each([
    ["no JSON", '{\n  "backend": offline\n}', ':2:14: this is not JSON: "o" does not belong here'],
    [
      "a comma too many",
      '{\n  "limits": { "turns": 5, }\n}',
      ":2:27: this is not JSON: a field's name in quotes is due here",
    ],
    ["a comma too few", '{ "a": 1 "b": 2 }', ":1:10: this is not JSON: a , or } is missing"],
    ["no end", '{ "backend": "offline"', ":1:23: this is not JSON: a , or } is missing"],
    ["a text without an end", '{ "backend": "offline\n}', ":1:14: this is not JSON: the text has no end"],
    ["a wrong escape", '{ "backend": "\\x" }', ":1:14: this is not JSON: the text has a character or an escape"],
    [
      "a field twice",
      '{\n "backend": "offline",\n "backend": "x" }',
      ':3:2: this is not JSON: "backend" appears twice',
    ],
    ["more behind it", "{} {}", ":1:4: this is not JSON: there is more after the end"],
    ["nothing", "", ":1:1: this is not JSON: the end is missing"],
    ["a list", "[]", ": the configuration is []. Give an object"],
    ["a slip", '{\n  "backend": "offline",\n  "limit": {}\n}', ":3:3: There is no field limit. Did you mean limits?"],
    ["something unheard of", '{ "zzzzzzzz": 1 }', ":1:3: There is no field zzzzzzzz. Known: backend,"],
    [
      "an unknown backend",
      '{\n\n "backend": "antropic/x" }',
      ':3:2: There is no backend "antropic/x". Did you mean "anthropic"?',
    ],
    ["a backend that is no text", '{ "backend": 5 }', ":1:3: backend is 5. Give a string."],
    ["no turns", '{\n  "limits": {\n    "turns": 0\n  }\n}', ":3:5: limits.turns is 0. Give a number above 0."],
    ["a slip in limits", '{ "limits": { "turn": 1 } }', ":1:15: There is no limits.turn. Did you mean turns?"],
    ["tools in JSON", '{ "tools": [{}] }', ":1:13: tools[0] is not a tool."],
    [
      "a key that is no text",
      '{ "backends": { "openai": { "apiKey": 5 } } }',
      ":1:29: openai.apiKey is not text. Give the key.",
    ],
    [
      "a slip in a provider",
      '{ "backends": { "openai": { "apikey": "k" } } }',
      ":1:29: There is no openai.apikey. Did you mean apiKey?",
    ],
    [
      "a slip in backends",
      '{ "backends": { "opnai": {} } }',
      ":1:17: There is no backends.opnai. Did you mean openai?",
    ],
    ["agents that are none", '{ "agents": {} }', ":1:3: agents is {}. Give a list of agents."],
    ["an agent without a backend", '{ "agents": [{ "name": "a" }] }', ':1:14: agent "a" has no backend.'],
    [
      "a slip in an agent",
      '{ "agents": [{ "name": "a", "backend": "offline", "tool": [] }] }',
      ":1:51: There is no field of an agent called tool. Did you mean tools?",
    ],
    [
      "a handover to nobody",
      '{ "agents": [{ "name": "a", "backend": "offline", "handoffs": ["b"] }] }',
      'hands over to "b"',
    ],
    ["a server that is none", '{ "server": 8080 }', ":1:3: server is 8080. Give an object."],
    ["a rule that is none", '{ "permissions": { "allow": "Read" } }', ":1:"],
    ["a key of every object", '{ "__proto__": {}, "constructor": 1 }', ":1:3: There is no field __proto__."],
    ["far too deep", "[".repeat(5000), "nested deeper than 64 levels"],
  ])("%s", async (_, text, message) => {
    const said = await refusal(text);
    expect(said.startsWith(file)).toBe(true);
    expect(said).toContain(message);
    expect(said).not.toMatch(/\n\s+at /);
  });

  it("SEC16: no key is ever shown", async () => {
    expect(await refusal('{ "backends": { "openai": { "apiKey": ["canary"] } } }')).not.toContain("canary");
  });

  it("the JSON reader agrees with JSON.parse on everything except duplicate fields", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        expect(readJsonPlaces(text)).toMatchObject({ value: JSON.parse(text) });
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        const read = readJsonPlaces(text);
        let parsed: unknown;
        try {
          parsed = JSON.parse(text);
        } catch {
          expect(read.fault).toBeDefined();
          return;
        }
        expect(read).toMatchObject({ value: parsed });
      }),
    );
  });
});

describe("a configuration that is a module", () => {
  const folder = temporaryFolder("config");
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const load = (file: string, module?: () => Promise<unknown>) =>
    loadConfig({ cwd: folder, file, env: {}, ...(module !== undefined && { load: module }) });

  it("may contain functions, as `config` or as the default export", async () => {
    const named = write("a.mjs", 'export const config = { backend: "offline", permission: () => ({ allow: true }) };');
    expect((await load(named)).config).toEqual({ backend: "offline", permission: expect.any(Function) });
    const other = write("b.mjs", "export default { limits: { turns: 3 } };");
    expect((await load(other)).config).toEqual({ limits: { turns: 3 } });
  });

  it.each([
    ["nothing", "export const other = 1;", /exports no configuration\. Write: export const config/],
    ["a wrong field", "export const config = { limits: { turns: -1 } };", /x\.mjs: limits\.turns is -1/],
    ["a failure", 'throw new Error("no such luck");', /x\.mjs could not be loaded: no such luck/],
  ])("that exports %s is reported", async (_, text, message) => {
    const file = write("x.mjs", text);
    const module = (): Promise<unknown> => import(`${file}?${message.source.length}`);
    await expect(load(file, module)).rejects.toThrow(message);
  });

  it("in TypeScript, on a Node that cannot read it, names both solutions", async () => {
    const file = write("millrace.config.ts", "export const config = {};");
    const refuse = (): Promise<unknown> =>
      Promise.reject(
        Object.assign(new TypeError('Unknown file extension ".ts"'), { code: "ERR_UNKNOWN_FILE_EXTENSION" }),
      );
    await expect(load(file, refuse)).rejects.toThrow(
      /cannot read TypeScript\. Use Node 22\.18 or later, or write it as millrace\.config\.mjs or \.json\.$/,
    );
    const syntax = (): Promise<unknown> => Promise.reject(new SyntaxError("Unexpected token"));
    await expect(load(file, syntax)).rejects.toThrow(/Unexpected token \(node --check .* shows where\)/);
  });
});

describe("flags take precedence over the configuration, and the configuration over the defaults", () => {
  const add = tool("add", "Add", { a: "number" }, ({ a }) => a);
  const other = tool("add", "Another", { a: "number" }, ({ a }) => a);
  const sub = tool("sub", "Subtract", { a: "number" }, ({ a }) => a);

  it.each<[string, Config, Parameters<typeof applyConfig>[1], unknown]>([
    ["nothing", {}, {}, { target: undefined, options: {} }],
    [
      "the configuration alone",
      { backend: "offline", limits: { turns: 3 } },
      {},
      { target: "offline", options: { limits: { turns: 3 } } },
    ],
    ["a backend by flag", { backend: "offline" }, { backend: "openai/x" }, { target: "openai/x", options: {} }],
    [
      "limit by limit",
      { limits: { turns: 3, toolMs: 5 } },
      { options: { limits: { turns: 9 } } },
      { target: undefined, options: { limits: { turns: 9, toolMs: 5 } } },
    ],
    [
      "provider by provider",
      { backends: { openai: { apiKey: "a", baseUrl: "https://a.test" } } },
      { options: { openai: { apiKey: "b" } } },
      { target: undefined, options: { openai: { apiKey: "b", baseUrl: "https://a.test" } } },
    ],
    [
      "instructions",
      { instructions: "Be brief." },
      { options: { instructions: "Be long." } },
      { target: undefined, options: { instructions: "Be long." } },
    ],
    [
      "tools by name",
      { tools: [add, sub] },
      { options: { tools: [other] } },
      { target: undefined, options: { tools: [sub, other] } },
    ],
    ["rules", { permissions: { deny: ["x"] } }, {}, { target: undefined, options: { permissions: { deny: ["x"] } } }],
  ])("%s", (_, config, given, expected) => {
    expect(applyConfig(defineConfig(config), given)).toEqual(expected);
  });

  it("one agent is a target, several are a swarm", () => {
    const a = { name: "a", backend: "offline", handoffs: ["b"] };
    const b = { name: "b", backend: "offline" };
    expect(applyConfig({ agents: [b], backend: "openai" }, {}).target).toBe(b);
    expect(applyConfig({ agents: [a, b], swarm: { start: "b" } }, {}).target).toMatchObject({
      kind: "swarm",
      start: "b",
    });
  });
});

describe("F-C7: defineConfig", () => {
  it("rejects a mistake, and a file reports it with its own name", async () => {
    expect(() => defineConfig({ backnd: "offline" } as never)).toThrow(
      "defineConfig: There is no field backnd. Did you",
    );
    const load = async () => ({ config: defineConfig({ limits: { turn: 1 } } as never) });
    const files = createMemoryFiles();
    await files.write("/p/mine.mjs", new Uint8Array());
    await expect(loadConfig({ cwd: "/p", env: {}, file: "mine.mjs", files, load })).rejects.toThrow(
      /^\/p\/mine\.mjs: There is no limits\.turn\. Did you mean turns\?$/,
    );
  });
});
