import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Chunk, ErrorDetail } from "#domain";
import type { JsonRecord } from "#wire";
import { fuzzRuns } from "../../../test/effort.ts";
import { createCliDecoder } from "./cli-decoder.ts";
import { createTaskCount, readChunk, readControlChunk, readRuleInput } from "./result-rule-frames.ts";
import { DRAIN, mayWait, RULE_START, type RuleInput, type RuleItem, type RuleState, stepRule } from "./result-rule.ts";

const detail = (code: ErrorDetail["code"], terminal: boolean): ErrorDetail => ({ code, message: code, terminal });
const message: RuleInput = { kind: "message" };
const result = (isError = false): RuleInput => ({ kind: "message", result: { isError } });
const fault = (code: ErrorDetail["code"], terminal = false): RuleInput => ({
  kind: "fault",
  error: detail(code, terminal),
  seen: "what was seen",
});
const exit = (code: number | null, signal: string | null = null): RuleInput => ({
  kind: "exit",
  code,
  signal,
  error: detail("process-exited", true),
});

const streaming = RULE_START;
const received: RuleState = { ...RULE_START, phase: "result-received", result: { isError: false } };
const failed: RuleState = { ...received, result: { isError: true } };
const drained: RuleState = { ...received, drained: DRAIN.items };
const working: RuleState = { ...received, tasks: 1, announced: true };
const announced: RuleState = { ...received, announced: true };
const opening = { kind: "message", opensTurn: true } as const satisfies RuleInput;
const pending: RuleState = { ...received, phase: "pending-end" };
const closed: RuleState = { ...RULE_START, phase: "closed" };

function name(item: RuleItem | undefined): string {
  if (item === undefined) return "nothing";
  if (item.kind === "warning") return `warning ${item.warning.code}`;
  if (item.kind === "error") return `error ${item.error.code}`;
  return item.kind;
}

/** The table of the source document, with its missing rows added. */
const TABLE: readonly [id: string, state: RuleState, input: RuleInput, item: string, phase: RuleState["phase"]][] = [
  ["S1-70 streaming, message", streaming, message, "given", "streaming"],
  ["S1-71 streaming, result", streaming, result(), "given", "result-received"],
  ["S1-72 streaming, bad JSON", streaming, fault("json-decode"), "error json-decode", "streaming"],
  ["S1-73 streaming, unknown type", streaming, fault("unexpected-message"), "error unexpected-message", "streaming"],
  ["S1-74 streaming, exit 3", streaming, exit(3), "error process-exited", "closed"],
  ["S1-74 streaming, killed", streaming, exit(null, "SIGKILL"), "error process-exited", "closed"],
  ["S1-75 streaming, exit 0", streaming, exit(0), "warning clean-exit-no-result", "pending-end"],
  ["S1-76 streaming, end of output", streaming, { kind: "eof" }, "warning clean-exit-no-result", "pending-end"],
  [
    "S1-77 C2 after the result, unknown data",
    received,
    fault("unexpected-message"),
    "warning unexpected-message-after-result",
    "result-received",
  ],
  [
    "S1-77 C2 after the result, bad JSON",
    received,
    fault("json-decode"),
    "warning unexpected-message-after-result",
    "result-received",
  ],
  ["C2 after the result, a known frame", received, message, "given", "result-received"],
  ["C2 background work was announced, a further turn", announced, opening, "given", "streaming"],
  ["C2 background work was announced, another result", announced, result(true), "given", "result-received"],
  [
    "C2 background work is announced only now, a further turn",
    received,
    { ...opening, tasks: 1 },
    "given",
    "streaming",
  ],
  ["F-B9 nothing was announced, a further turn", received, opening, "given", "result-received"],
  [
    "F-B9 nothing was announced, another result",
    received,
    result(true),
    "warning unexpected-message-after-result",
    "result-received",
  ],
  ["F-B9 nothing was announced, ten drained, another result", drained, result(), "end", "closed"],
  ["S1-78 after the result, exit 0", received, exit(0), "end", "closed"],
  ["S1-79 after the result, exit 7", received, exit(7), "warning non-zero-exit-after-result", "pending-end"],
  ["S1-79 C11 after a failed result, exit 1", failed, exit(1), "warning non-zero-exit-after-result", "pending-end"],
  ["S1-80 after the result, silence", received, { kind: "silence" }, "end", "closed"],
  ["S1-81 after the result, ten drained", drained, message, "end", "closed"],
  ["S1-81 after the result, ten drained, bad JSON", drained, fault("json-decode"), "end", "closed"],
  ["C2 background work, silence", working, { kind: "silence" }, "nothing", "result-received"],
  ["C2 background work, ten drained", { ...drained, tasks: 1 }, message, "given", "result-received"],
  ["S1-82 pending end", pending, { kind: "pull" }, "end", "closed"],
  ["S1-83 closed", closed, { kind: "pull" }, "end", "closed"],
  ["S1-83 closed, message", closed, message, "end", "closed"],
  ["S1-84 streaming, line too long", streaming, fault("buffer-overflow", true), "error buffer-overflow", "closed"],
  [
    "S1-84 streaming, fifth bad line",
    streaming,
    fault("too-many-decode-errors", true),
    "error too-many-decode-errors",
    "closed",
  ],
  ["S1-84 after the result, end of output", received, { kind: "eof" }, "end", "closed"],
  [
    "S1-86 after the result, line too long",
    received,
    fault("buffer-overflow", true),
    "warning unexpected-message-after-result",
    "pending-end",
  ],
  ["S1-84 nothing has happened", streaming, { kind: "pull" }, "nothing", "streaming"],
  ["S1-149 silence before the result", streaming, { kind: "silence" }, "nothing", "streaming"],
];

const unasked: RuleState = { ...RULE_START, asked: false };
const queued: RuleState = { ...RULE_START, open: 1, queued: true };
const begins = { kind: "message", begins: true } as const satisfies RuleInput;
const asked = { kind: "asked" } as const satisfies RuleInput;

/** Facts that only the control channel has: who asked, which turns are open, and whether our message is queued. */
const CONTROL_TABLE: readonly [
  id: string,
  state: RuleState,
  input: RuleInput,
  item: string,
  phase: RuleState["phase"],
  open: number,
][] = [
  ["I18 C1 a turn begins", unasked, begins, "given", "streaming", 1],
  ["I18 C1 a second beginning belongs to the turn that is open", queued, begins, "given", "streaming", 1],
  ["I18 C2 beside background work it is another turn", { ...queued, sawTasks: true }, begins, "given", "streaming", 2],
  [
    "I18 before our message, a result of the CLI's own turn",
    { ...unasked, open: 1 },
    result(),
    "given",
    "streaming",
    0,
  ],
  [
    "F-B9 before our message, a result of no turn",
    unasked,
    result(),
    "warning unexpected-message-after-result",
    "streaming",
    0,
  ],
  ["I18 our message goes out", { ...unasked, announced: true }, asked, "nothing", "streaming", 0],
  ["I18 our result", { ...streaming, open: 1 }, result(), "given", "result-received", 0],
  ["I18 C2 a result, and another turn is open", { ...streaming, open: 2 }, result(), "given", "streaming", 1],
  ["I18 a result while our message waits", queued, result(), "given", "streaming", 0],
  [
    "I18 our message waits no longer, and a result was given",
    { ...queued, open: 0, result: { isError: false } },
    { kind: "message", queued: false },
    "given",
    "result-received",
    0,
  ],
  ["I18 C2 background work was announced, a further turn begins", announced, begins, "given", "streaming", 1],
  ["F-B9 nothing was announced, a further turn begins", received, begins, "given", "result-received", 1],
  [
    "F-B9 nothing was announced, its result",
    { ...received, open: 1 },
    result(),
    "warning unexpected-message-after-result",
    "result-received",
    0,
  ],
];

/** The same output in each of the three modes: what they wait for at its end, and how often they accept a result. */
const OUTPUTS: readonly [
  id: string,
  frames: readonly JsonRecord[],
  wait: ReturnType<typeof mayWait>,
  results: number,
][] = [
  ["an answer", [frame("init"), says("m1"), verdict()], "drain", 1],
  ["no answer yet", [frame("init"), says("m1")], "for-ever", 0],
  ["a second result that nobody announced", [frame("init"), says("m1"), verdict(), verdict()], "drain", 1],
  ["a further message that nobody announced", [frame("init"), verdict(), says("m2")], "drain", 1],
  ["background work", [frame("init"), agent("task_started"), verdict()], "background", 1],
  ["its end", [frame("init"), agent("task_started"), verdict(), agent("task_notification")], "drain", 1],
  [
    "the turn it starts",
    [frame("init"), agent("task_started"), verdict(), agent("task_notification"), frame("init"), says("m2")],
    "background",
    1,
  ],
  [
    "the result of that",
    [frame("init"), agent("task_started"), verdict(), agent("task_notification"), frame("init"), verdict()],
    "drain",
    2,
  ],
  ["a shell", [frame("init"), agent("task_started", "local_bash"), verdict()], "drain", 1],
];

function frame(subtype: string, more: object = {}): JsonRecord {
  return { type: "system", subtype, session_id: "s", ...more };
}
function agent(subtype: string, task_type = "local_agent"): JsonRecord {
  return frame(subtype, { task_id: "t", task_type });
}
function says(id: string): JsonRecord {
  const message = { id, role: "assistant", content: [{ type: "text", text: "hello" }], usage: {} };
  return { type: "assistant", message, parent_tool_use_id: null };
}
function verdict(): JsonRecord {
  return { type: "result", subtype: "success", is_error: false, result: "hello" };
}

function follow(inputs: Iterable<(state: RuleState) => RuleInput | undefined>) {
  let state = RULE_START;
  let results = 0;
  for (const read of inputs) {
    const input = read(state);
    if (input === undefined) continue;
    const step = stepRule(state, input);
    if (step.item?.kind === "given" && input.kind === "message" && input.result !== undefined) results += 1;
    state = step.state;
  }
  return { wait: mayWait(state), results };
}

function chunksOf(frames: readonly JsonRecord[], mode: "plain" | "control"): Chunk[] {
  const { decoder } = createCliDecoder({ mode }, false, undefined);
  return decoder.push(new TextEncoder().encode(frames.map((one) => `${JSON.stringify(one)}\n`).join("")));
}

describe("I18 AT-21: one rule for query, plain and control mode", () => {
  it.each(CONTROL_TABLE)("%s", (_, state, input, item, phase, open) => {
    const step = stepRule(state, input);
    expect([name(step.item), step.state.phase, step.state.open]).toEqual([item, phase, open]);
  });

  it("I18: background work counts from our message onwards", () => {
    const busy = { ...unasked, tasks: 1, announced: true, hadTasks: true, result: { isError: true } };
    expect(stepRule(busy, asked).state).toMatchObject({ asked: true, result: undefined, hadTasks: true });
    expect(stepRule({ ...busy, tasks: 0 }, asked).state.hadTasks).toBe(false);
  });

  it.each(OUTPUTS)("%s", (_, frames, wait, results) => {
    const [first, second, third] = [createTaskCount(), createTaskCount(), createTaskCount()];
    const isLate = ({ phase }: RuleState): boolean => phase !== "streaming";
    const query = follow(frames.map((one) => () => readRuleInput(one, first)));
    const plain = follow(
      chunksOf(frames, "plain").map((chunk) => (state: RuleState) => readChunk(chunk, second, isLate(state))),
    );
    const control = follow(
      chunksOf(frames, "control").map(
        (chunk) => (state: RuleState) => readControlChunk(chunk, third, { isLate: isLate(state), uuid: "u" }),
      ),
    );
    expect({ query, plain, control }).toEqual({
      query: { wait, results },
      plain: { wait, results },
      control: { wait, results },
    });
  });
});

describe("AT-21: the state table", () => {
  it.each(TABLE)("%s", (_, state, input, item, phase) => {
    const step = stepRule(state, input);
    expect([name(step.item), step.state.phase]).toEqual([item, phase]);
  });

  it("C11: a non-zero exit is expected after a failed result, and unexpected after a successful one", () => {
    expect(stepRule(failed, exit(1)).item).toMatchObject({ warning: { expected: true, context: { exitCode: 1 } } });
    expect(stepRule(received, exit(1)).item).not.toHaveProperty("warning.expected");
  });

  it("S1-89: strictExitStatus makes it an error, but only if the result reported success", () => {
    const strict = { strictExitStatus: true };
    expect(name(stepRule(received, exit(7), strict).item)).toBe("error process-exited");
    expect(name(stepRule(failed, exit(1), strict).item)).toBe("warning non-zero-exit-after-result");
    expect(name(stepRule(received, exit(0), strict).item)).toBe("end");
  });

  it("S1-88 S1-11: a result takes precedence over every exit, also if a further turn was cut off", () => {
    const further = stepRule(announced, opening).state;
    expect(name(stepRule(further, exit(0)).item)).toBe("end");
    expect(name(stepRule(further, exit(null, "SIGTERM")).item)).toBe("warning non-zero-exit-after-result");
  });

  it("S1-67: how long a reader may wait", () => {
    expect([streaming, received, working, pending, closed].map(mayWait)).toEqual([
      "for-ever",
      "drain",
      "background",
      "no",
      "no",
    ]);
    expect(mayWait(stepRule(announced, opening).state)).toBe("background");
  });

  it("F-B4: background work that is silent for too long gives a warning, then the end; without a result it is ignored", () => {
    const stalled = { kind: "stalled", warning: { code: "background-left", message: "" } } as const;
    for (const from of [working, stepRule(announced, opening).state]) {
      const { state, item } = stepRule(from, stalled);
      expect([name(item), name(stepRule(state, { kind: "pull" }).item)]).toEqual(["warning background-left", "end"]);
    }
    expect(stepRule(streaming, stalled)).toEqual({ state: streaming, item: undefined });
  });

  it("S1-66 S1-86: no errors come after a result; the end comes after a terminal error, and after every further pull", () => {
    const inputs = fc.constantFrom(
      message,
      result(),
      result(true),
      fault("json-decode"),
      fault("buffer-overflow", true),
      exit(0),
      exit(1),
      { kind: "eof" } as const,
      { kind: "silence" } as const,
      { kind: "pull" } as const,
    );
    fc.assert(
      fc.property(fc.array(inputs, { maxLength: 30 }), (list) => {
        let state = RULE_START;
        let hadResult = false;
        let isOver = false;
        for (const input of list) {
          const { item, state: next } = stepRule(state, input);
          if (hadResult) expect(item?.kind).not.toBe("error");
          if (isOver) expect(name(item)).toBe("end");
          if (item?.kind === "given" && input.kind === "message" && input.result !== undefined) hadResult = true;
          if (item?.kind === "end" || (item?.kind === "error" && item.error.terminal)) {
            isOver = true;
            expect(next.phase).toBe("closed");
          }
          state = next;
        }
      }),
      { numRuns: fuzzRuns(2000) },
    );
  });
});
