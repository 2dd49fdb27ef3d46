import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AgentEvent,
  type Chunk,
  type DoneChunk,
  doneEvent,
  errorItem,
  handoffItem,
  messageItem,
  noticeItem,
  numberEvent,
  permissionItem,
  type RunResult,
  retractNotice,
  startItem,
  textDelta,
  thinkingDelta,
  toolCallItem,
  toolResultItem,
  warningItem,
} from "#domain";
import { HOSTILE_TEXTS, isHarmless, nameOf } from "../../test/e2e/hostile-texts.ts";
import { fuzzRuns } from "../../test/effort.ts";
import { displayWidth } from "./display-width.ts";
import { createTerminalSink, type TerminalOptions } from "./terminal.ts";
import { asEvents } from "../../test/events.ts";

const numRuns = fuzzRuns(1500);

const result: RunResult = {
  status: "success",
  subtype: "success",
  text: "Hello",
  toolCalls: [],
  messages: [],
  usage: { inputTokens: 5, outputTokens: 2 },
  costUsd: 0.01234,
  turns: 1,
  ms: 1234,
  errors: [],
  warnings: [],
};

function show(events: readonly (AgentEvent | Chunk | DoneChunk)[], options: Partial<TerminalOptions> = {}) {
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
  for (const event of asEvents(events)) sink.accept(event);
  return { out, aside, both };
}

const call = toolCallItem({ callId: "c1", name: "add", input: { a: 1 }, executedBy: "millrace" });
const answer = toolResultItem({ callId: "c1", name: "add", output: 42, isError: false, ms: 3 });

describe("the terminal sink", () => {
  it("shows the text on out, and everything about it on err, each on its own line", () => {
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

  it("shows a block once: as deltas, or whole if there were none", () => {
    const blocks = [
      { type: "text", text: "Hello" },
      { type: "text", text: " you" },
    ] as const;
    const message = messageItem({ id: "m", role: "assistant", blocks });
    expect(show([textDelta("m", 0, "Hello"), message]).out).toBe("Hello you");
    expect(show([messageItem({ id: "u", role: "user", blocks })]).out).toBe("");
  });

  it("shows what failed and what to do, at any width", () => {
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
      "failed: provider-auth · 1.2 s · 5 tokens in, 2 out · $0.0123",
      "",
    ]);
  });

  it("F-F a failed verdict without an error event is reported with its remedy, also in quiet mode", () => {
    const error = {
      code: "failed-result",
      message: "The run reached limits.turns (1). Raise it.",
      terminal: false,
    } as const;
    const done = doneEvent({ ...result, status: "error", subtype: "error_max_turns", error });
    const reword = (text: string): string => text.replace("limits.turns", "--max-turns");
    expect(show([done], { reword }).aside).toBe(
      "✗ The run reached --max-turns (1). Raise it.\nfailed: error_max_turns · 1.2 s · 5 tokens in, 2 out · $0.0123\n",
    );
    expect(show([done], { quiet: true }).aside).toBe("✗ The run reached limits.turns (1). Raise it.\n");
    expect(show([errorItem({ ...error, terminal: true }), done]).aside.match(/✗/g)).toHaveLength(1);
  });

  it("F-F a failure that its agent calls a success is named by its code", () => {
    const error = { code: "failed-result", message: "Not logged in.", terminal: false } as const;
    const { aside } = show([doneEvent({ ...result, status: "error", subtype: "success", error })]);
    expect(aside).toBe("✗ Not logged in.\nfailed: failed-result · 1.2 s · 5 tokens in, 2 out · $0.0123\n");
  });

  it("F-F an empty answer is called empty", () => {
    for (const text of ["", " \n"]) {
      const { aside } = show([doneEvent({ ...result, text })]);
      expect(aside).toBe("done: the answer is empty · 1.2 s · 5 tokens in, 2 out · $0.0123\n");
    }
  });

  it("F-F an abort is reported once", () => {
    const { aside } = show([doneEvent({ ...result, status: "aborted", subtype: "aborted" })]);
    expect(aside).toBe("aborted · 1.2 s · 5 tokens in, 2 out · $0.0123\n");
  });

  it("F-F a warning is not cut, because its remedy is at its end", () => {
    const message = "session.resume is ignored on offline: a model behind an API keeps no sessions. Use a session.";
    const warning = warningItem({ code: "option-ignored", message });
    expect(show([warning], { wrapAside: true, width: 40 }).aside).toBe(
      "! session.resume is ignored on offline:\n  a model behind an API keeps no\n  sessions. Use a session.\n",
    );
    // A file has no width.
    expect(show([warning], { width: 40 }).aside).toBe(`! ${message}\n`);
  });

  it("F-F a question that is asked elsewhere is not shown as well, nor the person's own answer", () => {
    const about = { callId: "c", name: "add", reason: "The user said no." };
    const events = [
      permissionItem({ ...about, state: "asked", by: "rule" }),
      permissionItem({ ...about, state: "denied", by: "user" }),
      toolResultItem({ callId: "c", name: "add", output: about.reason, isError: true, skipped: "denied" }),
    ];
    expect(show(events, { asks: true }).aside).toBe("← The user said no.\n");
    // If questions are not asked here, each step is reported once.
    expect(show(events).aside).toBe("? add: asked, The user said no.\n? add: denied, The user said no.\n");
  });

  it("F-F the answer is wrapped at words on a terminal, and nowhere else", () => {
    const events = [textDelta("m", 0, "The quick brown "), textDelta("m", 0, "fox jumps over the lazy dog.")];
    const done = doneEvent(result);
    expect(show([...events, done], { wrap: true, width: 20 }).out).toBe(
      "The quick brown fox\njumps over the lazy\ndog.\n",
    );
    expect(show([...events, done], { width: 20 }).out).toBe("The quick brown fox jumps over the lazy dog.\n");
  });

  it("shows thinking only on request, on separate lines", () => {
    const events = [thinkingDelta("m", 0, "Hm"), thinkingDelta("m", 0, "m."), textDelta("m", 1, "Yes"), call];
    expect(show(events).aside).not.toContain("Hm");
    const { both } = show(events, { showThinking: true });
    expect(both).toBe('Hmm.\nYes\n→ add {"a":1}\n');
  });

  it("shows retries, fallbacks, retractions, silence and warnings, but not expected ones", () => {
    const { aside } = show([
      noticeItem("retry", { attempt: 2, message: "overloaded" }),
      noticeItem("fallback", { from: "openai", to: "anthropic" }),
      noticeItem("stall", { silentMs: 60_000 }),
      noticeItem("unknown:x", null),
      warningItem({ code: "option-ignored", message: "ignored" }),
      warningItem({ code: "option-ignored", message: "expected", expected: true }),
    ]);
    expect(aside).toMatch(
      /trying again \(2\): overloaded\n.*openai is down, asking anthropic\n.*1 min 0 s\n! ignored\n$/,
    );
    expect(aside).not.toContain("expected");
  });

  it("S3-33: shows what tools have made and used, and which calls wait outside of the run; nothing of it when quiet", () => {
    const events = [
      noticeItem("documents", { callId: "c", name: "draw", documents: [{ title: "Sales" }, "notes.txt"] }),
      noticeItem("artifact", { callId: "c", name: "draw", artifact: { name: "Chart", url: "https://x.example/1" } }),
      noticeItem("call-parked", { callId: "c", name: "review" }),
      noticeItem("call-parked", { callId: "c", name: "rest", until: Date.UTC(2026, 10, 18, 20, 38) }),
    ];
    expect(show(events).aside.split("\n")).toEqual([
      "· draw used Sales, notes.txt",
      "· draw made Chart (https://x.example/1)",
      "… review: its result comes from elsewhere",
      "… rest: waiting until 2026-11-18 20:38 UTC",
      "",
    ]);
    expect(show(events, { quiet: true }).aside).toBe("");
  });

  it("a message is shown again only after it was retracted", () => {
    const message = messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "Hi" }] });
    const { out, aside } = show([textDelta("m", 0, "H"), message, retractNotice({ messageId: "m" }), message, message]);
    expect(out).toBe("Hi\nHi");
    expect(aside).toContain("ignore the text above");
    expect(show([retractNotice({ messageId: "never-seen" })]).aside).toBe("");
  });

  it("S3-15: a message that is longer than its deltas is shown to its end, once", () => {
    const message = messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "Hi you" }] });
    expect(show([textDelta("m", 0, "Hi "), message, message]).out).toBe("Hi you");
  });

  it("another message begins on a new line", () => {
    expect(show([textDelta("m", 0, "One."), textDelta("n", 0, "Two"), textDelta("n", 0, ".")]).out).toBe("One.\nTwo.");
  });

  it("S4-33: without streaming a text is printed once, when it is complete", () => {
    const message = messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "Hi you" }] });
    const { out } = show([textDelta("m", 0, "Hi "), textDelta("m", 0, "you"), message], { stream: false });
    expect(out).toBe("Hi you");
  });

  it("S4-32: messages and errors are always shown; tools, thinking and metadata by switch", () => {
    const events = [
      startItem({ backend: "offline", mode: "http", model: "m1", tools: ["add"] }),
      thinkingDelta("m", 0, "Hm."),
      textDelta("m", 1, "Yes"),
      call,
      permissionItem({ callId: "c1", name: "add", state: "allowed", by: "rule" }),
      answer,
      noticeItem("rate-limit", { left: 3 }),
      errorItem({ code: "json-decode", message: "bad line", terminal: false }),
    ];
    const all = show(events, { showAll: true });
    expect(all.aside).toBe(
      '· offline (http), m1, 1 tool\nHm.\n→ add {"a":1}\n? add: allowed\n← 42 (3 ms)\n· rate-limit {"left":3}\n✗ bad line\n',
    );
    const none = show(events, { showTools: false });
    expect([none.out, none.aside]).toEqual(["Yes\n", "✗ bad line\n"]);
    const quiet = show([...events, doneEvent(result)], { quiet: true, showAll: true });
    expect([quiet.out, quiet.aside]).toEqual(["Yes\n", "✗ bad line\n"]);
    expect(show(events, { showMetadata: true }).aside).toContain("rate-limit");
  });

  it("thinking can be shown in one line", () => {
    const [first, second] = [thinkingDelta("m", 0, "Hm"), thinkingDelta("m", 0, "m.")].map((chunk, seq) =>
      numberEvent(chunk, seq, { ts: 1000 + seq, runId: "r" }),
    );
    const text = numberEvent(textDelta("m", 1, "Yes"), 2, { ts: 3500, runId: "r" });
    const { both } = show(
      [first, second, text].flatMap((event) => event ?? []),
      { showThinking: "collapsed" },
    );
    expect(both).toBe("· thought for 2.5 s, 4 characters\nYes");
  });

  it("results name their call if several are running, and how long each took", () => {
    const at = (chunk: Chunk, ts: number): AgentEvent => numberEvent(chunk, 0, { ts, runId: "r" });
    const one = toolCallItem({ callId: "1", name: "read", input: {}, executedBy: "backend" });
    const two = toolCallItem({ callId: "2", name: "list", input: {}, executedBy: "backend" });
    const done = (callId: string, name: string) => toolResultItem({ callId, name, output: "ok", isError: false });
    const { aside } = show([at(one, 0), at(two, 10), at(done("2", "list"), 50), at(done("1", "read"), 70_000)]);
    expect(aside).toBe("→ read {}\n→ list {}\n← list: ok (40 ms)\n← ok (1 min 10 s)\n");
  });

  it("Markdown is rendered for a terminal and left unchanged elsewhere", () => {
    const events = [textDelta("m", 0, "**bo"), textDelta("m", 0, "ld** `c`"), call];
    expect(show(events).out).toBe("**bold** `c`\n");
    expect(show(events, { markdown: true }).out).toBe("\u001b[1mbold\u001b[22m \u001b[36mc\u001b[39m\n");
  });

  it("lines fit the width, in columns", () => {
    const wide = toolResultItem({ callId: "x", name: "x", output: "世界".repeat(50), isError: false, ms: 5 });
    const { aside } = show([wide], { width: 30 });
    expect(displayWidth(aside.trimEnd())).toBeLessThanOrEqual(30);
    expect(aside).toMatch(/… \(5 ms\)\n$/);
  });

  it("omits the text of sub-agents, and shows their actions indented", () => {
    const inner = { ...call, parent: "c0" };
    expect(show([inner, { ...answer, parent: "c0" }]).aside).toBe('  → add {"a":1}\n  ← 42 (3 ms)\n');
    const { both } = show([textDelta("m", 0, "inner", "c1"), thinkingDelta("m", 0, "inner", "c1")]);
    expect(both).toBe("");
  });
});

/** Every field of an event that may contain untrusted text. */
function everywhere(text: string): (Chunk | DoneChunk)[] {
  const pieces = text.split("");
  const done = doneEvent({ ...result, status: "error", subtype: text });
  const events: (Chunk | DoneChunk)[] = [
    ...pieces.map((piece) => textDelta("m", 0, piece)),
    ...pieces.map((piece) => thinkingDelta("m", 1, piece)),
    textDelta("m", 2, text),
    messageItem({ id: "w", role: "assistant", blocks: [{ type: "text", text }] }),
    toolCallItem({ callId: text, name: text, input: { [text]: text }, executedBy: "millrace" }),
    toolCallItem({ callId: "s", name: "s", input: text, executedBy: "backend" }),
    toolResultItem({ callId: text, name: text, output: text, isError: false }),
    toolResultItem({ callId: text, name: text, output: [text], isError: true, ms: 1 }),
    permissionItem({ callId: "p", name: text, state: "asked", by: "rule", reason: text }),
    handoffItem({ from: text, to: text, message: text }),
    noticeItem("retry", { attempt: text, message: text }),
    noticeItem("fallback", { from: text, to: text }),
    noticeItem("stall", { silentMs: text }),
    noticeItem("artifact", { name: text, artifact: { name: text, url: text } }),
    noticeItem("documents", { name: text, documents: [text, { title: text }] }),
    noticeItem("call-parked", { name: text, until: text }),
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

describe("SEC11: hostile text in every place of every event", () => {
  it.each(HOSTILE_TEXTS.map((text) => [nameOf(text), text]))("%s does nothing to a terminal", (_, text) => {
    for (const color of [false, true]) {
      for (const showThinking of [true, "collapsed"] as const) {
        const { out, aside } = show(everywhere(text), { color, markdown: color, showThinking, showAll: true });
        expect(isHarmless(out, { color })).toBe(true);
        expect(isHarmless(aside, { color })).toBe(true);
      }
    }
  });

  it("any text, in any place, split anywhere", () => {
    const nasty = fc.oneof(
      fc.constantFrom(...HOSTILE_TEXTS),
      fc.string({ unit: "binary", maxLength: 12 }),
      fc.constantFrom("\u001b", "\u0007", "\u009b", "[", "]", "2J", "m", "\r", "\u202e", "**", "`", "| a |\n|--|\n"),
    );
    fc.assert(
      fc.property(fc.array(nasty, { maxLength: 6 }), (parts) => {
        const { out, aside } = show(everywhere(parts.join("")), { color: true, markdown: true, showThinking: true });
        return isHarmless(out, { color: true }) && isHarmless(aside, { color: true });
      }),
      { numRuns: Math.min(numRuns, 100_000) },
    );
  });

  it("readable text is unchanged", () => {
    const text = "Grüße, 世界 🙂\n\tcode: a[0] && b\n";
    expect(show([textDelta("m", 0, text)]).out).toBe(text);
  });
});
