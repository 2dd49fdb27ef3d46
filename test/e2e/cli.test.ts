import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { createEmulator, type EmulatorScript } from "#emulator";
import { assertRunLog } from "#testing";
import { ROOT } from "../../scripts/set-up.mjs";
import { temporaryFolder } from "../temporary-folder.ts";
import { readEvents, runCli, startCli } from "./cli.ts";

const folder = temporaryFolder("cli");

const write = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};
const MILLRACE = JSON.stringify(pathToFileURL(join(ROOT, "dist", "index.js")).href);

/** A model server on a socket, and the variables that lead there. */
async function withServer<T>(script: EmulatorScript, use: (env: Record<string, string>) => Promise<T>): Promise<T> {
  const emulator = createEmulator({ script });
  try {
    const { url } = await emulator.listen();
    return await use({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "sk-canary-123456" });
  } finally {
    await emulator.close();
  }
}

describe("millrace <prompt>", () => {
  it("answers on stdout; the tool and the closing line are on stderr", async () => {
    const { code, stdout, stderr } = await runCli(["What is 25 + 17?"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/42\.\n$/);
    expect(stderr).toMatch(/^→ add \{"a":25,"b":17\}\n← 42 \(\d+ ms\)\ndone · .*1 tool call\n$/);
    expect(stdout + stderr).not.toContain("\u001b");
  });

  it("words without quotes are one prompt", async () => {
    expect((await runCli(["run", "What", "is", "2", "+", "3?"])).stdout).toContain("5");
  });

  it("--json: one event per line, and the log holds every promise", async () => {
    const { code, stdout, stderr } = await runCli(["--json", "What is 25 + 17?"]);
    expect([code, stderr]).toEqual([0, ""]);
    const events = readEvents(stdout);
    assertRunLog(events);
    expect(events.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
  });

  it("- reads the prompt from stdin", async () => {
    expect((await runCli(["run", "-"], { input: "What is 6 * 7?\n" })).stdout).toContain("42");
  });

  it("a large prompt from stdin", async () => {
    const input = `${"All work and no play. ".repeat(100_000)}\nWhat is 6 * 7?`;
    expect(await runCli(["-"], { input })).toMatchObject({ code: 0, stdout: expect.stringContaining("42") });
  });

  it("stdin that is not text is refused", async () => {
    const { code, stderr } = await runCli(["-"], { input: new Uint8Array([0x80, 0xff]) });
    expect(code).toBe(2);
    expect(stderr).toContain("not UTF-8");
  });

  it("instructions and the limit of turns reach the run", async () => {
    const { code, stdout } = await runCli(["--json", "--max-turns", "1", "-i", "Be brief.", "What is 25 + 17?"]);
    expect(code).toBe(1);
    expect(readEvents(stdout).at(-1)).toMatchObject({ result: { subtype: "error_max_turns" } });
  });

  it("--no-tools offers none; MILLRACE_BACKEND chooses who answers", async () => {
    const { stdout } = await runCli(["--json", "--no-tools", "hi"], { env: { MILLRACE_BACKEND: "offline/offline" } });
    const [start] = readEvents(stdout);
    expect(start).toMatchObject({ type: "start", model: "offline" });
    expect(start).not.toHaveProperty("tools.0");
  });

  it
    .skipIf(!existsSync("/dev/full"))
    .each([["--json", "Say hello"], ["Say hello"], ["--help"], ["doctor"], ["formats", "list"]])(
    "F-F a full disk is a failure, and is said: %s",
    async (...words) => {
      const child = spawn("bash", ["-c", '"$0" bin/millrace.js "$@" >/dev/full', process.execPath, ...words], {
        cwd: ROOT,
        stdio: ["ignore", "ignore", "pipe"],
      });
      let stderr = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        stderr += text;
      });
      const code = await new Promise((resolve) => child.on("close", resolve));
      expect({ code, stderr }).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^millrace: The output could not be written \(ENOSPC\), and is not complete\. /m),
      });
    },
  );

  it("a reader that leaves early (| head -1) is no failure, and ends the run", async () => {
    const shell = spawn(
      "/bin/bash",
      [
        "--norc",
        "-c",
        `set -o pipefail; "${process.execPath}" bin/millrace.js --json "What is 25 + 17?" </dev/null | head -1`,
      ],
      { cwd: ROOT, env: { PATH: process.env["PATH"] ?? "" } },
    );
    let stdout = "";
    let stderr = "";
    shell.stdout.on("data", (bytes) => {
      stdout += String(bytes);
    });
    shell.stderr.on("data", (bytes) => {
      stderr += String(bytes);
    });
    const code = await new Promise((resolve) => shell.on("close", resolve));
    expect([code, stderr]).toEqual([0, ""]);
    expect(readEvents(stdout)).toHaveLength(1);
  });

  it("a reader that leaves a run without end ends it", async () => {
    const text = "word ".repeat(100_000);
    await withServer({ rules: [{ reply: { text } }] }, async (env) => {
      const cli = startCli(["--json", "-b", "anthropic/x", "go"], { env });
      await cli.seen("text-delta");
      cli.child.stdout.destroy();
      const { code, stderr } = await cli.left;
      expect([code, stderr]).toEqual([0, ""]);
    });
  });
});

describe("R16: a mistake is reported in one line, without a stack", () => {
  it.each<[string, string[], number, RegExp]>([
    [
      "an unknown flag names the nearest",
      ["--bakend", "x", "hi"],
      2,
      /There is no option --bakend\. Did you mean --backend\? millrace run --help/,
    ],
    ["an unknown flag of a command", ["formats", "decode", "--row", "ndjson"], 2, /Did you mean --raw\?/],
    ["a bad value names the flag", ["--max-turns", "none", "hi"], 2, /--max-turns is "none"\. Give a whole number/],
    ["a negative value", ["--max-tokens=-1", "hi"], 2, /--max-tokens is "-1"/],
    ["a missing value", ["hi", "--backend"], 2, /--backend <backend> has no value/],
    ["no prompt", ["run"], 2, /The prompt is empty/],
    ["an unknown backend", ["-b", "antropic/x", "hi"], 2, /no backend "antropic\/x"\. Did you mean "anthropic"\?/],
    ["a backend without a model", ["-b", "vllm", "hi"], 2, /Write vllm\/<model>/],
    ["a missing key is a missing set-up", ["-b", "anthropic/x", "hi"], 3, /ANTHROPIC_API_KEY is not set/],
    ["another missing key", ["chat", "-b", "google"], 3, /GEMINI_API_KEY or GOOGLE_API_KEY is not set/],
    [
      "tools that are not there",
      ["-t", "no/such/file.mjs", "hi"],
      2,
      /--tools no\/such\/file\.mjs: there is no such file/,
    ],
    [
      "a script that is not there",
      ["emulate", "-s", "nowhere.json"],
      2,
      /--script nowhere\.json: the file cannot be read/,
    ],
    ["a script that is no JSON", ["emulate", "-s", "README.md"], 2, /--script README\.md is not JSON/],
    ["a script that is none", ["emulate", "-s", "biome.json"], 2, /script\./],
    ["a port that is none", ["emulate", "-p", "99999"], 2, /--port .*99999.* 0 to 65535/],
    ["an unknown subcommand", ["formats", "lst"], 2, /There is no command "lst"\. Did you mean list\?/],
  ])("%s", async (_, args, expected, says) => {
    // Text on stdin would be the prompt.
    const { code, stdout, stderr } = await runCli(args, args.join() === "run" ? {} : { input: "hi\n" });
    expect(stderr).toMatch(says);
    expect(code).toBe(expected);
    expect(stdout).toBe("");
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it.each<[string, string, RegExp]>([
    ["without tools", "export const a = 1;", /exports no tool\. Export what tool\(/],
    ["with a syntax error", "const a = ;", /could not be loaded: .*\(node --check .*\.mjs shows where\)/],
    ["that throws", "throw new Error('my own fault');", /could not be loaded: my own fault/],
    ["that imports what is not there", "import 'no-such-package-1';", /could not be loaded: .*no-such-package-1/],
    [
      "with two tools of one name",
      `import { tool } from ${MILLRACE}; export const tools = [1, 2].map(() => tool("a", "A", {}, () => 1));`,
      /two tools called "a"/,
    ],
  ])("a tools file %s", async (name, text, says) => {
    const file = write(`${name.replaceAll(/\W/g, "-")}.mjs`, text);
    const { code, stderr } = await runCli(["-t", file, "hi"]);
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(code).toBe(2);
  });

  it("SEC11: hostile words on the command line are shown as plain text", async () => {
    const { stderr } = await runCli(["-b", "\u001b]0;owned\u0007/x", "hi"]);
    const other = await runCli(["--\u001b[2J", "hi"]);
    expect(stderr + other.stderr).not.toMatch(/[\u001b\u0007]/);
  });
});

describe("tools of one's own", () => {
  it("are loaded from a module, alone and in lists", async () => {
    const file = write(
      "tools.mjs",
      `import { tool } from ${MILLRACE};
       export const weather = tool("get_weather", "Weather of a city", { city: "string" }, ({ city }) => city + ": sunny");
       export default [tool("get_time", "Time of a city", { city: "string" }, () => "noon")];`,
    );
    const { code, stdout } = await runCli(["--json", "-t", file, "What is the weather in Paris?"]);
    expect(code).toBe(0);
    const events = readEvents(stdout);
    expect(events[0]).toMatchObject({ tools: ["get_time", "get_weather"] });
    expect(events.find((event) => event.type === "tool-result")).toMatchObject({
      output: expect.stringContaining("sunny"),
    });
  });
});

describe("a failure of the provider", () => {
  it("exit 1, the reason and the remedy on stderr, and never the key", async () => {
    const rules = [{ fault: { status: 401, message: "Bad key sk-canary-123456" } }];
    await withServer({ rules }, async (env) => {
      const { code, stdout, stderr } = await runCli(["-b", "anthropic/x", "hi"], { env });
      expect(code).toBe(1);
      expect(stderr).toMatch(/✗ anthropic answered 401.*\n.*The key was not accepted.*\n.*ANTHROPIC_API_KEY/);
      expect(stdout + stderr).not.toContain("sk-canary-123456");
    });
  });
});

describe("Ctrl-C", () => {
  const stalling: EmulatorScript = {
    rules: [{ reply: { text: "one two three four" }, fault: { stallAfterEvents: 4 } }],
  };

  it.each(["SIGINT", "SIGTERM"] as const)("%s in the middle: exit 130, and done says aborted", async (signal) => {
    await withServer(stalling, async (env) => {
      const cli = startCli(["--json", "-b", "anthropic/x", "go"], { env });
      await cli.seen("text-delta");
      cli.child.kill(signal);
      const { code, stdout, stderr } = await cli.left;
      expect([code, stderr]).toEqual([130, ""]);
      const events = readEvents(stdout);
      assertRunLog(events);
      expect(events.at(-1)).toMatchObject({ type: "done", result: { status: "aborted" } });
    });
  });

  it("for people: what was said stays, and the last line says aborted", async () => {
    await withServer(stalling, async (env) => {
      const cli = startCli(["-b", "anthropic/x", "go"], { env });
      await cli.seen("one");
      cli.child.kill("SIGINT");
      const { code, stdout, stderr } = await cli.left;
      expect(code).toBe(130);
      expect(stdout).toMatch(/^one.*\n$/);
      expect(stderr).toMatch(/^aborted · /m);
    });
  });

  it("before the answer has begun", async () => {
    await withServer({ rules: [{ fault: { stallBeforeHeaders: true } }] }, async (env) => {
      const cli = startCli(["--json", "-b", "anthropic/x", "go"], { env });
      await cli.seen('"start"');
      cli.child.kill("SIGINT");
      expect((await cli.left).code).toBe(130);
    });
  });

  it("a tool that minds no signal does not keep the process alive", async () => {
    const file = write(
      "stubborn.mjs",
      `import { tool } from ${MILLRACE};
       export const wait = tool("wait_forever", "Wait forever", {}, () => new Promise(() => {
         setInterval(() => {}, 1000);
         process.stderr.write("it waits");
       }));`,
    );
    const cli = startCli(["--json", "-t", file, "Please wait forever"]);
    await cli.seen("it waits");
    cli.child.kill("SIGINT");
    const { code, stdout } = await cli.left;
    expect(code).toBe(130);
    assertRunLog(readEvents(stdout));
  });

  it("while stdin is still open", async () => {
    const cli = startCli(["formats", "decode", "openai-chat"], {
      holdInput: true,
      input: 'data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n',
    });
    await cli.seen("text-delta");
    cli.child.kill("SIGINT");
    const { code, stdout } = await cli.left;
    expect(code).toBe(130);
    expect(readEvents(stdout).at(-1)).toMatchObject({ result: { status: "aborted", text: "Hel" } });
  });
});

describe("the other commands", () => {
  it("--version and --help", async () => {
    expect((await runCli(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const { code, stdout } = await runCli(["--help"]);
    expect(code).toBe(0);
    for (const command of ["run", "chat", "explain", "doctor", "formats", "emulate", "completion"])
      expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, "m"));
    expect(stdout).toContain("Exit codes: 0 success");
    expect((await runCli(["run", "--help"])).stdout).toContain("--backend");
  });

  it("emulate prints its address and serves until Ctrl-C, by a script when there is one", async () => {
    const script = write("script.json", JSON.stringify({ rules: [{ reply: { text: "From the script." } }] }));
    const server = startCli(["emulate", "--script", script]);
    await server.seen("until Ctrl-C");
    const url = server.printed().trim();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const env = {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "any",
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_API_KEY: "any",
    };
    for (const backend of ["anthropic/x", "openai/x"]) {
      expect((await runCli(["-b", backend, "hi"], { env })).stdout).toBe("From the script.\n");
    }
    server.child.kill("SIGINT");
    expect(await server.left).toMatchObject({ code: 0, stdout: `${url}\n`, stderr: expect.stringContaining(url) });
  });

  it("chat keeps the conversation, /new forgets it, /exit leaves", async () => {
    const emulator = createEmulator({ script: { rules: [{ reply: { text: "Yes." } }] } });
    const { url } = await emulator.listen();
    const env = { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "any" };
    const input = "first\n\nsecond\n/new\nthird\n/exit\nnever\n";
    const { code, stdout } = await runCli(["chat", "-b", "anthropic/x"], { input, env });
    expect([code, stdout]).toEqual([0, "Yes.\nYes.\nYes.\n"]);
    const sent = emulator.requests.map(({ body }) => (body as { messages: unknown[] }).messages.length);
    expect(sent).toEqual([1, 3, 1]);
    await emulator.close();
  });

  it("chat ends with its input, also when the last line has no end; without words on the command line it is a chat", async () => {
    const { code, stdout } = await runCli([], { input: "What is 1 + 2?\nWhat is 3 + 4?" });
    expect(code).toBe(0);
    expect(stdout).toMatch(/3\.[^]*7\./);
    expect(await runCli(["chat"], { input: "" })).toMatchObject({ code: 0, stdout: "" });
  });
});

describe("a module that imports a script that throws", () => {
  it.each(["--config", "--tools"])("%s: one line says so, on every Node", async (flag) => {
    write("broken.cjs", 'throw new Error("boom")');
    const file = write("broken.mjs", 'import "./broken.cjs"; export default {};');
    const { code, stderr } = await runCli([flag, file, "hi"]);
    expect({ code, lines: stderr.trim().split("\n") }).toEqual({
      code: 2,
      lines: [expect.stringContaining("could not be loaded: boom")],
    });
  });
});
