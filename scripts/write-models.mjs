// `npm run models:write`: generates src/runtime/model-table.ts from the model catalogue that @earendil-works/pi-ai
// publishes. The package is downloaded for this and not installed, because it depends on every vendor's SDK.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./set-up.mjs";

const SOURCE = "@earendil-works/pi-ai@1.5.2";
const PROVIDERS = ["anthropic", "openai", "google", "deepseek"];

const folder = mkdtempSync(join(tmpdir(), "millrace-models-"));
try {
  execFileSync("npm", ["pack", SOURCE, "--pack-destination", folder], { stdio: "ignore" });
  execFileSync("tar", ["xzf", "earendil-works-pi-ai-1.5.2.tgz"], { cwd: folder });
  writeFileSync(
    join(ROOT, "src/runtime/model-table.ts"),
    writeTable((provider) => readCatalogue(folder, provider)),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/**
 * @param {string} unpacked
 * @param {string} provider
 * @returns {{ id: string, type: string, contextWindow: number, maxTokens: number }[]}
 */
function readCatalogue(unpacked, provider) {
  const path = join(unpacked, "package/dist/providers/data", `${provider}.json`);
  return Object.values(JSON.parse(readFileSync(path, "utf8"))).flatMap((group) => Object.values(group));
}

/** @param {(provider: string) => { id: string, type: string, contextWindow: number, maxTokens: number }[]} modelsOf */
function writeTable(modelsOf) {
  const lines = PROVIDERS.flatMap((provider) => [
    `  ${provider}: {`,
    ...modelsOf(provider)
      .filter(({ type }) => type === "chat")
      .toSorted((left, right) => (left.id < right.id ? -1 : 1))
      .map(({ id, contextWindow, maxTokens }) => `    ${JSON.stringify(id)}: [${contextWindow}, ${maxTokens}],`),
    "  },",
  ]);
  return [
    `// Made by \`npm run models:write\` of the catalogue in ${SOURCE} (MIT licence, copyright its authors). Not to be edited.`,
    "",
    "/** The context window and the longest reply of each model, in tokens, by provider. */",
    "export const MODEL_TABLE: Readonly<Record<string, Readonly<Record<string, readonly [number, number]>>>> = {",
    ...lines,
    "};",
    "",
  ].join("\n");
}
