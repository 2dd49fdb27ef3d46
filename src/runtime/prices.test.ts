import { describe, expect, it } from "vitest";
import type { ModelBackend } from "#backends";
import type { Usage } from "#domain";
import { createScriptedBackend } from "#testing";
import { openai } from "./openai.ts";
import { createPriceList, priceOf } from "./prices.ts";
import { makeBackend, PROVIDERS } from "./providers.ts";
import { systemWorld } from "./world.ts";

const backend = (name: string, model: string): ModelBackend => ({ ...createScriptedBackend([], name), model });
const price = (name: string, model: string, usage: Usage) => priceOf(usage, backend(name, model));

const CLAUDE = "claude-sonnet-4-5";
const tokens = (inputTokens: number, more: Partial<Usage> = {}): Usage => ({ inputTokens, outputTokens: 0, ...more });

describe("the price of a usage", () => {
  it("is the same if a model is looked up again, known or not", async () => {
    const list = createPriceList();
    for (const [name, model] of [
      ["anthropic", CLAUDE],
      ["google", "gemini-2.5-pro"],
      ["openai", "no-such-model"],
    ] as const) {
      const usage = tokens(300_000, { cacheReadTokens: 100 });
      const first = await list(usage, backend(name, model));
      expect(await list(usage, backend(name, model))).toBe(first);
      expect(await createPriceList()(usage, backend(name, model))).toBe(first);
    }
  });

  it("is counted per million tokens of a known model", async () => {
    expect(await price("anthropic", CLAUDE, { inputTokens: 100_000, outputTokens: 10_000 })).toBeCloseTo(0.3 + 0.15);
    expect(await price("openai", "gpt-5", { inputTokens: 100_000, outputTokens: 10_000 })).toBeCloseTo(0.125 + 0.1);
    expect(await price("google", "gemini-2.5-pro", { inputTokens: 100_000, outputTokens: 0 })).toBeCloseTo(0.125);
  });

  it("Anthropic's input tokens are those that were not cached: cached ones come on top, at their own price", async () => {
    const plain = await price("anthropic", CLAUDE, tokens(10_000));
    const cached = await price("anthropic", CLAUDE, tokens(10_000, { cacheReadTokens: 100_000, cacheWriteTokens: 0 }));
    expect(plain).toBeCloseTo(0.03);
    expect(cached).toBeCloseTo(0.03 + 0.03);
    const written = await price("anthropic", CLAUDE, tokens(0, { cacheWriteTokens: 100_000 }));
    expect(written).toBeCloseTo(0.375);
  });

  it.each([
    ["openai", "gpt-5", 1.25],
    ["google", "gemini-2.5-pro", 1.25],
  ])("%s's input tokens include the cached ones, which cost a tenth", async (name, model, perMillion) => {
    const cached = await price(name, model, tokens(100_000, { cacheReadTokens: 80_000 }));
    expect(cached).toBeCloseTo((20_000 * perMillion + 80_000 * perMillion * 0.1) / 1e6);
  });

  it("unknown usage stays unknown, and so does its price", async () => {
    expect(await price("openai", "gpt-5", {})).toBeUndefined();
    expect(await price("openai", "gpt-5", { inputTokens: 5 })).toBeUndefined();
    expect(await price("openai", "gpt-5", { outputTokens: 5 })).toBeUndefined();
  });

  it("no price is used for another model: an unknown model, or a custom host", async () => {
    expect(await price("openai", "no-such-model-1", tokens(5))).toBeUndefined();
    expect(await price("vllm", "gpt-5", tokens(5))).toBeUndefined();
    expect(await price("my-gateway", CLAUDE, tokens(5))).toBeUndefined();
  });

  describe.each([
    ["anthropic", CLAUDE, "ANTHROPIC_BASE_URL"],
    ["openai", "gpt-5", "OPENAI_BASE_URL"],
    ["deepseek", "deepseek-chat", "DEEPSEEK_BASE_URL"],
    ["google", "gemini-2.5-pro", "GOOGLE_GEMINI_BASE_URL"],
  ] as const)("F-C13: %s at another address", (name, model, variable) => {
    const world = (env: Record<string, string>) => ({ ...systemWorld(), env });
    const usage = tokens(5, { outputTokens: 5 });

    it("has an unknown price, whether set by an option or a variable; at its own address it is known", async () => {
      const at = (baseUrl: string) => makeBackend(name, model, { apiKey: "k", baseUrl }, world({}));
      expect(await priceOf(usage, makeBackend(name, model, { apiKey: "k" }, world({})))).toBeGreaterThan(0);
      expect(await priceOf(usage, at(PROVIDERS[name].baseUrl))).toBeGreaterThan(0);
      expect(await priceOf(usage, at("https://gateway.test/v1"))).toBeUndefined();
      const env = { [variable]: "https://gateway.test/v1" };
      expect(await priceOf(usage, makeBackend(name, model, { apiKey: "k" }, world(env)))).toBeUndefined();
    });
  });

  it("F-C13: a compatible host has no prices of ours, whatever its name", async () => {
    const host = openai.compatible({ name: "openai", model: "gpt-5", baseUrl: "https://gateway.test/v1" });
    expect(await priceOf(tokens(5, { outputTokens: 5 }), host)).toBeUndefined();
  });

  it("the offline model is free", async () => {
    expect(await price("offline", "offline", {})).toBe(0);
  });

  it("invalid counts give no price and no failure", async () => {
    const odd = await price("openai", "gpt-5", tokens(5, { cacheReadTokens: 500 }));
    expect(odd === undefined || odd >= 0).toBe(true);
  });
});
