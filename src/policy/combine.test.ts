import { describe, expect, it } from "vitest";
import { combine } from "./combine.ts";
import type { HookAnswer } from "./point.ts";
import type { HookOutcome } from "./run-hooks.ts";

const of = (...answers: HookAnswer[]) => combine(answers.map((answer) => ({ kind: "answered", answer })));

describe("several hooks at one point", () => {
  it("no hook, or none with a decision, gives no decision", () => {
    const nothing = { block: undefined, stop: undefined, ask: undefined, allow: false, input: undefined, notes: [] };
    expect(of()).toMatchObject(nothing);
    expect(of({}, {})).toMatchObject(nothing);
  });

  it("every block counts, whatever its position", () => {
    expect(of({ allow: true }, { block: "a" }, { ask: true }, { block: "b" }).block).toBe("a\nb");
    expect(of({ block: "" }).block).toBe("");
  });

  it("the first stop determines the reason", () => {
    expect(of({}, { stop: "a" }, { stop: "b" }).stop).toBe("a");
  });

  it("asking needs no reason, and keeps the reasons given", () => {
    expect(of({ ask: true }).ask).toEqual({ reason: undefined });
    expect(of({ ask: "a" }, { ask: true }, { ask: "b" }).ask).toEqual({ reason: "a\nb" });
  });

  it("the last replacement in the list applies, including null or false", () => {
    expect(of({ input: 1 }, { input: null }, {}).input).toEqual({ value: null });
    expect(of({ output: 1 }, { output: false }).output).toEqual({ value: false });
    expect(of({ message: "a" }, { message: "" }).message).toBe("");
  });

  it("notes come in the order of the list", () => {
    expect(of({ context: "a" }, {}, { context: "b" }).notes).toEqual(["a", "b"]);
  });

  it("failures and aborts are kept separate from answers", () => {
    const failed: HookOutcome = { kind: "failed", index: 1, why: "threw" };
    const combined = combine([{ kind: "answered", answer: { allow: true } }, failed, { kind: "aborted" }]);
    expect(combined).toMatchObject({ allow: true, failures: [{ index: 1, why: "threw" }], isAborted: true });
  });
});
