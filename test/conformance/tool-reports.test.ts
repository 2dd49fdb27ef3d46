import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import { replay } from "#runtime";
import { tool } from "#tools";
import { createSseFrames } from "#views";
import { join } from "node:path";
import { readFrames } from "../server/support.ts";
import { openStage, type Stage, TOOL_TARGETS } from "./targets.ts";

const draw = tool("draw", "Draw a chart", { title: "string" }, ({ title }, { artifact, documents }) => {
  documents([{ id: "handbook" }]);
  artifact({ name: title, type: "image/svg+xml", url: "https://charts.example/1" });
  return "drawn";
});

let stage: Stage;
beforeAll(async () => {
  const input = { title: "Sales" };
  stage = await openStage({
    rules: [
      ...["draw", "mcp__millrace__draw"].map((name) => ({
        match: { turn: 0, tool: name },
        reply: { toolCalls: [{ name, input }] },
      })),
      { reply: { text: "Here it is." } },
    ],
  });
});
afterAll(() => stage.close());

/** What an event says, without its place in the log. */
const told = (log: readonly AgentEvent[]): unknown[] =>
  log.flatMap((event) =>
    event.type === "notice" && (event.kind === "artifact" || event.kind === "documents")
      ? [[event.kind, event.data]]
      : [],
  );

describe("S3-33: what tools report, on every target that can be offered tools", () => {
  it.each(TOOL_TARGETS)("$name", async (target) => {
    const tape = join(stage.home, `${target.name.replaceAll(/\W/g, "-")}.tape`);
    const { log, result } = await stage.play(target, "Draw it", { tools: [draw], record: tape });
    expect(result).toMatchObject({ status: "success", text: "Here it is." });
    const { callId } = log.find((event) => event.type === "tool-call") ?? {};
    expect(told(log)).toEqual([
      ["documents", { callId, name: "draw", documents: [{ id: "handbook" }] }],
      [
        "artifact",
        { callId, name: "draw", artifact: { name: "Sales", type: "image/svg+xml", url: "https://charts.example/1" } },
      ],
    ]);
    // Behind the call, before its result.
    const at = (type: string): number => log.findIndex((event) => event.type === type);
    const reported = log.findIndex((event) => event.type === "notice" && event.kind === "artifact");
    expect(at("tool-call")).toBeLessThan(reported);
    expect(reported).toBeLessThan(at("tool-result"));

    const replayed: AgentEvent[] = [];
    for await (const event of replay(tape)) replayed.push(event);
    expect(told(replayed)).toEqual(told(log));

    const frames = createSseFrames("chat");
    const chat = readFrames(log.flatMap((event) => frames.next(event)).join(""));
    expect(chat.map(({ event }) => event).filter((name) => name !== "text_delta")).toEqual([
      "tool_executing",
      "artifact_created",
      "message_complete",
      "done",
    ]);
  });
});
