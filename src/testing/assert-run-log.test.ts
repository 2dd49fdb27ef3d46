import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AgentEvent,
  type Chunk,
  type DoneChunk,
  errorItem,
  messageItem,
  noticeItem,
  permissionItem,
  resultItem,
  retractNotice,
  startItem,
  textDelta,
  thinkingDelta,
  toolCallItem,
  toolInputDelta,
  toolResultItem,
  warningItem,
  handoffItem,
  numberEvent,
} from "#domain";
import { fuzzRuns } from "../../test/effort.ts";
import { assertRunLog, findViolation, RunLogViolation } from "./assert-run-log.ts";
import { closeRunLog } from "./close-run-log.ts";
import { type Invariant, RUN_LOG_INVARIANTS } from "./run-log/invariants.ts";

const RUNS = fuzzRuns(2000);

type Loose = Record<string, unknown>;

const call = { callId: "c1", name: "add" };

/** A run with every kind of event: two turns, a tool, a retraction, a merged delta, a verdict. */
function goodLog(): AgentEvent[] {
  return closeRunLog([
    startItem({ backend: "claude-code", mode: "control", model: "m" }),
    textDelta("m1", 0, "void "),
    retractNotice({ messageId: "m1" }),
    thinkingDelta("m1", 0, "hm"),
    textDelta("m1", 1, "Let me "),
    textDelta("m1", 1, "add."),
    toolInputDelta("m1", 2, call, '{"a":1,'),
    toolInputDelta("m1", 2, call, '"b":[2]}'),
    messageItem({
      id: "m1",
      role: "assistant",
      blocks: [
        { type: "thinking", text: "hm" },
        { type: "text", text: "Let me add." },
        { type: "tool-call", ...call, input: { b: [2], a: 1 } },
      ],
    }),
    toolCallItem({ ...call, input: { a: 1, b: [2] }, executedBy: "millrace" }),
    permissionItem({ ...call, state: "asked", by: "rule" }),
    permissionItem({ ...call, state: "allowed", by: "user" }),
    toolResultItem({ ...call, output: 3, isError: false }),
    handoffItem({ from: "one", to: "two", message: "go on" }),
    textDelta("m2", 0, "It is 3."),
    messageItem({ id: "m2", role: "assistant", blocks: [{ type: "text", text: "It is 3." }] }),
    warningItem({ code: "feature-ignored", message: "…" }),
    errorItem({ code: "json-decode", message: "…", terminal: false }),
    resultItem({ subtype: "success", isError: false, usage: {} }),
  ]);
}

/** The position of the n-th event of a type. */
function place(events: readonly AgentEvent[], type: AgentEvent["type"], nth = 0): number {
  return events.map((event, at) => (event.type === type ? at : -1)).filter((at) => at !== -1)[nth] as number;
}

/** The log with one event changed, without renumbering. */
function change(events: AgentEvent[], at: number, fields: Loose): AgentEvent[] {
  return events.map((event, here) => (here === at ? { ...event, ...fields } : event));
}

function renumber(events: readonly AgentEvent[]): AgentEvent[] {
  return events.map((event, seq) => ({ ...event, seq }));
}

function without(events: readonly AgentEvent[], at: number): AgentEvent[] {
  return renumber(events.filter((_, here) => here !== at));
}

function insert(events: readonly AgentEvent[], at: number, ...chunks: readonly (Chunk | DoneChunk)[]): AgentEvent[] {
  const { ts, runId } = events[at] as AgentEvent;
  return renumber([
    ...events.slice(0, at),
    ...chunks.map((chunk) => numberEvent(chunk, at, { ts, runId })),
    ...events.slice(at),
  ]);
}

function changeResult(events: AgentEvent[], fields: Loose): AgentEvent[] {
  const at = place(events, "done");
  return change(events, at, { result: { ...(events[at] as Loose & AgentEvent & { type: "done" }).result, ...fields } });
}

const doneAt = (events: readonly AgentEvent[]): number => place(events, "done");

/** One planted fault per row: the invariant that must be named, the seq it must be found at, the broken log. */
const PLANTED: readonly (readonly [Invariant, string, number | undefined, (log: AgentEvent[]) => AgentEvent[]])[] = [
  ["non-empty", "no event at all", -1, () => []],
  ["known-type", "a type nobody knows", 3, (log) => change(log, 3, { type: "block-start" })],
  ["known-type", "a type that only the prototype has", 3, (log) => change(log, 3, { type: "constructor" })],
  ["known-type", "not an object", -1, (log) => log.map((event, at) => (at === 3 ? (null as never) : event))],
  ["json-safe", "undefined in a field", 2, (log) => change(log, 2, { agent: undefined })],
  ["json-safe", "NaN deep inside", 9, (log) => change(log, 9, { input: { a: [1, Number.NaN] } })],
  ["json-safe", "a function", 9, (log) => change(log, 9, { input: () => 1 })],
  ["json-safe", "a BigInt", 9, (log) => change(log, 9, { input: 1n })],
  ["json-safe", "a Date", 9, (log) => change(log, 9, { input: new Date(0) })],
  ["json-safe", "a hole in a list", 9, (log) => change(log, 9, { input: Object.assign([], { length: 2 }) })],
  ["json-safe", "a symbol as a key", 9, (log) => change(log, 9, { input: { [Symbol("s")]: 1 } })],
  ["json-safe", "bytes outside raw", 9, (log) => change(log, 9, { input: new Uint8Array(1) })],
  ["json-safe", "a cycle", 9, (log) => change(log, 9, { input: cycle() })],
  ["event-shape", "a delta without text", 1, (log) => change(log, 1, { text: 1 })],
  ["event-shape", "a negative index", 1, (log) => change(log, 1, { index: -1 })],
  ["event-shape", "a handoff to nobody", 13, (log) => change(log, 13, { to: null })],
  ["event-shape", "a made-up error code", 17, (log) => change(log, 17, { code: "oops" })],
  ["event-shape", "a made-up warning code", 16, (log) => change(log, 16, { code: "oops" })],
  ["event-shape", "a message whose blocks are no blocks", 8, (log) => change(log, 8, { blocks: ["text"] })],
  ["event-shape", "a result without a status", undefined, (log) => changeResult(log, { status: "fine" })],
  ["event-shape", "a tool call record without name", undefined, (log) => changeResult(log, { toolCalls: [{}] })],
  ["one-done", "no done", 18, (log) => log.slice(0, -1)],
  ["one-done", "two", 20, (log) => [...log, { ...(log.at(-1) as AgentEvent), seq: 20 }]],
  ["one-done", "an item behind it", 20, (log) => [...log, { ...(log[0] as AgentEvent), seq: 20, ts: 99 }]],
  ["gapless-seq", "a gap", 6, (log) => log.filter((_, at) => at !== 5)],
  ["gapless-seq", "a repeated number", 4, (log) => change(log, 5, { seq: 4 })],
  ["gapless-seq", "beginning at 1", 1, (log) => log.map((event) => ({ ...event, seq: event.seq + 1 }))],
  ["gapless-seq", "a merged delta that leaves a gap", 5, (log) => mergeTexts(log, 4).filter((_, at) => at !== 3)],
  ["merged-span", "an item that stands for a span", 9, (log) => change(log, 9, { firstSeq: 8 })],
  ["merged-span", "a span of one", 4, (log) => change(log, 4, { firstSeq: 4 })],
  ["time-order", "time that runs backwards", 7, (log) => change(log, 7, { ts: 5 })],
  ["one-run", "an event of another run", 7, (log) => change(log, 7, { runId: "run-2" })],
  ["one-run", "no run at all", 0, (log) => log.map((event) => ({ ...event, runId: "" }))],
  [
    "terminal-last",
    "a warning behind a terminal error",
    18,
    (log) => insert(log, 17, errorItem({ code: "stalled", message: "…", terminal: true })),
  ],
  ["unique-call-id", "the same id again", 13, (log) => insert(log, 13, log[9] as AgentEvent)],
  ["result-after-call", "a result without a call", 12, (log) => change(log, 12, { callId: "c9" })],
  ["result-after-call", "a result under another name", 12, (log) => change(log, 12, { name: "sum" })],
  ["result-after-call", "a result before its call", 9, (log) => swap(log, 9, 12)],
  ["one-result-per-call", "a second result", 13, (log) => insert(log, 13, log[12] as AgentEvent)],
  ["one-result-per-call", "no result", undefined, (log) => without(log, 12)],
  ["denied-not-run", "denied, but run", 12, (log) => change(log, 11, { state: "denied" })],
  ["denied-not-run", "denied, then allowed, then run", 12, (log) => change(log, 10, { state: "denied" })],
  [
    "denied-not-run",
    "denied after it ran",
    13,
    (log) => insert(log, 13, permissionItem({ ...call, state: "denied", by: "user" })),
  ],
  ["no-allow-no-run", "run while the question is open", 11, (log) => without(log, 11)],
  ["retract-shape", "a retraction of nothing", 2, (log) => change(log, 2, { data: { fromIndex: 1 } })],
  [
    "retract-shape",
    "a retraction from nowhere",
    2,
    (log) => change(log, 2, { data: { messageId: "m", fromIndex: "1" } }),
  ],
  ["deltas-make-block", "another text", 8, (log) => change(log, 5, { text: "add!" })],
  ["deltas-make-block", "another thought", 8, (log) => change(log, 3, { text: "ha" })],
  ["deltas-make-block", "text that was not retracted", 2, (log) => without(log, 2)],
  ["deltas-make-block", "a kind that changes within a block", 5, (log) => change(log, 5, { type: "thinking-delta" })],
  ["deltas-make-block", "input that says something else", 8, (log) => change(log, 7, { json: '"b":[3]}' })],
  ["deltas-make-block", "input that is not JSON", 8, (log) => change(log, 7, { json: '"b":[2]' })],
  ["deltas-make-block", "a block the message does not have", 9, (log) => insert(log, 8, textDelta("m1", 3, "x"))],
  ["delta-after-message", "a delta too late", 9, (log) => insert(log, 9, textDelta("m1", 1, "x"))],
  [
    "message-finished",
    "deltas without a message",
    undefined,
    (log) => insert(log, doneAt(log), textDelta("m3", 0, "x")),
  ],
  [
    "status-agrees",
    "success after a terminal error",
    undefined,
    (log) => insert(log, doneAt(log), errorItem({ code: "stream-cut", message: "…", terminal: true })),
  ],
  ["call-after-message", "a call before its message", 8, (log) => swap(log, 8, 9)],
  ["decision-after-call", "a question before its call", 9, (log) => swap(log, 9, 10)],
  [
    "calls-announced",
    "a message with a call that is no event",
    undefined,
    (log) =>
      insert(
        log,
        doneAt(log),
        messageItem({
          id: "m9",
          role: "assistant",
          blocks: [
            { type: "text", text: "It is 3." },
            { type: "tool-call", callId: "c9", name: "add", input: {} },
          ],
        }),
      ),
  ],
  ["status-agrees", "success after a failed verdict", undefined, (log) => change(log, 18, { isError: true })],
  ["status-agrees", "error without a reason", undefined, (log) => changeResult(log, { status: "error" })],
  ["text-agrees", "a text that is cut", undefined, (log) => changeResult(log, { text: "Let me add." })],
  [
    "text-agrees",
    "a text that comes twice",
    undefined,
    (log) => changeResult(log, { text: "Let me add.It is 3.It is 3." }),
  ],
  ["tool-calls-agree", "a call that is missing", undefined, (log) => changeResult(log, { toolCalls: [] })],
  [
    "tool-calls-agree",
    "a call nobody made",
    undefined,
    (log) => changeResult(log, { toolCalls: [{ callId: "c2", name: "add", input: {} }] }),
  ],
  [
    "tool-calls-agree",
    "another input",
    undefined,
    (log) => changeResult(log, { toolCalls: [{ ...call, input: {}, output: 3, isError: false }] }),
  ],
  [
    "tool-calls-agree",
    "another output",
    undefined,
    (log) => changeResult(log, { toolCalls: [{ ...call, input: { a: 1, b: [2] }, output: 4, isError: false }] }),
  ],
];

function cycle(): unknown {
  const value: Loose = {};
  value["self"] = value;
  return value;
}

function swap(events: readonly AgentEvent[], left: number, right: number): AgentEvent[] {
  const swapped = [...events];
  swapped[left] = { ...(events[right] as AgentEvent), ts: left };
  swapped[right] = { ...(events[left] as AgentEvent), ts: right };
  return renumber(swapped);
}

/** The deltas at `at` and `at + 1` merged, as a run delivers them to a late reader. */
function mergeTexts(events: readonly AgentEvent[], at: number): AgentEvent[] {
  const [left, right] = [events[at], events[at + 1]] as [AgentEvent & { text: string }, AgentEvent & { text: string }];
  const merged = { ...right, firstSeq: left.seq, text: left.text + right.text };
  return [...events.slice(0, at), merged, ...events.slice(at + 2)];
}

describe("assertRunLog", () => {
  it("accepts a valid log", () => {
    expect(findViolation(goodLog())).toBeUndefined();
    expect(() => assertRunLog(goodLog())).not.toThrow();
  });

  it("throws an error that names the guarantee and the position", () => {
    const broken = change(goodLog(), 7, { ts: 5 });
    expect(() => assertRunLog(broken)).toThrow(RunLogViolation);
    expect(() => assertRunLog(broken)).toThrow("time-order at seq 7: ts fell from 6 to 5. `ts` never decreases.");
    expect(() => assertRunLog(broken)).toThrow(
      expect.objectContaining({ name: "RunLogViolation", invariant: "time-order", seq: 7 }),
    );
  });

  it.each(PLANTED)("%s: finds %s", (invariant, _title, seq, breakIt) => {
    const broken = breakIt(goodLog());
    const violation = findViolation(broken);
    expect(violation).toEqual({ invariant, seq: seq ?? broken.at(-1)?.seq, message: expect.stringMatching(/./) });
  });

  it("has a planted fault for every guarantee", () => {
    const planted = new Set(PLANTED.map(([invariant]) => invariant));
    expect([...planted].sort()).toEqual(Object.keys(RUN_LOG_INVARIANTS).sort());
  });

  it("names the first violation in the order of events, even if a later one is detected earlier", () => {
    // The late delta at 9 is recognised only at the end, the bad time at 12 at once.
    const broken = change(insert(goodLog(), 9, textDelta("m1", 1, "x")), 12, { ts: 1 });
    expect(findViolation(broken)).toMatchObject({ invariant: "delta-after-message", seq: 9 });
  });
});

describe("what a log may contain", () => {
  const text = (id: string, ...texts: string[]): Chunk =>
    messageItem({ id, role: "assistant", blocks: texts.map((part) => ({ type: "text", text: part })) });

  const ALLOWED: readonly (readonly [string, readonly Chunk[]])[] = [
    ["nothing but an end", []],
    ["a block without any delta", [textDelta("m", 1, "b"), text("m", "a", "b")]],
    [
      "a message replaced by one with a further block",
      [textDelta("m", 0, "a"), text("m", "a"), textDelta("m", 1, "b"), text("m", "a", "b")],
    ],
    [
      "a message started again after a retraction",
      [textDelta("m", 0, "x"), retractNotice({ messageId: "m" }), textDelta("m", 0, "y"), text("m", "y")],
    ],
    [
      "blocks retracted from an index on",
      [textDelta("m", 0, "a"), textDelta("m", 1, "x"), retractNotice({ messageId: "m", fromIndex: 1 }), text("m", "a")],
    ],
    ["deltas that were retracted and never came again", [textDelta("m", 0, "x"), retractNotice({ messageId: "m" })]],
    [
      "an unfinished message in a run that failed",
      [textDelta("m", 0, "x"), errorItem({ code: "stream-cut", message: "…", terminal: true })],
    ],
    [
      "a finished message that a retry began again, in a run that failed",
      [
        textDelta("m", 0, "x"),
        text("m", "x"),
        retractNotice({ messageId: "m" }),
        textDelta("m", 0, "y"),
        errorItem({ code: "stream-cut", message: "…", terminal: true }),
      ],
    ],
    [
      "an earlier verdict that failed",
      [
        resultItem({ subtype: "x", isError: true, usage: {} }),
        resultItem({ subtype: "success", isError: false, usage: {} }),
      ],
    ],
    [
      "an incomplete call kept as unknown",
      [
        toolInputDelta("m", 0, call, '{"a'),
        messageItem({ id: "m", role: "assistant", blocks: [{ type: "unknown", raw: {} }] }),
      ],
    ],
    [
      "arguments that are no JSON, kept as text",
      [
        toolInputDelta("m", 0, call, '{"a'),
        messageItem({ id: "m", role: "assistant", blocks: [{ type: "tool-call", ...call, input: '{"a' }] }),
        toolCallItem({ ...call, input: '{"a', executedBy: "millrace" }),
      ],
    ],
    [
      "no arguments at all",
      [
        toolInputDelta("m", 0, call, ""),
        messageItem({ id: "m", role: "assistant", blocks: [{ type: "tool-call", ...call, input: {} }] }),
        toolCallItem({ ...call, input: {}, executedBy: "millrace" }),
      ],
    ],
    [
      "the text of sub-agents and users, which is not the run's",
      [
        messageItem({ id: "s", role: "assistant", parent: "c1", blocks: [{ type: "text", text: "s" }] }),
        messageItem({ id: "u", role: "user", blocks: [{ type: "text", text: "u" }] }),
        text("m", "a"),
      ],
    ],
    [
      "a call the backend ran although it was denied to us",
      [
        toolCallItem({ ...call, input: {}, executedBy: "backend" }),
        permissionItem({ ...call, state: "denied", by: "rule" }),
        toolResultItem({ ...call, output: "no", isError: true }),
      ],
    ],
    [
      "a denied call that was skipped",
      [
        toolCallItem({ ...call, input: {}, executedBy: "millrace" }),
        permissionItem({ ...call, state: "denied", by: "rule" }),
        toolResultItem({ ...call, output: "no", isError: true, skipped: "denied" }),
      ],
    ],
    [
      "an open question when the run ended",
      [
        toolCallItem({ ...call, input: {}, executedBy: "millrace" }),
        permissionItem({ ...call, state: "asked", by: "rule" }),
      ],
    ],
    ["keys named like the prototype's", [noticeItem("status", JSON.parse('{"__proto__":{"a":1},"constructor":1}'))]],
    ["raw bytes", [noticeItem("unknown:x", {}, { raw: { json: "{}", bytes: new Uint8Array([123, 125]) } })]],
  ];

  it.each(ALLOWED)("%s", (_title, chunks) => {
    expect(findViolation(closeRunLog(chunks))).toBeUndefined();
  });

  it("a merged delta that covers its span", () => {
    expect(findViolation(mergeTexts(goodLog(), 4))).toBeUndefined();
  });

  it("a text without that of sub-agents and users", () => {
    const log = closeRunLog([
      messageItem({ id: "s", role: "assistant", parent: "c1", blocks: [{ type: "text", text: "s" }] }),
      messageItem({ id: "u", role: "user", blocks: [{ type: "text", text: "u" }] }),
      text("m", "a", "b"),
    ]);
    expect(findViolation(changeResult(log, { text: "ab" }))).toBeUndefined();
    expect(findViolation(changeResult(log, { text: "sab" }))).toMatchObject({ invariant: "text-agrees" });
  });

  it("a sub-agent's call that the result omits, or lists", () => {
    const log = closeRunLog([
      toolCallItem({ ...call, parent: "c0", input: {}, executedBy: "backend" }),
      toolResultItem({ ...call, parent: "c0", output: "x", isError: false }),
    ]);
    expect(findViolation(log)).toBeUndefined();
    expect(findViolation(changeResult(log, { toolCalls: [] }))).toBeUndefined();
  });

  it("F-D4: a call is listed with the input that was finally allowed, and with the requested one", () => {
    const log = closeRunLog([
      toolCallItem({ ...call, input: { a: 1 }, executedBy: "millrace" }),
      permissionItem({ ...call, state: "allowed", by: "user", input: { a: 2 } }),
      toolResultItem({ ...call, output: 2, isError: false }),
    ]);
    expect(findViolation(log)).toBeUndefined();
    const ran = { ...call, output: 2, isError: false };
    for (const inputs of [{ input: { a: 1 } }, { input: { a: 2 } }, { input: { a: 1 }, requestedInput: { a: 2 } }]) {
      const listed = changeResult(log, { toolCalls: [{ ...ran, ...inputs }] });
      expect(findViolation(listed)).toMatchObject({ invariant: "tool-calls-agree" });
    }
  });

  it("a success after a message with an unannounced tool call is rejected; a failure is not", () => {
    const said = messageItem({
      id: "m1",
      role: "assistant",
      blocks: [{ type: "tool-call", callId: "c9", name: "add", input: {} }],
    });
    const verdict = (isError: boolean) => resultItem({ subtype: isError ? "x" : "success", isError, usage: {} });
    expect(findViolation(closeRunLog([said, verdict(false)]))).toMatchObject({ invariant: "calls-announced" });
    expect(findViolation(closeRunLog([{ ...said }, verdict(true)]))).toBeUndefined();
    const called = toolCallItem({ callId: "c9", name: "add", input: {}, executedBy: "backend" });
    expect(findViolation(closeRunLog([{ ...said }, called, verdict(false)]))).toBeUndefined();
  });
});

/** Random valid logs: turns of text and thinking in pieces, with or without a tool call. */
const turns = fc.array(
  fc.record({
    pieces: fc.array(fc.string({ minLength: 1, unit: "binary" }), { minLength: 1, maxLength: 4 }),
    thought: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
    input: fc.option(fc.jsonValue({ maxDepth: 2 }), { nil: undefined }),
    isOurs: fc.boolean(),
    restarted: fc.boolean(),
  }),
  { minLength: 1, maxLength: 4 },
);

const validLog = turns.map((list) =>
  closeRunLog(
    list.flatMap(({ pieces, thought, input, isOurs, restarted }, turn): Chunk[] => {
      const id = `m${turn}`;
      const toolCall = { callId: `c${turn}`, name: "tool" };
      const shown: Chunk[] = [
        ...(thought === undefined ? [] : [thinkingDelta(id, 0, thought)]),
        ...pieces.map((piece) => textDelta(id, thought === undefined ? 0 : 1, piece)),
      ];
      return [
        ...(restarted ? [...shown.slice(0, 2).map((chunk) => ({ ...chunk })), retractNotice({ messageId: id })] : []),
        ...shown,
        messageItem({
          id,
          role: "assistant",
          blocks: [
            ...(thought === undefined ? [] : [{ type: "thinking" as const, text: thought }]),
            { type: "text", text: pieces.join("") },
            ...(input === undefined ? [] : [{ type: "tool-call" as const, ...toolCall, input }]),
          ],
        }),
        ...(input === undefined
          ? []
          : [
              toolCallItem({ ...toolCall, input, executedBy: isOurs ? "millrace" : "backend" }),
              toolResultItem({ ...toolCall, output: "ok", isError: false }),
            ]),
        noticeItem("status", { turn }),
      ];
    }),
  ),
);

describe("random logs", () => {
  it("are accepted if they are valid", () => {
    fc.assert(
      fc.property(validLog, (log) => findViolation(log) === undefined),
      { numRuns: RUNS },
    );
  });

  it("are rejected if an event is lost, duplicated or out of order", () => {
    fc.assert(
      fc.property(validLog, fc.nat(), fc.constantFrom("lost", "doubled", "swapped"), (log, pick, fault) => {
        const at = pick % log.length;
        const event = log[at] as AgentEvent;
        if (fault === "lost") return findViolation(log.filter((_, here) => here !== at)) !== undefined;
        if (fault === "doubled") return findViolation(log.toSpliced(at, 0, event)) !== undefined;
        const other = (at + 1) % log.length;
        return findViolation(log.with(at, log[other] as AgentEvent).with(other, event)) !== undefined;
      }),
      { numRuns: RUNS },
    );
  });

  it("are detected, or harmless, if an event is dropped before numbering", () => {
    fc.assert(
      fc.property(validLog, fc.nat(), (log, pick) => {
        const at = pick % log.length;
        const violation = findViolation(without(log, at));
        return (violation === undefined) === isHarmlessToLose(log, at);
      }),
      { numRuns: RUNS },
    );
  });

  it("are rejected if a number, a text or an id in them changes", () => {
    fc.assert(
      fc.property(validLog, fc.nat(), fc.constantFrom("seq", "runId", "text", "callId", "type"), (log, pick, field) => {
        const candidates = log.flatMap((event, at) =>
          field in event && !isVoid(log, at) && log.length > 1 ? [at] : [],
        );
        if (candidates.length === 0) return true;
        const at = candidates[pick % candidates.length] as number;
        const value = (log[at] as unknown as Loose)[field];
        return (
          findViolation(change(log, at, { [field]: typeof value === "number" ? value + 1 : `${String(value)}~` })) !==
          undefined
        );
      }),
      { numRuns: RUNS },
    );
  });

  it("never make the check throw, whatever they contain", () => {
    fc.assert(
      fc.property(validLog, fc.nat(), fc.string(), fc.anything(), (log, pick, field, value) => {
        const at = pick % log.length;
        const keys = [...Object.keys(log[at] as AgentEvent), field];
        findViolation(change(log, at, { [keys[pick % keys.length] as string]: value }));
        findViolation(log.with(at, value as AgentEvent));
      }),
      { numRuns: RUNS },
    );
  });
});

/** Whether a delta's text is void because it was retracted. */
function isVoid(log: readonly AgentEvent[], at: number): boolean {
  const event = log[at] as AgentEvent;
  if (!("messageId" in event)) return false;
  return log
    .slice(at)
    .some((later) => later.type === "notice" && (later.data as Loose)["messageId"] === event.messageId);
}

/** Whether the invariants allow losing an event, computed independently of the checks. */
function isHarmlessToLose(log: readonly AgentEvent[], at: number): boolean {
  const event = log[at] as AgentEvent;
  if (event.type === "notice") {
    if (event.kind !== "retract") return true;
    return false; // the pieces before it would then appear twice
  }
  if (event.type !== "text-delta" && event.type !== "thinking-delta") return false;
  if (isVoid(log, at)) return true;
  const siblings = log.filter(
    (other, here) =>
      "messageId" in other && other.messageId === event.messageId && other.index === event.index && !isVoid(log, here),
  );
  return siblings.length === 1; // a block without any delta is allowed
}
