import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../test/effort.ts";
import {
  isRecord,
  type JsonRecord,
  ownArray,
  ownBoolean,
  ownNumber,
  ownRecord,
  ownString,
  ownValue,
  parseJson,
} from "./json.ts";
import { MAX_JSON_DEPTH } from "#domain";

const RUNS = fuzzRuns(5000);

describe("parseJson", () => {
  it("R1: never throws, and agrees with JSON.parse", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const parsed = parseJson(text);
        if (parsed.fault === undefined) expect(parsed.value).toEqual(JSON.parse(text));
        else expect(() => JSON.parse(text)).toThrow(SyntaxError);
      }),
      { numRuns: RUNS },
    );
  });

  it("rejects what is nested deeper than the limit, in lists and objects, at any position", () => {
    const deep = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
    expect(parseJson(deep(MAX_JSON_DEPTH)).fault).toBeUndefined();
    expect(parseJson(deep(MAX_JSON_DEPTH + 1)).fault).toMatch(/nested deeper/);
    expect(parseJson(`[1,{"a":"${"x".repeat(5000)}","b":${deep(MAX_JSON_DEPTH)}}]`).fault).toMatch(/nested deeper/);
    expect(parseJson(`["${"[".repeat(5000)}"]`).fault).toBeUndefined();
    expect(parseJson(`[${Array.from({ length: 5000 }, () => "[]").join(",")}]`).fault).toBeUndefined();
    expect(parseJson(deep(1_000_000)).fault).toMatch(/nested deeper/);
  });
});

describe("reading fields", () => {
  const record = parseJson('{"s":"x","n":0,"b":false,"r":{},"a":[],"z":null,"__proto__":{"s":"own"}}')
    .value as JsonRecord;

  it("returns a value of the requested type only", () => {
    expect(["s", "n", "b", "r", "a", "z", "missing"].map((key) => ownString(record, key))).toEqual([
      "x",
      ...Array(6).fill(undefined),
    ]);
    expect(["n", "s"].map((key) => ownNumber(record, key))).toEqual([0, undefined]);
    expect(["b", "s"].map((key) => ownBoolean(record, key))).toEqual([false, undefined]);
    expect(["r", "a", "z", "s"].map((key) => ownRecord(record, key))).toEqual([{}, undefined, undefined, undefined]);
    expect(["a", "r"].map((key) => ownArray(record, key))).toEqual([[], undefined]);
    expect(["z", "missing"].map((key) => ownValue(record, key))).toEqual([null, undefined]);
  });

  it("SEC12: inherited properties are ignored", () => {
    for (const key of Object.getOwnPropertyNames(Object.prototype)) {
      const empty = parseJson("{}").value as JsonRecord;
      expect(
        [ownString, ownNumber, ownBoolean, ownRecord, ownArray, ownValue].map((readOwn) => readOwn(empty, key)),
      ).toEqual(Array(6).fill(undefined));
    }
  });

  it("SEC12: an own __proto__ is an ordinary field", () => {
    expect(ownRecord(record, "__proto__")).toEqual({ s: "own" });
    expect(ownString(parseJson('{"__proto__":{"s":"x"}}').value as JsonRecord, "s")).toBeUndefined();
  });

  it("isRecord distinguishes objects from lists and null", () => {
    expect([{}, [], null, "x", 1, undefined].map(isRecord)).toEqual([true, false, false, false, false, false]);
  });
});
