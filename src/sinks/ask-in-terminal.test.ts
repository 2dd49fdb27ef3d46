import { describe, expect, it } from "vitest";
import { HOSTILE_TEXTS, isHarmless } from "../../test/e2e/hostile-texts.ts";
import { askInTerminal, createTerminalAsk, type TerminalQuestion } from "./ask-in-terminal.ts";

const question = (more: Partial<TerminalQuestion> = {}): TerminalQuestion => ({
  name: "refund",
  input: { order: 17 },
  runId: "r",
  signal: new AbortController().signal,
  ...more,
});

function asker(lines: readonly (string | undefined)[], width = 60) {
  const shown: string[] = [];
  const left = [...lines];
  const ask = createTerminalAsk({
    ask: async (text) => {
      shown.push(text);
      return left.shift();
    },
    color: false,
    width,
  });
  return { ask, shown };
}

describe("asking in the terminal", () => {
  it.each<[string | undefined, boolean]>([
    ["y", true],
    [" YES ", true],
    ["a", true],
    ["always", true],
    ["n", false],
    ["no", false],
    ["", false],
    [undefined, false],
  ])("%j means %s", async (line, allow) => {
    const answer = await asker([line]).ask(question());
    expect(answer.allow).toBe(allow);
    if (!answer.allow) expect(answer.reason).not.toBe("");
  });

  it("shows the tool, its arguments, who requests it and why", async () => {
    const { ask, shown } = asker(["y"]);
    await ask(question({ agent: "clerk", reason: "a rule says so" }));
    expect(shown[0]).toContain("clerk wants to use refund");
    expect(shown[0]).toContain("\n  a rule says so\n");
    expect(shown[0]).toContain('refund {"order":17}');
  });

  it("asks again until it is told to stop", async () => {
    const { ask, shown } = asker(["perhaps", "y"]);
    expect(await ask(question())).toEqual({ allow: true });
    expect(shown).toHaveLength(2);
  });

  it("F-F: on a narrow terminal the question is wrapped at its words, the first time and again", async () => {
    const { ask, shown } = asker(["what", "y"], 30);
    await ask(question());
    expect(shown.map((text) => text.split("\n").slice(-2))).toEqual([
      ["Allow? [y]es, [N]o,", "[a]lways this tool: "],
      ["Allow? [y]es, [N]o,", "[a]lways this tool: "],
    ]);
    for (const line of shown.join("\n").split("\n")) expect(line.length).toBeLessThanOrEqual(30);
  });

  it("F-F: no line of a question is wider than the terminal, nor begins with a stray blank", async () => {
    const { ask, shown } = asker(["n"], 20);
    await ask(question());
    const lines = shown.join("\n").split("\n");
    expect(lines.slice(0, 3)).toEqual(["? The agent wants", "  to use", "  refund"]);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(20);
  });

  it('"always" applies to this tool only', async () => {
    const { ask, shown } = asker(["a", "n"]);
    expect(await ask(question())).toEqual({ allow: true });
    expect(await ask(question({ input: { order: 18 } }))).toEqual({ allow: true });
    expect(await ask(question({ name: "delete" }))).toMatchObject({ allow: false });
    expect(shown).toHaveLength(2);
  });

  it("one question at a time, even if one of them fails", async () => {
    let open = 0;
    let most = 0;
    let asked = 0;
    const ask = createTerminalAsk({
      ask: async () => {
        open += 1;
        asked += 1;
        most = Math.max(most, open);
        await Promise.resolve();
        open -= 1;
        if (asked === 2) throw new Error("the terminal is gone");
        return "y";
      },
      color: false,
      width: 60,
    });
    const answers = await Promise.allSettled([1, 2, 3].map((order) => ask(question({ input: { order } }))));
    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(most).toBe(1);
  });

  it("an abort is a denial, before and during the question", async () => {
    const controller = new AbortController();
    const ask = createTerminalAsk({
      ask: async () => {
        controller.abort();
        return "y";
      },
      color: false,
      width: 60,
    });
    expect(await ask(question({ signal: controller.signal }))).toMatchObject({ allow: false });
    expect(await asker(["y"]).ask(question({ signal: controller.signal }))).toMatchObject({ allow: false });
  });

  it("arguments that do not fit are cut, which is marked", async () => {
    const { ask, shown } = asker(["n", "n"]);
    await ask(question({ input: { command: "x".repeat(10_000) } }));
    await ask(question({ input: Array.from({ length: 100 }, (_, index) => index) }));
    for (const text of shown) {
      expect(text).toContain("not all of the arguments are shown");
      expect(text.split("\n").length).toBeLessThan(20);
    }
  });

  it("SEC11: the content of a question cannot affect the terminal or the question", async () => {
    for (const text of HOSTILE_TEXTS) {
      const { ask, shown } = asker(["n"]);
      await ask(question({ name: text, input: { [text]: text }, reason: text, agent: text }));
      expect(isHarmless(shown[0] ?? "")).toBe(true);
      expect(shown[0]).toMatch(/\nAllow\? \[y\]es, \[N\]o, \[a\]lways this tool: $/);
    }
  });

  it("without a terminal the answer is a denial, with a reason", async () => {
    expect(await askInTerminal(question())).toMatchObject({
      allow: false,
      reason: expect.stringContaining("no terminal"),
    });
  });
});
