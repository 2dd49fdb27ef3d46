import { describe, expect, it } from "vitest";
import { findNeverMatching } from "./never-matching.ts";

describe("rules that can never apply", () => {
  const find = (...given: Parameters<typeof findNeverMatching>) =>
    findNeverMatching(...given).map(({ code, message }) => {
      expect(code).toBe("rule-never-matches");
      return message;
    });

  it.each([
    ["a slip in a name", { deny: ["Raed(private/*)"] }, ["Read"], /"Raed\(private\/\*\)".*Did you mean "Read"/],
    ["a name nobody has", { ask: ["Bash"] }, ["add", "mul"], /There are: add, mul/],
    ["no tools at all", { allow: ["add"] }, [], /There are none/],
    ["an allowed call of a denied tool", { allow: ["Read(src/*)"], deny: ["Read"] }, ["Read"], /"Read" denies already/],
    ["a question about a denied tool", { ask: ["Read"], deny: ["R*"] }, ["Read"], /"R\*" denies already/],
    [
      "an allowed call of a tool that is asked about",
      { allow: ["Read"], ask: ["Read"] },
      ["Read"],
      /asks about already/,
    ],
  ])("F-A11: %s is a warning", (_, rules, tools, message) => {
    expect(find([rules], tools)).toEqual([expect.stringMatching(message)]);
  });

  it.each([
    ["a name that is there", { deny: ["Read(private/*)"] }, ["Read"]],
    ["a pattern of names", { deny: ["mcp__*", "*"] }, ["mcp__a__b"]],
    ["an agent with tools of its own", { deny: ["Bash(rm *)"] }, undefined],
    ["rules for other arguments", { allow: ["Read"], deny: ["Read(private/*)"], ask: ["Read(x)"] }, ["Read"]],
  ])("F-A11: %s is not", (_, rules, tools) => {
    expect(find([rules], tools)).toEqual([]);
  });
});
