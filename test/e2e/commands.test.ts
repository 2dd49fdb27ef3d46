import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import { createEmulator } from "#emulator";
import { assertRunLog } from "#testing";
import { inspectStopping } from "#transports";
import { temporaryFolder } from "../temporary-folder.ts";
import { readEvents, runCli, startCli } from "./cli.ts";
import { HOSTILE_TEXTS, isHarmless } from "./hostile-texts.ts";

const root = temporaryFolder("commands");
let folders = 0;
/** A folder of one's own, with these files. */
function folderWith(files: Readonly<Record<string, string>> = {}): string {
  folders += 1;
  const folder = join(root, String(folders));
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text);
    if (text.startsWith("#!")) chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

describe("what is printed (AT-59)", () => {
  it("S4-4: no format: the text on stdout once, the rest on stderr", async () => {
    const { stdout, stderr } = await runCli(["What is 25 + 17?"]);
    expect(stdout).toBe("I will use add.\n25 + 17 = 42.\n");
    expect(stderr).not.toContain("25 + 17 = 42.");
  });

  it("S4-2: --quiet, --no-stream and MILLRACE_NO_STREAM print the same text, once", async () => {
    const text = "I will use add.\n25 + 17 = 42.\n";
    expect(await runCli(["-q", "What is 25 + 17?"])).toMatchObject({ stdout: text, stderr: "" });
    expect(await runCli(["--no-stream", "What is 25 + 17?"])).toMatchObject({ stdout: text });
    expect(await runCli(["What is 25 + 17?"], { env: { MILLRACE_NO_STREAM: "1" } })).toMatchObject({ stdout: text });
  });

  it("SEC16: a key of this process that gets into the conversation does not get into the log", async () => {
    const cwd = folderWith();
    const key = "canary-0123456789abcdefghij";
    await runCli(["-q", "--append-json", "log.jsonl", `Is ${key} a good key?`], { cwd, env: { OPENAI_API_KEY: key } });
    const log = readFileSync(join(cwd, "log.jsonl"), "utf8");
    expect(log).toContain("a good key?");
    expect(log).not.toContain(key);
  });

  it("S4-33: --show-json mirrors every event on stderr, --append-json into a file; a second run is added", async () => {
    const cwd = folderWith();
    const { stdout, stderr } = await runCli(["-q", "--show-json", "--append-json", "log.jsonl", "What is 25 + 17?"], {
      cwd,
    });
    expect(stdout).toBe("I will use add.\n25 + 17 = 42.\n");
    const shown = readEvents(stderr);
    assertRunLog(shown);
    expect(readEvents(readFileSync(join(cwd, "log.jsonl"), "utf8"))).toEqual(shown);
    await runCli(["-q", "--append-json", "log.jsonl", "hi"], { cwd });
    const both = readEvents(readFileSync(join(cwd, "log.jsonl"), "utf8"));
    expect(new Set(both.map((event) => event.runId)).size).toBe(2);
  });

  it("S4-33: the default name of that file is a date", async () => {
    const cwd = folderWith();
    await runCli(["-q", "--append-json", "What is 1 + 1?"], { cwd });
    expect(readdirSync(cwd)).toEqual([expect.stringMatching(/^\d{4}(-\d\d){5}-stream\.jsonl$/)]);
  });

  it("a log that cannot be written is reported, and changes nothing else", async () => {
    const { code, stdout, stderr } = await runCli(["-q", "--append-json=/etc/passwd/a.jsonl", "What is 1 + 1?"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("1 + 1 = 2.")]);
    expect(stderr).toMatch(/log \/etc\/passwd\/a\.jsonl could not be written/);
  });

  it("the prompt on the command line comes first, then stdin", async () => {
    const { stdout } = await runCli(["--json", "Look at this:", "-"], { input: "What is 6 * 7?\n" });
    const asked = readEvents(stdout).find((event) => event.type === "message" && event.role === "user");
    expect(asked).toMatchObject({ blocks: [{ text: "Look at this:\n\nWhat is 6 * 7?" }] });
  });

  it("--image and --system @file reach the model", async () => {
    const cwd = folderWith({ "rules.txt": "Be brief.", "dot.png": "not really" });
    const emulator = createEmulator({ script: { rules: [{ reply: { text: "A dot." } }] }, strict: false });
    const { url } = await emulator.listen();
    const env = { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "any" };
    const args = ["-b", "anthropic", "-m", "my-model", "--system", "@rules.txt", "--image", "dot.png", "What is it?"];
    expect(await runCli(args, { cwd, env })).toMatchObject({ code: 0, stdout: "A dot.\n" });
    const body = JSON.stringify(emulator.requests[0]?.body);
    for (const part of [
      "my-model",
      "Be brief.",
      "image/png",
      Buffer.from("not really").toString("base64"),
      "What is it?",
    ]) {
      expect(body).toContain(part);
    }
    await emulator.close();
  });
});

describe("--exec: a foreign command as a source", () => {
  const agent = (lines: readonly object[], more = ""): string =>
    `#!/bin/sh\ncat <<'END'\n${lines.map((line) => JSON.stringify(line)).join("\n")}\nEND\n${more}`;
  const format = {
    name: "mine",
    framing: "ndjson",
    events: [
      { kind: "message", match: { type: "say" }, extract: { text: "words" } },
      {
        kind: "tool-use",
        match: { type: "call" },
        extract: { id: "id", name: "tool", input: "with" },
        templates: { text: "[@evt.name]", ansi: "%cyan%[@evt.name]%reset%" },
      },
      { kind: "tool-result", match: { type: "answer" }, extract: { id: "id", output: "value" }, visibility: "hidden" },
      { kind: "thinking", match: { type: "hm" }, extract: { text: "words" }, templates: { text: "(@evt.text)" } },
    ],
  };
  const lines = [
    { type: "hm", words: "let me see" },
    { type: "say", words: "Looking." },
    { type: "call", id: "1", tool: "look", with: { at: "it" } },
    { type: "answer", id: "1", value: "seen" },
    { type: "say", words: "Done." },
  ];

  it("S4-5: without a format its lines are read as NDJSON", async () => {
    const cwd = folderWith({ agent: agent([{ text: "Hello " }, { text: "there" }]) });
    const { code, stdout } = await runCli(["--exec", "./agent"], { cwd });
    expect([code, stdout.replaceAll("\n", "")]).toEqual([0, "Hello there"]);
  });

  it("AT-59: with a format its own words, and nothing else; switches say what is shown", async () => {
    const cwd = folderWith({ agent: agent(lines), "mine.json": JSON.stringify(format) });
    const run = (...flags: string[]) => runCli(["--exec", "./agent", "--format", "mine.json", ...flags], { cwd });
    expect(await run()).toMatchObject({ code: 0, stdout: "Looking.\n[look]\nDone.\n", stderr: "" });
    expect(await run("--thinking")).toMatchObject({ stdout: "(let me see)\nLooking.\n[look]\nDone.\n" });
    expect(await run("-q")).toMatchObject({ stdout: "Looking.Done.\n" });
    const { stdout } = await run("--json");
    const events = readEvents(stdout);
    assertRunLog(events);
    expect(events.find((event) => event.type === "tool-result")).toMatchObject({ output: "seen" });
  });

  it("the prompt is its stdin, and its words are kept as they are", async () => {
    const cwd = folderWith({ agent: `#!/bin/sh\nread -r line\nprintf '{"text":"%s|%s|%s"}\\n' "$line" "$1" "$2"\n` });
    const { stdout } = await runCli(["--exec", `./agent 'two words' "$HOME"`, "the prompt"], { cwd });
    expect(stdout.trim()).toBe("the prompt|two words|$HOME");
  });

  it("a command that fails is a run that fails, with its last words", async () => {
    const cwd = folderWith({ agent: agent([{ text: "Half" }], "echo 'no more paper' >&2\nexit 7\n") });
    const { code, stdout, stderr } = await runCli(["--exec", "./agent"], { cwd });
    expect([code, stdout.trim()]).toEqual([1, "Half"]);
    expect(stderr).toMatch(/exit code 7: no more paper/);
  });

  it("Ctrl-C ends the command as well, also one that minds no SIGTERM", async () => {
    const cwd = folderWith({
      agent: `#!/bin/sh\ntrap '' TERM\necho $$ > pid\necho '{"text":"begun"}'\nwhile :; do sleep 0.1; done\n`,
    });
    const cli = startCli(["--exec", "./agent"], { cwd });
    await cli.seen("begun");
    cli.child.kill("SIGINT");
    expect((await cli.left).code).toBe(130);
    const pid = Number(readFileSync(join(cwd, "pid"), "utf8"));
    expect(() => process.kill(pid, 0)).toThrow();
  });
});

describe("SEC11: hostile text on the way out", () => {
  it("in an answer, an error, a tool's name and a file's name", async () => {
    const all = HOSTILE_TEXTS.join("\n");
    const rules = [{ match: { user: "fail" }, fault: { status: 400, message: all } }, { reply: { text: all } }];
    const emulator = createEmulator({ script: { rules } });
    const { url } = await emulator.listen();
    const env = { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "any", FORCE_COLOR: "1" };
    for (const args of [["hi"], ["fail"], ["--json", "hi"], ["--show-json", "hi"], ["--show-all", "hi"]]) {
      const { stdout, stderr } = await runCli(["-b", "anthropic/x", ...args], { env });
      expect(isHarmless(stdout, { color: true })).toBe(true);
      expect(isHarmless(stderr, { color: true })).toBe(true);
    }
    for (const text of HOSTILE_TEXTS.slice(0, 10)) {
      const name = text.replaceAll("\0", "");
      const { stderr } = await runCli(["formats", "decode", "ndjson", `${name}.ndjson`]);
      expect(isHarmless(stderr)).toBe(true);
    }
    await emulator.close();
  });
});

describe("a stdout that nobody reads", () => {
  it("does not slow the run: 50 000 deltas are over and done with before the first is taken", async () => {
    // Two megabytes: more than the system's buffers and this process's together would take unread.
    const text = `${"word".repeat(10)} `.repeat(50_000);
    const emulator = createEmulator({ script: { rules: [{ reply: { text } }] } });
    const { url } = await emulator.listen();
    const cwd = folderWith({});
    const cli = startCli(["-b", "anthropic/x", "--append-json", "log.ndjson", "go"], {
      cwd,
      env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "any" },
    });
    cli.child.stdout.pause();
    const isDone = (): boolean => {
      const file = join(cwd, "log.ndjson");
      return existsSync(file) && readFileSync(file, "utf8").includes('"type":"done"');
    };
    while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(cli.child.exitCode).toBeNull();
    cli.child.stdout.resume();
    const { code, stdout } = await cli.left;
    expect([code, stdout.trim().length]).toEqual([0, text.trim().length]);
    await emulator.close();
  });

  it("holds nobody up: Ctrl-C is heard, and a second one ends the process", async () => {
    const emulator = createEmulator({ script: { rules: [{ reply: { text: "word ".repeat(2_000_000) } }] } });
    const { url } = await emulator.listen();
    const cli = startCli(["-b", "anthropic/x", "go"], { env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "any" } });
    await cli.seen("word");
    cli.child.stdout.pause();
    const gone = new Promise((resolve) => cli.child.on("exit", (code, signal) => resolve(signal ?? code)));
    await new Promise((resolve) => setTimeout(resolve, 500));
    cli.child.kill("SIGINT");
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(cli.child.signalCode).toBeNull();
    // Signals that wait together become one: sent until it is gone.
    const again = setInterval(() => cli.child.kill("SIGINT"), 500);
    expect(await gone).toBe("SIGINT");
    clearInterval(again);
    cli.child.stdout.resume();
    await emulator.close();
  });
});

describe("explain", () => {
  const cwd = folderWith({
    "millrace.config.mjs": `export const config = { backend: "claude-code", hooks: { "before-tool": [() => ({ block: "no" })] } };`,
    "tools.mjs": `export const none = 1;`,
  });

  it("AT-6: names the mode, the features, the reason and the override", async () => {
    const args = ["explain", "--config", "millrace.config.mjs", "--permission-mode", "plan", "--ask", "Bash"];
    const { code, stdout } = await runCli(args, { cwd });
    expect(code).toBe(0);
    for (const part of [/control/, /hooks/, /permission-mode:plan|plan/, /Reason/i, /Override/i])
      expect(stdout).toMatch(part);
    const json = JSON.parse((await runCli([...args, "--json"], { cwd })).stdout);
    expect(json).toMatchObject({ backend: "claude-code", mode: "control", requiresControl: true });
  });

  it("AT-5: plain was requested: lists what is ignored", async () => {
    const { stdout } = await runCli(["explain", "--config", "millrace.config.mjs", "--mode", "plain", "--json"], {
      cwd,
    });
    expect(JSON.parse(stdout)).toMatchObject({ mode: "plain", override: "plain", ignored: ["hooks"] });
  });
});

/** A Claude Code CLI that answers like the real one, as far as it is asked here. */
const fakeClaude = (version: string, more = ""): string => `#!/bin/sh
if [ "$1" = "--version" ]; then ${version}; exit 0; fi
${more}
cat > /dev/null &
printf '%s\\n' '{"type":"system","subtype":"init","session_id":"s-1","model":"m","tools":["Bash"]}'
printf '%s\\n' '{"type":"assistant","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"text","text":"Hello."}],"usage":{"input_tokens":1,"output_tokens":1}},"session_id":"s-1","parent_tool_use_id":null}'
printf '%s\\n' '{"type":"result","subtype":"success","is_error":false,"result":"Hello.","session_id":"s-1","num_turns":1,"duration_ms":1,"usage":{"input_tokens":1,"output_tokens":1},"total_cost_usd":0}'
`;

describe("Claude Code on the command line", () => {
  it.each<[string, string, number, RegExp]>([
    ["claude v1.2.3", "echo 'claude v1.2.3'", 0, /^$/],
    ["1.2.3", "echo 1.2.3", 0, /^$/],
    ["v1.2.3", "echo v1.2.3", 0, /^$/],
    ["a pre-release", "echo 'Claude Code CLI 1.2.3-beta.1'", 0, /^$/],
    ["blanks around it", "echo '  1.2.3  '", 0, /^$/],
    ["2.1.325 (Claude Code)", "echo '2.1.325 (Claude Code)'", 0, /^$/],
    ["too old", "echo 0.9.0", 3, /0\.9\.0.*at least 1\.0\.0/],
    ["garbage", "echo garbage", 3, /garbage/],
    ["nothing", "echo", 3, /version/],
    ["one that sleeps", "echo $$ > pid; sleep 60", 3, /within 5000 ms/],
  ])("AT-9: a version that is %s", async (_, version, expected, says) => {
    const cwd = folderWith({ claude: fakeClaude(version) });
    const { code, stdout, stderr } = await runCli(
      ["-q", "-b", "claude-code", "--claude-executable", "./claude", "hi"],
      { cwd },
    );
    expect(stderr).toMatch(says);
    expect([code, stdout]).toEqual([expected, expected === 0 ? "Hello.\n" : ""]);
    if (existsSync(join(cwd, "pid"))) {
      expect(() => process.kill(Number(readFileSync(join(cwd, "pid"), "utf8")), 0)).toThrow();
    }
  });

  it("AT-5: forced plain mode: a warning per ignored feature, and the hook is never called; strict mode rejects it", async () => {
    const cwd = folderWith({
      claude: fakeClaude("echo 2.1.0"),
      "millrace.config.mjs": `import { writeFileSync } from "node:fs";
        export const config = { hooks: { "before-tool": [() => { writeFileSync("called", ""); return { block: "no" }; }] } };`,
    });
    const config = ["--config", "millrace.config.mjs"];
    const args = ["--json", "-b", "claude-code", "--claude-executable", "./claude", "--mode", "plain", ...config];
    const { code, stdout } = await runCli([...args, "hi"], { cwd });
    const events = readEvents(stdout);
    assertRunLog(events);
    const warnings = events.filter((event): event is AgentEvent & { type: "warning" } => event.type === "warning");
    expect([code, warnings.filter((event) => /hooks/.test(event.message)).length]).toEqual([0, 1]);
    expect(existsSync(join(cwd, "called"))).toBe(false);
    const strict = await runCli([...args.slice(1), "--strict", "hi"], { cwd });
    expect(strict.code).not.toBe(0);
    expect(strict.stderr).toMatch(/hooks/);
  });

  it("without one: exit 3, and what to install", async () => {
    const { code, stderr } = await runCli(["-b", "claude-code", "hi"], { env: { PATH: "/nowhere" } });
    expect(code).toBe(3);
    expect(stderr).toMatch(/npm install -g @anthropic-ai\/claude-code/);
  });
});

describe("doctor", () => {
  it("says what is here and what is missing, and exits 3 only for what was asked for", async () => {
    const all = await runCli(["doctor"]);
    expect(all.code).toBe(0);
    expect(all.stdout).toMatch(/✓ Node 2/);
    expect(all.stdout).toMatch(/✓ offline/);
    expect(all.stdout).toMatch(/✗ anthropic\n {4}ANTHROPIC_API_KEY is not set, so anthropic cannot be asked\. Set it/);
    expect(await runCli(["doctor", "-b", "offline"])).toMatchObject({ code: 0 });
    expect(await runCli(["doctor", "-b", "anthropic/claude"])).toMatchObject({ code: 3 });
    expect(await runCli(["doctor", "-b", "claude-code"], { env: { PATH: "/nowhere" } })).toMatchObject({ code: 3 });
  });

  it("SEC16: hosts are reached without the key, and the key is never shown", async () => {
    const emulator = createEmulator();
    const { url } = await emulator.listen();
    const env = {
      ANTHROPIC_API_KEY: "sk-canary-1",
      ANTHROPIC_BASE_URL: url,
      OPENAI_API_KEY: "sk-canary-2",
      OPENAI_BASE_URL: "http://127.0.0.1:1",
    };
    const { stdout, stderr } = await runCli(["doctor", "--json"], { env });
    expect(stdout + stderr).not.toContain("canary");
    const { backends } = JSON.parse(stdout) as { backends: { name: string; isReady: boolean; missing: string[] }[] };
    const state = (name: string) => backends.find((one) => one.name === name);
    expect(state("anthropic")).toMatchObject({ isReady: true });
    expect(state("openai")).toMatchObject({ isReady: false, missing: [expect.stringContaining("cannot be reached")] });
    expect(JSON.stringify(emulator.requests.map(({ headers }) => headers))).not.toContain("canary");
    await emulator.close();
  });
});

describe("doctor, where there is no agent", () => {
  it("F-A5 F-A14: reports how what is started is ended on this machine, and what escapes", async () => {
    const { stdout } = await runCli(["doctor", "--json"], { env: { PATH: "/nowhere" } });
    const { machine } = JSON.parse(stdout) as { machine: { name: string; says: string }[] };
    const { says, limits } = inspectStopping();
    expect(machine.find(({ name }) => name === "stopping")).toMatchObject({ says: [says, ...limits].join(" ") });
  });
});

describe("replay", () => {
  it("AT-66: the same events but for the mode, without the server", async () => {
    const cwd = folderWith();
    const emulator = createEmulator({ script: { rules: [{ reply: { text: "It is sunny." } }] } });
    const { url } = await emulator.listen();
    const env = { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "sk-canary-3" };
    const first = await runCli(["--json", "--record", "a.tape", "-b", "anthropic/x", "hi"], { cwd, env });
    await emulator.close();
    expect(readFileSync(join(cwd, "a.tape"), "utf8")).not.toContain("canary");
    const again = await runCli(["replay", "--json", "a.tape"], { cwd });
    const tell = (stdout: string) =>
      readEvents(stdout).map(({ ts: _ts, ...event }) => (event.type === "start" ? { ...event, mode: "tape" } : event));
    expect([again.code, again.stderr]).toEqual([0, ""]);
    expect(tell(again.stdout)).toEqual(tell(first.stdout));
    expect(await runCli(["--record", "a.tape", "hi"], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("a.tape"),
    });
  });

  it.each([
    ["nowhere.tape", /nowhere\.tape/],
    ["text.tape", /not a tape.*line 1/],
    ["empty.tape", /empty\.tape/],
  ])("R16: %s is refused with the place", async (name, says) => {
    const cwd = folderWith({ "text.tape": "hello\n", "empty.tape": "" });
    const { code, stderr } = await runCli(["replay", name], { cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(says);
  });
});

describe("run --replay", () => {
  it("F-D11: answers from the tape; another prompt is exit code 1 and says where, or a warning", async () => {
    const cwd = folderWith();
    await runCli(["--record", "a.tape", "What is 25 + 17?"], { cwd });
    const same = await runCli(["--replay", "a.tape", "What is 25 + 17?"], { cwd });
    expect(same).toMatchObject({ code: 0, stdout: expect.stringContaining("42") });
    const other = await runCli(["--replay", "a.tape", "What is 25 + 18?"], { cwd });
    expect(other).toMatchObject({ code: 1, stderr: expect.stringMatching(/exchange 1 of \d.*25 \+ 17.*25 \+ 18/s) });
    const warned = await runCli(["--replay", "a.tape", "--on-difference", "warn", "What is 25 + 18?"], { cwd });
    expect(warned).toMatchObject({ code: 0, stdout: expect.stringContaining("42") });
    expect(await runCli(["--replay", "b.tape", "hi"], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("b.tape"),
    });
  });
});

describe("formats check", () => {
  it("says what is understood and what is not", async () => {
    const cwd = folderWith({
      "mine.json": JSON.stringify({
        name: "mine",
        framing: "ndjson",
        events: [{ kind: "message", match: { type: "say" }, extract: { text: "t" } }],
      }),
      "good.ndjson": '{"type":"say","t":"a"}\n',
      "other.ndjson": '{"type":"say","t":"a"}\n{"type":"sing"}\n{"type":"sing"}\n',
    });
    expect(await runCli(["formats", "check", "mine.json"], { cwd })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("well formed"),
    });
    expect(await runCli(["formats", "check", "mine.json", "good.ndjson"], { cwd })).toMatchObject({ code: 0 });
    const other = await runCli(["formats", "check", "mine.json", "other.ndjson"], { cwd });
    expect(other.code).toBe(1);
    expect(other.stdout).toMatch(/not understood: .*\(2 times\)/);
  });
});

describe("completion", () => {
  it("bash completes commands, flags and subcommands", async () => {
    const { stdout } = await runCli(["completion", "bash"]);
    const complete = (...words: string[]): string[] => {
      const test = `${stdout}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _millrace; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return spawnSync("/bin/bash", ["--norc", "-c", test], { encoding: "utf8" }).stdout.trim().split("\n");
    };
    expect(complete("millrace", "do")).toEqual(["doctor"]);
    expect(complete("millrace", "run", "--max-")).toEqual([
      "--max-turns",
      "--max-tokens",
      "--max-cost",
      "--max-reply-bytes",
    ]);
    expect(complete("millrace", "--back")).toEqual(["--backend"]);
    expect(complete("millrace", "formats", "de")).toEqual(["decode"]);
    expect(complete("millrace", "formats", "decode", "--r")).toEqual(["--raw"]);
  });

  it("zsh and fish get scripts of their own", async () => {
    expect((await runCli(["completion", "zsh"])).stdout).toMatch(/^#compdef millrace/);
    expect((await runCli(["completion", "fish"])).stdout).toMatch(/complete -c millrace .* -a doctor/);
  });
});

describe("a sample of R16 as real processes", () => {
  it.each<[string[], number, RegExp]>([
    [["chat", "--bakend", "x"], 2, /Did you mean --backend/],
    [["--timeout", "soon", "hi"], 2, /--timeout.*30s/],
    [["--mode", "plian", "hi"], 2, /Did you mean plain/],
    [["doctr"], 2, /Did you mean millrace doctor/],
    [["--config", "nowhere.json", "hi"], 2, /nowhere\.json/],
    [["--exec", "a | b"], 2, /for a shell/],
    [["completion", "bsh"], 2, /bash, zsh, fish/],
  ])("%j", async (args, expected, says) => {
    const { code, stdout, stderr } = await runCli(args, { cwd: folderWith() });
    expect([code, stdout]).toEqual([expected, ""]);
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});
