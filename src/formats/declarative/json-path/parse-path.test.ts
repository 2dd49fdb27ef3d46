import { describe, expect, it } from "vitest";
import { isStartError } from "#domain";
import { parsePath } from "./parse-path.ts";

function refusalOf(path: string): string {
  try {
    parsePath(path, "events[0].extract.text");
  } catch (thrown) {
    if (isStartError(thrown)) return thrown.message;
    throw thrown;
  }
  return "accepted";
}

function nameOf(path: string): unknown {
  return parsePath(path, "path")[0]?.selectors[0];
}

describe("what a path is parsed into", () => {
  it("segments with selectors", () => {
    expect(parsePath("$.a..b[0,-1,'c',*,1:2:3,:]", "path")).toEqual([
      { descends: false, selectors: [{ kind: "name", name: "a" }] },
      { descends: true, selectors: [{ kind: "name", name: "b" }] },
      {
        descends: false,
        selectors: [
          { kind: "index", index: 0 },
          { kind: "index", index: -1 },
          { kind: "name", name: "c" },
          { kind: "wildcard" },
          { kind: "slice", slice: { start: 1, end: 2, step: 3 } },
          { kind: "slice", slice: { start: undefined, end: undefined, step: 1 } },
        ],
      },
    ]);
  });

  it("filters, with paths of one node told from the others", () => {
    expect(parsePath("$[?!@.a || $..b && @[0] >= -1.5e1]", "path")[0]?.selectors[0]).toEqual({
      kind: "filter",
      test: {
        kind: "any",
        tests: [
          {
            kind: "not",
            test: { kind: "exists", path: { kind: "place", place: { origin: "child", steps: [{ name: "a" }] } } },
          },
          {
            kind: "all",
            tests: [
              {
                kind: "exists",
                path: {
                  kind: "many",
                  origin: "root",
                  segments: [{ descends: true, selectors: [{ kind: "name", name: "b" }] }],
                },
              },
              {
                kind: "compare",
                operator: ">=",
                left: { kind: "place", place: { origin: "child", steps: [{ index: 0 }] } },
                right: { kind: "literal", value: -15 },
              },
            ],
          },
        ],
      },
    });
  });

  it.each([
    ["$.abc", "abc"],
    ["$._1", "_1"],
    ["$.é", "é"],
    ["$.☺", "☺"],
    ["$.😀x", "😀x"],
    ["$['']", ""],
    ["$['a.b']", "a.b"],
    [`$["it's"]`, "it's"],
    [`$['it\\'s']`, "it's"],
    [`$['say "a"']`, 'say "a"'],
    ['$["\\""]', '"'],
    ["$['\\b\\f\\n\\r\\t\\/\\\\']", "\b\f\n\r\t/\\"],
    ["$['\\u263a\\u263A']", "☺☺"],
    ["$['\\u0000\\u001f']", "\u0000\u001f"],
    ["$['\\uD83D\\uDE00']", "😀"],
    ["$['\\ud7ff\\ue000']", "\ud7ff\ue000"],
    ["$['😀\u007f']", "😀\u007f"],
  ])("a name: %j", (path, name) => {
    expect(nameOf(path)).toEqual({ kind: "name", name });
  });
});

describe("blanks", () => {
  it.each([
    ["$ .a", "$.a"],
    ["$\n..a\t[0]", "$..a[0]"],
    ["$[ 'a' , 'b' ]", "$['a','b']"],
    ["$[\r\n0\t]", "$[0]"],
    ["$[ 1 : 2 : 3 ]", "$[1:2:3]"],
    ["$[ : ]", "$[:]"],
    ["$[1 :: ]", "$[1::]"],
    ["$[ ? @ .a ]", "$[?@.a]"],
    ["$[?@.a\n==\t1]", "$[?@.a==1]"],
    ["$[?! @.a]", "$[?!@.a]"],
    ["$[?! ( ! ( @.a ) )]", "$[?!(!(@.a))]"],
    ["$[?@.a && @.b || @ [0]]", "$[?@.a&&@.b||@[0]]"],
    ["$[?1 < @ ['a']]", "$[?1<@['a']]"],
  ])("%j is %s", (path, same) => {
    expect(parsePath(path, "path")).toEqual(parsePath(same, "path"));
  });

  it.each([
    " $",
    "$ ",
    "$.a ",
    "$. a",
    "$.. a",
    "$.a. b",
    "$[? @.a = = 1]",
    "$[?@.a & & @.b]",
    "$[?@. a]",
    "$[1 2]",
    "$[- 1]",
    "$\u00a0.a",
    "$['a'\u2003]",
    "$[?tr ue==1]",
  ])("not there: %j", (path) => {
    expect(refusalOf(path)).toContain("is not a JSONPath");
  });
});

describe("numbers", () => {
  it.each(["0", "-1", "9007199254740991", "-9007199254740991"])("index %s", (index) => {
    expect(refusalOf(`$[${index}]`)).toBe("accepted");
    expect(refusalOf(`$[${index}:${index}:${index}]`)).toBe("accepted");
  });

  it.each([
    ...["-0", "00", "01", "-01", "+1", "1.0", "1e1", "-", "--1", "0x1", "１", "9007199254740992", "-9007199254740992"],
    "9".repeat(400),
  ])("no index: %s", (index) => {
    for (const path of [`$[${index}]`, `$[${index}:]`, `$[:${index}]`, `$[::${index}]`, `$[?@[${index}]==1]`]) {
      expect(refusalOf(path)).toContain("is not a JSONPath");
    }
  });

  it.each(["0", "-0", "0.0", "-0.5", "1e5", "1E+5", "0e1", "12.50e-10", "9007199254740993"])(
    "a literal: %s",
    (number) => {
      expect(refusalOf(`$[?@==${number}]`)).toBe("accepted");
    },
  );

  it.each([
    "00",
    "-00",
    "-01",
    "01.5",
    ".5",
    "1.",
    "1.e1",
    "1e",
    "1e+",
    "+1",
    "--1",
    "1_000",
    "0x10",
    "NaN",
    "Infinity",
    "1 2",
  ])("no literal: %s", (number) => {
    expect(refusalOf(`$[?@==${number}]`)).toContain("is not a JSONPath");
  });
});

describe("refused", () => {
  it.each([
    ["", '"$" is missing at position 0'],
    ["a", '"$" is missing at position 0'],
    ["@.a", '"$" is missing'],
    ["$a", '"a" is not expected at position 1'],
    ["$.", "it ends too early at position 2"],
    ["$..", "it ends too early"],
    ["$...a", '"." is not expected at position 3'],
    ["$.1a", '"1" is not expected'],
    ["$.a-b", '"-" is not expected'],
    ["$.'a'", "is not expected"],
    ["$.a!", '"!" is not expected'],
    ["$.$", '"$" is not expected'],
    ["$.[0]", '"[" is not expected'],
    ["$.**", '"*" is not expected'],
    ["$$", '"$" is not expected'],
    ["$[", "it ends too early"],
    ["$[]", '"]" is not expected'],
    ["$[0", '"]" is missing'],
    ["$[0]]", '"]" is not expected'],
    ["$[0,]", '"]" is not expected'],
    ["$[,0]", '"," is not expected'],
    ["$[a]", '"a" is not expected'],
    ["$[01]", "a number starts with 0 at position 3"],
    ["$[-0]", '"-0" is no index'],
    ["$[9007199254740992]", "9007199254740992 is too large"],
    ["$[0:1:2:3]", '"]" is missing'],
    ["$[**]", '"]" is missing'],
    ["$['a", "a single quote is missing"],
    ['$["a', "a double quote is missing"],
    ["$['a\"]", "a single quote is missing"],
    ["$['a'b']", '"]" is missing'],
    ["$['\n']", '"\\n" is not escaped'],
    ["$['\u0000']", "is not escaped"],
    ["$['\\x']", 'the escape "\\\\x" is unknown'],
    ["$['\\\"']", "is unknown"],
    [`$["\\'"]`, "is unknown"],
    ["$['\\", "is unknown"],
    ["$['\\U0041']", "is unknown"],
    ["$['\\u']", "four hexadecimal digits"],
    ["$['\\u12']", "four hexadecimal digits"],
    ["$['\\u12g4']", "four hexadecimal digits"],
    ["$['\\u+123']", "four hexadecimal digits"],
    ["$['\\ud83d']", "half of a surrogate pair"],
    ["$['\\ude00']", "half of a surrogate pair"],
    ["$['\\ud83dx']", "half of a surrogate pair"],
    ["$['\\ud83d\\u0041']", "half of a surrogate pair"],
    ["$['\\ud83d\\n']", "four hexadecimal digits"],
    ["$['\\ude00\\ud83d']", "half of a surrogate pair"],
    ["$['\ud83d']", "half of a surrogate pair"],
    ["$['\ude00']", "half of a surrogate pair"],
    ["$.a\ud83d", "half of a surrogate pair"],
    ["$[?]", '"]" is not expected'],
    ["$[?@", '"]" is missing'],
    ["$[?@.a", '"]" is missing'],
    ["$[?(@.a]", '")" is missing'],
    ["$[?@.a)]", '"]" is missing'],
    ["$[?()]", '")" is not expected'],
    ["$[?!!@.a]", '"!" is not expected'],
    ["$[?@.a==]", '"]" is not expected'],
    ["$[?==1]", '"=" is not expected'],
    ["$[?@.a=1]", '"]" is missing'],
    ["$[?@.a===1]", '"=" is not expected'],
    ["$[?@.a<>1]", '">" is not expected'],
    ["$[?@.a<1<2]", '"]" is missing'],
    ["$[?!@.a==1]", '"]" is missing'],
    ["$[?(@.a)==1]", '"]" is missing'],
    ["$[?@.a==(1)]", '"(" is not expected'],
    ["$[?@.a==!1]", '"!" is not expected'],
    ["$[?@.a&&]", '"]" is not expected'],
    ["$[?@.a&@.b]", '"]" is missing'],
    ["$[?@.a|@.b]", '"]" is missing'],
    ["$[?@.a and @.b]", '"]" is missing'],
    ["$[?@.a in [1]]", '"]" is missing'],
    ["$[?@.a=~'b']", '"]" is missing'],
    ["$[?@.a==[1]]", '"[" is not expected'],
    ["$[?@.a=={}]", '"{" is not expected'],
    ["$[?true]", "a literal that is compared with nothing"],
    ["$[?'a']", "a literal that is compared with nothing"],
    ["$[?1 && @.a]", "a literal that is compared with nothing"],
    ["$[?!null]", "a literal that is compared with nothing"],
    ["$[?@.a==True]", '"T" is not expected'],
    ["$[?@.a==undefined]", '"undefined" stands for nothing'],
    ["$[?@.a==truely]", '"truely" stands for nothing'],
    ["$[?@.a==@.*]", "may find several values"],
    ["$[?@..a==1]", "may find several values"],
    ["$[?1==@[0,1]]", "may find several values"],
    ["$[?$[0:1]==1]", "may find several values"],
    ["$[?@[?@.a]==1]", "may find several values"],
    ["$[?length(@.a) > 1]", "the function length() is left out at position 3"],
    ["$[?count(@.*)==1]", "the function count() is left out"],
    ["$[?!match(@.a, '(a+)+b')]", "the function match() is left out"],
    ["$[?@.a==value(@.b)]", "the function value() is left out"],
    ["$[?x_1(@)]", "the function x_1() is left out"],
    ["$.a.length()", '"(" is not expected'],
    ["$[(@.length-1)]", '"(" is not expected'],
    ["$.__proto__", 'goes through "__proto__"'],
    ["$['\\u005f_proto__']", 'goes through "__proto__"'],
    ["$[0,'constructor']", 'goes through "constructor"'],
    ["$[?@.a[?$..prototype]]", 'goes through "prototype"'],
  ])("%j: %s", (path, reason) => {
    expect(refusalOf(path)).toContain(reason);
  });

  it("the message names the field, the value, the place and the remedy", () => {
    expect(refusalOf("$.a[?match(@.b, 'c')]")).toBe(
      `events[0].extract.text: "$.a[?match(@.b, 'c')]" is not a JSONPath: the function match() is left out at position 5. ` +
        "See RFC 9535; functions are left out.",
    );
  });
});
