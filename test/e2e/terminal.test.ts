import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createEmulator, type Emulator, type EmulatorScript } from "#emulator";
import { removeFolder, temporaryFolder } from "../temporary-folder.ts";
import { HOSTILE_TEXTS, isHarmless } from "./hostile-texts.ts";
import { hasTerminal, openTerminal } from "./terminal.ts";

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const UP = "\u001b[A";

const MARKDOWN =
  "# Title\n\nSome **bold** and `code`.\n\n- one\n\n| a | b |\n|---|--:|\n| 世界 | 12 |\n\n```js\nlet x;\n```\nThe end.";

const script: EmulatorScript = {
  rules: [
    { match: { user: "stall" }, reply: { text: "one two three four five six seven" }, fault: { stallAfterEvents: 6 } },
    {
      match: { user: "hostile" },
      reply: { text: HOSTILE_TEXTS.map((text, index) => `${index} ${text} |`).join("\n") },
    },
    { match: { user: "markdown" }, reply: { text: MARKDOWN } },
    // The first row has exactly forty columns.
    {
      match: { user: "fill a row" },
      reply: {
        chunks: ["nine ten ", "eleven twelve ", "thirteen ", "fourteen ", "fifteen ", "sixteen ", "end ", "of it. "],
        betweenMs: 400,
      },
    },
    { reply: { text: "It is sunny." } },
  ],
};

let emulator: Emulator;
let env: Record<string, string>;
beforeAll(async () => {
  emulator = createEmulator({ script });
  const { url } = await emulator.listen();
  env = { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "any" };
});
afterAll(() => emulator.close());

/** The screen as text: without line ends of the terminal, and without colours. */
const plain = (screen: string): string => screen.replaceAll("\r\n", "\n").replaceAll(/\r?\u001b\[[\d;?]*[a-zA-Z]/g, "");

describe.skipIf(!hasTerminal)("in a terminal", () => {
  it("an answer with its tool, in colour, and the closing line", async () => {
    const terminal = openTerminal(["What is 25 + 17?"]);
    expect(await terminal.exit).toBe(0);
    expect(terminal.screen()).toContain('\u001b[2m→ add {"a":25,"b":17}\u001b[22m');
    expect(plain(terminal.screen())).toMatch(
      /I will use add\.\n→ add \{"a":25,"b":17\}\n← 42 \(\d+ ms\)\n25 \+ 17 = 42\.\ndone · .*1 tool call\n$/,
    );
  });

  it("Markdown is shown as a terminal can", async () => {
    const terminal = openTerminal(["-b", "anthropic/x", "markdown"], { env });
    expect(await terminal.exit).toBe(0);
    expect(plain(terminal.screen())).toContain(
      "Title\n\nSome bold and code.\n\n• one\n\na    │  b\n─────┼───\n世界 │ 12\n\n```js\nlet x;\n```\nThe end.\ndone",
    );
    expect(terminal.screen()).toContain("\u001b[1mbold\u001b[22m");
  });

  it("NO_COLOR and --no-color leave the text as it was written", async () => {
    for (const [args, more] of [
      [["--no-color"], {}],
      [[], { NO_COLOR: "1" }],
    ] as const) {
      const terminal = openTerminal([...args, "-q", "-b", "anthropic/x", "markdown"], { env: { ...env, ...more } });
      expect(await terminal.exit).toBe(0);
      expect(terminal.screen().replaceAll("\r\n", "\n")).toBe(`${MARKDOWN}\n`);
    }
  });

  it("what is waited for is shown, and gone when it comes", async () => {
    const slow = createEmulator({ script: { rules: [{ fault: { stallBeforeHeaders: true } }] } });
    const { url } = await slow.listen();
    const terminal = openTerminal(["-b", "anthropic/x", "hi"], { env: { ...env, ANTHROPIC_BASE_URL: url } });
    await terminal.seen("asking anthropic x");
    terminal.type(CTRL_C);
    expect(await terminal.exit).toBe(130);
    expect(terminal.screen()).toMatch(/\r\u001b\[K\u001b\[2maborted/);
    await slow.close();
  });

  it("SEC11: a hundred hostile texts in one answer do nothing", async () => {
    const terminal = openTerminal(["-b", "anthropic/x", "hostile"], { env });
    expect(await terminal.exit).toBe(0);
    const screen = terminal.screen().replaceAll("\r\n", "\n");
    expect(isHarmless(screen, { color: true, progress: true })).toBe(true);
    expect(plain(screen)).toContain(`${HOSTILE_TEXTS.length - 1} `);
  });

  it("Ctrl-C ends the answer: what was said stays, exit 130", async () => {
    const terminal = openTerminal(["-b", "anthropic/x", "stall"], { env });
    await terminal.seen("one");
    terminal.type(CTRL_C);
    expect(await terminal.exit).toBe(130);
    expect(plain(terminal.screen())).toMatch(/\naborted · /);
  });

  describe("a tool that is asked about", () => {
    it.each([
      ["y\r", "← 42"],
      ["n\r", "The user said no"],
      ["\r", "The user said no"],
      [CTRL_D, "No one can be asked"],
    ])("%j", async (keys, says) => {
      const terminal = openTerminal(["--ask", "add", "What is 25 + 17?"]);
      await terminal.seen("wants to use");
      await terminal.seen("Allow?");
      terminal.type(keys);
      await terminal.seen(says);
      expect(await terminal.exit).toBe(0);
      expect(plain(terminal.screen())).toMatch(/wants to use add \{"a":25,"b":17\}\n {2}The rule .*\nAllow\?/);
    });

    it("Ctrl-C at the question aborts the run", async () => {
      const terminal = openTerminal(["--ask", "add", "What is 25 + 17?"]);
      await terminal.seen("Allow?");
      terminal.type(CTRL_C);
      expect(await terminal.exit).toBe(130);
    });
  });
});

describe.skipIf(!hasTerminal)("F-F Ctrl-C in every command", () => {
  const folder = temporaryFolder("ctrl-c");
  const write = (name: string, text: string, mode = 0o600): string => {
    const file = join(folder, name);
    writeFileSync(file, text, { mode });
    return file;
  };
  const prompts = write("prompts.json", '["stall"]');
  const sleeper = write("claude", "#!/bin/sh\nsleep 600\n", 0o700);
  const targets = ["-b", "anthropic/x", "-b", "b=anthropic/x"];

  it.each<{ args: readonly string[]; seen: string; says?: RegExp; code?: number }>([
    { args: ["run", "-b", "anthropic/x", "stall"], seen: "one", says: /\naborted · / },
    { args: ["run", "-"], seen: "Ctrl-D on an empty line ends it." },
    {
      args: ["formats", "decode", "claude-code"],
      seen: "Ctrl-D on an empty line ends it.",
    },
    {
      args: ["formats", "check", "claude-code", "-"],
      seen: "Ctrl-D on an empty line ends it.",
      says: /Interrupted: the rest of the stream was not read\.\n$/,
    },
    {
      args: ["compare", prompts, ...targets, "--out", join(folder, "out"), "--no-config"],
      seen: "0/10 answers",
      says: /stopping; finished answers are kept …\n[^]*Interrupted: 10 answers are missing\. Run the same command again to go on\.\n/,
    },
    { args: ["doctor", "--claude-executable", sleeper], seen: "checking" },
    { args: ["emulate"], seen: "until Ctrl-C", code: 0 },
    {
      args: ["serve", "--port", "0", "--data", join(folder, "data"), "--no-config"],
      seen: "until Ctrl-C",
      says: /"closed"\}\n$/,
      code: 0,
    },
  ])("$args", async ({ args, seen, says = /(?:)/, code = 130 }) => {
    const terminal = openTerminal(args, { env: { ...env, HOME: folder }, columns: 200 });
    await terminal.seen(seen);
    terminal.type(CTRL_C);
    expect({ code: await terminal.exit, screen: plain(terminal.screen()) }).toMatchObject({
      code,
      screen: expect.stringMatching(says),
    });
    // Neither a stack nor a sentence that says it twice.
    expect(plain(terminal.screen())).not.toMatch(/\n\s+at |aborted: aborted|\.\./);
  });

  it("a replay at its own speed", async () => {
    const tape = join(folder, "slow.tape");
    expect(await openTerminal(["--record", tape, "-b", "anthropic/x", "hello"], { env }).exit).toBe(0);
    const terminal = openTerminal(["replay", tape, "--speed", "0.0001"]);
    await terminal.seen("asking anthropic x");
    terminal.type(CTRL_C);
    expect(await terminal.exit).toBe(130);
    expect(plain(terminal.screen())).toContain("aborted · ");
  });
});

describe.skipIf(!hasTerminal)("F-F a narrow terminal", () => {
  it.each([
    ["--help"],
    ["run", "--help"],
    ["compare", "--help"],
    ["trust", "--help"],
    ["--nonsense"],
    ["sevre"],
    ["-b", "nope", "hi"],
    ["--max-turns", "1", "What is 25 + 17?"],
  ])("nothing goes over the edge or is broken in a word: %s", async (...args) => {
    const terminal = openTerminal(args, { columns: 40 });
    await terminal.exit;
    const long = plain(terminal.screen())
      .split("\n")
      .filter((line) => line.length > 40 && line.trim().includes(" "));
    expect(long).toEqual([]);
  });
});

describe.skipIf(!hasTerminal)("F-A1: a project's configuration in a terminal", () => {
  const open = (folder: string) =>
    openTerminal(["What is 25 + 17?"], { cwd: folder, env: { HOME: `${folder}-home` }, columns: 400 });
  const write = (): string => {
    const folder = temporaryFolder("trust");
    // The home stands beside the project: one inside of it is not the person's own.
    onTestFinished(() => removeFolder(`${folder}-home`));
    writeFileSync(join(folder, "millrace.config.json"), '{ "limits": { "turns": 9 } }');
    return folder;
  };

  it("is asked about, with its path and what it sets; a yes is remembered", async () => {
    const folder = write();
    const terminal = open(folder);
    await terminal.seen("millrace.config.json");
    await terminal.seen("It sets: limits.");
    await terminal.seen("[y/N]");
    terminal.type("y\r");
    expect(await terminal.exit).toBe(0);
    const again = open(folder);
    expect(await again.exit).toBe(0);
    expect(again.screen()).not.toContain("millrace.config.json");
  });

  it.each(["\r", "n\r", CTRL_D])("%j is a no: it is not used, and the line says how it would be", async (keys) => {
    const terminal = open(write());
    await terminal.seen("[y/N]");
    terminal.type(keys);
    await terminal.seen("is not used: you have not trusted it");
    expect(await terminal.exit).toBe(0);
  });
});

describe.skipIf(!hasTerminal)("chat in a terminal", () => {
  it("continued lines, pasted text, the history, commands, and Ctrl-D", async () => {
    const terminal = openTerminal(["chat"]);
    await terminal.seen("> ");
    terminal.type("What is \\\r");
    await terminal.seen("… ");
    terminal.type("1 + 2?\r");
    await terminal.seen("1 + 2 = 3");
    await terminal.seen("> ");
    terminal.type("\u001b[200~What is\r3 + 4?\u001b[201~");
    await terminal.seen("What is\u24243 + 4?");
    terminal.type("\r");
    await terminal.seen("3 + 4 = 7");
    await terminal.seen("> ");
    terminal.type("/model nope/x\r");
    await terminal.seen('there is no backend "nope"');
    await terminal.seen("> ");
    terminal.type("/cost\r");
    await terminal.seen("2 answers ·");
    await terminal.seen("> ");
    terminal.type(`${UP}${UP}${UP}`);
    await terminal.seen("What is\u24243 + 4?");
    terminal.type("\r");
    await terminal.seen("3 + 4 = 7");
    await terminal.seen("> ");
    terminal.type("/nwe\r");
    await terminal.seen("Did you mean /new?");
    await terminal.seen("> ");
    terminal.type(CTRL_D);
    expect(await terminal.exit).toBe(0);
    // Pastes are marked only while a line is read.
    expect(terminal.screen().lastIndexOf("\u001b[?2004l")).toBeGreaterThan(
      terminal.screen().lastIndexOf("\u001b[?2004h"),
    );
  });

  it("Ctrl-C ends the answer, and the chat continues; twice leaves with 130", async () => {
    const terminal = openTerminal(["chat", "-b", "anthropic/x"], { env });
    await terminal.seen("> ");
    terminal.type("stall\r");
    await terminal.seen("one");
    terminal.type(CTRL_C);
    await terminal.seen("aborted");
    await terminal.seen("> ");
    terminal.type("How is the weather?\r");
    await terminal.seen("It is sunny.");
    await terminal.seen("> ");
    terminal.type("half a line");
    await terminal.seen("half a line");
    terminal.type(CTRL_C);
    await terminal.seen("> ");
    terminal.type(CTRL_C);
    await terminal.seen("Press Ctrl-C again to leave.");
    terminal.type(CTRL_C);
    expect(await terminal.exit).toBe(130);
  });

  it("F-F what is typed while an answer comes stays on its line, and Ctrl-C does not lose it", async () => {
    const terminal = openTerminal(["chat", "-b", "anthropic/x"], { env });
    await terminal.seen("> ");
    terminal.type("stall\r");
    await terminal.seen("one two");
    const before = terminal.screen().length;
    terminal.type("世界 next");
    await terminal.seen("next");
    // On a line of its own, behind the prompt; a terminal that echoed it would show it behind the answer.
    expect(plain(terminal.screen().slice(before))).toMatch(/\n> .*世界 next$/s);
    terminal.type(CTRL_C);
    await terminal.seen("aborted ·");
    await terminal.seen("> 世界 next");
    terminal.type(" weather?\r");
    await terminal.seen("It is sunny.");
    expect(JSON.stringify(emulator.requests.at(-1)?.body)).toContain("世界 next weather?");
    await terminal.seen("> ");
    // A line that is not sent comes back with the arrow key.
    terminal.type("half a line");
    await terminal.seen("half a line");
    terminal.type(CTRL_C);
    await terminal.seen("not sent");
    await terminal.seen("> ");
    terminal.type(UP);
    await terminal.seen("half a line");
    terminal.type(`${CTRL_C}${CTRL_D}`);
    expect(await terminal.exit).toBe(0);
  });

  it("F-F a row that is full is not followed by an empty one while text is on the input line", async () => {
    const terminal = openTerminal(["chat", "-b", "anthropic/x"], { env, columns: 40 });
    await terminal.seen("> ");
    terminal.type("fill a row\r");
    await terminal.seen("nine");
    terminal.type("draft");
    await terminal.seen("draft");
    await terminal.seen("fourteen");
    await terminal.seen("fifteen");
    // The cursor is on the next row already; the screen has no empty row between the two.
    expect(terminal.screen()).not.toMatch(
      /\u001b\[J(?:\u001b\[[\d;?]*[A-Za-z])*\r?\n(?:\u001b\[[\d;?]*[A-Za-z])*fifteen/,
    );
    terminal.type(CTRL_C);
    await terminal.seen("draft");
    terminal.type(`${CTRL_C}${CTRL_D}`);
    await terminal.exit;
  });

  it("F-F a line that is sent while an answer comes is the next message", async () => {
    const terminal = openTerminal(["chat", "-b", "anthropic/x"], { env });
    await terminal.seen("> ");
    terminal.type("stall\r");
    await terminal.seen("one");
    terminal.type("And the weather?\r/abort\r");
    await terminal.seen("aborted ·");
    await terminal.seen("> And the weather?");
    await terminal.seen("It is sunny.");
    await terminal.seen("> ");
    terminal.type(CTRL_D);
    expect(await terminal.exit).toBe(0);
  });

  it("F-F a question takes the line, and gives it back", async () => {
    const terminal = openTerminal(["chat", "--ask", "add"]);
    await terminal.seen("> ");
    terminal.type("What is 1 + 2?\r");
    await terminal.seen("Allow?");
    terminal.type("y\r");
    await terminal.seen("1 + 2 = 3");
    await terminal.seen("> ");
    // The answer to the question is no message of the history.
    terminal.type(UP);
    await terminal.seen("What is 1 + 2?");
    terminal.type(CTRL_C);
    await terminal.seen("not sent");
    terminal.type(CTRL_D);
    expect(await terminal.exit).toBe(0);
    expect(plain(terminal.screen()).match(/wants to use/g)).toHaveLength(1);
  });

  it("/abort ends the answer while it comes", async () => {
    const terminal = openTerminal(["chat", "-b", "anthropic/x"], { env });
    await terminal.seen("> ");
    terminal.type("stall\r");
    await terminal.seen("one");
    terminal.type("/abort\r");
    await terminal.seen("aborted ·");
    await terminal.seen("> ");
    terminal.type("/quit\r");
    expect(await terminal.exit).toBe(130);
  });

  it("a tool that is always allowed is asked about once", async () => {
    const terminal = openTerminal(["chat", "--ask", "add"]);
    await terminal.seen("> ");
    terminal.type("What is 1 + 2?\r");
    await terminal.seen("Allow?");
    terminal.type("a\r");
    await terminal.seen("1 + 2 = 3");
    await terminal.seen("> ");
    terminal.type("What is 3 + 4?\r");
    await terminal.seen("3 + 4 = 7");
    await terminal.seen("> ");
    terminal.type(CTRL_D);
    expect(await terminal.exit).toBe(0);
    expect(terminal.screen().split("Allow?")).toHaveLength(2);
  });
});
