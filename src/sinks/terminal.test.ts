import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AgentEvent,
  doneEvent,
  errorItem,
  messageItem,
  noticeItem,
  numberEvent,
  permissionItem,
  type RunResult,
  textDelta,
  thinkingDelta,
  toolCallItem,
  toolResultItem,
  warningItem,
} from "#domain";
import { plainLine, plainText } from "./plain-text.ts";
import { createTerminalSink, type TerminalOptions } from "./terminal.ts";

const numRuns = Number(process.env["MILLRACE_FUZZ_RUNS"] ?? 5000);

const result: RunResult = {
  status: "success",
  subtype: "success",
  text: "",
  toolCalls: [],
  messages: [],
  usage: { inputTokens: 5, outputTokens: 2 },
  costUsd: 0.01234,
  turns: 1,
  ms: 1234,
  errors: [],
  warnings: [],
};

function show(events: readonly AgentEvent[], options: Partial<TerminalOptions> = {}) {
  let out = "";
  let aside = "";
  let both = "";
  const sink = createTerminalSink({
    out: (text) => {
      out += text;
      both += text;
    },
    aside: (text) => {
      aside += text;
      both += text;
    },
    color: false,
    width: 60,
    showThinking: false,
    ...options,
  });
  for (const event of events) sink.accept(event);
  return { out, aside, both };
}

const call = toolCallItem({ callId: "c1", name: "add", input: { a: 1 }, executedBy: "millrace" });
const answer = toolResultItem({ callId: "c1", name: "add", output: 42, isError: false, ms: 3 });

describe("the terminal sink", () => {
  it("shows the text on out, and everything about it aside, each on a line of its own", () => {
    const { out, aside } = show([
      textDelta("m", 0, "Let me "),
      textDelta("m", 0, "add."),
      call,
      answer,
      textDelta("m2", 0, "42."),
      doneEvent(result),
    ]);
    expect(out).toBe("Let me add.\n42.\n");
    expect(aside).toBe('→ add {"a":1}\n← 42 (3 ms)\ndone · 1.2 s · 5 tokens in, 2 out · $0.0123\n');
  });

  it("shows a block once: as deltas, or whole when there were none", () => {
    const blocks = [
      { type: "text", text: "Hello" },
      { type: "text", text: " you" },
    ] as const;
    const message = messageItem({ id: "m", role: "assistant", blocks });
    expect(show([textDelta("m", 0, "Hello"), message]).out).toBe("Hello you");
    expect(show([messageItem({ id: "u", role: "user", blocks })]).out).toBe("");
  });

  it("says what failed and what to do, whatever the width", () => {
    const error = errorItem({
      code: "provider-auth",
      message: "openai answered 401",
      terminal: true,
      diagnostic: { hint: "The key was not accepted.", troubleshooting: "Check OPENAI_API_KEY.\nOr another." },
    });
    const { aside } = show([error, doneEvent({ ...result, status: "error", subtype: "provider-auth" })]);
    expect(aside.split("\n")).toEqual([
      "✗ openai answered 401",
      "  The key was not accepted.",
      "  Check OPENAI_API_KEY.",
      "  Or another.",
      "error: provider-auth · 1.2 s · 5 tokens in, 2 out · $0.0123",
      "",
    ]);
  });

  it("shows thinking only when asked, on lines of its own", () => {
    const events = [thinkingDelta("m", 0, "Hm"), thinkingDelta("m", 0, "m."), textDelta("m", 1, "Yes"), call];
    expect(show(events).aside).not.toContain("Hm");
    const { both } = show(events, { showThinking: true });
    expect(both).toBe('Hmm.\nYes\n→ add {"a":1}\n');
  });

  it("tells of retries, fallbacks, retractions, silence and warnings, but not of expected ones", () => {
    const { aside } = show([
      noticeItem("retry", { attempt: 2, message: "overloaded" }),
      noticeItem("fallback", { from: "openai", to: "anthropic" }),
      noticeItem("retract", { messageId: "m" }),
      noticeItem("stall", { silentMs: 60_000 }),
      noticeItem("unknown:x", null),
      warningItem({ code: "option-ignored", message: "ignored" }),
      warningItem({ code: "option-ignored", message: "expected", expected: true }),
    ]);
    expect(aside).toMatch(
      /trying again \(2\): overloaded\n.*openai is down, asking anthropic\n.*void\n.*60 s\n! ignored\n$/,
    );
    expect(aside).not.toContain("expected");
  });

  it("leaves the words of sub-agents out", () => {
    const { both } = show([textDelta("m", 0, "inner", "c1"), thinkingDelta("m", 0, "inner", "c1")]);
    expect(both).toBe("");
  });
});

const ESC = "\u001b";
const BEL = "\u0007";
const PAYLOADS: readonly string[] = [
  `${ESC}[2J${ESC}[H`,
  `${ESC}[1A${ESC}[2K`,
  `${ESC}]0;owned${BEL}`,
  `${ESC}]0;owned${ESC}\\`,
  `${ESC}]52;c;cm0gLXJmIC8=${BEL}`,
  `${ESC}]8;;https://evil.test${BEL}click${ESC}]8;;${BEL}`,
  `${ESC}]1337;File=name=eA==:AAAA${BEL}`,
  `${ESC}P+q544e${ESC}\\`,
  `${ESC}_payload${ESC}\\`,
  `${ESC}^payload${ESC}\\`,
  `${ESC}Xpayload${ESC}\\`,
  `${ESC}c`,
  `${ESC}[?1049h`,
  `${ESC}[?25l`,
  `${ESC}[8m hidden ${ESC}[0m`,
  `${ESC}[31;1m${ESC}[38;5;1m`,
  `${ESC}[6n${ESC}[c${ESC}[>c`,
  `${ESC}[20t${ESC}[21t`,
  `${ESC}#8`,
  `${ESC}(0lqqk`,
  "\u009b2J\u009b31m",
  "\u009d0;owned\u009c",
  "\u0090+q\u009c",
  "safe\rrm -rf /",
  "a\b\b\bxyz",
  "\u0000\u0001\u0002\u0005\u000e\u000f",
  "\u007f\u0085\u008d",
  "\u202erevo\u202c \u2066x\u2069 \u200f\u061c",
  "a\u2028b\u2029c\ufeff",
  "\u000b\u000c\u001c\u001d\u001e\u001f",
  `${BEL.repeat(10)}`,
  `${ESC}${ESC}[${ESC}[A`,
];

/** Everything a terminal may be given: printable characters, line ends, tabs, and with colour our own codes. */
const isHarmless = (shown: string, color: boolean): boolean => {
  const rest = color ? shown.replaceAll(/\u001b\[(?:0|2|31|33)m/g, "") : shown;
  return !/[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u.test(
    rest.replaceAll(/[\n\t]/g, ""),
  );
};

/** Every place of an event where foreign text may stand. */
function everywhere(text: string): AgentEvent[] {
  const pieces = text.split("");
  const done = doneEvent({ ...result, status: "error", subtype: text });
  const events: AgentEvent[] = [
    ...pieces.map((piece) => textDelta("m", 0, piece)),
    ...pieces.map((piece) => thinkingDelta("m", 1, piece)),
    textDelta("m", 2, text),
    messageItem({ id: "w", role: "assistant", blocks: [{ type: "text", text }] }),
    toolCallItem({ callId: text, name: text, input: { [text]: text }, executedBy: "millrace" }),
    toolCallItem({ callId: "s", name: "s", input: text, executedBy: "backend" }),
    toolResultItem({ callId: text, name: text, output: text, isError: false }),
    toolResultItem({ callId: text, name: text, output: [text], isError: true, ms: 1 }),
    permissionItem({ callId: "p", name: text, state: "asked", by: "rule", reason: text }),
    numberEvent({ type: "handoff", seq: 0, ts: 0, runId: "", from: text, to: text, message: text }, 1, {
      ts: 0,
      runId: "",
    }),
    noticeItem("retry", { attempt: text, message: text }),
    noticeItem("fallback", { from: text, to: text }),
    noticeItem("stall", { silentMs: text }),
    warningItem({ code: "option-ignored", message: text }),
    errorItem({
      code: "source-failed",
      message: text,
      terminal: true,
      diagnostic: { hint: text, troubleshooting: text },
    }),
    done,
  ];
  return events;
}

/** A payload as a title may show it. */
const escape = (text: string): string =>
  text.replaceAll(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

describe("SEC11: hostile text", () => {
  it.each(PAYLOADS.map((payload) => [escape(payload), payload]))("%s does nothing to a terminal", (_, payload) => {
    for (const color of [false, true]) {
      const { out, aside } = show(everywhere(payload), { color, showThinking: true });
      expect(isHarmless(out, false)).toBe(true);
      expect(isHarmless(aside, color)).toBe(true);
    }
  });

  it("the check itself sees every payload", () => {
    expect(PAYLOADS.length).toBeGreaterThanOrEqual(30);
    for (const payload of PAYLOADS) expect(isHarmless(payload, false)).toBe(false);
  });

  it("any text, in any place, cut anywhere", () => {
    const nasty = fc.oneof(
      fc.constantFrom(...PAYLOADS),
      fc.string({ unit: "binary", maxLength: 12 }),
      fc.constantFrom(ESC, BEL, "\u009b", "[", "]", "2J", "m", "\r", "\u202e"),
    );
    fc.assert(
      fc.property(fc.array(nasty, { maxLength: 6 }), (parts) => {
        const { out, aside } = show(everywhere(parts.join("")), { color: true, showThinking: true });
        return isHarmless(out, false) && isHarmless(aside, true);
      }),
      { numRuns: Math.min(numRuns, 100_000) },
    );
  });

  it("what can be read stays as it is", () => {
    const text = "Grüße, 世界 🙂\n\tcode: a[0] && b\n";
    expect(plainText(text)).toBe(text);
    expect(show([textDelta("m", 0, text)]).out).toBe(text);
  });

  it("a line is one line, and no character is cut in two", () => {
    expect(plainLine(" a\n\nb\tc ", 10)).toBe("a b c");
    expect(plainLine("abcdef", 4)).toBe("abc…");
    expect(plainLine("ab🙂def", 4)).toBe("ab…");
    expect(plainLine("abc", 3)).toBe("abc");
    expect(plainLine("abc", 0)).toBe("…");
  });
});
