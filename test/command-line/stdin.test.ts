import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "#testing";
import type { InputKind } from "../../src/cli/io.ts";
import { readPrompt } from "../../src/cli/prompt.ts";
import { createMemoryIo } from "../e2e/memory-io.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const folder = temporaryFolder("stdin");

const ioOf = (input: string | undefined, inputKind: InputKind) => ({
  ...createMemoryIo({ cwd: folder, ...(input !== undefined && { input }) }),
  inputKind,
});

describe("F-F stdin together with a prompt", () => {
  it.each<[string, readonly string[], string, InputKind, string]>([
    ["piped text comes behind the words", ["Review", "this"], "a diff\n", "pipe", "Review this\n\na diff"],
    ["a file does as well", ["Review this"], "a diff\n", "file", "Review this\n\na diff"],
    ["- says the same", ["Review this", "-"], "a diff\n", "pipe", "Review this\n\na diff"],
    ["without words it is the prompt", [], "What is 6 * 7?\n", "pipe", "What is 6 * 7?"],
    ["an empty pipe adds nothing", ["Review this"], "", "pipe", "Review this"],
    ["blanks add nothing", ["Review this"], " \n\n", "pipe", "Review this"],
    ["a terminal is not read", ["Review this"], "typed", "terminal", "Review this"],
    ["/dev/null is not read", ["Review this"], "x", "nothing", "Review this"],
  ])("%s", async (_, words, input, kind, prompt) => {
    expect(await readPrompt(words, ioOf(input, kind))).toBe(prompt);
  });

  it("an empty pipe is not awaited, and a line explains how to wait", async () => {
    const clock = createVirtualClock();
    const io = ioOf(undefined, "pipe");
    const reading = readPrompt(["Hello"], {
      ...io,
      input: new PassThrough() as unknown as NodeJS.ReadStream,
      world: { ...io.world, clock },
    });
    await clock.advance(3000);
    expect(await reading).toBe("Hello");
    expect(io.stderr()).toMatch(/nothing arrived on stdin for 3 s.*Write - .*<\/dev\/null/);
  });

  it("a pipe that has begun to write is read to its end", async () => {
    const clock = createVirtualClock();
    const input = new PassThrough();
    const io = ioOf(undefined, "pipe");
    const reading = readPrompt(["Hello"], {
      ...io,
      input: input as unknown as NodeJS.ReadStream,
      world: { ...io.world, clock },
    });
    input.write("one ");
    await clock.advance(60_000);
    input.end("two");
    expect(await reading).toBe("Hello\n\none two");
    expect(io.stderr()).toBe("");
  });
});
