import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../../scripts/set-up.mjs";
import { temporaryFolder } from "../temporary-folder.ts";

/** Files of a tree, by path. */
export type Files = Readonly<Record<string, string>>;

/** A small tree in the shape of this repository, without a fault. */
const CLEAN: Files = {
  "package.json": JSON.stringify({
    name: "model",
    type: "module",
    imports: { "#*": { "millrace-source": "./src/*/index.ts", default: "./dist/*/index.js" } },
    dependencies: { "eventsource-parser": "*" },
    devDependencies: { "fast-check": "*" },
  }),
  "tsconfig.json": JSON.stringify({ extends: join(ROOT, "tsconfig.json"), include: ["src"] }),
  "src/index.ts": 'export { runAgent } from "#agents";\n',
  "src/domain/index.ts": 'export { word } from "./word.ts";\nexport type { Word } from "./word.ts";\n',
  "src/domain/word.ts": 'export type Word = string;\nexport const word: Word = "w";\n',
  "src/streams/index.ts": 'export { queue } from "./queue.ts";\n',
  "src/streams/queue.ts": "export const queue = [];\n",
  "src/wire/index.ts": 'export { cut } from "./cut.ts";\n',
  "src/wire/cut.ts":
    'import { createParser } from "eventsource-parser";\nimport { word } from "#domain";\nexport const cut = [word, createParser];\n',
  "src/dialects/index.ts": 'export { formats } from "./formats.ts";\n',
  "src/dialects/formats.ts":
    'import { gemini } from "./gemini/decode.ts";\nimport { openai } from "./openai/decode.ts";\nexport const formats = [gemini, openai];\n',
  "src/dialects/gemini/decode.ts": 'import { cut } from "#wire";\nexport const gemini = cut;\n',
  "src/dialects/openai/decode.ts": 'import { cut } from "#wire";\nexport const openai = cut;\n',
  "src/transports/index.ts": 'export { start } from "./start.ts";\n',
  "src/transports/start.ts": 'import { spawn } from "node:child_process";\nexport const start = spawn;\n',
  "src/backends/index.ts": 'export { contract } from "./backend.ts";\n',
  "src/backends/backend.ts": 'import { word } from "#domain";\nexport const contract = word;\n',
  "src/backends/claude-code/launch.ts":
    'import { start } from "#transports";\nimport { contract } from "../backend.ts";\nexport const launch = [start, contract];\n',
  "src/agents/index.ts": 'export { runAgent } from "./run.ts";\n',
  "src/agents/run.ts":
    'import { contract } from "#backends";\nimport { word } from "#domain";\nimport { queue } from "#streams";\nexport const runAgent = [contract, word, queue];\n',
  "src/runtime/index.ts": 'export { wire } from "./compose.ts";\n',
  "src/runtime/compose.ts":
    'import { runAgent } from "#agents";\nimport { launch } from "../backends/claude-code/launch.ts";\nexport const wire = [runAgent, launch];\n',
  "src/testing/index.ts": 'export { kit } from "./kit.ts";\n',
  "src/testing/kit.ts": 'import { word } from "#domain";\nexport const kit = word;\n',
  // Tests are free of the rows and may use dev dependencies.
  "src/wire/cut.test.ts":
    'import fc from "fast-check";\nimport { kit } from "#testing";\nexport const t = [fc, kit];\n',
};

/** Writes the clean tree with `changes` laid over it into a folder of its own, and returns that folder. */
export function plantTree(changes: Files): string {
  const root = temporaryFolder("layers");
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  for (const [path, text] of Object.entries({ ...CLEAN, ...changes })) {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return root;
}
