import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.ts";
import { createMemoryIo } from "../e2e/memory-io.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { mixedLabels, wordingFaults } from "./well-said.ts";

// F-F: what every command prints, errors included: nothing doubled, no two full stops, capitals alike.

const folder = temporaryFolder("outputs");

const COMMANDS = [
  "run",
  "chat",
  "explain",
  "doctor",
  "compare",
  "replay",
  "formats",
  "formats list",
  "formats decode",
  "formats check",
  "emulate",
  "serve",
  "trust",
  "completion",
].map((text) => text.split(" "));

const BACKENDS = ["offline", "anthropic/x", "openai/x", "google/x", "vllm/x", "claude-code"];
const RULES = [[], ["--ask", "Bash"], ["--resume", "x", "--max-turns", "2"], ["--mode", "plain", "--ask", "Bash"]];

const LINES: readonly (readonly string[])[] = [
  ...COMMANDS.map((words) => [...words, "--help"]),
  ...COMMANDS.map((words) => [...words, "--nonsense"]),
  ...COMMANDS.map((words) => [...words, "too", "many", "words", "--here"]),
  ...BACKENDS.flatMap((backend) => RULES.map((rules) => ["explain", "-b", backend, ...rules])),
  ["formats", "list"],
  ["trust"],
  ["trust", "--list"],
  ["trust", "--remove"],
  ["trust", "nowhere.mjs"],
  ["replay", "nowhere.tape"],
  ["compare", "nowhere.json", "-b", "offline"],
  ["doctor"],
  ["--version"],
  ["What is 25 + 17?"],
  ["--show-all", "--ask", "add", "What is 25 + 17?"],
  ["--deny", "add", "What is 25 + 17?"],
];

describe("F-F the output of every command is well formed", () => {
  it.each(LINES.map((words) => [words.join(" "), words] as const))("%s", async (_, words) => {
    const io = createMemoryIo({ cwd: folder, env: { HOME: folder } });
    await main(words, io);
    const shown = io.stdout() + io.stderr();
    expect(wordingFaults(shown)).toEqual([]);
    if (words[0] === "explain" && !words.includes("--help")) expect(mixedLabels(shown)).toEqual([]);
  });
});
