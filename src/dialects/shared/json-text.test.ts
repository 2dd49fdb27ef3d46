import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../../test/effort.ts";
import { createJsonScan, isSameJson, writeJson } from "./json-text.ts";

const RUNS = fuzzRuns(5000);

describe("createJsonScan", () => {
  it.each([
    ["{}", true],
    ["[1,[2]]", true],
    ['{"a":"}"}', true],
    ['{"a":"\\"}"}', true],
    ["", false],
    ["{", false],
    ['{"a":"}', false],
    ['{"a":"}\\"', false],
    ["12", false],
    ['"{}"', false],
    ["}", true],
  ])("%j closed: %j", (text, closed) => {
    expect(createJsonScan().isClosed([text])).toBe(closed);
    expect(createJsonScan().isClosed(Array.from(text))).toBe(closed);
  });

  it("detects the end of an object at its last character, however it is split", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.integer({ min: 1, max: 5 }), (value, size) => {
        const text = JSON.stringify(value);
        const scan = createJsonScan();
        const parts: string[] = [];
        let closedEarly = false;
        for (let at = 0; at < text.length; at += size) {
          closedEarly ||= scan.isClosed(parts);
          parts.push(text.slice(at, at + size));
        }
        return !closedEarly && scan.isClosed(parts);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("writeJson", () => {
  it("writes JSON, and nothing for a value without a JSON form", () => {
    const circle: unknown[] = [];
    circle.push(circle);
    expect([writeJson({ a: 1 }), writeJson(undefined), writeJson(circle)]).toEqual(['{"a":1}', undefined, undefined]);
  });

  it("a value that is nested too deeply does not throw; the depth depends on the engine", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect([undefined, 200_001]).toContain(writeJson(deep)?.length);
  });
});

describe("isSameJson", () => {
  it("tells whether two values have the same text", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        // JSON has no negative zero, and a copy has none either.
        const [one, other] = [left, right].map((value) => JSON.parse(JSON.stringify(value)) as unknown);
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        return isSameJson(one, other) === isSame && isSameJson(one, JSON.parse(JSON.stringify(one)));
      }),
      { numRuns: RUNS },
    );
  });

  it("F-B1: compares lists by index, without a list of their keys", () => {
    let listed = 0;
    const list = (entries: unknown[]): unknown =>
      new Proxy(entries, { ownKeys: (target) => ((listed += 1), Reflect.ownKeys(target)) });
    expect(isSameJson(list([1, [2], { a: 3 }]), list([1, [2], { a: 3 }]))).toBe(true);
    expect(isSameJson(list([1, 2]), list([1, 3]))).toBe(false);
    expect(isSameJson(list([1, 2]), list([1, 2, 3]))).toBe(false);
    expect(isSameJson(list([]), {})).toBe(false);
    expect(isSameJson({}, list([]))).toBe(false);
    expect(listed).toBe(0);
  });
});
