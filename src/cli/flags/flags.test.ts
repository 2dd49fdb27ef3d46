import { describe, expect, it } from "vitest";
import { normaliseFlags } from "./normalise.ts";
import { parseDollars, parseDuration, parseSpeed } from "./values.ts";

describe("flags", () => {
  it("a flag with an optional value does not consume the prompt", () => {
    expect(normaliseFlags(["--thinking", "What is 2 + 2?"])).toEqual(["--thinking=show", "What is 2 + 2?"]);
    expect(normaliseFlags(["--thinking", "collapse", "hi"])).toEqual(["--thinking", "collapse", "hi"]);
    expect(normaliseFlags(["--thinking"])).toEqual(["--thinking=show"]);
    expect(normaliseFlags(["--append-json", "Say hello."])).toEqual(["--append-json=", "Say hello."]);
    expect(normaliseFlags(["--append-json", "a/b.jsonl", "hi"])).toEqual(["--append-json", "a/b.jsonl", "hi"]);
    expect(normaliseFlags(["--append-json", "--quiet"])).toEqual(["--append-json=", "--quiet"]);
    expect(normaliseFlags(["run", "--", "--thinking", "x"])).toEqual(["run", "--", "--thinking", "x"]);
  });

  it.each(["/tmp/events", "./events", "logs\\events", "events.out"])(
    "F-F: --append-json %s is rejected, because it may be the file or the prompt",
    (word) => {
      expect(() => normaliseFlags(["--append-json", word, "hi"])).toThrow(
        `Write --append-json=${word} if it is the file`,
      );
      expect(normaliseFlags([`--append-json=${word}`, "hi"])).toEqual([`--append-json=${word}`, "hi"]);
      expect(normaliseFlags(["run", word, "--append-json"])).toEqual(["run", word, "--append-json="]);
    },
  );

  it.each([
    ["500ms", 500],
    ["30s", 30_000],
    ["2", 2000],
    ["1.5m", 90_000],
    ["5min", 300_000],
    ["1h", 3_600_000],
  ])("%s are %i ms", (text, ms) => expect(parseDuration(text)).toBe(ms));

  it("money and speed", () => {
    expect([parseDollars("0.5"), parseDollars("$3"), parseDollars(".25")]).toEqual([0.5, 3, 0.25]);
    expect([parseSpeed("2.5"), parseSpeed("max")]).toEqual([2.5, Number.POSITIVE_INFINITY]);
  });
});
