import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cruiseTree, findGaps, findLengths, MAY_IMPORT } from "../../scripts/layers.mjs";
import { ROOT } from "../../scripts/set-up.mjs";
import { type Files, plantTree } from "./model-tree.ts";

describe("the table of layers", () => {
  it("is this one; changing it needs a decision record", () => {
    expect(MAY_IMPORT).toEqual({
      domain: [],
      streams: [],
      secrets: [],
      wire: ["domain", "streams"],
      tools: ["domain"],
      dialects: ["domain", "wire", "tools"],
      formats: ["domain", "wire", "dialects"],
      transports: ["domain", "streams", "secrets", "wire"],
      policy: ["domain", "tools"],
      backends: ["domain", "streams", "secrets", "wire", "tools", "dialects", "transports", "policy"],
      views: ["domain", "streams", "wire"],
      run: ["domain", "streams", "secrets", "policy", "views"],
      agents: ["domain", "streams", "tools", "policy", "backends", "run"],
      sessions: ["domain", "streams", "secrets", "wire", "run", "agents"],
      sinks: ["domain", "streams", "secrets", "wire"],
      emulator: ["domain", "streams", "wire"],
      runtime: [
        "domain",
        "secrets",
        "tools",
        "dialects",
        "transports",
        "policy",
        "backends",
        "run",
        "agents",
        "sessions",
        "sinks",
        "emulator",
      ],
      compare: ["domain", "runtime"],
      testing: ["domain", "streams", "wire", "dialects", "backends", "sessions"],
      server: ["domain", "streams", "secrets", "wire", "sinks", "views", "sessions", "runtime"],
      cli: ["domain", "secrets", "tools", "sinks", "views", "runtime", "server", "compare", "emulator"],
    });
  });

  it("names only folders of the table, and no folder reaches itself by going down", () => {
    const below = (folder: string): string[] => (MAY_IMPORT[folder] ?? []).flatMap((lower) => [lower, ...below(lower)]);
    for (const [folder, allowed] of Object.entries(MAY_IMPORT)) {
      for (const lower of allowed) expect(Object.keys(MAY_IMPORT)).toContain(lower);
      expect(below(folder)).not.toContain(folder);
    }
  });
});

describe("a reading that misses something", () => {
  it("zero modules are not green", () => {
    const gaps = findGaps(ROOT, { violations: [], modules: [], edges: [], onlyImporters: new Map() });
    expect(gaps.join("\n")).toContain("No module was read at all.");
    expect(gaps.join("\n")).toMatch(/\d+ files of src were not read/);
  });

  it("a folder without a row is a gap", () => {
    const root = plantTree({ "src/helpers/index.ts": "export const x = 1;\n" });
    expect(
      findGaps(root, { violations: [], modules: ["src/index.ts"], edges: [], onlyImporters: new Map() }).join("\n"),
    ).toContain("src/helpers has no row");
  });

  it("an empty folder is not", () => {
    const root = plantTree({});
    mkdirSync(join(root, "src", "soon"));
    expect(
      findGaps(root, { violations: [], modules: [], edges: [], onlyImporters: new Map() }).join("\n"),
    ).not.toContain("soon");
  });
});

const FAULTS: readonly { readonly fault: string; readonly rules: readonly string[]; readonly files: Files }[] = [
  {
    fault: "an upward import",
    rules: ["wire-imports-only-its-row"],
    files: { "src/wire/cut.ts": 'import { kit } from "#testing";\nexport const cut = kit;\n' },
  },
  {
    fault: "an upward import of a type alone",
    rules: ["domain-imports-only-its-row", "no-cycles"],
    files: {
      "src/domain/word.ts":
        'import type { cut } from "#wire";\nexport type Word = typeof cut;\nexport const word = "w";\n',
    },
  },
  {
    fault: "reaching past a door",
    rules: ["through-the-door"],
    files: { "src/wire/cut.ts": 'import { word } from "../domain/word.ts";\nexport const cut = word;\n' },
  },
  {
    fault: "a loop that names a concrete backend",
    rules: ["through-the-door"],
    files: {
      "src/agents/run.ts":
        'import { launch } from "../backends/claude-code/launch.ts";\nexport const runAgent = launch;\n',
    },
  },
  {
    fault: "a composition root that reaches into a transport",
    rules: ["root-names-only-concretes"],
    files: {
      "src/runtime/compose.ts": 'import { start } from "../transports/start.ts";\nexport const wire = start;\n',
    },
  },
  {
    fault: "a public root that reaches past a door",
    rules: ["public-root-enters-doors"],
    files: { "src/index.ts": 'export { runAgent } from "./agents/run.ts";\n' },
  },
  {
    fault: "a source that imports the public root",
    rules: ["public-root-is-for-users"],
    files: { "src/runtime/compose.ts": 'import { runAgent } from "../index.ts";\nexport const wire = runAgent;\n' },
  },
  {
    fault: "dialects that meet",
    rules: ["siblings-do-not-meet"],
    files: {
      "src/dialects/gemini/decode.ts": 'import { openai } from "../openai/decode.ts";\nexport const gemini = openai;\n',
    },
  },
  {
    fault: "a cycle inside a folder",
    rules: ["no-cycles"],
    files: {
      "src/streams/queue.ts": 'import { more } from "./more.ts";\nexport const queue = more;\n',
      "src/streams/more.ts": 'import { queue } from "./queue.ts";\nexport const more = [queue];\n',
    },
  },
  {
    fault: "child_process in agents",
    rules: ["only-transports-spawn-or-dial"],
    files: { "src/agents/run.ts": 'import { spawn } from "node:child_process";\nexport const runAgent = spawn;\n' },
  },
  ...Object.entries({ domain: "word", wire: "cut", dialects: "gemini", views: "index" }).map(([folder, name]) => ({
    fault: `a Node built-in in ${folder}`,
    rules: ["pure-floor"],
    files: {
      [`src/${folder}/${folder === "dialects" ? "gemini/decode" : name}.ts`]: `import { Buffer } from "node:buffer";\nexport type Word = string;\nexport const ${name} = Buffer;\n`,
    },
  })),
  {
    fault: "a file that nothing imports",
    rules: ["no-orphans"],
    files: { "src/streams/forgotten.ts": "export const forgotten = 1;\n" },
  },
  {
    fault: "a dev dependency in a source",
    rules: ["no-dev-dependency-in-src"],
    files: { "src/testing/kit.ts": 'import fc from "fast-check";\nexport const kit = fc;\n' },
  },
  {
    fault: "a module that does not exist",
    rules: ["resolvable"],
    files: { "src/streams/queue.ts": 'import { more } from "./nowhere.ts";\nexport const queue = more;\n' },
  },
  {
    fault: "a folder without a row that imports something",
    rules: ["every-folder-is-a-row"],
    files: { "src/helpers/index.ts": 'import { word } from "#domain";\nexport const help = word;\n' },
  },
];

describe("planted faults", () => {
  it("the model without a fault is green, and all of it is read", async () => {
    const root = plantTree({});
    const result = await cruiseTree(root);
    expect(result.violations).toEqual([]);
    expect(findGaps(root, result)).toEqual([]);
  });

  it.each(FAULTS)("$fault is reported by $rules", async ({ files, rules }) => {
    const { violations } = await cruiseTree(plantTree(files));
    expect([...new Set(violations.map(({ rule }) => rule))].sort()).toEqual([...rules].sort());
  });
});

describe("the lengths of files", () => {
  const lines = (count: number) => "// a line\n".repeat(count);
  const start = (file: string) => `import { part } from "./${file}.ts";\nexport const start = part;\n`;
  const lengthsOf = async (files: Files): Promise<readonly string[]> => {
    const root = plantTree(files);
    return findLengths(root, await cruiseTree(root)).filter((fault) => /part|median|p95/.test(fault));
  };
  const part = (count: number) => `export const part = 1;\n${lines(count - 1)}`;

  it("a short file that one other file imports belongs into that file", async () => {
    expect(await lengthsOf({ "src/transports/start.ts": start("part"), "src/transports/part.ts": part(39) })).toEqual([
      "src/transports/part.ts has 39 lines, and only src/transports/start.ts imports it. Move it there.",
    ]);
  });

  it.each([
    ["a file of 40 lines", { "src/transports/start.ts": start("part"), "src/transports/part.ts": part(40) }],
    [
      "a file that is loaded when it is needed",
      {
        "src/transports/start.ts": 'export const start = import("./part.ts");\n',
        "src/transports/part.ts": part(5),
      },
    ],
    [
      "a file that two others import",
      {
        "src/transports/start.ts": `${start("part")}export { other } from "./other.ts";\n`,
        "src/transports/other.ts": `import { part } from "./part.ts";\nexport const other = part;\n${lines(40)}`,
        "src/transports/part.ts": part(5),
      },
    ],
  ])("%s stands alone", async (_, files) => {
    expect(await lengthsOf(files)).toEqual([]);
  });

  it("files that have become long are reported", async () => {
    const long = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [`src/streams/long-${at}.ts`, `export const a = ${at};\n${lines(300)}`]),
    );
    expect(await lengthsOf(long)).toEqual([
      "The median of the lengths of all files is 301 lines; 90 are allowed.",
      "The p95 of the lengths of all files is 301 lines; 260 are allowed.",
    ]);
  });
});
