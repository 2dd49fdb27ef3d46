import { describe, expect, it } from "vitest";
import { isStartError, textDelta } from "#domain";
import type { Format } from "./shared/format.ts";
import { builtInFormats, createFormatRegistry } from "./registry.ts";

function format(name: string): Format {
  return {
    name,
    framing: "text",
    description: `The format ${name}.`,
    createAdapter() {
      let count = 0;
      return { feed: () => [textDelta("m", 0, String((count += 1)))], flush: () => [], reset: () => {} };
    },
  };
}

function thrownBy(action: () => unknown): string {
  try {
    action();
  } catch (thrown) {
    if (isStartError(thrown)) return `${thrown.code}: ${thrown.message}`;
    throw thrown;
  }
  return "nothing";
}

const CONFIG = { name: "mine", framing: "ndjson", description: "Mine", version: "3", events: [] };

describe("the built-in formats, S4-10", () => {
  const registry = createFormatRegistry();

  it("are registered under all their names", () => {
    expect(registry.list()).toEqual([
      ...["claude-code", "claude-agent-sdk", "@mlld/claude-agent-sdk", "anthropic"],
      ...["anthropic-messages", "openai-chat", "gemini", "ndjson", "text"],
    ]);
    expect(builtInFormats().map((entry) => entry.format.name)).toEqual([
      "claude-code",
      "anthropic-messages",
      "openai-chat",
      "gemini",
      "ndjson",
      "text",
    ]);
  });

  it.each(["claude-agent-sdk", "@mlld/claude-agent-sdk", "anthropic"])("%s is Claude Code", (alias) => {
    expect(registry.get(alias)).toBe(registry.get("claude-code"));
    expect(registry.require(alias).name).toBe("claude-code");
  });

  it("describe themselves", () => {
    expect(registry.describe("anthropic")).toMatchObject({
      name: "claude-code",
      aliases: ["claude-agent-sdk", "@mlld/claude-agent-sdk", "anthropic"],
      framing: "ndjson",
    });
    for (const name of registry.list()) expect(registry.describe(name)?.description).toMatch(/\S/);
  });
});

describe("a registry, S4-11", () => {
  it("S4-11: never returns the same adapter twice", () => {
    const registry = createFormatRegistry([format("a")]);
    const [left, right] = [registry.require("a").createAdapter(), registry.require("a").createAdapter()];
    expect(left).not.toBe(right);
    left.feed([]);
    expect(left.feed([])).toMatchObject([{ text: "2" }]);
    expect(right.feed([])).toMatchObject([{ text: "1" }]);
  });

  it("S4-11: built-in formats start with a fresh adapter, too", () => {
    const registry = createFormatRegistry();
    for (const name of registry.list()) {
      expect(registry.require(name).createAdapter()).not.toBe(registry.require(name).createAdapter());
    }
  });

  it("registers formats, with aliases, and configs as values or text", () => {
    const registry = createFormatRegistry([]);
    registry.register(format("a"), { aliases: ["b", "c"] });
    expect(registry.registerConfig(CONFIG, { aliases: ["my"] }).name).toBe("mine");
    registry.registerConfig(JSON.stringify({ ...CONFIG, name: "text-mine", framing: "sse" }));
    expect(registry.list()).toEqual(["a", "b", "c", "mine", "my", "text-mine"]);
    expect(registry.get("my")?.name).toBe("mine");
    expect(registry.describe("my")).toEqual({
      name: "mine",
      aliases: ["my"],
      framing: "ndjson",
      description: "Mine",
      version: "3",
    });
    expect(registry.describe("a")).toEqual({
      name: "a",
      aliases: ["b", "c"],
      framing: "text",
      description: "The format a.",
    });
  });

  it("takes entries with aliases when it is created", () => {
    const registry = createFormatRegistry([
      format("a"),
      { format: format("b"), aliases: ["bb"] },
      { format: format("c") },
    ]);
    expect(registry.list()).toEqual(["a", "b", "bb", "c"]);
  });

  it("two registries are independent", () => {
    const [left, right] = [createFormatRegistry([]), createFormatRegistry([])];
    left.register(format("a"));
    expect(right.has("a")).toBe(false);
  });

  it("a name that is already used is rejected, and nothing is added", () => {
    const registry = createFormatRegistry([{ format: format("a"), aliases: ["b"] }]);
    const refusal = 'invalid-format: name: "b" is taken. Choose another name, or unregister the format that has it.';
    expect(thrownBy(() => registry.register(format("b")))).toBe(refusal);
    expect(thrownBy(() => registry.register(format("c"), { aliases: ["d", "b"] }))).toBe(refusal);
    expect(thrownBy(() => registry.registerConfig({ ...CONFIG, name: "b" }))).toBe(refusal);
    expect(thrownBy(() => registry.register(format("e"), { aliases: ["e"] }))).toContain('"e" is taken');
    expect(thrownBy(() => registry.register(format("e"), { aliases: ["f", "f"] }))).toContain('"f" is taken');
    expect(registry.list()).toEqual(["a", "b"]);
  });

  it("AT-56: a value that is not a format is rejected", () => {
    const registry = createFormatRegistry([]);
    expect(thrownBy(() => registry.register({ ...format("a"), framing: "custom" as "text" }))).toBe(
      'invalid-format: framing: "custom" is not a framing. Use one of: ndjson, sse, text.',
    );
    expect(thrownBy(() => registry.register({ ...format("a"), name: "a b" }))).toContain("is not a name");
    expect(thrownBy(() => registry.register({ ...format("a"), createAdapter: 1 as never }))).toContain("createAdapter");
    expect(thrownBy(() => registry.register(format("a"), { aliases: [""] }))).toContain("aliases[0]");
    expect(thrownBy(() => registry.registerConfig({ ...CONFIG, framing: "custom" }))).toContain("ndjson, sse, text");
    expect(registry.list()).toEqual([]);
  });

  it("AT-56: an unknown name is undefined, or an error that names the nearest", () => {
    const registry = createFormatRegistry([format("alpha"), format("beta")]);
    expect(registry.get("alhpa")).toBeUndefined();
    expect(registry.describe("alhpa")).toBeUndefined();
    expect(thrownBy(() => registry.require("alhpa"))).toBe(
      'unknown-format: format: "alhpa" is not registered. Did you mean "alpha"? Known: alpha, beta.',
    );
    expect(thrownBy(() => registry.require("zzz"))).toBe(
      'unknown-format: format: "zzz" is not registered. Known: alpha, beta.',
    );
    expect(thrownBy(() => createFormatRegistry([]).require("x".repeat(999)))).toContain(
      '..." is not registered. Known: none.',
    );
  });

  it.each(["constructor", "__proto__", "toString", "hasOwnProperty", ""])("SEC12: %j is not registered", (name) => {
    const registry = createFormatRegistry();
    expect([registry.get(name), registry.has(name), registry.describe(name), registry.unregister(name)]).toEqual([
      undefined,
      false,
      undefined,
      false,
    ]);
  });

  it("unregister removes a format with its aliases, or one alias", () => {
    const registry = createFormatRegistry([{ format: format("a"), aliases: ["b", "c"] }, format("d")]);
    expect(registry.unregister("b")).toBe(true);
    expect(registry.describe("a")?.aliases).toEqual(["c"]);
    expect(registry.unregister("a")).toBe(true);
    expect(registry.list()).toEqual(["d"]);
    expect(registry.unregister("a")).toBe(false);
    registry.register(format("a"), { aliases: ["b"] });
    expect(registry.list()).toEqual(["d", "a", "b"]);
  });
});
