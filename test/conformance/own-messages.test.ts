import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { AgentEvent } from "#domain";
import { textOf } from "#domain";
import { startSession } from "#runtime";
import { tool } from "#tools";
import { openStage, TOOL_TARGETS } from "./targets.ts";

const look = tool("look", "Look something up", {}, () => "found");

/** The texts of the messages that are marked as ours. */
const ours = (log: readonly AgentEvent[]): string[] =>
  log.flatMap((event) => (event.type === "message" && event.source === "millrace" ? [textOf(event.blocks)] : []));

describe.each(TOOL_TARGETS)("F-C5: what Millrace itself sends to a model on $name", (target) => {
  it("the feedback of a before-stop hook is a message of ours, once, in the events and in messages", async () => {
    const stage = await openStage({
      rules: [{ match: { user: "go", times: 1 }, reply: { text: "Done." } }, { reply: { text: "Now it is done." } }],
    });
    try {
      let stops = 0;
      const { log, result } = await stage.play(target, "go", {
        hooks: { "before-stop": [() => ((stops += 1) === 1 ? { block: "Also write the tests." } : undefined)] },
      });
      expect(result.status).toBe("success");
      expect(ours(log)).toEqual([expect.stringContaining("Also write the tests.")]);
      const told = result.messages.filter(({ blocks }) => textOf(blocks).includes("Also write the tests."));
      expect(told).toMatchObject([{ role: "user", source: "millrace" }]);
      const at = result.messages.indexOf(told[0] as never);
      expect(result.messages[at - 1]).toMatchObject({ role: "assistant" });
      expect(textOf(result.messages[at + 1]?.blocks ?? [])).toBe("Now it is done.");
    } finally {
      await stage.close();
    }
  });

  it("the note of an after-tool hook is a message of ours", async () => {
    const stage = await openStage({
      rules: [
        { match: { user: "go", turn: 0 }, reply: { toolCalls: [{ name: target.toolName("look"), input: {} }] } },
        { reply: { text: "Done." } },
      ],
    });
    try {
      const { log, result } = await stage.play(target, "go", {
        tools: [look],
        hooks: { "after-tool": [() => ({ context: "It is an old value." })] },
      });
      expect(result.status).toBe("success");
      expect(ours(log)).toEqual(["It is an old value."]);
      expect(result.messages.filter(({ source }) => source === "millrace")).toHaveLength(1);
    } finally {
      await stage.close();
    }
  });

  it("a session does not send it a second time", async () => {
    const stage = await openStage({ rules: [{ reply: { text: "Done." } }] });
    const place = target.isCli ? { ...target.options, cwd: stage.home } : {};
    let stops = 0;
    const sendBack = () => ((stops += 1) === 1 ? { block: "Say it again." } : undefined);
    const session = startSession(target.backend, { ...place, hooks: { "before-stop": [sendBack] } }, stage.world);
    // The CLI repeats it to the model as the error of a hook; that is its own affair.
    const count = (at: number) =>
      JSON.stringify(stage.emulator.requests.at(at)?.body)
        .replaceAll(/hook blocking error[^.]*Say it again\./g, "")
        .split("Say it again.").length - 1;
    try {
      expect((await session.send("go").result()).status).toBe("success");
      expect(session.messages().filter(({ source }) => source === "millrace")).toHaveLength(1);
      const told = count(-1);
      expect(told).toBe(1);
      expect((await session.send("and now").result()).status).toBe("success");
      expect(count(-1)).toBe(told);
    } finally {
      await session.close();
      await stage.close();
    }
  });

  it("a repair prompt is a message of ours", async () => {
    const wrong = { name: "StructuredOutput", input: { n: 1 } };
    const stage = await openStage({
      rules: [
        { match: { tool: "StructuredOutput", times: 1 }, reply: { toolCalls: [wrong] } },
        { match: { tool: "StructuredOutput", times: 1 }, reply: { text: "There." } },
        { match: { tool: "StructuredOutput", times: 1 }, reply: { toolCalls: [{ ...wrong, input: { n: 2 } }] } },
        { match: { times: 1 }, reply: { text: '{"n":1}' } },
        { reply: { text: '{"n":2}' } },
      ],
    });
    try {
      const even = z.object({ n: z.number() }).refine(({ n }) => n % 2 === 0, "n has to be even");
      const { log, result } = await stage.play(target, "go", { output: even });
      expect(result).toMatchObject({ status: "success", structured: { n: 2 } });
      expect(ours(log)).toEqual([expect.stringMatching(/n has to be even|calling the tool "final_answer"/)]);
      expect(result.messages.filter(({ source }) => source === "millrace")).toHaveLength(1);
    } finally {
      await stage.close();
    }
  });
});
