import { isStartError } from "#domain";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../../test/effort.ts";
import { MAX_RENDERED_LENGTH } from "./limits.ts";
import { compileTemplate, type TemplateStyle } from "./template.ts";

const RUNS = fuzzRuns(5000);
const RED = "\u001b[31m";
const RESET = "\u001b[0m";

function render(template: string, fields: Record<string, unknown>, style: TemplateStyle = "text"): string {
  return compileTemplate(template, style).render(fields);
}

const FIELDS = {
  name: "Bash",
  "tool-name": "dashed",
  input: { command: "ls", list: ["x", "y"] },
  n: 3,
  yes: true,
  nil: null,
  quoted: 'say "hi"\n',
};

describe("variables, S4-17", () => {
  it.each([
    ["a field", "@evt.name", "Bash"],
    ["text around it", "[@evt.name] ok", "[Bash] ok"],
    ["a field of a field", "@evt.input.command", "ls"],
    ["an item", "@evt.input.list[1]", "y"],
    ["a name with a dash", "@evt.tool-name", "dashed"],
    [
      "punctuation behind it is text",
      "@evt.name. @evt.name- @evt.name, @evt.name[ @evt.name[x] @evt.name[]",
      "Bash. Bash- Bash, Bash[ Bash[x] Bash[]",
    ],
    ["two in a row", "@evt.name@evt.n", "Bash3"],
    ["a number", "@evt.n", "3"],
    ["a boolean", "@evt.yes", "true"],
    ["an object is JSON", "@evt.input", '{"command":"ls","list":["x","y"]}'],
    ["null is empty", "<@evt.nil>", "<>"],
    ["a missing field is empty", "<@evt.missing>", "<>"],
    ["a field of a missing field is empty", "<@evt.missing.a[0]>", "<>"],
    ["an inherited name is empty", "<@evt.toString>", "<>"],
    ["an item out of range is empty", "<@evt.input.list[9]>", "<>"],
    ["another word behind the at sign is text", "@name @evt @evt. @evt.1 @event.x", "@name @evt @evt. @evt.1 @event.x"],
    ["nothing at all", "", ""],
  ])("%s", (_, template, expected) => {
    expect(render(template, FIELDS)).toBe(expected);
  });
});

describe("escapes, S4-18", () => {
  it.each([
    ["@@ is an at sign", "@@", "@"],
    ["\\@ is an at sign", "\\@", "@"],
    ["%% is a per cent sign", "100%%", "100%"],
    ["an escaped variable is text", "@@evt.name \\@evt.name", "@evt.name @evt.name"],
    ["an escaped marker is text", "%%red%%", "%red%"],
    ["three: one escape and a variable", "@@@evt.name", "@Bash"],
    ["a mail address", "me@@example.org", "me@example.org"],
    ["a backslash alone", "a\\b \\", "a\\b \\"],
    ["an at sign at the end", "a@", "a@"],
    ["a per cent sign at the end", "a%", "a%"],
  ])("%s", (_, template, expected) => {
    expect(render(template, FIELDS)).toBe(expected);
    expect(render(template, FIELDS, "ansi")).toBe(expected);
  });
});

describe("styles, S4-19", () => {
  it.each([
    ["text: markers are left out", "text", "%red%a%reset%b", "ab"],
    ["ansi: markers become colours", "ansi", "%red%a%reset%b", `${RED}a${RESET}b`],
    ["ansi: an open colour is reset at the end", "ansi", "%red%@evt.name", `${RED}Bash${RESET}`],
    ["ansi: neighbouring markers", "ansi", "%bold%%red%x", `\u001b[1m${RED}x${RESET}`],
    ["ansi: upper case", "ansi", "%RED%x", `${RED}x${RESET}`],
    [
      "ansi: backgrounds and bright colours",
      "ansi",
      "%bg_blue%%bright_green%%gray%%reset%",
      `\u001b[44m\u001b[92m\u001b[90m${RESET}`,
    ],
    ["ansi: an unknown marker stays", "ansi", "%nope% 5% of 10%", "%nope% 5% of 10%"],
    ["text: an unknown marker stays", "text", "%nope% 5% of 10%", "%nope% 5% of 10%"],
    ["ansi: an inherited name is no marker", "ansi", "%constructor%%toString%", "%constructor%%toString%"],
    ["json: texts are quoted", "json", '{"t":@evt.quoted}', '{"t":"say \\"hi\\"\\n"}'],
    [
      "json: numbers, booleans, null, objects",
      "json",
      "[@evt.n,@evt.yes,@evt.nil,@evt.input]",
      '[3,true,null,{"command":"ls","list":["x","y"]}]',
    ],
    ["json: what is missing is null", "json", '{"t":@evt.missing}', '{"t":null}'],
    ["json: markers are left out", "json", "%red%@evt.n%reset%", "3"],
  ] as const)("%s", (_, style, template, expected) => {
    expect(render(template, FIELDS, style)).toBe(expected);
  });
});

describe("values cannot do harm", () => {
  it("are never interpreted as variables, escapes or markers", () => {
    const fields = { a: "@evt.b @@ %% %red% \\@", b: "secret" };
    expect(render("@evt.a", fields)).toBe("@evt.b @@ %% %red% \\@");
    expect(render("@evt.a", fields, "ansi")).toBe("@evt.b @@ %% %red% \\@");
  });

  it.each([
    ["a colour", "\u001b[31mred", "[31mred"],
    ["a title", "\u001b]0;title\u0007x", "]0;titlex"],
    ["the clipboard", "\u001b]52;c;ZXZpbA==\u001b\\x", "]52;c;ZXZpbA==\\x"],
    ["control characters of 8 bits", "\u009b31m\u0090x\u009c", "31mx"],
    ["backspace and return", "a\b\rb", "ab"],
    ["the writing direction", "a\u202eb\u2066c", "abc"],
    ["newline and tab stay", "a\n\tb", "a\n\tb"],
  ])("SEC11: no escape reaches a terminal: %s", (_, value, expected) => {
    expect(render("@evt.v", { v: value })).toBe(expected);
    expect(render("@evt.v", { v: value }, "ansi")).toBe(expected);
    expect(render("@evt.o", { o: { v: value } }, "ansi")).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
  });

  it("SEC11: in json they are escaped and nothing is lost", () => {
    const value = "\u001b\u009b\u202e\u007f";
    const json = render("@evt.v", { v: value }, "json");
    expect(json).toBe('"\\u001b\\u009b\\u202e\\u007f"');
    expect(JSON.parse(json)).toBe(value);
  });

  it("a huge value repeated many times is cut, and the colour is still reset", () => {
    const template = `%red%${"@evt.v".repeat(1000)}`;
    const text = render(template, { v: "x".repeat(10_000_000) }, "ansi");
    expect(text.length).toBe(MAX_RENDERED_LENGTH + RESET.length);
    expect(text.endsWith(`…${RESET}`)).toBe(true);
  });

  it("a value without a JSON form is null", () => {
    const circle: unknown[] = [];
    circle.push(circle);
    expect(render("@evt.v", { v: circle }, "json")).toBe("null");
  });

  it("a value nested too deep for JSON does not throw: Node 26 writes what older ones cannot", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(["null".length, 200_001]).toContain(render("@evt.v", { v: deep }, "json").length);
  });
});

describe("rejected templates", () => {
  it.each([
    ["too long", "x".repeat(8193), "8193 characters"],
    ["an escape character", "a\u001b[31m", "control character at position 1"],
    ["a control character of 8 bits", "\u009b", "control character at position 0"],
    ["a reserved name", "@evt.a.__proto__", "__proto__"],
    ["a constructor", "@evt.constructor", "constructor"],
  ])("%s", (_, template, reason) => {
    expect(() => compileTemplate(template, "ansi", "events[0].templates.ansi")).toThrow(reason);
    expect(() => compileTemplate(template, "ansi", "events[0].templates.ansi")).toThrow(
      /^events\[0\]\.templates\.ansi: /,
    );
  });

  it("8192 per cent or at signs are compiled", () => {
    expect(render("%x".repeat(4096), {}, "ansi")).toBe("%x".repeat(4096));
    expect(render("@".repeat(8192), {})).toBe("@".repeat(4096));
    expect(render("@evt.".repeat(1638), {})).toBe("@evt.".repeat(1638));
  });
});

describe("any template", () => {
  const piece = fc.constantFrom(
    "@",
    "@@",
    "\\@",
    "%",
    "%%",
    "%red%",
    "%reset%",
    "@evt.",
    "@evt.a",
    ".b",
    "[0]",
    "[",
    "x",
    " ",
    "-",
    "_",
  );
  const template = fc.oneof(
    fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join("")),
    fc.string({ unit: "binary", maxLength: 60 }),
  );

  it("R1 SEC11: is compiled, or rejected with a StartError; the output contains only printable text and our own colours", () => {
    fc.assert(
      fc.property(template, fc.jsonValue(), fc.string({ unit: "binary" }), (source, a, b) => {
        for (const style of ["text", "ansi", "json"] as const) {
          try {
            const text = compileTemplate(source, style).render({ a, b, c: { b: [b] } });
            // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
            const rest = style === "ansi" ? text.replaceAll(/\u001b\[\d{1,3}m/g, "") : text;
            expect(rest).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
          } catch (thrown) {
            if (!isStartError(thrown)) throw thrown;
          }
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("a value passed through one variable is unchanged, wherever it occurs", () => {
    fc.assert(
      fc.property(fc.string(), fc.stringMatching(/^[ -$&-?A-~]*$/), (value, around) => {
        const literal = around.replaceAll("\\", "/");
        expect(render(`${literal} @evt.v ${literal}`, { v: value })).toBe(`${literal} ${value} ${literal}`);
        expect(JSON.parse(render("[@evt.v]", { v: value }, "json"))).toEqual([value]);
      }),
      { numRuns: RUNS },
    );
  });
});
