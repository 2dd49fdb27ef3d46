import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "#testing";
import { toJsonPrefix, toJsonValue } from "./json-value.ts";
import { toOutcome } from "./outcome.ts";
import { runTool } from "./run-tool.ts";
import { tool } from "./tool.ts";

class Point {
  readonly x = 1;
  readonly label = () => "p";
}
class Secretive {
  readonly #hidden = 1;
  read() {
    return this.#hidden;
  }
}
class Money {
  toJSON() {
    return { cents: 5n };
  }
}

const bytes = { type: "bytes", length: 3, base64: "AQID" };

describe("F-D4: a value that a tool returns keeps its meaning", () => {
  it.each<[string, unknown, unknown]>([
    ["a map with texts as keys", new Map([["a", new Map([["b", 1]])]]), { a: { b: 1 } }],
    ["a map with other keys", new Map([[1, "x"]]), [[1, "x"]]],
    ["a set", new Set([1, new Set([2])]), [1, [2]]],
    ["NaN and both infinities", [NaN, Infinity, -Infinity], ["NaN", "Infinity", "-Infinity"]],
    ["a big integer", { n: 12345678901234567890n }, { n: "12345678901234567890" }],
    ["a date", { at: new Date(0) }, { at: "1970-01-01T00:00:00.000Z" }],
    ["a date that is none", [new Date(Number.NaN)], ["Invalid Date"]],
    ["an error inside", { why: new TypeError("no") }, { why: { name: "TypeError", message: "no" } }],
    ["nothing in a list", [undefined, null], ["undefined", null]],
    ["nothing in a field", { a: undefined, b: 1 }, { b: 1 }],
    ["a function inside", { f: function go() {} }, { f: "[function go]" }],
    ["a symbol inside", { s: Symbol("s") }, { s: "Symbol(s)" }],
    ["a buffer", Buffer.from([1, 2, 3]), bytes],
    ["bytes", { data: new Uint8Array([1, 2, 3]) }, { data: bytes }],
    ["an array buffer", new Uint8Array([1, 2, 3]).buffer, bytes],
    ["other numbers in a row", new Float64Array([1.5, Number.NaN]), [1.5, "NaN"]],
    ["a regular expression", { re: /a+/u }, { re: "/a+/u" }],
    ["an address", { url: new URL("http://a.test/b") }, { url: "http://a.test/b" }],
    ["an instance with fields", new Point(), { x: 1, label: "[function label]" }],
    ["an instance with a JSON form of its own", [new Money()], [{ cents: "5" }]],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ["an empty object", {}, {}],
    ["a field called __proto__", JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":1}}')],
  ])("%s", (_, value, expected) => {
    expect(toJsonValue(value)).toEqual(expected);
    expect(toOutcome(value)).toEqual({ kind: "returned", output: expected });
    expect(JSON.parse(JSON.stringify(toJsonValue(value)))).toEqual(expected);
  });

  it.each<[string, () => unknown, string]>([
    ["a promise nobody waited for", () => ({ page: Promise.resolve(1) }), '"page" is a promise (await it first)'],
    ["an instance without fields", () => [new Secretive()], '"[0]" is a Secretive, which shows no fields'],
    ["a weak map", () => new WeakMap(), "it is a WeakMap, which shows no fields"],
    [
      "a cycle through a map",
      () => {
        const map = new Map<string, unknown>();
        return map.set("me", map);
      },
      '"me" refers back to what holds it',
    ],
  ])("%s is a failure with a sentence", (_, make, sentence) => {
    expect(toOutcome(make())).toMatchObject({
      kind: "failed",
      why: "unprintable",
      output: expect.stringContaining(sentence),
    });
  });

  it("the same value in two places is not a cycle, and a value that is too deep is a failure", () => {
    const shared = { a: 1 };
    expect(toJsonValue([shared, shared])).toEqual([shared, shared]);
    let deep: unknown = 1;
    for (let at = 0; at < 100_000; at += 1) deep = [deep];
    expect(toOutcome(deep)).toMatchObject({ kind: "failed", why: "unprintable" });
  });

  it("F-B1: no more of a cut value is read than is kept, which is the beginning of its JSON", () => {
    let read = 0;
    const rows = {
      *[Symbol.iterator]() {
        for (; read < 1_000_000; read += 1) yield { at: read, name: `row "${read}"`, list: [true, null, 1.5] };
      },
    };
    const endless = Object.assign(new Set(), { [Symbol.iterator]: rows[Symbol.iterator] });
    const { kind, output } = toOutcome(endless, 10_000);
    expect(kind).toBe("returned");
    expect(read).toBeLessThan(1000);
    read = 0;
    const whole = JSON.stringify(
      Array.from({ length: 1000 }, (_, at) => at).map((at) => ({ at, name: `row "${at}"`, list: [true, null, 1.5] })),
    );
    expect(output).toBe(`${whole.slice(0, 10_000)}\n[cut: the rest of the value is left out]`);
  });

  it("F-B1: the beginning of any value is the beginning of its JSON", () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    fc.assert(
      fc.property(fc.array(value, { maxLength: 8 }), fc.nat({ max: 200 }), (list, most) => {
        const whole = JSON.stringify(toJsonValue(list));
        const { value: kept, isWhole } = toJsonPrefix(list, most);
        expect(JSON.stringify(kept).slice(0, most)).toBe(whole.slice(0, most));
        if (whole.length <= most) expect({ kept, isWhole }).toEqual({ kept: toJsonValue(list), isWhole: true });
      }),
    );
    const bytes = Uint8Array.from({ length: 1000 }, (_, at) => at % 251);
    const whole = JSON.stringify(toJsonValue(bytes));
    for (const most of [0, 1, 50, 99, 500, 1400]) {
      expect(JSON.stringify(toJsonPrefix(bytes, most).value).slice(0, most)).toBe(whole.slice(0, most));
    }
  });

  it("a returned error is a failure, as if it were thrown; a progress state has a JSON form, too", async () => {
    const states: unknown[] = [];
    const made = tool("look", "Looks", {}, (_, { progress }) => {
      progress(new Map([["done", Number.NaN]]));
      return new Error("nothing there");
    });
    const outcome = await runTool(
      made,
      {},
      {
        callId: "c1",
        runId: "r1",
        agent: undefined,
        context: undefined,
        signal: new AbortController().signal,
        clock: createVirtualClock(),
        onProgress: (state) => states.push(state),
      },
    );
    expect(outcome).toEqual({ kind: "failed", why: "thrown", output: 'The tool "look" failed: nothing there' });
    expect(states).toEqual([{ done: "NaN" }]);
  });
});
