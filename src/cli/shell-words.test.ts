import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { addAskFlags } from "./flags/ask-flags.ts";
import { FLAGS, shellWords } from "./shell-words.ts";

describe("F-F advice fits the shell", () => {
  it.each([
    ["The run reached limits.turns (1). Raise it.", "The run reached --max-turns (1). Raise it."],
    ["or allow more time (limits.idleMs).", "or allow more time (limits.idleMs of the configuration)."],
    ["set claudeCode.effort", "set backends.claudeCode.effort of the configuration"],
    ["session.resume is ignored on offline", "--resume is ignored on offline"],
    ["reached maxTokens (1). Raise it", "reached --max-tokens (1). Raise it"],
    ["a model's max_tokens, maxTokensX", "a model's max_tokens, maxTokensX"],
    [
      'X_KEY is not set, so x cannot be asked. Set it, or pass the option x: { apiKey }. Without a key the backend "offline" works.',
      'X_KEY is not set, so x cannot be asked. Set it in your shell with export. Without a key the backend "offline" works.',
    ],
  ])("%s", (text, shown) => expect(shellWords(text)).toBe(shown));

  it("every flag that is named is there", () => {
    const known = addAskFlags(new Command()).options.map(({ long }) => long);
    expect(Object.values(FLAGS).filter((flag) => !known.includes(flag))).toEqual([]);
  });
});
