import { describe, expect, it } from "vitest";
import { createMemoryIo, type MemoryIo } from "../../test/e2e/memory-io.ts";
import { displayWidth } from "#sinks";
import { inspectBackends } from "#runtime";
import { main } from "./main.ts";

/** A terminal of this width. */
function terminal(columns: number): MemoryIo {
  const io = createMemoryIo({ cwd: "/", env: { NO_COLOR: "1" } });
  const narrow = { ...io.out, isTerminal: true, columns };
  return { ...io, out: narrow, world: { ...io.world, fetch: () => Promise.reject(new Error("no network")) } };
}

describe("F-F: lines break between words, however narrow the terminal is", () => {
  it.each(["doctor", "explain -b offline", "formats"])("%s", async (command) => {
    const args = command.split(" ");
    for (const columns of [20, 40, 80]) {
      const [wide, narrow] = [terminal(10_000), terminal(columns)];
      await main(args, wide);
      await main(args, narrow);
      const words = (text: string): string[] => text.split(/\s+/);
      expect(words(narrow.stdout())).toEqual(words(wide.stdout()));
      const fits = (line: string): boolean => displayWidth(line) <= columns || !line.trim().includes(" ");
      expect(
        narrow
          .stdout()
          .split("\n")
          .filter((line) => !fits(line)),
      ).toEqual([]);
    }
  });
});

describe("F-F: a missing key is reported in one sentence", () => {
  it("by doctor and by a run", async () => {
    const io = terminal(10_000);
    const sentence =
      "OPENAI_API_KEY is not set, so openai cannot be asked. Set it, or pass the option openai: { apiKey }.";
    const states = await inspectBackends({ cwd: "/" }, io.world);
    expect(states.find(({ name }) => name === "openai")?.missing).toEqual([sentence]);
    expect(await main(["-b", "openai/gpt-5", "hi"], io)).toBe(3);
    expect(io.stderr()).toContain(
      "OPENAI_API_KEY is not set, so openai cannot be asked. Set it in your shell with export.",
    );
  });
});
