import { chmodSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { Command } from "commander";
import { beforeAll, describe, expect, it } from "vitest";
import { isStartError } from "#domain";
import { createSpawn, probeExecutable, systemClock } from "#transports";
import { locateClaude } from "../../src/backends/claude-code/locate.ts";
import { applyVersionPolicy, detectVersion } from "../../src/backends/claude-code/version.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { onLinux, tagged } from "../transports/processes.ts";
import { startCli } from "./claude-code-cli.ts";

const folder = temporaryFolder("fake-claude");
let recorder = "";
const PATH = process.env["PATH"] ?? "";

/** A `claude` written in sh. */
function fake(name: string, script: string, mode = 0o755): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, mode);
  return path;
}

beforeAll(() => {
  // How many arguments there are, each as it came, then what stood on stdin.
  recorder = fake("recorder", `printf '%s\\0' "$#" "$@"; cat`);
});

describe.runIf(process.platform !== "win32")("AT-9: a real --version", () => {
  const judge = async (script: string, permissive: boolean): Promise<unknown> => {
    const path = fake("claude", script);
    const detection = await detectVersion({ path, env: { PATH }, spawn: createSpawn(), clock: systemClock });
    const verdict = applyVersionPolicy(detection, { permissive });
    return verdict.kind === "refused"
      ? verdict.error.code
      : [verdict.version?.raw, ...verdict.warnings.map((w) => w.code)];
  };

  it.each<[string, unknown, unknown]>([
    ["echo 'claude v1.2.3'", ["1.2.3"], ["1.2.3"]],
    ["echo 1.2.3", ["1.2.3"], ["1.2.3"]],
    ["echo v1.2.3", ["1.2.3"], ["1.2.3"]],
    ["echo 'Claude Code CLI 1.2.3-beta.1'", ["1.2.3"], ["1.2.3"]],
    ["echo '  1.2.3  '", ["1.2.3"], ["1.2.3"]],
    ["echo '2.1.325 (Claude Code)'", ["2.1.325"], ["2.1.325"]],
    ["echo 0.9.0", "unsupported-cli-version", "unsupported-cli-version"],
    ["echo garbage", "unknown-version", [undefined, "unparseable-cli-version"]],
    ["exit 0", "unknown-version", [undefined, "unparseable-cli-version"]],
    ["echo broken >&2; exit 3", "version-detection", [undefined, "version-detection-failed"]],
  ])("%s", async (script, strict, permissive) => {
    expect(await judge(script, false)).toEqual(strict);
    expect(await judge(script, true)).toEqual(permissive);
  });

  it.runIf(onLinux)("S1-35: a CLI that sleeps is abandoned in time and stopped, with what it started", async () => {
    const path = fake("claude", "trap '' TERM; sleep 60 & sleep 60; echo 1.2.3");
    const env = { PATH, MILLRACE_RUN: `sleeper-${process.pid}` };
    const detection = await detectVersion({ path, env, spawn: createSpawn(), clock: systemClock, timeoutMs: 300 });
    expect(detection).toMatchObject({ kind: "failed", reason: expect.stringContaining("300 ms") });
    expect(tagged(env.MILLRACE_RUN)).toEqual([]);
  });
});

describe.runIf(process.platform !== "win32")("AT-38: a CLI that is not available", () => {
  const locate = (executable?: string, path = folder) =>
    locateClaude({ executable, env: { PATH: path }, probe: probeExecutable, cwd: folder }).catch((error: unknown) =>
      isStartError(error) ? error.code : error,
    );

  it("is found in its PATH, and only if it is executable", async () => {
    fake("claude", "exit 0");
    fake("plain", "exit 0", 0o644);
    expect(await locate(undefined, ["/nowhere", folder].join(delimiter))).toBe(join(folder, "claude"));
    expect(await locate(undefined, "/nowhere")).toBe("cli-not-found");
    expect(await locate("./claude")).toBe(join(folder, "claude"));
    expect(await locate("./plain")).toBe("spawn");
    expect(await locate(folder)).toBe("spawn");
    expect(await locate("./missing")).toBe("cli-not-found");
  });
});

/** The CLI's flags as its own parser knows them; it is made with the same library. */
function parseAsCli(args: readonly string[]): {
  readonly options: Record<string, unknown>;
  readonly rest: readonly string[];
} {
  const command = new Command()
    .exitOverride()
    .configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  const flags = [
    "-p, --print",
    "--verbose",
    "--include-partial-messages",
    "--strict-mcp-config",
    "--continue",
    "--fork-session",
  ];
  for (const flag of [...flags, "--dangerously-skip-permissions", "--version"]) command.option(flag);
  for (const name of [
    ..."output-format input-format model fallback-model max-turns system-prompt append-system-prompt".split(" "),
    ..."system-prompt-file append-system-prompt-file permission-mode permission-prompt-tool session-id".split(" "),
    ..."setting-sources settings agents agent json-schema name plugin-dir resume".split(" "),
  ]) {
    command.option(`--${name} <value>`);
  }
  for (const name of ["allowed-tools", "disallowed-tools", "tools", "mcp-config", "add-dir", "betas"]) {
    command.option(`--${name} <values...>`);
  }
  command.argument("[prompt...]");
  command.parse([...args], { from: "user" });
  return { options: command.opts(), rest: command.args };
}

describe.runIf(process.platform !== "win32")("SEC1: hostile values", () => {
  const HOSTILE = [
    "--version",
    "-p",
    "-",
    "--",
    "---",
    "- bullet",
    "--dangerously-skip-permissions",
    '--settings={"env":{"ANTHROPIC_BASE_URL":"http://evil"}}',
    "--setting-sources=project",
    "--mcp-config=/evil.json",
    "=",
    "=x",
    "a=b",
    "@file",
    "@/etc/passwd",
    "$(id)",
    "`id`",
    "; rm -rf /",
    "| cat",
    "&& id",
    "> /tmp/x",
    "*",
    "~",
    "$HOME",
    "%PATH%",
    "!ls",
    "/clear",
    "'",
    '"',
    "\\",
    "a\nb",
    "a\r\nb",
    "\n--version",
    "a\tb",
    "a\0b",
    "\u001b[31mred",
    "\u2013\u2013version",
    "\u2212p",
    "\uff0d\uff0dversion",
    "\u202egnp",
    "\u2028--version",
    "\ufeff--version",
    "é",
    "🦆",
    " leading",
    "trailing ",
    "",
    " ",
    "../../etc/passwd",
    "a,b",
    "a b",
    "Bash(",
    "Bash)",
    "Bash(rm -rf *)",
    "x".repeat(200_000),
    "-".repeat(5000),
  ];

  /** A slot: how a value gets there, and where the CLI's parser must find it again. */
  const SLOTS: Readonly<Record<string, { set: (value: string) => unknown; name: string; isList?: boolean }>> = {
    model: { set: (value) => ({ model: value }), name: "model" },
    fallbackModel: { set: (value) => ({ fallbackModel: value }), name: "fallbackModel" },
    resume: { set: (value) => ({ resume: value }), name: "resume" },
    sessionId: { set: (value) => ({ sessionId: value }), name: "sessionId" },
    agent: { set: (value) => ({ agent: value }), name: "agent" },
    allowedTools: { set: (value) => ({ allowedTools: [value] }), name: "allowedTools", isList: true },
    disallowedTools: { set: (value) => ({ disallowedTools: [value] }), name: "disallowedTools", isList: true },
    systemPrompt: { set: (value) => ({ systemPrompt: value }), name: "systemPrompt" },
    appendSystemPrompt: { set: (value) => ({ appendSystemPrompt: value }), name: "appendSystemPrompt" },
    addDirs: { set: (value) => ({ addDirs: [value] }), name: "addDir", isList: true },
    mcpConfig: { set: (value) => ({ mcpConfig: value }), name: "mcpConfig", isList: true },
    settings: { set: (value) => ({ settings: value }), name: "settings" },
    extraArgs: { set: (value) => ({ extraArgs: { name: value } }), name: "name" },
  };

  const record = async (options: unknown, argument?: string, input?: string) => {
    const ended = await startCli({
      executable: recorder,
      options,
      plan: { mode: "plain", prompt: argument === undefined ? "stdin" : { argument } },
      parent: { PATH },
      files: { "--system-prompt-file": "/FILE", "--append-system-prompt-file": "/FILE" },
      ...(input !== undefined && { input }),
    });
    const [count, ...parts] = ended.stdout.split("\0");
    const seen = parts.slice(0, Number(count));
    return { seen, stdin: parts.slice(seen.length).join("\0"), given: ended.args };
  };

  it.each(Object.keys(SLOTS))("as %s are passed in their position, byte for byte, or rejected", async (name) => {
    const slot = SLOTS[name] as (typeof SLOTS)[string];
    let passed = 0;
    let refused = 0;
    const benign = parseAsCli(
      (await record(slot.set(name === "sessionId" ? "3446b987-1111-4222-8333-444455556666" : "x"))).seen,
    );
    const check = async (value: string): Promise<void> => {
      let recorded: Awaited<ReturnType<typeof record>>;
      try {
        recorded = await record(slot.set(value));
      } catch (error) {
        if (!isStartError(error)) throw error;
        expect(error.code).toBe("invalid-option");
        refused += 1;
        return;
      }
      expect(recorded.seen).toEqual(recorded.given);
      const { options, rest } = parseAsCli(recorded.seen);
      expect(rest).toEqual([]);
      const slotName = value.length > 32_768 ? `${slot.name}File` : slot.name;
      const expected = value.length > 32_768 ? "/FILE" : slot.isList === true ? [value] : value;
      const { [slotName]: actual, ...others } = options;
      const { [slot.name]: _benign, ...benignOthers } = benign.options;
      expect([value.slice(0, 80), actual]).toEqual([value.slice(0, 80), expected]);
      expect(others).toEqual(benignOthers);
      passed += 1;
    };
    for (let start = 0; start < HOSTILE.length; start += 8)
      await Promise.all(HOSTILE.slice(start, start + 8).map(check));
    expect(passed + refused).toBe(HOSTILE.length);
    // Every slot refuses a NUL byte; ids refuse all of it, nothing else does.
    expect(refused).toBeGreaterThan(0);
    if (name !== "sessionId" && name !== "resume") expect(passed).toBeGreaterThan(0);
  });

  it("as prompts arrive byte for byte: all of them by stdin, as an argument all that an argument can contain", async () => {
    for (const value of HOSTILE) {
      const { stdin, seen, given } = await record({}, undefined, value);
      expect([stdin, seen]).toEqual([value, given]);
      if (value.includes("\0") || value.length > 131_071) {
        await expect(record({}, value)).rejects.toSatisfy(isStartError);
        continue;
      }
      const recorded = await record({}, value);
      expect(recorded.seen.slice(-2)).toEqual(["--", value]);
      expect(parseAsCli(recorded.seen)).toMatchObject({ rest: [value] });
    }
  });

  it("C13 AT-42: 300 KB of quotes and newlines arrive unchanged by stdin", async () => {
    const prompt = `"'\n\\é`.repeat(50_000);
    expect((await record({}, undefined, prompt)).stdin).toBe(prompt);
  });
});

describe.runIf(process.platform !== "win32")("AT-7: the child", () => {
  it("S1-112: runs in its folder; an empty one means ours", async () => {
    const path = fake("pwd", "pwd -P");
    const where = async (options: { readonly cwd?: string }) =>
      (
        await startCli({ executable: path, plan: { mode: "plain", prompt: "stdin" }, parent: { PATH }, ...options })
      ).stdout.trim();
    expect(await where({ cwd: folder })).toBe(folder);
    expect(await where({ cwd: "" })).toBe(await where({}));
  });

  it.runIf(onLinux)("SEC3: has none of our secrets in its environment, as read from the system", async () => {
    const path = fake("environ", "cat /proc/$$/environ");
    const secrets = [
      "OPENAI_API_KEY",
      "AWS_SECRET_ACCESS_KEY",
      "GITHUB_TOKEN",
      "NPM_TOKEN",
      "DATABASE_URL",
      "CLAUDECODE",
    ];
    const parent = { PATH, ...Object.fromEntries(secrets.map((name) => [name, "sekret"])) };
    const { stdout } = await startCli({ executable: path, plan: { mode: "plain", prompt: "stdin" }, parent });
    expect(stdout).toContain("PATH=");
    expect(stdout).not.toContain("sekret");
  });
});
