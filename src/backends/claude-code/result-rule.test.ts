import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ErrorDetail } from "#domain";
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

/** The table of the source document, its missing rows filled in. */
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

describe("AT-21: the state table", () => {
  it.each(TABLE)("%s", (_, state, input, item, phase) => {
    const step = stepRule(state, input);
    expect([name(step.item), step.state.phase]).toEqual([item, phase]);
  });

  it("C11: a non-zero exit behind a failed result is expected, behind a good one it is not", () => {
    expect(stepRule(failed, exit(1)).item).toMatchObject({ warning: { expected: true, context: { exitCode: 1 } } });
    expect(stepRule(received, exit(1)).item).not.toHaveProperty("warning.expected");
  });

  it("S1-89: strictExitStatus makes it an error, but only when the result claimed success", () => {
    const strict = { strictExitStatus: true };
    expect(name(stepRule(received, exit(7), strict).item)).toBe("error process-exited");
    expect(name(stepRule(failed, exit(1), strict).item)).toBe("warning non-zero-exit-after-result");
    expect(name(stepRule(received, exit(0), strict).item)).toBe("end");
  });

  it("S1-88 S1-11: a result beats every exit, also when a further turn was cut off", () => {
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

  it("F-B4: background work that is silent for too long is a warning, then the end; without a result it is nothing", () => {
    const stalled = { kind: "stalled", warning: { code: "background-left", message: "" } } as const;
    for (const from of [working, stepRule(announced, opening).state]) {
      const { state, item } = stepRule(from, stalled);
      expect([name(item), name(stepRule(state, { kind: "pull" }).item)]).toEqual(["warning background-left", "end"]);
    }
    expect(stepRule(streaming, stalled)).toEqual({ state: streaming, item: undefined });
  });

  it("S1-66 S1-86: behind a result come no errors, behind a terminal error comes the end, and the end comes for ever", () => {
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
      { numRuns: Number(process.env["MILLRACE_FUZZ_RUNS"] ?? 2000) },
    );
  });
});
