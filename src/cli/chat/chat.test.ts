import { PassThrough } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StartError } from "#domain";
import { columnAfter } from "./input-line.ts";
import { type ChatLines, readMessage } from "./lines.ts";
import { createPasteFilter, PASTED_LINE_END } from "./pasted-text.ts";
import { createPipedLines } from "./piped-lines.ts";
import { type ChatControls, LEAVE, runSlashCommand } from "./slash-commands.ts";

const linesOf = (all: readonly string[]): ChatLines => {
  const left = [...all];
  return {
    next: async () => left.shift(),
    listen: () => () => undefined,
    close: () => undefined,
    ended: Promise.resolve(),
    wasLeft: false,
  };
};

describe("F-F the column after the output", () => {
  it.each([
    ["abc", 0, 3],
    ["abc", 4, 7],
    ["abc\n", 4, 0],
    ["abc\nde", 4, 2],
    ["\r\u001b[K\u001b[2m◐ asking\u001b[22m", 9, 8],
    ["世界", 0, 4],
    ["x".repeat(20), 0, 20],
    ["x".repeat(25), 0, 5],
  ])("%j from column %i", (text, from, column) => expect(columnAfter(text, from, 20)).toBe(column));
});

describe("messages", () => {
  it.each<[string[], string | undefined]>([
    [["hi"], "hi"],
    [["a\\", "b\\", "c"], "a\nb\nc"],
    [["a\\\\", "b"], "a\\\\"],
    [["a\\\\\\", "b"], "a\\\\\nb"],
    [["a\\"], "a"],
    [[], undefined],
    [["\\", ""], "\n"],
  ])("%j is one message", async (lines, message) => expect(await readMessage(linesOf(lines))).toBe(message));
});

describe("pasted text", () => {
  const BEGIN = "\u001b[200~";
  const END = "\u001b[201~";

  it("keeps its line ends; typed text keeps its own", () => {
    const filter = createPasteFilter();
    expect(filter(`typed\r${BEGIN}one\rtwo\r\nthree${END}\r`)).toBe(
      `typed\rone${PASTED_LINE_END}two${PASTED_LINE_END}three\r`,
    );
  });

  it("a lone escape and the arrow keys are handled without delay", () => {
    const filter = createPasteFilter();
    expect(filter("\u001b")).toBe("\u001b");
    expect(filter("\u001b[A")).toBe("\u001b[A");
  });

  it("the text is the same however the key sequences are split", () => {
    const source = `a${BEGIN}x\ry${END}b${BEGIN}${END}\r`;
    const whole = createPasteFilter()(source);
    fc.assert(
      fc.property(fc.array(fc.nat(source.length), { maxLength: 6 }), (cuts) => {
        // A cut directly after an escape makes the escape a key: terminals distinguish the two that way.
        const clean = cuts.filter((cut) => source[cut - 1] !== "\u001b");
        const at = [0, ...clean.sort((a, b) => a - b), source.length];
        const filter = createPasteFilter();
        expect(
          at
            .slice(1)
            .map((end, index) => filter(source.slice(at[index], end)))
            .join(""),
        ).toBe(whole);
      }),
    );
  });
});

describe("lines of a pipe", () => {
  it("come in order, including a last one without a line end; /abort works while no input is requested", async () => {
    const input = new PassThrough();
    const lines = createPipedLines(input);
    const heard: string[] = [];
    const stop = lines.listen((line) => {
      heard.push(line);
      return line === "/abort";
    });
    input.end("one\r\n/abort\ntwo\nthree");
    expect([await lines.next(false), await lines.next(false)]).toEqual(["one", "two"]);
    stop();
    expect([await lines.next(false), await lines.next(false), await lines.next(false)]).toEqual([
      "three",
      undefined,
      undefined,
    ]);
    expect(heard).toContain("/abort");
  });

  it("thousands of lines are queued without loss", async () => {
    const input = new PassThrough();
    const lines = createPipedLines(input);
    input.end(Array.from({ length: 20_000 }, (_, index) => `${index}\n`).join(""));
    for (let index = 0; index < 20_000; index += 1) expect(await lines.next(false)).toBe(String(index));
    expect(await lines.next(false)).toBeUndefined();
  });
});

describe("commands of the chat", () => {
  const controls = (more: Partial<ChatControls> = {}): ChatControls => ({
    state: { backend: "offline", model: undefined, tools: ["add"], usage: { inputTokens: 3 }, costUsd: 0.5, turns: 1 },
    setModel: async () => undefined,
    startOver: async () => undefined,
    ...more,
  });
  const say = async (text: string, given = controls(), isStrict = true) =>
    (await runSlashCommand(text, given, isStrict))?.said;

  it("are answered, and messages are not treated as commands", async () => {
    expect(await say("/help")).toContain("/model [name]");
    expect(await say("/tools")).toBe("add");
    expect(await say("/cost")).toBe("1 answer · 3 tokens in, 0 out · $0.5000");
    expect(await say("/model")).toBe("offline");
    expect(await say("/quit")).toBe(LEAVE);
    expect(await say("/exit")).toBe(LEAVE);
    expect(await say("/abort")).toContain("nothing to abort");
    for (const message of ["hello", "/etc/passwd is a file", "what is /help?", "/"]) {
      expect(await runSlashCommand(message, controls(), true)).toBeUndefined();
    }
  });

  it("/model changes the model, or explains why it cannot", async () => {
    const given = controls();
    expect(await say("/model gpt-5", given)).toContain("gpt-5");
    expect(await say("/model", given)).toBe("gpt-5");
    const setModel = async () => {
      throw new StartError("unknown-backend", "no such model");
    };
    expect(await say("/model x", controls({ setModel }))).toBe("no such model");
  });

  it("a mistyped command names the nearest one; an agent's own commands are sent to it", async () => {
    expect(await say("/hlep")).toContain("Did you mean /help?");
    expect(await say("/compact")).toContain("There is no command /compact");
    expect(await runSlashCommand("/compact", controls(), false)).toBeUndefined();
  });
});
