import fc from "fast-check";
import { type Token, type Tokens, marked } from "marked";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../../test/effort.ts";
import { createMarkdownWriter } from "./markdown-writer.ts";

const numRuns = Math.min(fuzzRuns(600), 20_000);

function render(pieces: readonly string[], options = { color: false, width: 60 }): string {
  const writer = createMarkdownWriter(options);
  return pieces.map((piece) => writer.push(piece)).join("") + writer.end();
}
const colored = (text: string): string => render([text], { color: true, width: 60 }).replaceAll("\u001b[", "⟨");

describe("Markdown on a terminal", () => {
  it.each<[string, string, string]>([
    ["bold, italic, code, strike", "a **b** *c* _d_ `e*f` ~~g~~", "a b c d e*f g"],
    ["bold in italic and the other way round", "*a **b** c* and **a *b* c**", "a b c and a b c"],
    ["three marks", "***all*** of it", "all of it"],
    ["marks that are none", "2 * 3 * 4, snake_case_name, a ** b, 5*", "2 * 3 * 4, snake_case_name, a ** b, 5*"],
    ["an escape", "\\*not\\* \\`code\\` C:\\temp", "*not* `code` C:\\temp"],
    ["code with ticks", "``a ` b`` and `c`", "a ` b and c"],
    ["a link shows where it leads", "[docs](https://x.test/a_b 'T')!", "docs (https://x.test/a_b)!"],
    ["a link that is its own text", "[https://x.test](https://x.test)", "https://x.test"],
    ["a picture", "![a cat](cat.png) here", "a cat (cat.png) here"],
    ["brackets that are no link", "a[0] and [x] and [y", "a[0] and [x] and [y"],
    ["headings", "# One\n### Two **b**\n#no\n", "One\nTwo b\n#no\n"],
    ["lists", "- a\n* b\n  + c\n1. d\n12) e\n-f", "• a\n• b\n  • c\n1. d\n12) e\n-f"],
    ["tasks", "- [ ] open\n- [x] done\n- [y] no", "• ☐ open\n• ☑ done\n• [y] no"],
    ["quotes", "> said **he**\n> > and she\n>\nno", "│ said he\n│ │ and she\n│ \nno"],
    ["a list in a quote", "> - a", "│ • a"],
    ["a rule", "---\n* * *\n--\n", `${"─".repeat(40)}\n${"─".repeat(40)}\n--\n`],
    ["a code block stays as it is", "```ts\nconst a = **b**;\n# no\n```\n*c*", "```ts\nconst a = **b**;\n# no\n```\nc"],
    ["fences in fences", "````\n```\n````\n*a*", "````\n```\n````\na"],
    ["a code block that never ends", "~~~\n*a*", "~~~\n*a*"],
    ["nothing", "", ""],
    ["blank lines", "a\n\n\nb\n", "a\n\n\nb\n"],
  ])("%s", (_, source, expected) => {
    expect(render([source])).toBe(expected);
  });

  it("a table is aligned, also with wide characters; one that does not fit is unchanged", () => {
    const table = "| name | n |\n|:--|--:|\n| 世界 | 1 |\n| a `|` b | 1000 |\n";
    expect(render([`${table}\ndone`])).toBe("name  │    n\n──────┼─────\n世界  │    1\na | b │ 1000\n\ndone");
    expect(render([table], { color: false, width: 10 })).toContain("| name | n |\n|:--|--:|");
    expect(render(["| a bar\nno table"])).toBe("| a bar\nno table");
    expect(render([table.trimEnd()])).toBe(render([table]).trimEnd());
  });

  it("colours can be nested", () => {
    expect(colored("**a `b` *c***")).toBe("⟨1ma ⟨36mb⟨39m ⟨3mc⟨23m⟨22m");
    expect(colored("# A **b**")).toBe("⟨1mA b⟨22m");
  });

  it("text appears as it is written; only open marks are held back", () => {
    const writer = createMarkdownWriter({ color: false, width: 60 });
    expect(writer.push("Hello, ")).toBe("Hello, ");
    expect(writer.push("this is **bo")).toBe("this is ");
    expect(writer.push("ld** and")).toBe("bold and");
    expect(writer.push(" [a](")).toBe(" ");
    expect(writer.push("b) c")).toBe("a (b) c");
    expect(writer.push("\n#")).toBe("\n");
    expect(writer.push("# Title")).toBe("");
    expect(writer.push("\n")).toBe("Title\n");
    expect(writer.push("`open")).toBe("");
    expect(writer.end()).toBe("`open");
  });

  it("an unclosed mark is not held back forever, and many marks take linear time", () => {
    const writer = createMarkdownWriter({ color: false, width: 60 });
    let shown = "";
    for (let at = 0; at < 1000; at += 1) shown += writer.push(at === 0 ? "**a" : "b");
    expect(shown.length).toBeGreaterThan(500);
    for (const nasty of ["*a", "[", "`", "**", "![", "\\", "> ", "- ", "| a ", "_x", "~~a", "[a](", "# "]) {
      const source = nasty.repeat(10_000);
      expect(render([source]).length).toBeGreaterThan(0);
    }
  });

  it.each(["**", "`", "~~", "_"])(
    "a span marked %s around the longest that is held back, letter by letter and at once",
    (mark) => {
      const shown = new Set<boolean>();
      for (let length = 380; length < 420; length += 1) {
        const source = `${mark}${"a".repeat(length)}${mark} and more of it`;
        const whole = render([source]);
        expect(render([...source])).toBe(whole);
        expect(render([source.slice(0, length), source.slice(length)])).toBe(whole);
        shown.add(whole.startsWith("a"));
      }
      expect(shown).toEqual(new Set([true, false]));
    },
  );

  const piece = fc.oneof(
    fc.constantFrom(
      "*",
      "**",
      "_",
      "`",
      "```",
      "~~",
      "[",
      "](",
      ")",
      "!",
      "\\",
      "#",
      "- ",
      "> ",
      "|",
      "\n",
      " ",
      "1. ",
    ),
    fc.constantFrom("word", "a", "世界", "🙂", "\n\n", "| a | b |\n|---|---|\n", "---\n", "```\n", "[ ] "),
    fc.string({ maxLength: 6 }),
  );

  it("I5: however the text is split, the output is the same, and only marks are lost", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.array(fc.nat(200), { maxLength: 10 }), (parts, cuts) => {
        const source = parts.join("");
        const at = [0, ...cuts.map((cut) => cut % (source.length + 1)).sort((a, b) => a - b), source.length];
        const pieces = at.slice(1).map((end, index) => source.slice(at[index], end));
        const whole = render([source]);
        expect(render(pieces)).toBe(whole);
        expect(render([...source])).toBe(whole);
        expect(words(whole)).toBe(words(source));
      }),
      { numRuns },
    );
  });

  it("agrees with the reference parser", () => {
    const word = fc.constantFrom("one", "two", "x1", "世界", "a.b", "(c)", "don't", "5");
    const text = fc.array(word, { minLength: 1, maxLength: 4 }).map((all) => all.join(" "));
    const span = fc.oneof(
      text,
      text.map((inner) => `**${inner}**`),
      text.map((inner) => `*${inner}*`),
      text.map((inner) => `\`${inner}\``),
      text.map((inner) => `~~${inner}~~`),
      text.map((inner) => `[${inner}](https://x.test/y)`),
      fc.tuple(text, text).map(([a, b]) => `**${a} *${b}* ${a}**`),
    );
    const line = fc.array(span, { minLength: 1, maxLength: 5 }).map((all) => all.join(" "));
    const block = fc.oneof(
      line,
      line.map((inner) => `## ${inner}`),
      line.map((inner) => `> ${inner}`),
      fc.array(line, { minLength: 1, maxLength: 3 }).map((all) => all.map((one) => `- ${one}`).join("\n")),
      text.map((inner) => `\`\`\`js\n${inner} * 2 ** 3 _x_\n\`\`\``),
      fc.array(text, { minLength: 2, maxLength: 2 }).map(([a, b]) => `| ${a} | ${b} |\n|---|---|\n| ${b} | **${a}** |`),
    );
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 4 }), (blocks) => {
        const source = blocks.join("\n\n");
        expect(words(render([source]).replaceAll(" (https://x.test/y)", ""))).toBe(
          words(marked.lexer(source).map(textOfToken).join(" ")),
        );
      }),
      { numRuns },
    );
  });
});

/** Only letters and digits. */
function words(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]/gu, "");
}

function textOfToken(token: Token): string {
  if (token.type === "code") return `${(token as Tokens.Code).lang ?? ""} ${token.text}`;
  if (token.type === "table") {
    const table = token as Tokens.Table;
    return [...table.header, ...table.rows.flat()].map((cell) => cell.tokens.map(textOfToken).join("")).join(" ");
  }
  const inner = token.type === "list" ? (token as Tokens.List).items : "tokens" in token ? token.tokens : undefined;
  if (inner !== undefined && inner.length > 0) return inner.map(textOfToken).join(" ");
  return "text" in token ? String(token.text) : "";
}
