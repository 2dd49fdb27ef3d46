import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEmulator, type Emulator, type EmulatorScript } from "#emulator";
import { main } from "../../src/cli/main.ts";
import { createMemoryIo } from "../e2e/memory-io.ts";
import { isQuick } from "../effort.ts";
import { locateRealCli } from "../real-cli.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { wordingFaults } from "./well-said.ts";

// F-F: whatever makes a run fail, the command line says why in a sentence, with what to do, in words of the shell.

const folder = temporaryFolder("failures");

const script: EmulatorScript = {
  rules: [
    { match: { user: "stall" }, reply: { text: "one two three" }, fault: { stallBeforeHeaders: true } },
    { match: { user: "cut" }, reply: { text: "one two three four" }, fault: { cutAfterEvents: 4 } },
    { match: { user: "refuse-401" }, fault: { status: 401 } },
    { match: { user: "refuse-404" }, fault: { status: 404 } },
    { match: { user: "refuse-400" }, fault: { status: 400 } },
    { match: { user: "long" }, reply: { text: "word ".repeat(400) } },
  ],
};

let emulator: Emulator;
let env: Record<string, string>;
beforeAll(async () => {
  emulator = createEmulator({ script });
  const { url } = await emulator.listen();
  env = {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "offline",
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: "offline",
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: "offline",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
  };
});
afterAll(() => emulator.close());

const MODELS = ["anthropic/test", "openai/test", "google/test"];
const executable = locateRealCli();
const CLI: readonly (readonly string[])[] =
  isQuick || executable === undefined
    ? []
    : ["plain", "control"].map((mode) => ["-b", "claude-code", "--claude-executable", executable, "--mode", mode]);
const SCRIPTED = ["--format", "text", "--exec"];

interface Failure {
  readonly args: readonly string[];
  readonly says: RegExp;
  readonly code?: number;
}

const FAILURES: readonly Failure[] = [
  { args: ["--max-turns", "1", "What is 25 + 17?"], says: /reached --max-turns \(1\)\. Raise it, or/ },
  ...["offline", ...MODELS].map((name) => ({
    args: ["-b", name, "--max-tokens", "1", "Who are you?"],
    says: /reached --max-tokens \(1\)\. Raise it, or/,
  })),
  ...MODELS.flatMap((name): Failure[] => [
    { args: ["-b", name, "--timeout", "300ms", "stall"], says: /reached --timeout \(300 ms\)\. Raise it, or/ },
    { args: ["-b", name, "refuse-401"], says: /key/i },
    { args: ["-b", name, "refuse-404"], says: /model|address/i },
    { args: ["-b", name, "refuse-400"], says: /./ },
    { args: ["-b", name, "--max-reply-bytes", "20", "long"], says: /--max-reply-bytes/ },
  ]),
  ...CLI.flatMap((target): Failure[] => [
    {
      args: [...target, "--resume", "11111111-1111-1111-1111-111111111111", "hi"],
      says: /has no session 11111111-\S+ for this folder.*or leave --resume out\./,
    },
    { args: [...target, "--resume", "nope", "hi"], says: /no session .*"nope".*Give --resume .*or leave it out\./ },
    { args: [...target, "--continue", "hi"], says: /no earlier session.*Leave --continue out\.|^$/ },
    { args: [...target, "--timeout", "50ms", "hi"], says: /reached --timeout \(50 ms\)\. Raise it, or/ },
  ]),
  {
    args: ["-b", "claude-code", "--claude-executable", "/nowhere/claude", "hi"],
    says: /Correct --claude-executable, or leave it out/,
    code: 3,
  },
  { args: [...SCRIPTED, "sh -c 'exit 3'", "hi"], says: /ended with exit code 3\..*read what it says/s },
  { args: [...SCRIPTED, "sh -c 'echo broken. >&2; exit 3'", "hi"], says: /ended with exit code 3: broken\./ },
  { args: [...SCRIPTED, "sh -c 'kill -9 $$'", "hi"], says: /was ended by SIGKILL\./ },
  { args: [...SCRIPTED, "sleep 60", "--timeout", "200ms", "hi"], says: /reached --timeout \(200 ms\)\. Raise it, or/ },
  { args: ["--exec", "echo plain text", "hi"], says: /JSON/ },
  { args: [...SCRIPTED, "no-such-program-1", "hi"], says: /Install it, or give its path/, code: 3 },
];

describe("F-F a failed run says why, with a remedy", () => {
  it.each(
    FAILURES.map((one) => [one.args.map((arg) => (arg === executable ? "claude" : arg)).join(" "), one] as const),
  )("%s", async (title, { args, says, code = 1 }) => {
    const io = createMemoryIo({ cwd: folder, env });
    const left = await main(args, io);
    const shown = io.stderr();
    // Some versions of the CLI begin a new session where there is none to go on with.
    if (title.includes("--continue") && left === 0) return;
    expect({ left, shown }).toMatchObject({ left: code });
    expect(shown).toMatch(says);
    const lines = shown.split("\n");
    const why = lines.filter((line) => line.startsWith("✗ "));
    const last = why.at(-1) ?? "";
    // Nothing is said twice.
    expect(
      why.filter((line) => line.includes(last.slice(2, -1))),
      shown,
    ).toHaveLength(1);
    expect(last, shown).toMatch(/[.)]$/);
    // More than one sentence, or advice below it.
    const advice = lines.slice(lines.indexOf(last) + 1).filter((line) => line.startsWith("  "));
    expect(advice.length + (last.match(/\. (?=[A-Z])/g)?.length ?? 0), shown).toBeGreaterThan(0);
    expect(shown).toMatch(/^failed: \S+ · /m);
    expect(shown).not.toMatch(/limits\.(?:turns|timeoutMs|costUsd|replyBytes)|session\.\w|maxTokens|claudeCode/);
    expect(wordingFaults(shown)).toEqual([]);
  });
});
