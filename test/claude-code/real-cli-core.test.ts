import { describe, expect, it } from "vitest";
import { tool } from "#tools";
import { locateRealCli } from "../real-cli.ts";
import { ask, ofType, openPlace, processesWith } from "./place.ts";

// The one scene with the real CLI that `npm test` plays; all others are in the full set.

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);

describe.runIf(locateRealCli() !== undefined)("the real Claude Code CLI in control mode", () => {
  it.each([1, 2, 3])("S0-32 S3-18 S0-99: 25 + 17 with our tool says 42 (run %i of 3)", async () => {
    const place = await openPlace();
    try {
      const { log, result } = await ask(place.backend(), "What is 25 + 17?", { tools: [add] });
      expect(result).toMatchObject({ status: "success" });
      expect(result.text).toContain("42");
      expect(ofType(log, "tool-call")).toMatchObject([
        { name: "add", input: { a: 25, b: 17 }, executedBy: "millrace" },
      ]);
      expect(ofType(log, "tool-result")).toMatchObject([{ name: "add", output: 42, isError: false }]);
      expect(ofType(log, "text-delta").length).toBeGreaterThan(0);
      expect(ofType(log, "start")).toMatchObject([{ backend: "claude-code", mode: "control" }]);
      expect(ofType(log, "start")[0]?.tools).toContain("add");
      expect(processesWith(place.home)).toEqual([]);
    } finally {
      await place.close();
    }
  });
});
