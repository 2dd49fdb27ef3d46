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
  retractNotice,
  type RunResult,
  startItem,
  textDelta,
  thinkingDelta,
  toolCallItem,
  toolInputDelta,
  toolResultItem,
  warningItem,
} from "#domain";
import { EMPTY_RUN, reduceRun, reduceRunAll, type RunView } from "./run-view.ts";

const RESULT: RunResult = {
  status: "success",
  subtype: "success",
  text: "",
  toolCalls: [],
  messages: [],
  usage: { inputTokens: 10, outputTokens: 2 },
  costUsd: 0.01,
  turns: 1,
  ms: 1200,
  model: "m-1",
  errors: [],
  warnings: [],
};
const done = (fields: Partial<RunResult> = {}) => doneEvent({ ...RESULT, ...fields });
const number = (chunks: readonly (Chunk | DoneChunk)[]): AgentEvent[] =>
  chunks.map((chunk, seq) => numberEvent(chunk, seq, { ts: 1000 + seq * 10, runId: "r" }));
const view = (...chunks: readonly (Chunk | DoneChunk)[]): RunView => reduceRunAll(EMPTY_RUN, number(chunks));
const kinds = ({ items }: RunView): string[] => items.map(({ kind }) => kind);

const user = messageItem({ id: "u", role: "user", blocks: [{ type: "text", text: "hi" }] });
const call = { callId: "c", name: "add", input: { a: 1 }, executedBy: "millrace" } as const;

const WHOLE: readonly (Chunk | DoneChunk)[] = [
  startItem({ backend: "b", mode: "http", model: "m-0" }),
  user,
  thinkingDelta("m", 0, "hm"),
  textDelta("m", 1, "let "),
  textDelta("m", 1, "me"),
  toolInputDelta("m", 2, call, '{"a":'),
  toolInputDelta("m", 2, call, "1}"),
  messageItem({
    id: "m",
    role: "assistant",
    blocks: [
      { type: "thinking", text: "hm" },
      { type: "text", text: "let me" },
      { type: "tool-call", callId: "c", name: "add", input: { a: 1 } },
    ],
  }),
  toolCallItem(call),
  permissionItem({ callId: "c", name: "add", state: "asked", by: "rule", reason: "why" }),
  permissionItem({ callId: "c", name: "add", state: "allowed", by: "user" }),
  toolResultItem({ callId: "c", name: "add", output: 2, isError: false, ms: 500 }),
  handoffItem({ from: "a", to: "b", message: "go on" }),
  textDelta("n", 0, "two"),
  messageItem({ id: "n", role: "assistant", blocks: [{ type: "text", text: "two" }] }),
  done(),
];

describe("reduceRun", () => {
  it("a whole run: everything is shown once, in order, and what it took", () => {
    const whole = view(...WHOLE);
    expect(kinds(whole)).toEqual(["user", "thinking", "text", "tool", "handoff", "text"]);
    expect(whole).toMatchObject({
      seq: WHOLE.length - 1,
      status: "success",
      costUsd: 0.01,
      ms: 1200,
      model: "m-1",
      inputId: "u",
    });
    expect(whole.items[3]).toMatchObject({
      state: "done",
      input: { a: 1 },
      output: 2,
      json: '{"a":1}',
      question: undefined,
    });
  });

  it("AT-64: read in any pieces and again from any cursor it is the same: no gap, nothing twice", () => {
    const events = number(WHOLE);
    const expected = reduceRunAll(EMPTY_RUN, events);
    fc.assert(
      fc.property(fc.array(fc.nat(events.length), { maxLength: 8 }), (breaks) => {
        let seen = EMPTY_RUN;
        for (const end of breaks) {
          // A stream from the cursor on that breaks off; some readers request more than they need.
          const from = Math.max(0, seen.seq - 2);
          seen = reduceRunAll(seen, events.slice(from, Math.max(from, end)));
        }
        seen = reduceRunAll(seen, events.slice(seen.seq + 1));
        expect(seen).toEqual(expected);
      }),
    );
  });

  it("a merged delta that begins before the cursor is not written twice; the message has the rest", () => {
    const [start, first] = number([startItem({ backend: "b", mode: "http" }), textDelta("m", 0, "ab")]);
    const before = reduceRunAll(EMPTY_RUN, [start as AgentEvent, first as AgentEvent]);
    const merged = { ...numberEvent(textDelta("m", 0, "abcd"), 3, { ts: 5, runId: "r" }), firstSeq: 1 };
    const after = reduceRun(before, merged);
    expect(after.seq).toBe(3);
    expect(after.items).toMatchObject([{ text: "ab" }]);
  });

  it("the finished message corrects what was shown, and shows what no delta did", () => {
    const whole = view(
      textDelta("m", 0, "abx"),
      messageItem({
        id: "m",
        role: "assistant",
        blocks: [
          { type: "text", text: "abc" },
          { type: "text", text: "more" },
        ],
      }),
    );
    expect(whole.items).toMatchObject([{ text: "abc", isOpen: false }, { text: "more" }]);
  });

  it("what is retracted disappears, from a block on or all of it", () => {
    const shown = [textDelta("m", 0, "a"), textDelta("m", 1, "b"), toolInputDelta("m", 2, call, "{")];
    expect(kinds(view(...shown, retractNotice({ messageId: "m" })))).toEqual([]);
    expect(view(...shown.slice(0, 2), retractNotice({ messageId: "m", fromIndex: 1 })).items).toMatchObject([
      { text: "a" },
    ]);
    expect(kinds(view(...shown.slice(0, 2), retractNotice({ messageId: "other" })))).toEqual(["text", "text"]);
  });

  it("a question waits until it is answered; a refusal says why", () => {
    const asked = permissionItem({
      callId: "c",
      name: "add",
      state: "asked",
      by: "rule",
      reason: "why",
      input: { a: 1 },
    });
    expect(view(toolCallItem(call), asked).items).toMatchObject([{ state: "asked", question: "why" }]);
    const denied = permissionItem({ callId: "c", name: "add", state: "denied", by: "user", reason: "no" });
    expect(view(toolCallItem(call), asked, denied).items).toMatchObject([
      { state: "running", verdict: "no", question: undefined },
    ]);
  });

  it("a tool's time is its own, without the time somebody took to decide", () => {
    const events = view(
      toolCallItem(call),
      permissionItem({ callId: "c", name: "add", state: "asked", by: "rule" }),
      permissionItem({ callId: "c", name: "add", state: "allowed", by: "user" }),
      toolResultItem({ callId: "c", name: "add", output: 1, isError: false, ms: 9000 }),
    );
    expect(events.items).toMatchObject([{ ms: 10 }]);
    const untold = view(toolCallItem(call), toolResultItem({ callId: "c", name: "add", output: 1, isError: false }));
    expect(untold.items).toMatchObject([{ ms: 10 }]);
  });

  it("S3-33: what a tool has made and used is shown, whatever its fields are; many documents are counted", () => {
    const told = (kind: "artifact" | "documents", data: object) =>
      view(noticeItem(kind, { callId: "c", ...data })).items;
    expect(
      told("artifact", { name: "draw", artifact: { name: "Sales", type: "chart", url: "https://x.example/" } }),
    ).toEqual([
      {
        kind: "report",
        key: "report-0",
        tool: "draw",
        verb: "made",
        entries: [{ label: "Sales", href: "https://x.example/", about: "chart" }],
        others: 0,
      },
    ]);
    expect(told("artifact", { name: "draw", artifact: { size: 1 } })).toMatchObject([
      { entries: [{ label: '{"size":1}' }] },
    ]);
    expect(told("documents", { name: "find", documents: ["a.txt", { title: "B" }, 7] })).toMatchObject([
      { verb: "used", entries: [{ label: "a.txt" }, { label: "B" }, { label: "7" }], others: 0 },
    ]);
    const many = Array.from({ length: 50 }, (_, id) => ({ id: `d${id}` }));
    expect(told("documents", { name: "find", documents: many })).toMatchObject([{ others: 30 }]);
    expect(told("documents", { name: "find", documents: [] })).toEqual([]);
    expect(told("artifact", { name: "draw", artifact: null })).toEqual([]);
    expect(told("artifact", { name: "draw", artifact: { name: "x".repeat(5000) } })).toMatchObject([
      { entries: [{ label: `${"x".repeat(200)}…` }] },
    ]);
  });

  it("a parked call waits until its result is there, and never after it", () => {
    const parked = noticeItem("call-parked", { callId: "c", name: "add", until: 5 });
    const result = toolResultItem({ callId: "c", name: "add", output: 2, isError: false });
    expect(view(toolCallItem(call), parked).items).toMatchObject([{ state: "parked", until: 5 }]);
    expect(view(toolCallItem(call), parked, result).items).toMatchObject([{ state: "done", output: 2 }]);
    expect(view(noticeItem("call-parked", { name: "add" })).items).toEqual([]);
  });

  it("an answer without a word says so; one of a tool or a text does not", () => {
    expect(view(user, done()).items).toMatchObject([{ kind: "user" }, { text: "The answer is empty." }]);
    expect(view(user, textDelta("m", 0, "a"), done()).items).toHaveLength(2);
    expect(view(user, toolCallItem(call), done()).items).toHaveLength(2);
  });

  it("only the first message of a user is the person's", () => {
    const told = messageItem({ id: "handoff-1", role: "user", blocks: [{ type: "text", text: "go on" }] });
    expect(view(user, told).items).toHaveLength(1);
  });

  it("the row of a handoff stands for the call it came from", () => {
    const handed = {
      callId: "h",
      name: "handoff",
      input: { to: "b", message: "m" },
      executedBy: "millrace",
      agent: "a",
    } as const;
    expect(kinds(view(toolCallItem(handed), handoffItem({ from: "a", to: "b", message: "m" })))).toEqual(["handoff"]);
  });

  it.each([
    ["aborted", "info", "Stopped"],
    ["interrupted", "warning", "Interrupted"],
    ["error", "error", "The limit of turns was reached"],
  ] as const)("a run that is %s ends with a note", (status, level, title) => {
    const ended = view(
      textDelta("m", 0, "half"),
      done({ status, subtype: status === "error" ? "error_max_turns" : status }),
    );
    expect(ended.items).toMatchObject([
      { text: "half", isOpen: false },
      { kind: "note", level, title },
    ]);
  });

  it("a terminal error is shown once, with what to do; an abort is not called an error", () => {
    const error = {
      code: "provider-auth",
      message: "No.",
      terminal: true,
      diagnostic: { hint: "Key?", troubleshooting: "- One\n2. Two\n\n", stderrTail: "tail" },
    } as const;
    const failed = view(errorItem(error), done({ status: "error", subtype: "provider-auth", error }));
    expect(failed.items).toHaveLength(1);
    expect(failed.items).toMatchObject([
      {
        level: "error",
        title: "The provider did not accept the key",
        advice: { hint: "Key?", steps: ["One", "Two"], isForOperator: true, seen: "tail" },
      },
    ]);
    const aborted = view(errorItem({ code: "aborted", message: "x", terminal: true }), done({ status: "aborted" }));
    expect(aborted.items).toMatchObject([{ level: "info" }]);
  });

  it("F-F advice fits the page: advice for programs is replaced by what a person can do there", () => {
    const message = "The run reached limits.turns (1). Raise it, or give the agent less to do in one run.";
    const error = { code: "failed-result", message, terminal: true } as const;
    const stalled = {
      code: "stalled",
      message: "x",
      terminal: true,
      diagnostic: { troubleshooting: "Try again, ask another backend (fallback), or allow more time (limits.idleMs)." },
    } as const;
    expect(view(done({ status: "error", subtype: "error_max_turns", error })).items).toMatchObject([
      {
        text: "The run reached the limit of turns (1). Ask for less in one message, or ask the operator of this server to raise it.",
      },
    ]);
    expect(view(errorItem(stalled)).items).toMatchObject([
      {
        advice: {
          isForOperator: false,
          steps: ["Try again, choose another model, or ask the operator of this server to allow more time."],
        },
      },
    ]);
  });

  it.each([
    [{ attempt: 1, attempts: 3, message: "Busy." }, "Trying again (1 of 3): Busy."],
    [{ attempt: 2 }, "Trying again (2)."],
    [{}, "Trying again."],
  ])("F-F a retry never shows what is not known: %j", (data, text) => {
    expect(view(noticeItem("retry", data)).items).toMatchObject([{ kind: "note", level: "info", text }]);
  });

  it("notices for machines and expected warnings are omitted, silence is reported once", () => {
    const quiet = view(
      noticeItem("init", {}),
      noticeItem("constructor", null),
      warningItem({ code: "hook-failed", message: "x", expected: true }),
      noticeItem("stall", { silentMs: 5000 }),
      noticeItem("stall", { silentMs: 10_000 }),
      warningItem({ code: "option-ignored", message: "seen" }),
    );
    expect(quiet.items).toMatchObject([{ text: "Nothing has come for 10 seconds. Still waiting." }, { text: "seen" }]);
  });
});
