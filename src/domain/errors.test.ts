import { describe, expect, it } from "vitest";
import {
  describeThrown,
  describeValue,
  isRunError,
  isStartError,
  isToolFailure,
  RunError,
  StartError,
  ToolFailure,
} from "./errors.ts";

describe("errors", () => {
  it("are recognised by their brand, also when another copy of the package made them", () => {
    const foreign = Object.assign(new Error("from another copy"), { [Symbol.for("millrace.RunError")]: true });
    expect(isRunError(foreign)).toBe(true);
    expect(isRunError(new RunError("timeout", "late"))).toBe(true);
    expect(isStartError(new StartError("missing-key", "no key"))).toBe(true);
    expect(isToolFailure(new ToolFailure("no"))).toBe(true);
    expect([null, undefined, "x", {}, new Error("x")].some((value) => isRunError(value) || isStartError(value))).toBe(
      false,
    );
    expect(isStartError(new RunError("timeout", "late"))).toBe(false);
  });

  it("keep their cause", () => {
    const cause = new Error("why");
    expect(new StartError("spawn", "no", { cause }).cause).toBe(cause);
    expect("cause" in new StartError("spawn", "no")).toBe(false);
  });

  it("describe any thrown value", () => {
    const unprintable = { toString: () => ({}) };
    expect(
      [new Error("a"), new TypeError(""), "b", 7, undefined, null, Symbol("s"), unprintable].map(describeThrown),
    ).toEqual(["a", "TypeError", "b", "7", "undefined", "null", "Symbol(s)", "a value that cannot be printed"]);
  });
});

describe("describeValue", () => {
  it.each<[unknown, string]>([
    ["a", '"a"'],
    [{ a: 1 }, '{"a":1}'],
    [Number.NaN, "NaN"],
    [7n, "7n"],
    [Symbol("s"), "Symbol(s)"],
    [undefined, "undefined"],
    [null, "null"],
    [() => 1, "a function"],
    ["x".repeat(100), `"${"x".repeat(78)}…`],
  ])("%#: describes a value briefly", (value, shown) => {
    expect(describeValue(value)).toBe(shown);
  });

  it("describes values that cannot be serialised, too", () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    expect([cycle, { cycle }].map(describeValue)).toEqual(["a list", "an object"]);
  });
});

describe("F-D4: thrown values as text", () => {
  it.each([
    [{ message: "quota", code: 7 }, "quota"],
    [{ code: 7 }, '{"code":7}'],
    [Object.assign(Object.create(null), { code: 7 }), "a value that cannot be printed"],
    ["a text", "a text"],
    [undefined, "undefined"],
  ])("%o is %s", (thrown, words) => {
    expect(describeThrown(thrown)).toBe(words);
  });
});
