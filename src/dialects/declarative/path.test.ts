import { isStartError } from "#domain";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../../test/effort.ts";
import { compilePath } from "./path.ts";

const RUNS = fuzzRuns(5000);

function read(path: string, value: unknown): unknown {
  return compilePath(path).read(value);
}

function refusalOf(path: string): string {
  try {
    compilePath(path, "events[0].extract.text");
  } catch (thrown) {
    if (isStartError(thrown)) return `${thrown.code} ${thrown.message}`;
    throw thrown;
  }
  return "accepted";
}

const FRAME = {
  type: "message",
  a: { b: { c: 1 } },
  items: [{ name: "x", tags: ["t1", "t2"] }, { name: "y", tags: [] }, { tags: ["t3"] }, null, "text"],
  matrix: [[1, 2], [3], []],
  nothing: null,
  empty: "",
  zero: 0,
  no: false,
  none: [],
  blanks: [{}, {}],
  "dash-ed": { $ref: "r", "@type": "t", "it's": 8 },
  "with.dot": { "a b": 7 },
};

describe("short paths, AT-58", () => {
  it.each([
    ["S4-13: a field", "type", "message"],
    ["S4-13: fields of fields", "a.b.c", 1],
    ["S4-13: an object in between", "a.b", { c: 1 }],
    ["a name with a dash", "dash-ed.$ref", "r"],
    ["a name with an at sign", "dash-ed.@type", "t"],
    ["S4-14: the first item", "items[0].name", "x"],
    ["S4-14: an item of an item", "matrix[0][1]", 2],
    ["S4-14: an index out of range", "items[99].name", undefined],
    ["S4-14: an index into what is no list", "a[0]", undefined],
    ["S4-15: one field of all items, items without it left out", "items[].name", ["x", "y"]],
    ["S4-15: all items", "matrix[]", [[1, 2], [3], []]],
    ["S4-15: nested lists are one list", "items[].tags[]", ["t1", "t2", "t3"]],
    ["S4-15: two brackets flatten twice", "matrix[][]", [1, 2, 3]],
    ["S4-15: an index behind brackets", "matrix[][0]", [1, 3]],
    ["S4-15: an empty list is an empty list", "none[]", []],
    ["S4-15: a field of no items is an empty list", "none[].name", []],
    ["S4-15: items of which none has the field", "blanks[].name", undefined],
    ["S4-15: brackets behind what is no list", "a[].b", undefined],
    ["S4-15: brackets behind null", "nothing[]", undefined],
    ["S4-15: null items are collected as they are", "items[3]", null],
    ["null is a value", "nothing", null],
    ["a field of null", "nothing.x", undefined],
    ["an empty text", "empty", ""],
    ["zero", "zero", 0],
    ["false", "no", false],
    ["a missing field", "missing", undefined],
    ["a field of a missing field", "missing.a.b", undefined],
    ["a text is no list", "type[0]", undefined],
    ["a text has no length", "type.length", undefined],
    ["a list has no length", "items.length", undefined],
    ["a list has no field of that number", "items.0", undefined],
    ["a number has no fields", "zero.toFixed", undefined],
    ["an inherited name", "toString", undefined],
    ["an inherited name of a list", "items.map", undefined],
  ])("%s: %s", (_, path, expected) => {
    expect(read(path, FRAME)).toEqual(expected);
  });

  it.each([undefined, null, 7, "text", true, []])("finds nothing in %j", (value) => {
    expect(read("a.b", value)).toBeUndefined();
    expect(read("a[].b", value)).toBeUndefined();
  });

  it("a path may start with brackets when the frame is a list", () => {
    expect(read("[1].a", [{ a: 1 }, { a: 2 }])).toBe(2);
    expect(read("[].a", [{ a: 1 }, { a: 2 }])).toEqual([1, 2]);
  });

  it("SEC12: own properties only, even when the stream sends __proto__", () => {
    const value: unknown = JSON.parse('{"__proto__":{"polluted":"yes"},"constructor":{"name":"mine"}}');
    expect(read("polluted", value)).toBeUndefined();
    expect(refusalOf("constructor.name")).toContain("invalid-format");
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe("paths from the root, negative indices and names in quotes, AT-58", () => {
  it.each([
    ["the whole frame's field", "$.type", "message"],
    ["an item", "$.items[0].name", "x"],
    ["the last item", "items[-1]", "text"],
    ["the last item, from the root", "$.items[-1]", "text"],
    ["out of range from the end", "items[-9]", undefined],
    ["a name with a dot and a blank", "$['with.dot']['a b']", 7],
    ["the same, without the root", "['with.dot'][\"a b\"]", 7],
    ["a name with the other quotes", `['dash-ed']["it's"]`, 8],
    ["a name in quotes in the middle", "a['b'].c", 1],
    ["all items, from the root", "$.items[].name", ["x", "y"]],
    ["null is a value", "$.nothing", null],
    ["an inherited name", "$.toString", undefined],
    ["an inherited name in quotes", "$['toString']", undefined],
    ["an index into a text", "$.type[0]", undefined],
  ])("%s: %s", (_, path, expected) => {
    expect(read(path, FRAME)).toEqual(expected);
  });

  it("$ alone is the frame", () => {
    expect(read("$", FRAME)).toBe(FRAME);
    expect(read("$", 7)).toBe(7);
  });

  it("a list of 300,000 items is read without overflowing the stack", () => {
    const items = Array.from({ length: 300_000 }, (_, index) => ({ index }));
    expect((read("items[].index", { items }) as unknown[]).length).toBe(300_000);
  });
});

describe("rejected paths", () => {
  it.each([
    ["", "empty name"],
    [".", "empty name"],
    ["a.", "ends in a dot"],
    [".a", "empty name"],
    ["a..b", "empty name at position 2"],
    ["a b", "in a name"],
    ["a\u0000", "in a name"],
    ["a]", "in a name"],
    ["a'b", "in a name"],
    ["a[", "never closed"],
    ["a[0", "never closed"],
    ["a[x]", "between brackets"],
    ["a['b'", "never closed"],
    ["a['b\"]", "never closed"],
    ["a['b','c']", "between brackets"],
    ["a[-0]", "between brackets"],
    ["a[01]", "between brackets"],
    ["a[1e9]", "between brackets"],
    ["a[9999999999]", "between brackets"],
    ["a[0]b", "unexpected"],
    ["a[0]]", "unexpected"],
    ["[0]", "accepted"],
    ["__proto__", "__proto__"],
    ["a.__proto__.b", "__proto__"],
    ["a[].constructor", "constructor"],
    ["prototype", "prototype"],
    ["$.", "ends in a dot"],
    ["$[", "never closed"],
    ["$.a b", "Write such a name as ['name']"],
    ["$.__proto__", "__proto__"],
    ["$['constructor']", "constructor"],
    ["$..b", "empty name at position 2"],
    ["$.items[*].name", "Write [] for every item"],
    ["$.items.*", "Write items[] for every item"],
    ["$.items[0:2]", "slices"],
    ["$.items[?@.name == 'y']", "filters"],
    ["$['type','zero']", "lists of names"],
    ["$[?match(@.a, '(a+)+b')]", "filters"],
    ["a".repeat(513), "513 characters"],
    [`$${"[0]".repeat(200)}`, "601 characters"],
  ])("%j: %s", (path, reason) => {
    expect(refusalOf(path)).toContain(reason);
  });

  it("the message names the field, the value and the remedy", () => {
    expect(refusalOf("a..b")).toBe(
      'invalid-format events[0].extract.text: "a..b" has an empty name at position 2. ' +
        "Write a.b.c, items[0], items[].name or ['name with blanks'].",
    );
    expect(refusalOf("$.items[?@.ok].name")).toBe(
      'invalid-format events[0].extract.text: "$.items[?@.ok].name" has "?@.ok" between brackets. ' +
        "Write a number, a name in quotes, or nothing for every item; filters, slices and lists of names are not supported.",
    );
  });
});

describe("any path", () => {
  const pathText = fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.stringMatching(/^[a-c.[\]0-9*'"$@?=&|!(),:~ -]{0,40}$/),
    fc.stringMatching(/^\$[a-c.[\]0-9*'"$@?=&|!(),: -]{0,40}$/),
    fc
      .array(fc.constantFrom("a", "b", ".", "[", "]", "[]", "[0]", "[-1]", "$", "..", "[*]", "['a']", "__proto__"))
      .map((parts) => parts.join("")),
  );

  it("R1: is compiled, or rejected with a StartError, and reads any value without throwing", () => {
    fc.assert(
      fc.property(pathText, fc.jsonValue({ maxDepth: 4 }), (source, value) => {
        let path: ReturnType<typeof compilePath>;
        try {
          path = compilePath(source);
        } catch (thrown) {
          expect(isStartError(thrown)).toBe(true);
          return;
        }
        path.read(value);
        path.read({ a: value, b: [value] });
      }),
      { numRuns: RUNS },
    );
  });

  it("a path finds the same from the root", () => {
    const step = fc.oneof(fc.constantFrom(".a", ".b", ".c"), fc.constantFrom("[0]", "[1]"));
    const node = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.integer(),
        fc.array(tie("node"), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom("a", "b", "c"), tie("node")),
      ),
    })).node;
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 4 }), node, (steps, value) => {
        const path = steps.join("");
        const short = path.startsWith(".") ? path.slice(1) : path;
        expect(read(short, value)).toEqual(read(`$${path}`, value));
      }),
      { numRuns: RUNS },
    );
  });
});
