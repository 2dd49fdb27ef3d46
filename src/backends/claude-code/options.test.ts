import { describe, expect, it } from "vitest";
import { isStartError } from "#domain";
import { checkClaudeCodeOptions } from "./options.ts";

const attempt = (options: unknown): unknown => {
  try {
    return checkClaudeCodeOptions(options);
  } catch (error) {
    return isStartError(error) && error.code === "invalid-option" ? error.message : error;
  }
};

describe("checking the options of the CLI", () => {
  it("F-C7: a server of type sdk is rejected by name, because nothing would serve it", () => {
    expect(() => checkClaudeCodeOptions({ mcpConfig: { mine: { type: "sdk", name: "mine" } } })).toThrow(
      /^claudeCode\.mcpConfig\.mine\.type is "sdk".* Give its tools as the option tools\.$/,
    );
  });

  it("S3-19: accepts every valid option", () => {
    const options = {
      model: "claude-sonnet-4-5[1m]",
      fallbackModel: ["haiku", "us.anthropic.claude:0"],
      maxTurns: 1,
      maxBudgetUsd: 0.5,
      allowedTools: ["Bash(git commit -m 'a, b')", "mcp__*"],
      mcpConfig: {
        a: { command: "x", args: ["-y"] },
        b: { type: "sse", url: "http://x" },
      },
      permissionMode: "plan",
      resume: "3446b987-1111-4222-8333-444455556666",
      sessionId: "3446b987-1111-4222-8333-444455556666",
      env: { A_B: "" },
      extraArgs: { debug: null, "some-flag": "v" },
      systemPrompt: "--not a flag\n",
      cwd: "",
    };
    expect(attempt(options)).toEqual(options);
    expect(attempt(undefined)).toEqual({});
  });

  it("S0-19: omits unset options", () => {
    expect(attempt({ model: undefined, maxTurns: null, effort: "low" })).toEqual({ effort: "low" });
  });

  it.each<[unknown, string]>([
    [{ modle: "x" }, "There is no claudeCode.modle. Did you mean model?"],
    [{ zzzzzzzz: 1 }, "There is no claudeCode.zzzzzzzz. Known: model"],
    ["text", 'claudeCode is "text". Give an object'],
    [
      { permissionMode: "acceptedits!" },
      'claudeCode.permissionMode is "acceptedits!". Give one of: default, acceptEdits, bypassPermissions, plan, auto, dontAsk, manual. Did you mean "acceptEdits"?',
    ],
    [
      { settingSources: ["projct"] },
      'claudeCode.settingSources[0] is "projct". Give one of: user, project, local. Did you mean "project"?',
    ],
    [{ maxTurns: 0 }, "claudeCode.maxTurns is 0. Give a whole number above 0."],
    [{ maxTurns: 1.5 }, "claudeCode.maxTurns is 1.5."],
    [{ maxBudgetUsd: Number.NaN }, "claudeCode.maxBudgetUsd is NaN."],
    [{ sessionId: "abc" }, 'claudeCode.sessionId is "abc". Give a UUID'],
    [{ allowedTools: "Bash" }, 'claudeCode.allowedTools is "Bash". Give a list of values.'],
    [{ allowedTools: ["Read,Bash"] }, 'claudeCode.allowedTools[0] is "Read,Bash". Give one name per entry'],
    [{ allowedTools: ["Bash(ls"] }, "Give a rule whose brackets match"],
    [{ env: { "A=B": "x" } }, 'claudeCode.env["A=B"] is not a name for a variable'],
    [{ extraArgs: { "--debug": null } }, 'claudeCode.extraArgs["--debug"] is not a name for a flag'],
    [{ extraArgs: { "output-format": "text" } }, "claudeCode.extraArgs.output-format is set by us"],
    [{ extraArgs: { "setting-sources": "project" } }, "is set by us"],
    [{ mcpConfig: { a: { type: "ws", url: "x" } } }, 'claudeCode.mcpConfig.a.type is "ws"'],
    [{ mcpConfig: { a: {} } }, "claudeCode.mcpConfig.a.command is undefined. Give a program"],
    [{ agents: { a: { description: "d" } } }, "claudeCode.agents.a.prompt is undefined"],
    [{ jsonSchema: [] }, "claudeCode.jsonSchema is []. Give an object"],
    [{ mode: "cli" }, 'claudeCode.mode is "cli". Give one of: auto, plain, control'],
    [{ watchdog: "no" }, 'claudeCode.watchdog is "no". Give true or false'],
  ])("refuses %j", (options, message) => {
    expect(attempt(options)).toContain(message);
  });

  it("never repeats the value of a variable in a message", () => {
    expect(attempt({ env: { KEY: "sekret\0" } })).not.toContain("sekret");
  });

  it("reads own properties only", () => {
    expect(attempt(Object.create({ model: "-evil" }))).toEqual({});
    expect(attempt(JSON.parse('{"__proto__": {"model": "x"}}'))).toContain("There is no claudeCode.__proto__");
  });

  it("rejects a circular value before the start", () => {
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    expect(attempt({ jsonSchema: circle })).toContain("cannot be written as JSON");
  });
});
