import { describe, expect, it } from "vitest";
import { agent } from "#runtime";
import { answers, calls, greet, INIT, openScripted, result, says, writes } from "../claude-code/scripted.ts";
import { startServer, testWorld } from "./support.ts";

const ASKED = {
  type: "control_request",
  request_id: "h",
  request: {
    subtype: "hook_callback",
    callback_id: "before-tool",
    input: { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "ls" }, tool_use_id: "c1" },
  },
};

describe("F-B8: a question on the server that Claude Code withdraws", () => {
  it("is listed until then and no longer, and a late answer is not accepted", async () => {
    const place = openScripted([
      greet,
      { waitForInput: "line" },
      writes(INIT, calls("m1", "c1", "Bash", { command: "ls" }), ASKED),
      { waitMs: 1000 },
      writes({ type: "control_cancel_request", request_id: "h" }),
      { waitMs: 1000 },
      writes(answers("c1", "withdrawn", true), says("m2", "Well."), result("Well.")),
      { waitForInput: "end" },
    ]);
    const { clock } = place;
    const worker = agent({ name: "worker", backend: place.backend({ mode: "control" }) });
    const server = startServer({ world: { ...testWorld(), clock }, agents: [worker], target: "worker" });
    const read = async <Value>(method: string, path: string, body?: unknown): Promise<Value> =>
      (await (await server.ask(method, path, body)).json()) as Value;
    const questions = async () =>
      (await read<{ permissions: { runId: string; callId: string }[] }>("GET", "/api/permissions")).permissions;
    const pass = async (ms: number): Promise<void> => {
      for (let step = 0; step < 10; step += 1) await clock.advance(ms / 10);
    };
    const { id } = await read<{ id: string }>("POST", "/api/threads", {});
    await server.ask("POST", `/api/threads/${id}/chat`, { input: "go" });
    await pass(500);
    const [question] = await questions();
    expect(question).toMatchObject({ callId: "c1" });
    await pass(1000);
    expect(await questions()).toEqual([]);
    const path = `/api/runs/${question?.runId}`;
    expect(await read("POST", `${path}/permissions/c1`, { allow: true })).toEqual({ accepted: false });
    await pass(10_000);
    expect(await read("GET", path)).toMatchObject({ status: "success" });
  });
});
