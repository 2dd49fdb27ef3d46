import { isStartError } from "#domain";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../../test/effort.ts";
import { parseFormatConfig } from "./parse-config.ts";

// One config contains a hundred paths, so fewer configs take as long.
const RUNS = Math.ceil(fuzzRuns(5000) / 5);

const EVENT = { kind: "message", match: { type: "text" }, extract: { text: "text" } };
const VALID = { name: "my-agent", framing: "ndjson", events: [EVENT] };

function refusalOf(value: unknown): string {
  try {
    parseFormatConfig(value);
  } catch (thrown) {
    if (isStartError(thrown) && thrown.code === "invalid-format") return thrown.message;
    throw thrown;
  }
  return "accepted";
}

function withEvent(event: Record<string, unknown>): unknown {
  return { ...VALID, events: [EVENT, event] };
}

describe("a config", () => {
  it("S4-12: is returned typed, complete and unchanged", () => {
    const config = {
      name: "my-agent",
      framing: "sse",
      description: "Mine",
      version: "2",
      events: [
        {
          kind: "message",
          extract: { text: ["delta.text", "$.text"], role: "role" },
          templates: { text: "@evt.text", ansi: "%red%@evt.text", json: '{"t":@evt.text}' },
          visibility: "always",
          match: { type: ["text", 1, true, null], "@frame.event": "delta" },
        },
        { kind: "error", extract: {}, terminal: true, match: { "content[].type": "error" } },
      ],
      defaultSchema: { kind: "metadata", extract: { id: "id" }, visibility: "hidden" },
      end: { match: { type: "done" }, extract: { status: "status" } },
    };
    expect(parseFormatConfig(config)).toEqual(config);
    expect(parseFormatConfig(JSON.stringify(config))).toEqual(config);
    expect(parseFormatConfig(parseFormatConfig(config))).toEqual(config);
  });

  it("S4-12: the older spellings are accepted: format, schemas, matchPath and matchValue", () => {
    const config = parseFormatConfig({
      name: "x",
      format: "ndjson",
      schemas: [{ kind: "thinking", matchPath: "event.type", matchValue: "thinking", extract: { text: "t" } }],
    });
    expect(config.framing).toBe("ndjson");
    expect(config.events).toEqual([{ kind: "thinking", match: { "event.type": "thinking" }, extract: { text: "t" } }]);
  });

  it("extract is optional; so are the events of a text format, or next to a defaultSchema", () => {
    expect(parseFormatConfig({ name: "t", framing: "text" }).events).toEqual([]);
    expect(refusalOf({ name: "t", framing: "ndjson", defaultSchema: { kind: "message" } })).toBe("accepted");
    expect(refusalOf(withEvent({ kind: "metadata", match: { a: 1 } }))).toBe("accepted");
  });

  it("the limits themselves are allowed", () => {
    const fields = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`f${index}`, "a".repeat(512)]));
    const events = Array.from({ length: 200 }, () => ({
      ...EVENT,
      extract: fields,
      templates: { text: "x".repeat(8192) },
    }));
    expect(refusalOf({ ...VALID, name: "n".repeat(64), events })).toBe("accepted");
  });
});

describe("a hostile or mistaken config is rejected with field, value and remedy", () => {
  it.each<[string, unknown, string]>([
    ["nothing", undefined, "config: nothing is not an object"],
    ["null", null, "config: null is not an object"],
    ["a number", 7, "config: 7 is not an object"],
    ["a list", [VALID], "config: a list of 1 is not an object"],
    ["a function", () => VALID, "config: a function is not an object"],
    ["text that is not JSON", "{name:", 'config: "{name:" is not JSON'],
    ["empty text", "", 'config: "" is not JSON'],
    ["JSON text of a list", "[]", "config: a list of 0 is not an object"],
    ["text over 256 KB", `"${"x".repeat(262_144)}"`, "at most 262144 bytes"],
    ["text over 256 KB only in bytes", `"${"é".repeat(131_072)}"`, "at most 262144 bytes"],
    ["no name", { framing: "ndjson", events: [] }, "name: nothing is not a string"],
    ["an empty name", { ...VALID, name: "" }, 'name: "" is not a string'],
    ["a name with a blank", { ...VALID, name: "my agent" }, 'name: "my agent" is not a name'],
    ["a name with a newline", { ...VALID, name: "agent\n" }, "is not a name"],
    ["a name with an escape", { ...VALID, name: "a\u001b[31m" }, 'name: "a\\u001b[31m" is not a name'],
    ["a long name", { ...VALID, name: "x".repeat(65) }, "is 65 characters long"],
    ["a name that is an object", { ...VALID, name: { toString: () => "x" } }, "name: an object is not a string"],
    [
      "AT-56: an unknown framing",
      { ...VALID, framing: "custom" },
      'framing: "custom" is not allowed. Use one of: ndjson, sse, text.',
    ],
    [
      "AT-56: an unknown format",
      { name: "x", format: "ndjsn", schemas: [] },
      'format: "ndjsn" is not allowed. Use one of: ndjson, sse, text. Did you mean "ndjson"?',
    ],
    ["no framing", { name: "x", events: [] }, "framing: nothing is not allowed"],
    ["both framing and format", { ...VALID, format: "sse" }, 'has both "framing" and "format"'],
    ["both events and schemas", { ...VALID, schemas: [] }, 'has both "events" and "schemas"'],
    ["no events", { name: "x", framing: "sse" }, "events: nothing is not a list"],
    ["events that are no list", { ...VALID, events: EVENT }, "events: an object is not a list"],
    ["events like a list", { ...VALID, events: { length: 1, 0: EVENT } }, "events: an object is not a list"],
    [
      "201 events",
      { ...VALID, events: Array.from({ length: 201 }, () => EVENT) },
      "events: a list of 201 is too long. At most 200",
    ],
    ["an unknown key", { ...VALID, evnts: [] }, 'config.evnts: "evnts" is not a known key. Did you mean events?'],
    ["an unknown key far from all", { ...VALID, zzzzzzzz: 1 }, "Known: name, framing, format"],
    [
      "__proto__ as a key",
      '{"name":"x","framing":"ndjson","events":[],"__proto__":{"polluted":1}}',
      'config.__proto__: "__proto__" is not a known key',
    ],
    ["an event that is null", { ...VALID, events: [null] }, "events[0]: null is not an object"],
    [
      "an unknown key of an event",
      withEvent({ ...EVENT, visibilty: "always" }),
      'events[1].visibilty: "visibilty" is not a known key. Did you mean visibility?',
    ],
    ["no kind", withEvent({ match: { a: 1 } }), "events[1].kind: nothing is not allowed"],
    [
      "a kind of one's own",
      withEvent({ ...EVENT, kind: "banner" }),
      'events[1].kind: "banner" is not allowed. Use one of: message, thinking',
    ],
    ["S4-24: a kind with an underscore", withEvent({ ...EVENT, kind: "tool_use" }), 'Did you mean "tool-use"?'],
    ["an inherited kind", withEvent({ ...EVENT, kind: "constructor" }), "events[1].kind"],
    ["no match", withEvent({ kind: "message" }), "events[1].match: nothing is given"],
    [
      "an empty match",
      withEvent({ kind: "message", match: {} }),
      "events[1].match: an object without a path matches everything. Use defaultSchema",
    ],
    ["match and matchPath", withEvent({ ...EVENT, matchPath: "a", matchValue: 1 }), 'has both "match" and "matchPath"'],
    ["matchPath alone", withEvent({ kind: "message", matchPath: "a" }), "events[1].matchValue: nothing is given"],
    ["matchValue alone", withEvent({ kind: "message", matchValue: "a" }), "events[1].matchValue"],
    ["matchValue beside match", withEvent({ ...EVENT, matchValue: "a" }), "is set without matchPath"],
    [
      "a match that is a text",
      withEvent({ kind: "message", match: "text" }),
      'events[1].match: "text" is not an object',
    ],
    [
      "an object to be matched",
      withEvent({ kind: "message", match: { a: {} } }),
      "events[1].match.a: an object cannot be compared",
    ],
    [
      "a function to be matched",
      withEvent({ kind: "message", match: { a: () => true } }),
      "events[1].match.a: a function cannot be compared",
    ],
    [
      "NaN to be matched",
      withEvent({ kind: "message", match: { a: Number.NaN } }),
      "events[1].match.a: NaN cannot be compared",
    ],
    ["any of none", withEvent({ kind: "message", match: { a: [] } }), "events[1].match.a: a list of 0 is empty"],
    [
      "a list in a list",
      withEvent({ kind: "message", match: { a: [[1]] } }),
      "events[1].match.a[0]: a list of 1 cannot be compared",
    ],
    [
      "a bad path to match",
      withEvent({ kind: "message", match: { "a..b": 1 } }),
      'events[1].match.a..b: "a..b" has an empty name',
    ],
    [
      "a reserved path to match",
      withEvent({ kind: "message", match: { "a.prototype": 1 } }),
      "events[1].match.a.prototype",
    ],
    [
      "51 conditions",
      withEvent({ kind: "message", match: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`p${n}`, 1])) }),
      "has 51 fields. At most 50",
    ],
    ["extract that is a text", withEvent({ ...EVENT, extract: "text" }), 'events[1].extract: "text" is not an object'],
    [
      "a path that is a number",
      withEvent({ ...EVENT, extract: { text: 7 } }),
      "events[1].extract.text: 7 is not a string",
    ],
    ["an empty path", withEvent({ ...EVENT, extract: { text: "" } }), 'events[1].extract.text: "" is not a string'],
    ["a bad path", withEvent({ ...EVENT, extract: { text: "a[" } }), 'events[1].extract.text: "a[" has a "["'],
    [
      "a bad path in a fallback list",
      withEvent({ ...EVENT, extract: { text: ["a", "b."] } }),
      "events[1].extract.text[1]",
    ],
    [
      "an empty fallback list",
      withEvent({ ...EVENT, extract: { text: [] } }),
      "events[1].extract.text: a list of 0 is empty",
    ],
    [
      "51 paths in a fallback list",
      withEvent({ ...EVENT, extract: { text: Array(51).fill("a") } }),
      "is too long. At most 50",
    ],
    [
      "a path over 512 characters",
      withEvent({ ...EVENT, extract: { text: "a".repeat(513) } }),
      "is 513 characters long",
    ],
    ["a path to a prototype", withEvent({ ...EVENT, extract: { text: "a.__proto__.b" } }), "__proto__"],
    [
      "a regular expression",
      withEvent({ ...EVENT, extract: { text: "$[?match(@.a,'(a+)+b')]" } }),
      "filters, slices and lists of names are not supported",
    ],
    ["half a filter", withEvent({ ...EVENT, extract: { text: "$.a[?@.b ==" } }), "never closed"],
    ["a property no frame has", withEvent({ ...EVENT, extract: { text: "@frame.bytes" } }), "events[1].extract.text"],
    [
      "51 fields",
      withEvent({ ...EVENT, extract: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`f${n}`, "a"])) }),
      "has 51 fields",
    ],
    [
      "__proto__ as a field",
      '{"name":"x","framing":"ndjson","events":[{"kind":"message","match":{"a":1},"extract":{"__proto__":"a"}}]}',
      "events[0].extract.__proto__",
    ],
    ["constructor as a field", withEvent({ ...EVENT, extract: { constructor: "a" } }), "cannot be the name of a field"],
    ["templates that are a text", withEvent({ ...EVENT, templates: "x" }), "events[1].templates"],
    [
      "an unknown style",
      withEvent({ ...EVENT, templates: { html: "x" } }),
      'events[1].templates.html: "html" is not a known key',
    ],
    [
      "a template that is a number",
      withEvent({ ...EVENT, templates: { text: 1 } }),
      "events[1].templates.text: 1 is not a string",
    ],
    ["a template over 8 KB", withEvent({ ...EVENT, templates: { ansi: "x".repeat(8193) } }), "is 8193 characters long"],
    [
      "an escape in a template",
      withEvent({ ...EVENT, templates: { ansi: "\u001b]52;c;x\u0007" } }),
      "control character at position 0",
    ],
    ["an unknown visibility", withEvent({ ...EVENT, visibility: "never" }), "Use one of: always, optional, hidden"],
    [
      "terminal on a message",
      withEvent({ ...EVENT, terminal: true }),
      'events[1].terminal: true makes no sense on "message"',
    ],
    [
      "terminal that is a text",
      withEvent({ ...EVENT, kind: "error", terminal: "yes" }),
      'events[1].terminal: "yes" is not a boolean',
    ],
    ["a default with a match", { ...VALID, defaultSchema: EVENT }, 'defaultSchema.match: "match" is not a known key'],
    ["an end without a match", { ...VALID, end: { extract: {} } }, "end.match: nothing is given"],
    [
      "an end with a kind",
      { ...VALID, end: { match: { a: 1 }, kind: "message" } },
      'end.kind: "kind" is not a known key',
    ],
    ["an end that is true", { ...VALID, end: true }, "end: true is not an object"],
    ["a description that is a number", { ...VALID, description: 1 }, "description: 1 is not a string"],
    ["a long description", { ...VALID, description: "x".repeat(501) }, "description"],
    ["a version that is a number", { ...VALID, version: 1 }, "version: 1 is not a string"],
    [
      "33 levels in a value nobody needs",
      withEvent({ kind: "message", match: { a: nest(40) } }),
      "is nested too deeply. At most 32",
    ],
    ["100,000 levels as text", `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, "nested"],
    ["a cycle", cycle(), "is nested too deeply"],
    ["objects that hold each other", lattice(), "config: an object is"],
    [
      "a getter that throws",
      {
        get name(): string {
          throw new Error("boom");
        },
      },
      "could not be read: boom. Give plain data.",
    ],
    [
      "a proxy that throws",
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new TypeError("no keys");
          },
        },
      ),
      "could not be read: no keys",
    ],
  ])("%s", (_, value, reason) => {
    expect(refusalOf(value)).toContain(reason);
  });

  it("SEC12: inherited values are not read", () => {
    const inherited: unknown = Object.create(VALID);
    expect(refusalOf(inherited)).toContain("name: nothing");
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe("any config", () => {
  const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
  const key = fc.oneof(
    fc.string(),
    fc.constantFrom("name", "framing", "events", "kind", "match", "extract", "__proto__", "end"),
  );
  const json = fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.oneof({ maxDepth: 5 }, scalar, fc.array(tie("node")), fc.dictionary(key, tie("node"))),
  })).node;
  const nearlyValid = fc.record({
    name: fc.oneof(fc.constant("x"), json),
    framing: fc.oneof(fc.constantFrom("ndjson", "sse", "text"), json),
    events: fc.oneof(
      fc.array(
        fc.record({
          kind: fc.oneof(fc.constant("message"), json),
          match: fc.dictionary(fc.string(), json),
          extract: fc.dictionary(key, fc.string()),
        }),
      ),
      json,
    ),
  });

  it("R1: is accepted, or rejected with a StartError, and pollutes nothing", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          json,
          nearlyValid,
          fc.string(),
          json.map((value) => JSON.stringify(value)),
        ),
        (value) => {
          refusalOf(value);
          expect(Object.keys(Object.prototype)).toEqual([]);
        },
      ),
      { numRuns: RUNS },
    );
  });
});

function nest(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

function cycle(): unknown {
  const config: Record<string, unknown> = { ...VALID };
  config.end = config;
  return config;
}

function lattice(): unknown {
  let value: unknown = {};
  for (let level = 0; level < 30; level += 1) value = { left: value, right: value };
  return value;
}
