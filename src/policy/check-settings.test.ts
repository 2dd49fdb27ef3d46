import { isStartError } from "#domain";
import { describe, expect, it } from "vitest";
import { checkGuards, checkHooks, checkPermission, checkRules } from "./check-settings.ts";
import type { PermissionRules } from "./permission.ts";
import { findShadowed } from "./shadowed.ts";

const run = (): undefined => undefined;
const guard = { name: "g", place: "output", check: run };

describe("invalid settings are rejected with field, value and remedy", () => {
  const cases: readonly (readonly [title: string, check: () => void, parts: readonly string[]])[] = [
    ["hooks that are a list", () => checkHooks([]), ["hooks is []", "Give an object"]],
    ["a point with a slip", () => checkHooks({ "before-tol": [run] }), ["before-tol", "Did you mean before-tool?"]],
    ["a point nobody knows", () => checkHooks({ xyzzyxyzzy: [] }), ["xyzzyxyzzy", "Known: prompt, before-tool"]],
    ["a single hook", () => checkHooks({ prompt: run }), ['hooks["prompt"] is a function', "Give a list"]],
    ["a hook that is a text", () => checkHooks({ prompt: ["x"] }), ['hooks["prompt"][0] is "x"', "Give a function"]],
    ["a hook without run", () => checkHooks({ prompt: [{}] }), ['["prompt"][0].run is undefined', "Give a function"]],
    ["a field with a slip", () => checkHooks({ prompt: [{ timeoutMS: 1, run }] }), ["timeoutMS", "timeoutMs?"]],
    ["no time", () => checkHooks({ prompt: [{ timeoutMs: 0, run }] }), [".timeoutMs is 0", "milliseconds"]],
    ["endless time", () => checkHooks({ prompt: [{ timeoutMs: Infinity, run }] }), [".timeoutMs is Infinity"]],
    [
      "a tool where there is none",
      () => checkHooks({ prompt: [{ tool: "Bash", run }] }),
      ['.tool is "Bash"', "Leave it out"],
    ],
    [
      "an empty tool",
      () => checkHooks({ "before-tool": [{ tool: "", run }] }),
      ['.tool is ""', "leave it out for all"],
    ],
    ["half an alternative", () => checkHooks({ "before-tool": [{ tool: "A|", run }] }), ['"A|"', "both sides"]],
    [
      "a tool with arguments",
      () => checkHooks({ "before-tool": [{ tool: "Bash(x)", run }] }),
      ["Bash(x)", "names only"],
    ],
    ["an agent's hooks", () => checkHooks({ prompt: 1 }, "agent.hooks"), ['agent.hooks["prompt"] is 1']],
    ["rules that are a list", () => checkRules(["Bash"]), ["permissions is", "Give an object"]],
    ["a list of rules with a slip", () => checkRules({ alow: [] }), ["permissions.alow", "Did you mean allow?"]],
    ["one rule", () => checkRules({ allow: "Bash" }), ['permissions.allow is "Bash"', "Give a list"]],
    ["a rule that is no text", () => checkRules({ deny: [7] }), ["permissions.deny[0] is 7", "Give a string"]],
    ["a rule nobody can read", () => checkRules({ deny: ["Bash("] }), ['"Bash("', "Close the bracket"]],
    ["a callback that is a text", () => checkPermission("yes"), ['permission is "yes"', "Give a function"]],
    ["a callback that is a set of rules", () => checkPermission({ allow: [] }), ['go into "permissions"']],
    ["one guard", () => checkGuards(guard, "buffer"), ["guards is", "Give a list"]],
    ["a guard without a name", () => checkGuards([{ ...guard, name: "" }], "buffer"), ['guards[0].name is ""']],
    [
      "a guard of no place",
      () => checkGuards([{ ...guard, place: "out" }], "buffer"),
      ['place is "out"', "tool-result, output"],
    ],
    [
      "an output guard with a tool",
      () => checkGuards([{ ...guard, tool: "x" }], "buffer"),
      ['.tool is "x"', "Leave it out"],
    ],
    ["a guard without a check", () => checkGuards([{ ...guard, check: 1 }], "buffer"), ["guards[0].check is 1"]],
    [
      "a guard with a slip",
      () => checkGuards([{ ...guard, timeout: 1 }], "buffer"),
      ["guards[0].timeout", "timeoutMs?"],
    ],
    [
      "a mode nobody knows",
      () => checkGuards([], "stream"),
      ['outputMode is "stream"', '"buffer"', "windowCharacters"],
    ],
    ["an empty window", () => checkGuards([], { windowCharacters: 0 }), ["windowCharacters is 0", "above 0"]],
    ["a window with a slip", () => checkGuards([], { windowChars: 9 }), ["windowChars", "windowCharacters?"]],
    [
      "S4-28 AT-61 C23: an output guard while the output is streamed: both remedies",
      () => checkGuards([guard], undefined),
      ["guards[0]", '"g"', 'outputMode: "buffer"', "outputMode: { windowCharacters: 200 }"],
    ],
  ];
  it.each(cases)("%s", (_title, check, parts) => {
    let thrown: unknown;
    try {
      check();
    } catch (error) {
      thrown = error;
    }
    expect(isStartError(thrown) && thrown.code).toBe("invalid-option");
    for (const part of parts) expect((thrown as Error).message).toContain(part);
  });

  it("valid settings are accepted", () => {
    checkHooks(undefined);
    checkHooks({ prompt: undefined, "run-end": [run], "before-tool": [{ tool: "Bash | mcp__*", timeoutMs: 5, run }] });
    checkRules({ allow: ["Bash(git *)"], deny: undefined, ask: [] });
    checkPermission(run);
    checkGuards(undefined, undefined);
    checkGuards([{ name: "i", place: "input", check: run }], undefined);
    checkGuards([guard, { name: "t", place: "tool-call", tool: "Bash", timeoutMs: 9, check: run }], {
      windowCharacters: 9,
    });
  });
});

describe("AT-10: a callback that is never called", () => {
  const find = (rules: PermissionRules, permission: (() => { allow: true }) | undefined = () => ({ allow: true })) =>
    findShadowed({ rules: [rules], permission }, [{ name: "Read" }, { name: "Bash" }]).map(({ code, context }) => [
      code,
      context,
    ]);

  it.each(["Read", "Read(*)", "Read(:*)", "Read(**)"])("%s shadows it", (rule) => {
    expect(find({ allow: [rule] })).toEqual([["callback-shadowed", { rule, tools: ["Read"] }]]);
  });

  it("a pattern for names shadows it, and so does a built-in tool of the backend", () => {
    expect(find({ allow: ["*", "WebSearch"] })).toEqual([
      ["callback-shadowed", { rule: "*", tools: ["Read", "Bash"] }],
      ["callback-shadowed", { rule: "WebSearch", tools: [] }],
    ]);
  });

  it.each<PermissionRules>([
    { allow: ["Read(src/*)", "Bash(git:*)"] },
    { deny: ["Read"], ask: ["Bash"] },
    { allow: ["Read"], ask: ["Read"] },
    { allow: ["Read"], deny: ["*"] },
    {},
  ])("%j shadows nothing", (rules) => {
    expect(find(rules)).toEqual([]);
  });

  it("without a callback there is nothing to shadow", () => {
    expect(findShadowed({ rules: [{ allow: ["Read"] }], permission: undefined }, [])).toEqual([]);
  });
});
