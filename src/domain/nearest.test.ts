import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearestName } from "./nearest.ts";

const KNOWN = ["claude-code", "anthropic-messages", "openai-chat", "gemini", "ndjson"];

describe("nearestName", () => {
  it.each([
    ["claude-code", "claude-code"],
    ["cluade-code", "claude-code"],
    ["claudecode", "claude-code"],
    ["CLAUDE-CODE", "claude-code"],
    ["claude", "claude-code"],
    ["gemni", "gemini"],
    ["njdson", "ndjson"],
    ["openai_chat", "openai-chat"],
    ["openai", "openai-chat"],
  ])("%s is read as %s", (name, meant) => {
    expect(nearestName(name, KNOWN)).toBe(meant);
  });

  it.each(["", "xml", "zzzzzz", "x".repeat(65), "constructor", "__proto__"])("nothing is close to %j", (name) => {
    expect(nearestName(name, KNOWN)).toBeUndefined();
  });

  it("the first of equally close names is chosen, and without candidates there is none", () => {
    expect(nearestName("cat", ["bat", "hat"])).toBe("bat");
    expect(nearestName("cat", [])).toBeUndefined();
  });

  it("the beginning of a name is closer than a mistake, and of the shortest name the closest", () => {
    expect(nearestName("gpt-5.6", ["gpt-5.1", "gpt-5.6-cyber", "gpt-5.6-sol"])).toBe("gpt-5.6-sol");
  });

  it("skips candidates that are too long to compare", () => {
    expect(nearestName("abc", ["abc".repeat(40), "abd"])).toBe("abd");
  });

  it("finds a known name whatever single letter was changed", () => {
    fc.assert(
      fc.property(fc.constantFrom(...KNOWN), fc.nat(), fc.constantFrom("q", "z", "x", "7"), (name, place, letter) => {
        const index = place % name.length;
        expect(nearestName(name.slice(0, index) + letter + name.slice(index + 1), KNOWN)).toBe(name);
      }),
      { numRuns: 500 },
    );
  });
});
