import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitWords } from "./split-words.ts";

describe("a command line without a shell", () => {
  it.each<[string, string[]]>([
    ["agent --json", ["agent", "--json"]],
    ["  agent\t a \n b ", ["agent", "a", "b"]],
    [`agent 'two words' "three more words"`, ["agent", "two words", "three more words"]],
    [`agent a"b c"d ''`, ["agent", "ab cd", ""]],
    ["agent a\\ b \\'", ["agent", "a b", "'"]],
    [`agent "a\\"b" '\\n'`, ["agent", 'a"b', "\\n"]],
    ["agent $HOME *.ts ~ `id` $(id)", ["agent", "$HOME", "*.ts", "~", "`id`", "$(id)"]],
    ["agent a|b x>y 'a && b' \"|\"", ["agent", "a|b", "x>y", "a && b", "|"]],
  ])("%s", (text, words) => expect(splitWords(text, "--exec")).toEqual(words));

  it("quoted words survive a round trip", () => {
    const word = fc.string({ unit: "binary", maxLength: 20 }).filter((text) => !text.includes("'"));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
        expect(splitWords(words.map((one) => `'${one}'`).join(" "), "--exec")).toEqual(words);
      }),
    );
  });
});
