import { describe, expect, it } from "vitest";
import { parsePath } from "./parse-path.ts";
import { selectValues } from "./select.ts";

function select(path: string, value: unknown): readonly unknown[] | undefined {
  return selectValues(parsePath(path, "path"), value);
}

/** The examples of RFC 9535, by its sections. */
const BOOKS = [
  { category: "reference", author: "Nigel Rees", title: "Sayings of the Century", price: 8.95 },
  { category: "fiction", author: "Evelyn Waugh", title: "Sword of Honour", price: 12.99 },
  { category: "fiction", author: "Herman Melville", title: "Moby Dick", isbn: "0-553-21311-3", price: 8.99 },
  {
    category: "fiction",
    author: "J. R. R. Tolkien",
    title: "The Lord of the Rings",
    isbn: "0-395-19395-8",
    price: 22.99,
  },
] as const;
const BICYCLE = { color: "red", price: 399 };
const SHOP = { store: { book: BOOKS, bicycle: BICYCLE } };
const AUTHORS = BOOKS.map((book) => book.author);

const QUOTES = { o: { "j j": { "k.k": 3 } }, "'": { "@": 2 } };
const PAIR = { o: { j: 1, k: 2 }, a: [5, 3] };
const LETTERS = ["a", "b", "c", "d", "e", "f", "g"];
const TREE = { o: { j: 1, k: 2 }, a: [5, 3, [{ j: 4 }, { k: 6 }]] };
const NULLS = { a: null, b: [null], c: [{}], null: 1 };
const MIXED = {
  a: [3, 5, 1, 2, 4, 6, { b: "j" }, { b: "k" }, { b: {} }, { b: "kilo" }],
  o: { p: 1, q: 2, r: 3, s: 5, t: { u: 6 } },
  e: "f",
};

describe("RFC 9535, AT-58", () => {
  it.each<[string, string, unknown, readonly unknown[]]>([
    ["1.5", "$.store.book[*].author", SHOP, AUTHORS],
    ["1.5", "$..author", SHOP, AUTHORS],
    ["1.5", "$.store.*", SHOP, [BOOKS, BICYCLE]],
    ["1.5", "$.store..price", SHOP, [8.95, 12.99, 8.99, 22.99, 399]],
    ["1.5", "$..book[2]", SHOP, [BOOKS[2]]],
    ["1.5", "$..book[2].author", SHOP, ["Herman Melville"]],
    ["1.5", "$..book[2].publisher", SHOP, []],
    ["1.5", "$..book[-1]", SHOP, [BOOKS[3]]],
    ["1.5", "$..book[0,1]", SHOP, [BOOKS[0], BOOKS[1]]],
    ["1.5", "$..book[:2]", SHOP, [BOOKS[0], BOOKS[1]]],
    ["1.5", "$..book[?@.isbn]", SHOP, [BOOKS[2], BOOKS[3]]],
    ["1.5", "$..book[?@.price<10]", SHOP, [BOOKS[0], BOOKS[2]]],
    ["2.2.3", "$", { k: "v" }, [{ k: "v" }]],
    ["2.3.1.3", "$.o['j j']", QUOTES, [{ "k.k": 3 }]],
    ["2.3.1.3", "$.o['j j']['k.k']", QUOTES, [3]],
    ["2.3.1.3", '$.o["j j"]["k.k"]', QUOTES, [3]],
    ["2.3.1.3", `$["'"]["@"]`, QUOTES, [2]],
    ["2.3.2.3", "$[*]", PAIR, [PAIR.o, PAIR.a]],
    ["2.3.2.3", "$.o[*]", PAIR, [1, 2]],
    ["2.3.2.3", "$.o[*, *]", PAIR, [1, 2, 1, 2]],
    ["2.3.2.3", "$.a[*]", PAIR, [5, 3]],
    ["2.3.3.3", "$[1]", ["a", "b"], ["b"]],
    ["2.3.3.3", "$[-2]", ["a", "b"], ["a"]],
    ["2.3.4.3", "$[1:3]", LETTERS, ["b", "c"]],
    ["2.3.4.3", "$[5:]", LETTERS, ["f", "g"]],
    ["2.3.4.3", "$[1:5:2]", LETTERS, ["b", "d"]],
    ["2.3.4.3", "$[5:1:-2]", LETTERS, ["f", "d"]],
    ["2.3.4.3", "$[::-1]", LETTERS, ["g", "f", "e", "d", "c", "b", "a"]],
    ["2.3.5.3", "$.a[?@.b == 'kilo']", MIXED, [{ b: "kilo" }]],
    ["2.3.5.3", "$.a[?(@.b == 'kilo')]", MIXED, [{ b: "kilo" }]],
    ["2.3.5.3", "$.a[?@>3.5]", MIXED, [5, 4, 6]],
    ["2.3.5.3", "$.a[?@.b]", MIXED, MIXED.a.slice(6)],
    ["2.3.5.3", "$[?@.*]", MIXED, [MIXED.a, MIXED.o]],
    ["2.3.5.3", "$[?@[?@.b]]", MIXED, [MIXED.a]],
    ["2.3.5.3", "$.o[?@<3, ?@<3]", MIXED, [1, 2, 1, 2]],
    ["2.3.5.3", '$.a[?@<2 || @.b == "k"]', MIXED, [1, { b: "k" }]],
    ["2.3.5.3", "$.o[?@>1 && @<4]", MIXED, [2, 3]],
    ["2.3.5.3", "$.o[?@.u || @.x]", MIXED, [{ u: 6 }]],
    ["2.3.5.3", "$.a[?@.b == $.x]", MIXED, [3, 5, 1, 2, 4, 6]],
    ["2.3.5.3", "$.a[?@ == @]", MIXED, MIXED.a],
    ["2.5.1.3", "$[0, 3]", LETTERS, ["a", "d"]],
    ["2.5.1.3", "$[0:2, 5]", LETTERS, ["a", "b", "f"]],
    ["2.5.1.3", "$[0, 0]", LETTERS, ["a", "a"]],
    ["2.5.2.3", "$..j", TREE, [1, 4]],
    ["2.5.2.3", "$..[0]", TREE, [5, { j: 4 }]],
    ["2.5.2.3", "$..*", TREE, [TREE.o, TREE.a, 1, 2, 5, 3, [{ j: 4 }, { k: 6 }], { j: 4 }, { k: 6 }, 4, 6]],
    ["2.5.2.3", "$..o", TREE, [TREE.o]],
    ["2.5.2.3", "$.o..[*, *]", TREE, [1, 2, 1, 2]],
    ["2.5.2.3", "$.a..[0, 1]", TREE, [5, 3, { j: 4 }, { k: 6 }]],
    ["2.6.1", "$.a", NULLS, [null]],
    ["2.6.1", "$.a[0]", NULLS, []],
    ["2.6.1", "$.a.d", NULLS, []],
    ["2.6.1", "$.b[0]", NULLS, [null]],
    ["2.6.1", "$.b[*]", NULLS, [null]],
    ["2.6.1", "$.b[?@]", NULLS, [null]],
    ["2.6.1", "$.b[?@==null]", NULLS, [null]],
    ["2.6.1", "$.c[?@.d==null]", NULLS, []],
    ["2.6.1", "$.null", NULLS, [1]],
  ])("%s: %s", (_, path, value, expected) => {
    expect(select(path, value)).toEqual(expected);
  });
});

describe("what the RFC's examples leave out", () => {
  it.each<[string, string, unknown, readonly unknown[]]>([
    ["a step of 0 selects nothing", "$[::0]", LETTERS, []],
    ["bounds far outside", "$[-99:99:3]", LETTERS, ["a", "d", "g"]],
    ["bounds far outside, downwards", "$[99:-99:-3]", LETTERS, ["g", "d", "a"]],
    ["the largest bounds and step", "$[-9007199254740991:9007199254740991:9007199254740991]", LETTERS, ["a"]],
    ["the smallest step", "$[::-9007199254740991]", LETTERS, ["g"]],
    ["a slice that goes nowhere", "$[3:1]", LETTERS, []],
    ["a slice of an empty list, downwards", "$[::-1]", [], []],
    ["a slice of an object", "$[:]", { 0: "a" }, []],
    ["a name of a list", "$['0']", ["a"], []],
    ["an index of an object", "$[0]", { 0: "a" }, []],
    ["anything of a text", "$[*,0,:,?@,'length']", "text", []],
    ["a filter on an object keeps the order of its fields", "$[?@>1]", { b: 3, a: 2, c: 1 }, [3, 2]],
    ["$ in a filter inside a filter is still the whole value", "$.a[?@[?@ == $.k]]", { a: [[1], [2]], k: 2 }, [[2]]],
    ["a path from $ inside a filter", "$.a[?$.on]", { a: [1], on: false }, [1]],
    ["many nodes from $ inside a filter", "$.a[?!$..off]", { a: [1], on: false }, [1]],
    [
      "an existence test is about nodes, not truth",
      "$[?@.a]",
      [{ a: null }, { a: false }, {}],
      [{ a: null }, { a: false }],
    ],
    ["not, and, or: and binds closer", "$[?@==1 || @==2 && @==3 || !(@<4)]", [1, 2, 3, 4], [1, 4]],
    ["several ..", "$..a..b", { a: { x: { b: 1 }, a: { b: 2 } } }, [1, 2, 2]],
    ["a descent with several selectors goes parent by parent", "$..['a','b']", { b: { a: 1 }, a: 2 }, [2, { a: 1 }, 1]],
  ])("%s: %s", (_, path, value, expected) => {
    expect(select(path, value)).toEqual(expected);
  });

  it("SEC12: fields the prototype has are not found, and __proto__ in a frame is an ordinary field", () => {
    const value: unknown = JSON.parse('{"__proto__":{"polluted":1},"a":{"constructor":2}}');
    expect(select("$.toString", value)).toEqual([]);
    expect(select("$..hasOwnProperty", value)).toEqual([]);
    expect(select("$[?@.valueOf]", value)).toEqual([]);
    expect(JSON.stringify(select("$..*", value))).toBe('[{"polluted":1},{"constructor":2},1,2]');
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe("bounds", () => {
  function nest(levels: number, innermost: unknown): unknown {
    let value = innermost;
    for (let level = 0; level < levels; level += 1) value = [value];
    return value;
  }

  it(".. looks 64 levels deep and finds what is there, though there is more below", () => {
    expect(select("$..a", nest(63, { a: 1 }))).toEqual([1]);
    expect(select("$..a", nest(64, { a: 1 }))).toEqual([]);
    expect(select("$..a", { a: 1, deep: nest(10_000, { a: 2 }) })).toEqual([1]);
  });

  it("each .. looks 64 levels below the node it starts from", () => {
    expect(select("$..a..b", nest(63, { a: nest(63, { b: 1 }) }))).toEqual([1]);
  });

  it("values that are nested 10,000 levels are compared", () => {
    expect(select("$[?@.a == @.b]", [{ a: nest(10_000, 1), b: nest(10_000, 1) }])?.length).toBe(1);
    expect(select("$[?@.a == @.b]", [{ a: nest(10_000, 1), b: nest(10_000, 2) }])?.length).toBe(0);
  });

  it("a value that holds itself ends", () => {
    const value: Record<string, unknown> = { a: 1 };
    value.self = value;
    expect(select("$..a", value)).toEqual(Array(64).fill(1));
  });

  const TRIPLES = Array.from({ length: 9 }).reduce<unknown>((value) => [value, value, value], 1);
  const LISTS = Array.from({ length: 30 }, (_, index) => [...Array<number>(20_000).fill(0), index]);
  const TEXTS = Array.from({ length: 1000 }, (_, index) => "x".repeat(10_000) + String(index));
  it.each<[string, string, unknown]>([
    ["selectors that double", `$${"[*,*]".repeat(80)}`, nest(100, 1)],
    [".. upon ..", `$${"..*".repeat(100)}`, TRIPLES],
    [".. upon .. in a chain", `$${"..*".repeat(100)}`, nest(500, 1)],
    ["a filter in a filter in a filter", "$[?$[?$[?@ == 'y']]]", TEXTS],
    ["long texts compared all with all", "$[?$[?@ < $[0]]]", TEXTS],
    ["lists compared all with all", "$[?$[?@ == $[0] && !@]]", Array.from({ length: 300 }, () => Array(300).fill(0))],
    ["lists that differ at the end only", "$[?$[?@ == $[0]]]", LISTS],
    ["objects compared all with all", "$[?$[?@ == $[0] && !@]]", Array.from({ length: 2000 }, () => ({ a: { b: 1 } }))],
    ["many names at every level", `$..[${"'a',".repeat(100)}'b']`, Array(30_000).fill([])],
  ])("%s: finds nothing once it costs too much", (_, path, value) => {
    expect(select(path, value)).toBeUndefined();
  });

  it("a path as deep as its text allows overflows nothing", () => {
    expect(select(`$${"[?@".repeat(127)}${"]".repeat(127)}`, nest(200, 1))?.length).toBe(1);
    expect(select(`$[?${"(".repeat(250)}@${")".repeat(250)}]`, [1])).toEqual([1]);
    expect(select(`$[?${"!(".repeat(160)}@${")".repeat(160)}]`, [1])).toEqual([1]);
  });
});
