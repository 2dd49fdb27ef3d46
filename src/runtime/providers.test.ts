import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { DEFAULT_MODELS, modelLimits } from "./providers.ts";

const require = createRequire(import.meta.url);
const readSdk = (path: string): string => readFileSync(require.resolve(path), "utf8");

/** The models of the vendors' own SDKs, read from their sources: types alone leave nothing to import. */
const anthropic = readSdk("@anthropic-ai/sdk/resources/messages/messages.js");
const openai = readFileSync(require.resolve("openai").replace(/index\.js$/, "resources/shared.d.ts"), "utf8");

/**
 * Models whose shutdown OpenAI and Google have announced, with the date, which is not in their SDKs. From
 * https://developers.openai.com/api/docs/deprecations and https://ai.google.dev/gemini-api/docs/deprecations.
 */
const ENDING: Readonly<Record<string, string>> = {
  "gpt-4o": "2027-01-14",
  "gpt-4o-mini": "2027-01-14",
  "gpt-4.1": "2027-01-14",
  "gpt-4.1-mini": "2027-01-14",
  "gpt-5": "2026-12-11",
  "gpt-5-mini": "2026-12-11",
  "gpt-5-nano": "2026-12-11",
  "gpt-5-pro": "2026-12-11",
  "gpt-5.1": "2027-04-01",
  o3: "2026-12-11",
  "o3-pro": "2026-12-11",
  "gemini-2.5-pro": "2026-10",
  "gemini-2.5-flash": "2026-10",
};

function deprecatedBy(source: string): readonly string[] {
  const table = /DEPRECATED_MODELS = \{([^}]*)\}/.exec(source)?.[1] ?? "";
  return [...table.matchAll(/'([^']+)':/g)].map(([, name]) => name as string);
}

describe("F-D9: default models remain available", () => {
  it("Anthropic's default is in its SDK's list, and not deprecated", () => {
    const types = readFileSync(
      require.resolve("@anthropic-ai/sdk/resources/messages/messages.js").replace(/\.js$/, ".d.ts"),
      "utf8",
    );
    expect(deprecatedBy(anthropic).length).toBeGreaterThan(0);
    expect(deprecatedBy(anthropic)).not.toContain(DEFAULT_MODELS.anthropic);
    expect(types).toContain(`'${DEFAULT_MODELS.anthropic}'`);
  });

  it("OpenAI's default is in its SDK's list", () => {
    expect(openai).toContain(`'${DEFAULT_MODELS.openai}'`);
  });

  it.each(Object.entries(DEFAULT_MODELS))("the default of %s, %s, has no announced end", (_, model) => {
    expect(Object.keys(ENDING)).not.toContain(model);
  });

  it.each(Object.entries(DEFAULT_MODELS))("the default of %s, %s, is in the table of models", (provider, model) => {
    expect(modelLimits(provider, model)?.outputTokens).toBeGreaterThan(0);
  });

  const root = new URL("../../", import.meta.url);
  const pages = readdirSync(new URL("docs/", root)).filter((name) => name.endsWith(".md"));
  const sources = [
    "cli/main.ts",
    "cli/commands/compare.ts",
    "runtime/google.ts",
    "runtime/openai.ts",
    "runtime/options.ts",
  ];
  const texts = ["README.md", "examples/hello.ts", ...pages.map((name) => `docs/${name}`)];

  it.each([...texts, ...sources.map((name) => `src/${name}`)])("%s names no deprecated model", (file) => {
    const text = readFileSync(new URL(file, root), "utf8");
    for (const model of deprecatedBy(anthropic)) expect(text).not.toContain(model);
    const words = new Set(text.match(/[a-z0-9][a-z0-9.-]*[a-z0-9]/g));
    for (const model of Object.keys(ENDING)) expect([...words]).not.toContain(model);
  });
});

describe("F-D5: the table of models", () => {
  it.each([
    ["anthropic", "claude-opus-5", 128_000],
    ["anthropic", "us.anthropic.claude-opus-4-5-v1:0", 64_000],
    ["anthropic", "claude-haiku-4-5@20251001", 64_000],
    ["openai", "gpt-4o-mini", 16_384],
    ["openai", "gpt-4.1-mini-2025-04-14", 32_768],
    ["google", "gemini-2.5-pro", 65_536],
  ])("%s/%s may reply with %i tokens", (provider, model, tokens) => {
    expect(modelLimits(provider, model)?.outputTokens).toBe(tokens);
  });

  it.each([
    ["anthropic", "claude"],
    ["anthropic", "claude-opus-55"],
    ["openai", "gpt-4.7"],
    ["vllm", "gpt-5"],
    ["constructor", "name"],
    ["anthropic", "__proto__"],
  ])("%s/%s is unknown", (provider, model) => {
    expect(modelLimits(provider, model)).toBeUndefined();
  });
});
