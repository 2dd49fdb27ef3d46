import { describe, expect, it } from "vitest";
import { systemWorld } from "#runtime";
import { assertRunLog } from "#testing";
import { commandIn } from "../../src/runtime/command.ts";
import { resumeStored, startStored } from "../../src/runtime/stored-run.ts";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";

/** Uses a tool of its own, and shows what it was told. */
const PROGRAM = `
  const say = (line) => process.stdout.write(JSON.stringify(line) + "\\n");
  let told = "";
  process.stdin.on("data", (text) => (told += text)).on("end", () => {
    say({ type: "text", text: "I look. " });
    say({ type: "tool_use", id: "c", name: "look", input: { at: 1 } });
    say({ type: "tool_result", tool_use_id: "c", content: "seen" });
    say({ type: "text", text: told.includes("Your process ended") ? "Once more." : "Done." });
  });`;

describe("Runs that survive: command(argv)", () => {
  it.each([undefined, { told: "string" } as const])(
    "continues from every prefix of its log: one done, every call answered, and the command is told that it was cut off (output %j)",
    async (output) => {
      const world = systemWorld();
      const program = output === undefined ? PROGRAM : `process.stdout.write('{"told":"yes"}')`;
      const target = commandIn(
        [process.execPath, "-e", program],
        output === undefined ? {} : { format: "text" },
        world,
      );
      const options = output === undefined ? {} : { output };
      const whole = createMemoryStore();
      const run = startStored(whole, target, "Go.", options, world);
      expect(await run.result()).toMatchObject({ status: "success" });
      await run.closed;
      const log = await whole.read(run.id);
      const [stub] = await whole.listRuns();
      for (let length = 0; length < log.length; length += 1) {
        const store = createMemoryStore();
        await store.createRun({ id: run.id, createdAt: 1, settings: stub?.settings });
        if (length > 0) await store.append(run.id, log.slice(0, length));
        const next = await resumeStored(store, run.id, { target, ...options }, world);
        const result = await next.result();
        await next.closed;
        const kept = await store.read(run.id);
        assertRunLog(kept);
        expect({ length, status: result.status }).toEqual({ length, status: "success" });
        expect(kept.filter(({ type }) => type === "done")).toHaveLength(1);
        if (output !== undefined) expect(result.structured).toEqual({ told: "yes" });
        const hadSpoken = log.slice(0, length).some((event) => event.type === "message" && event.role === "assistant");
        const isJudged = log.slice(0, length).some(({ type }) => type === "result");
        if (output === undefined && hadSpoken && !isJudged) expect(result.text).toBe("Once more.");
      }
    },
  );
});
