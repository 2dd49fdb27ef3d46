import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isStartError } from "#domain";
import { buildArgv } from "./argv.ts";
import type { ClaudeCodeOptions } from "./options.ts";

const FIXED = ["--print", "--output-format", "stream-json", "--verbose"];
const ISOLATED = ["--strict-mcp-config", "--setting-sources", ""];
const UUID = "3446b987-0000-4000-8000-000000000000";

/** What an option adds to the fixed arguments. */
function added(options: ClaudeCodeOptions): readonly string[] {
  const { args } = buildArgv(options, { mode: "plain", prompt: "stdin" });
  expect(args.slice(0, 4)).toEqual(FIXED);
  const rest = args.slice(4);
  for (const flag of ISOLATED) if (rest.includes(flag)) rest.splice(rest.indexOf(flag), 1);
  return rest;
}

describe("S0-30 S1-98…S1-112: options as arguments", () => {
  it.each<[string, ClaudeCodeOptions, readonly string[]]>([
    ["S1-98", { model: "sonnet" }, ["--model", "sonnet"]],
    ["S1-99", { maxTurns: 7 }, ["--max-turns", "7"]],
    ["S1-100", { maxBudgetUsd: 0.25 }, ["--max-budget-usd", "0.25"]],
    ["S1-101", { systemPrompt: "Be brief." }, ["--system-prompt", "Be brief."]],
    ["S1-102", { appendSystemPrompt: "Be kind." }, ["--append-system-prompt", "Be kind."]],
    ["S1-103", { allowedTools: ["Read", "Bash(git *)"] }, ["--allowed-tools", "Read,Bash(git *)"]],
    ["S1-104", { disallowedTools: ["Bash", "Write"] }, ["--disallowed-tools", "Bash,Write"]],
    ["S1-105", { mcpConfig: "/etc/mcp.json" }, ["--mcp-config", "/etc/mcp.json"]],
    ["S1-106", { permissionMode: "default" }, []],
    ["S1-107", { permissionMode: "acceptEdits" }, ["--permission-mode", "acceptEdits"]],
    ["S1-108", { permissionMode: "bypassPermissions" }, ["--dangerously-skip-permissions"]],
    ["S1-109", { permissionMode: "plan" }, ["--permission-mode", "plan"]],
    ["S1-110", { resume: "abc-1" }, ["--resume", "abc-1"]],
    ["S1-111", { continue: true }, ["--continue"]],
    ["S1-112", { cwd: "/somewhere" }, []],
    ["", { permissionMode: "auto" }, ["--permission-mode", "auto"]],
    ["", { permissionMode: "dontAsk" }, ["--permission-mode", "dontAsk"]],
    ["S0-22", { includePartialMessages: true }, ["--include-partial-messages"]],
    ["S0-24", { includePartialMessages: false }, []],
    ["", { fallbackModel: "haiku" }, ["--fallback-model", "haiku"]],
    ["", { fallbackModel: ["haiku", "opus"] }, ["--fallback-model", "haiku,opus"]],
    ["", { maxThinkingTokens: 0 }, ["--max-thinking-tokens", "0"]],
    ["", { effort: "high" }, ["--effort", "high"]],
    ["", { tools: [] }, ["--tools="]],
    ["", { tools: ["Bash", "Read"] }, ["--tools", "Bash,Read"]],
    ["", { allowedTools: [], disallowedTools: [] }, []],
    ["", { mcpConfig: ["/a.json", "/b.json"] }, ["--mcp-config", "/a.json", "--mcp-config", "/b.json"]],
    ["", { mcpConfig: {} }, []],
    ["", { permissionPromptTool: "mcp__ask__me" }, ["--permission-prompt-tool", "mcp__ask__me"]],
    ["", { resume: "abc-1", forkSession: true }, ["--resume", "abc-1", "--fork-session"]],
    ["", { continue: false, forkSession: false }, []],
    ["", { sessionId: UUID }, ["--session-id", UUID]],
    [
      "",
      { resume: "a", forkSession: true, sessionId: UUID },
      ["--resume", "a", "--fork-session", "--session-id", UUID],
    ],
    ["", { persistSession: false }, ["--no-session-persistence"]],
    ["", { persistSession: true }, []],
    ["", { addDirs: ["/a", "/b"] }, ["--add-dir", "/a", "--add-dir", "/b"]],
    ["", { pluginDirs: ["/p"] }, ["--plugin-dir", "/p"]],
    ["", { settings: "/s.json" }, ["--settings", "/s.json"]],
    ["", { settings: { model: "opus" } }, ["--settings", '{"model":"opus"}']],
    ["", { agents: { r: { description: "d", prompt: "p" } } }, ["--agents", '{"r":{"description":"d","prompt":"p"}}']],
    ["", { agents: {} }, []],
    ["", { agent: "reviewer" }, ["--agent", "reviewer"]],
    ["", { jsonSchema: { type: "object" } }, ["--json-schema", '{"type":"object"}']],
    ["", { betas: ["context-1m"] }, ["--betas", "context-1m"]],
    ["", { includeHookEvents: true }, ["--include-hook-events"]],
    ["", { extraArgs: { "debug-to-stderr": null, name: "-x" } }, ["--debug-to-stderr", "--name=-x"]],
    [
      "",
      {
        env: { A: "b" },
        executable: "/c",
        mode: "plain",
        skipVersionCheck: true,
        strictExitStatus: true,
        keepBackground: true,
      },
      [],
    ],
  ])("AT-7 %s %j", (_id, options, args) => {
    expect(added(options)).toEqual(args);
    expect(buildArgv(options, { mode: "plain", prompt: "stdin" }).warnings).toEqual([]);
  });

  it("S1-97 S1-19 S1-20: print mode, stream-json and verbose are always present; a prompt comes last, after --", () => {
    expect(buildArgv({ model: "m" }, { mode: "plain", prompt: { argument: "--version" } }).args).toEqual([
      ...FIXED,
      "--model",
      "m",
      ...ISOLATED,
      "--",
      "--version",
    ]);
  });

  it("S0-26 S0-27: messages go to stdin in a session and in control mode, in which the CLI asks us for permissions", () => {
    expect(buildArgv({}, { mode: "plain" }).args).toEqual([...FIXED, "--input-format", "stream-json", ...ISOLATED]);
    const control = [...FIXED, "--input-format", "stream-json"];
    expect(buildArgv({ includePartialMessages: true }, { mode: "control" }).args).toEqual([
      ...control,
      "--include-partial-messages",
      "--permission-prompt-tool",
      "stdio",
      ...ISOLATED,
    ]);
    expect(buildArgv({}, { mode: "control", permissionPrompts: false }).args).toEqual([...control, ...ISOLATED]);
    expect(buildArgv({}, { mode: "control", prompt: { argument: "ignored" } }).args).not.toContain("ignored");
  });

  it("SEC4: the repository's settings and servers are excluded unless requested", () => {
    const { args } = buildArgv({ settingSources: ["user", "project"] }, { mode: "plain", prompt: "stdin" });
    expect(args).toEqual([...FIXED, "--setting-sources", "user,project"]);
    const all = buildArgv({ settingSources: ["local", "user", "project"] }, { mode: "plain", prompt: "stdin" });
    expect(all.args).not.toContain("--setting-sources");
    const strict = buildArgv({ settingSources: ["user"], strictMcpConfig: true }, { mode: "control" }).args;
    expect(strict).toContain("--strict-mcp-config");
    expect(buildArgv({ strictMcpConfig: false }, { mode: "control" }).args).not.toContain("--strict-mcp-config");
  });

  it("AT-3 S0-25: an external server is passed to the CLI with its command; one of ours has no command and needs control mode", () => {
    const mcpConfig = { files: { command: "mcp-files", args: ["/"] }, own: { type: "sdk", name: "own" } } as const;
    const valueOf = (mode: "plain" | "control") => {
      const { args } = buildArgv({ mcpConfig }, { mode });
      return JSON.parse(args[args.indexOf("--mcp-config") + 1] as string);
    };
    expect(valueOf("control")).toEqual({ mcpServers: mcpConfig });
    expect(valueOf("plain")).toEqual({ mcpServers: { files: mcpConfig.files } });
  });

  it("SEC3: values with keys are passed in a file, because every user can list the arguments of a process", () => {
    const secret = { url: "https://x", type: "http", headers: { authorization: "Bearer sekret" } } as const;
    const { args, files } = buildArgv(
      { mcpConfig: { secret }, settings: { env: { KEY: "sekret" } } },
      { mode: "plain", prompt: "stdin" },
    );
    expect(args.join(" ")).not.toContain("sekret");
    expect(files.map((file) => [file.flag, JSON.parse(file.text)])).toEqual([
      ["--mcp-config", { mcpServers: { secret } }],
      ["--settings", { env: { KEY: "sekret" } }],
    ]);
  });

  it("S3-24 AT-42: a system prompt over 32 KiB goes into a file, unchanged", () => {
    const long = `"'\n${"é".repeat(16_384)}`;
    expect(buildArgv({ systemPrompt: long }, { mode: "control" }).files).toEqual([
      { flag: "--system-prompt-file", text: long },
    ]);
    const built = buildArgv({ appendSystemPrompt: long }, { mode: "control" });
    expect(built.files).toEqual([{ flag: "--append-system-prompt-file", text: long }]);
    expect(built.args.join(" ")).not.toContain("--append-system-prompt");
    expect(buildArgv({ systemPrompt: "é".repeat(16_384) }, { mode: "control" }).files).toEqual([]);
  });

  it("rejects what no argument can contain, with a remedy", () => {
    const attempt = (options: ClaudeCodeOptions, argument = "hi") => {
      try {
        return buildArgv(options, { mode: "plain", prompt: { argument } }).args.length;
      } catch (error) {
        return isStartError(error) ? [error.code, error.message] : error;
      }
    };
    expect(attempt({}, "x".repeat(131_071))).toBeGreaterThan(0);
    expect(attempt({}, "x".repeat(131_072))).toEqual(["invalid-option", expect.stringContaining("stdin")]);
    expect(attempt({ jsonSchema: { description: "x".repeat(140_000) } })).toEqual([
      "invalid-option",
      expect.stringContaining("--json-schema"),
    ]);
  });
});

describe("mutually exclusive options", () => {
  it.each<[string, ClaudeCodeOptions, readonly string[], string]>([
    [
      "S1-113: the system prompt wins",
      { systemPrompt: "a", appendSystemPrompt: "b" },
      ["--system-prompt", "a"],
      "appendSystemPrompt",
    ],
    ["S1-115: resume wins", { resume: "r", continue: true }, ["--resume", "r"], "continue"],
    ["a session that goes on keeps its id", { resume: "r", sessionId: UUID }, ["--resume", "r"], "sessionId"],
    ["there is nothing to fork", { forkSession: true }, [], "forkSession"],
    [
      "S1-114: allowed tools win when that is asked for",
      { allowedTools: ["Read"], disallowedTools: ["Bash"], toolFilter: "allow-first" },
      ["--allowed-tools", "Read"],
      "disallowedTools",
    ],
  ])("AT-8 %s, and a warning names the option that is ignored", (_title, options, args, loser) => {
    expect(added(options)).toEqual(args);
    const { warnings } = buildArgv(options, { mode: "plain", prompt: "stdin" });
    expect(warnings).toEqual([
      { code: "option-ignored", message: expect.stringContaining(loser), context: { option: loser } },
    ]);
  });

  it("C12: a denial is never dropped: both lists are passed to the CLI, and a warning names what is in both", () => {
    const disjoint = { allowedTools: ["Read"], disallowedTools: ["Bash"] };
    expect(added(disjoint)).toEqual(["--allowed-tools", "Read", "--disallowed-tools", "Bash"]);
    expect(buildArgv(disjoint, { mode: "control" }).warnings).toEqual([]);
    const { args, warnings } = buildArgv(
      { allowedTools: ["Read", "Bash"], disallowedTools: ["Bash"], toolFilter: "both" },
      { mode: "control" },
    );
    expect(args).toContain("--disallowed-tools");
    expect(warnings[0]?.message).toBe("allowedTools names Bash, and so does disallowedTools: the denial wins.");
  });

  it("C12: for any two lists without the seed's rule, every denied tool is in the arguments", () => {
    const names = fc.uniqueArray(fc.constantFrom("Bash", "Read", "Write", "Edit", "Bash(rm *)"));
    fc.assert(
      fc.property(names, names, (allowedTools, disallowedTools) => {
        const { args } = buildArgv({ allowedTools, disallowedTools }, { mode: "control" });
        const at = args.indexOf("--disallowed-tools");
        expect(at === -1 ? [] : args[at + 1]?.split(",")).toEqual(disallowedTools);
      }),
    );
  });
});
