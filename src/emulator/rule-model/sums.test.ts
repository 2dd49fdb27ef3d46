import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../../test/effort.ts";
import { compute, findSums, numberOf, operation, type Operator, type Sum, writeSum } from "./sums.ts";
import { workOut } from "./sum-tools.ts";

const runs = fuzzRuns(5000);
const read = (text: string): string[] => findSums(text).map((sum) => `${writeSum(sum)} = ${workOut(sum)}`);

describe("sums in a question", () => {
  it.each([
    ["What is 25 + 17?", ["25 + 17 = 42"]],
    ["what's 2+2", ["2 + 2 = 4"]],
    ["12 * (3+4)", ["12 * (3 + 4) = 84"]],
    ["multiply 6 and 7", ["6 * 7 = 42"]],
    ["Multiply 6 by 7, please.", ["6 * 7 = 42"]],
    ["add 2 and 3", ["2 + 3 = 5"]],
    ["Add 2, 3 and 4 up", ["2 + 3 + 4 = 9"]],
    ["the sum of 2 and 3", ["2 + 3 = 5"]],
    ["subtract 3 from 10", ["10 - 3 = 7"]],
    ["the difference between 10 and 3", ["10 - 3 = 7"]],
    ["divide 10 by 4", ["10 / 4 = 2.5"]],
    ["10 divided by 4", ["10 / 4 = 2.5"]],
    ["6 multiplied by 7", ["6 * 7 = 42"]],
    ["five and 25 plus 17", ["25 + 17 = 42"]],
    ["3x4", ["3 * 4 = 12"]],
    ["3 x 4", ["3 * 4 = 12"]],
    ["6 × 7 and 8 ÷ 2", ["6 * 7 = 42", "8 / 2 = 4"]],
    ["What is 25 + 17 and what is 6 * 7?", ["25 + 17 = 42", "6 * 7 = 42"]],
    ["add 2 and 3, and multiply 6 by 7", ["2 + 3 = 5", "6 * 7 = 42"]],
    ["What is 15% of 80?", ["15 * 80 / 100 = 12"]],
    ["17 % 5", ["17 % 5 = 2"]],
    ["2 ** 10", ["2 ^ 10 = 1024"]],
    ["2^3^2", ["2 ^ 3 ^ 2 = 512"]],
    ["10 - 3 - 2", ["10 - 3 - 2 = 5"]],
    ["1,000 + 2,500.5", ["1000 + 2500.5 = 3500.5"]],
    ["-5 + 3", ["-5 + 3 = -2"]],
    ["$25 + $17", ["25 + 17 = 42"]],
    ["What is 10-3?", ["10 - 3 = 7"]],
  ])("finds in %j", (text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  it.each([
    "Hello",
    "What happened on 2026-11-15?",
    "Read pages 1-3 of the book",
    "We are open 24/7",
    "Use version 1.2.3",
    "gpt-5 and claude-4-5",
    "There are 3 apples",
    "Write to 127.0.0.1",
    "add me to the list",
    "((((((((",
    "5 +",
    "",
  ])("finds none in %j", (text) => {
    expect(read(text)).toEqual([]);
  });

  it("reads back every sum that it writes", () => {
    const operators: readonly Operator[] = ["+", "-", "*", "/", "%"];
    const { sum } = fc.letrec<{ sum: Sum; deep: Sum }>((tie) => ({
      sum: fc.oneof({ maxDepth: 4 }, fc.integer({ min: 0, max: 9999 }).map(numberOf), tie("deep")),
      deep: fc
        .tuple(fc.constantFrom(...operators), tie("sum"), tie("sum"))
        .map(([operator, left, right]) => operation(operator, left, right)),
    }));
    fc.assert(
      fc.property(sum, (given) => {
        const found = findSums(`What is ${writeSum(given)}?`);
        if (given.kind === "number") expect(found).toEqual([]);
        else expect(found).toEqual([given]);
      }),
      { numRuns: runs },
    );
  });

  it("never throws and never takes long, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."0123456789+-*/%^(). ,xand"), maxLength: 300 }), (text) => {
        expect(findSums(text).length).toBeLessThanOrEqual(16);
      }),
      { numRuns: runs },
    );
    expect(findSums("(".repeat(8192))).toEqual([]);
    expect(findSums("1+".repeat(4096)).length).toBe(1);
  });

  it("computes as people expect", () => {
    expect(compute("^", 2, 10)).toBe(1024);
    expect(Number.isFinite(compute("/", 1, 0))).toBe(false);
  });
});
