import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { OPTION_WORDS } from "#domain";
import { addAskFlags } from "./flags/ask-flags.ts";

describe("F-F advice uses the syntax of the shell", () => {
  it("every flag that is mentioned exists", () => {
    const known = addAskFlags(new Command()).options.map(({ long }) => long);
    const named = Object.values(OPTION_WORDS).map(({ shell }) => shell);
    expect(named.filter((words) => !known.includes(words) && !/^[\w.]+ of the configuration$/.test(words))).toEqual([]);
  });
});
