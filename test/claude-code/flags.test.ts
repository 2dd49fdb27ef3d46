import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { type ArgvPlan, buildArgv } from "../../src/backends/claude-code/argv.ts";
import { locateRealCli, realCliHas } from "../real-cli.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const executable = locateRealCli();
const home = temporaryFolder("flags");

/** Flags that the CLI takes and does not list. The suites that run it show that they work. */
const UNLISTED = [
  "--permission-prompt-tool",
  "--max-turns",
  "--max-thinking-tokens",
  "--allowed-tools",
  "--disallowed-tools",
];

const flagsOf = (plan: ArgvPlan): readonly string[] =>
  buildArgv(
    {
      model: "m",
      fallbackModel: "n",
      systemPrompt: "s",
      permissionMode: "plan",
      resume: "session-1",
      forkSession: true,
      addDirs: ["/srv"],
      settings: "/srv/settings.json",
      mcpConfig: "/srv/servers.json",
      strictMcpConfig: true,
      ...(realCliHas("partial") && { includePartialMessages: true }),
    },
    plan,
  ).args.filter((argument) => argument.startsWith("--"));

describe.runIf(executable !== undefined)("S1-117: claude --help of the real CLI", () => {
  const { stdout: help } = spawnSync(executable ?? "", ["--help"], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "", HOME: home },
  });
  /** The flags at the beginning of their lines, where they are defined and not only mentioned. */
  const listed = new Set(
    help.split("\n").flatMap((line) => (/^ {2}-/.test(line) ? (line.slice(0, 60).match(/--[a-z-]+/gi) ?? []) : [])),
  );

  it.each(["--print", "--output-format", "--verbose", "--input-format", "--setting-sources", "--strict-mcp-config"])(
    "lists %s, which are needed to read its output or for safety",
    (flag) => {
      expect(flagsOf({ mode: "control" })).toContain(flag);
      expect([...listed]).toContain(flag);
    },
  );

  it("states that --output-format and --input-format accept stream-json", () => {
    for (const flag of ["output", "input"]) {
      expect(help.replaceAll(/\s+/g, " ")).toMatch(new RegExp(`--${flag}-format <format>.{0,300}?"stream-json"`));
    }
  });

  it.each<ArgvPlan>([{ mode: "plain", prompt: "stdin" }, { mode: "control" }])(
    "lists every flag of a start in %o that is not known to be unlisted",
    (plan) => {
      expect(flagsOf(plan).filter((flag) => !listed.has(flag) && !UNLISTED.includes(flag))).toEqual([]);
    },
  );
});
