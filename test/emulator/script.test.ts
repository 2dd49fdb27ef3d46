import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isStartError, type StopReason } from "#domain";
import { createEmulator, type EmulatorScript, parseScript, type Reply } from "#emulator";
import { fuzzRuns } from "../effort.ts";
import { ASKINGS, DECODED, decode, readOutcome } from "./protocols.ts";
import { post, readSse } from "./support.ts";

const runs = Math.max(20, Math.floor(fuzzRuns(5000) / 25));

describe("a script", () => {
  it("answers with the first rule that matches: by what was said, the model, the tools, the turn", async () => {
    const script: EmulatorScript = {
      rules: [
        { match: { user: { equals: "exactly" } }, reply: { text: "one" } },
        { match: { user: "PART" }, reply: { text: "two" } },
        { match: { user: { contains: "contains" } }, reply: { text: "three" } },
        { match: { model: "other" }, reply: { text: "four" } },
        { match: { tool: "add" }, reply: { text: "five" } },
        { match: { turn: 1 }, reply: { text: "six" } },
        { match: { times: 1 }, reply: { text: "seven" } },
      ],
      otherwise: { text: "eight" },
    };
    const emulator = createEmulator({ script });
    const [asking] = ASKINGS;
    const ask = async (question: string, more: object = {}, tools = false) => {
      const body = { ...asking?.body(question, { stream: false, tools }), ...more };
      const { json } = await post(emulator, asking?.path ?? "", body, asking?.headers ?? {});
      return (json as { content: { text: string }[] }).content[0]?.text;
    };
    expect(await ask("exactly")).toBe("one");
    expect(await ask("a part of it")).toBe("two");
    expect(await ask("it contains that")).toBe("three");
    expect(await ask("x", { model: "other" })).toBe("four");
    expect(await ask("x", {}, true)).toBe("five");
    const messages = [
      { role: "user", content: "x" },
      { role: "assistant", content: [{ type: "tool_use", id: "a", name: "add", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "1" }] },
    ];
    expect(await ask("x", { messages })).toBe("six");
    expect(await ask("x")).toBe("seven");
    expect(await ask("x")).toBe("eight");
  });

  it("leaves what it does not match to the offline model, and what has only a fault", async () => {
    const emulator = createEmulator({ script: { rules: [{ match: { times: 1 }, fault: { status: 500 } }] } });
    const [asking] = ASKINGS;
    const send = () => post(emulator, asking?.path ?? "", asking?.body("What is 1 + 1?"), asking?.headers ?? {});
    expect((await send()).status).toBe(500);
    const { text } = await send();
    expect(readOutcome(decode(DECODED[0]?.format ?? expect.fail(), new TextEncoder().encode(text))).text).toBe(
      "1 + 1 = 2.",
    );
  });

  it("sends the text in exactly its chunks", async () => {
    const chunks = ["a", " b\n", "“ü🙂”", "   "];
    for (const asking of ASKINGS) {
      const emulator = createEmulator({ script: { rules: [{ reply: { chunks } }] } });
      const { text } = await post(emulator, asking.path, asking.body("go"), asking.headers);
      const found = readSse(text).flatMap(({ data }) =>
        (/"(?:text|content|delta)":"((?:[^"\\]|\\.)*)"/.exec(data) ?? []).slice(1),
      );
      const texts = found.map((json) => JSON.parse(`"${json}"`) as string).filter((piece) => piece !== "");
      // The pieces come one by one, before whatever repeats the whole text.
      expect(texts.slice(0, chunks.length)).toEqual(chunks);
    }
  });

  it.each<[unknown, RegExp]>([
    [5, /^script is 5\. Give an object\./],
    [{}, /^script\.rules is undefined/],
    [{ rules: [], otherwize: "offline" }, /no script\.otherwize\. Did you mean otherwise\?/],
    [{ rules: [{ replay: {} }] }, /^There is no script\.rules\[0\]\.replay\. Did you mean reply\?/],
    [{ rules: [{ match: { user: 5 } }] }, /rules\[0\]\.match\.user is 5/],
    [{ rules: [{ match: { user: { contains: 5 } } }] }, /match\.user\.contains is 5\. Give a string/],
    [{ rules: [{ match: { turn: -1 } }] }, /match\.turn is -1\. Give a whole number/],
    [{ rules: [{ reply: { text: 5 } }] }, /reply\.text is 5\. Give a string/],
    [{ rules: [{ reply: { stopReason: "stop" } }] }, /reply\.stopReason is "stop"\. .*end-turn/],
    [{ rules: [{ reply: { usage: { inputTokens: "5" } } }] }, /reply\.usage\.inputTokens is "5"/],
    [{ rules: [{ reply: { chunks: ["a", ""] } }] }, /reply\.chunks/],
    [{ rules: [{ reply: { chunks: ["a"], text: "b" } }] }, /reply\.text is "b"/],
    [{ rules: [{ reply: { toolCalls: [{ input: {} }] } }] }, /toolCalls\[0\]\.name is undefined/],
    [{ rules: [{ reply: { toolCalls: [{ name: "a", input: "{}" }] } }] }, /toolCalls\[0\]\.input is "\{\}"/],
    [{ rules: [{ reply: { toolCalls: [{ name: "a", input: {}, json: "" }] } }] }, /not both/],
    [{ rules: [{ fault: { status: 99 } }] }, /rules\[0\]\.fault\.status is 99\. Give a whole number from 200/],
    [{ rules: [{ fault: { cutAfterEvent: 1 } }] }, /Did you mean cutAfterEvents\?/],
    [{ rules: [], otherwise: { text: 1 } }, /^script\.otherwise\.text is 1/],
    [{ rules: [], otherwise: "brain" }, /^script\.otherwise is "brain"\. Give "offline" or a reply\./],
  ])("is refused with the path of the mistake: %j", (script, message) => {
    let thrown: unknown;
    try {
      parseScript(script);
    } catch (error) {
      thrown = error;
    }
    expect(isStartError(thrown) && thrown.code).toBe("invalid-option");
    expect(thrown).toHaveProperty("message", expect.stringMatching(message));
    expect(() => createEmulator({ script: script as EmulatorScript })).toThrow(message);
  });
});

const piece = fc.string({
  unit: fc.oneof(
    fc.constantFrom("a", "é", "🙂", "\n", '"', "\\", " ", "{"),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }),
  ),
  minLength: 1,
  maxLength: 30,
});
const replies: fc.Arbitrary<Reply> = fc.record(
  {
    text: fc.string({ unit: "grapheme", maxLength: 200 }),
    toolCalls: fc.array(
      fc.record({
        name: fc.constantFrom("add", "multiply", "get_weather"),
        input: fc.dictionary(
          fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
          fc.jsonValue({ maxDepth: 2 }),
          { maxKeys: 4 },
        ),
      }),
      { maxLength: 4 },
    ),
    usage: fc.record({
      inputTokens: fc.nat(9999),
      outputTokens: fc.integer({ min: 5000, max: 9999 }),
      cacheReadTokens: fc.integer({ min: 1, max: 99 }),
    }),
    thinking: piece.filter((text) => text.trim() !== ""),
  },
  { requiredKeys: [] },
);
const stopReasons: fc.Arbitrary<StopReason | undefined> = fc.constantFrom(undefined, "max-tokens" as const);

describe.each(DECODED)("any script through $name", (asking) => {
  it("comes out of our own reader as it went in", async () => {
    await fc.assert(
      fc.asyncProperty(replies, stopReasons, async (given, stopReason) => {
        const reply: Reply = { ...given, ...(stopReason !== undefined && { stopReason }) };
        const emulator = createEmulator({ script: { rules: [{ reply }] } });
        const { bytes } = await post(emulator, asking.path, asking.body("go"), asking.headers);
        const outcome = readOutcome(decode(asking.format, bytes));
        expect(outcome.failed).toBe(false);
        expect(outcome.errors).toEqual([]);
        expect(outcome.text).toBe(reply.text ?? "");
        expect(outcome.thinking).toBe(reply.thinking ?? "");
        // The calls of a reply that reached its limit are named, but never made.
        const wanted = reply.toolCalls ?? [];
        const [made, dropped] = stopReason === "max-tokens" ? [[], wanted] : [wanted, []];
        // JSON has one zero, so -0 goes in and 0 comes out.
        expect(JSON.stringify(outcome.calls)).toBe(JSON.stringify(made));
        expect(outcome.dropped).toEqual(dropped.map(({ name }) => name));
        expect(new Set(outcome.callIds).size).toBe(outcome.callIds.length);
        expect(outcome.messages[0]?.usage).toMatchObject(reply.usage ?? {});
        expect(outcome.messages[0]?.stopReason).toBe(stopReason ?? (wanted.length > 0 ? "tool-use" : "end-turn"));
      }),
      { numRuns: runs },
    );
  });
});

describe.each(ASKINGS)("the reply of $name", (asking) => {
  it("is the same streamed and whole", async () => {
    const reply: Reply = {
      thinking: "hm",
      text: "So it is.",
      toolCalls: [{ name: "add", id: "call_1", input: { a: 1 } }],
    };
    const script = { rules: [{ reply }] };
    const stream = await post(createEmulator({ script }), asking.path, asking.body("go"), asking.headers);
    const path = asking.path.replace(":streamGenerateContent?alt=sse", ":generateContent");
    const whole = await post(createEmulator({ script }), path, asking.body("go", { stream: false }), asking.headers);
    expect(whole.headers["content-type"]).toBe("application/json");
    expect(stream.headers["content-type"]).toContain("text/event-stream");
    for (const { text } of [stream, whole]) for (const part of ["hm", "add", "call_1"]) expect(text).toContain(part);
    expect(whole.text).toContain("So it is.");
  });

  it("is the same for the same requests in the same order, and has new ids for new ones", async () => {
    const send = async (questions: readonly string[]) => {
      const emulator = createEmulator();
      const texts: string[] = [];
      for (const question of questions)
        texts.push((await post(emulator, asking.path, asking.body(question, { tools: true }), asking.headers)).text);
      return texts.map((text) => text.replace(/"created(_at)?":\d+/g, ""));
    };
    const [first, second] = await send(["What is 1 + 1?", "What is 1 + 1?"]);
    expect(await send(["What is 1 + 1?", "What is 1 + 1?"])).toEqual([first, second]);
    expect(first).not.toBe(second);
  });
});
