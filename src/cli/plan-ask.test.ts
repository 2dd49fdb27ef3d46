import { describe, expect, it } from "vitest";
import { startRun } from "#runtime";
import { createTestWorld } from "../../test/conformance/model-backends.ts";
import type { CommandIo } from "./io.ts";
import { planAsk } from "./plan-ask.ts";

describe("F-C2: what the command line adds itself never causes a warning", () => {
  it.each(["offline", "anthropic/claude-sonnet-4-5", "openai/gpt-5", "google/gemini-2.5-pro"])(
    "%s",
    async (backend) => {
      const { world } = createTestWorld();
      const io = { world, cwd: "/work" } as unknown as CommandIo;
      const { target, options } = await planAsk({ backend, config: false } as never, io);
      const result = await startRun(target, "Say hello", { ...options, strict: true }, world).result();
      expect(result.warnings).toEqual([]);
    },
  );

  it("Claude Code works in the folder of the command", async () => {
    const io = { world: createTestWorld().world, cwd: "/work" } as unknown as CommandIo;
    const { options } = await planAsk({ backend: "claude-code/sonnet", config: false } as never, io);
    expect(options.cwd).toBe("/work");
  });
});
