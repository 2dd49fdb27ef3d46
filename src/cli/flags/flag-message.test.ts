import { describe, expect, it } from "vitest";
import { createMemoryIo } from "../../../test/e2e/memory-io.ts";
import { main } from "../main.ts";

async function say(...args: string[]): Promise<string> {
  const io = createMemoryIo({ cwd: "/" });
  expect(await main(args, io)).toBe(2);
  return io.stderr();
}

describe("F-F R16: a mistake on the command line gives a sentence with a remedy and names the command's help", () => {
  it.each([
    [
      ["run", "--bakend", "x", "hi"],
      "There is no option --bakend. Did you mean --backend? millrace run --help shows what there is.",
    ],
    [["formats", "lst"], 'There is no command "lst". Did you mean list? millrace formats --help shows what there is.'],
    [["replay"], "The argument <tape> is missing. millrace replay --help shows what there is."],
    [["compare"], "The argument <prompts> is missing. millrace compare --help shows what there is."],
    [
      ["compare", "prompts.json"],
      "--backend: give at least two, such as -b offline -b claude-code. millrace compare --help shows what there is.",
    ],
    [["hi", "--backend"], "--backend <backend> has no value. millrace run --help shows what there is."],
    [
      ["run", "--max-turns", "x", "hi"],
      '--max-turns is "x". Give a whole number above 0. millrace run --help shows what there is.',
    ],
    [
      ["completion", "tcsh"],
      'The argument <shell> is "tcsh". Give one of: bash, zsh, fish. millrace completion --help shows what there is.',
    ],
    [
      ["run", "--resume", "x", "--continue", "hi"],
      "--continue cannot be used with --resume. Leave one of them out. millrace run --help shows what there is.",
    ],
    [["doctor", "now"], "The command takes no argument, and 1 was given. millrace doctor --help shows what there is."],
    [
      ["formats", "decode", "--row", "ndjson"],
      "There is no option --row. Did you mean --raw? millrace formats decode --help shows what there is.",
    ],
  ])("%j", async (args, sentence) => {
    expect(await say(...args)).toBe(`millrace: ${sentence}\n`);
  });
});
