import { describe, expect, it } from "vitest";
import type { PolicySettings } from "#policy";
import { createSeededRandom, type SpawnStep } from "#testing";
import { ofType, readLog, sendAsRun, settingsFor } from "./place.ts";
import { answers, calls, greet, INIT, inputs, openScripted, result, says, writes } from "./scripted.ts";

const hook = (id: string, callbackId: string, input: object) => ({
  type: "control_request",
  request_id: id,
  request: { subtype: "hook_callback", callback_id: callbackId, input },
});
const BASH = { tool_name: "Bash", tool_input: {}, tool_use_id: "c1" };
const before = (id = "h") => hook(id, "before-tool", { hook_event_name: "PreToolUse", ...BASH });
const after = hook("h", "after-tool", { hook_event_name: "PostToolUse", ...BASH, tool_response: { stdout: "files" } });
const afterFailure = hook("h", "after-failed-tool", {
  hook_event_name: "PostToolUseFailure",
  ...BASH,
  error: "broken",
});
const stop = hook("h", "before-stop", { hook_event_name: "Stop", last_assistant_message: "Well." });
const withdraw = (id: string) => ({ type: "control_cancel_request", request_id: id });
const ends = [answers("c1", "files"), says("m2", "Well."), result("Well.")];

/** One turn in control mode, read to its end; its log keeps every promise. */
async function turn(steps: readonly SpawnStep[], policy: Partial<PolicySettings>) {
  const place = openScripted([greet, { waitForInput: "line" }, ...steps]);
  const conversation = await place.backend({ mode: "control" }).open(settingsFor({ policy }));
  const run = sendAsRun(conversation, "go", { policy, clock: place.clock, random: createSeededRandom(3) });
  const reading = readLog(run);
  for (let step = 0; step < 100 && !run.isComplete(); step += 1) await place.clock.advance(10);
  for (let step = 0; step < 400 && !run.isComplete(); step += 1) await place.clock.advance(1000);
  const { log } = await reading;
  const answered = inputs(place.spawn.calls[0]?.stdin ?? "").flatMap((value) =>
    value["type"] === "control_response" ? [(value["response"] as { request_id: string }).request_id] : [],
  );
  return { log, answered, conversation };
}

/** A function of the caller's that answers only when its signal fires, and then with this. */
function waiting(late?: object) {
  const seen = { calls: 0, fired: 0 };
  const wait = ({ signal }: { readonly signal: AbortSignal }) =>
    new Promise<never>((resolve) => {
      seen.calls += 1;
      signal.addEventListener("abort", () => {
        seen.fired += 1;
        resolve(late as never);
      });
    });
  return { seen, wait };
}

describe("F-B8: a question of the CLI that is withdrawn", () => {
  it.each([
    ["before-tool", before(), { block: "no" }],
    ["after-tool", after, { context: "late", output: "other" }],
    ["after-tool", afterFailure, { context: "late" }],
    ["before-stop", stop, { block: "Go on." }],
  ] as const)(
    "fires the signal of a running %s hook, and its late answer has no effect",
    async (point, asked, late) => {
      const { seen, wait } = waiting(late);
      const { log, answered } = await turn(
        [
          writes(INIT, calls("m1", "c1", "Bash", {}), asked),
          { waitMs: 10 },
          writes(withdraw("ghost"), withdraw("h"), withdraw("h")),
          { waitMs: 10 },
          writes(...ends),
        ],
        { hooks: [{ [point]: [wait] }] },
      );
      expect(seen).toEqual({ calls: 1, fired: 1 });
      expect(answered).toEqual([]);
      expect(ofType(log, "message").filter(({ source }) => source === "millrace")).toEqual([]);
      expect(ofType(log, "tool-result")).toMatchObject([{ output: "files" }]);
      expect(log.at(-1)).toMatchObject({ result: { status: "success" } });
    },
  );

  it("is not asked if it was withdrawn before", async () => {
    const { seen, wait } = waiting();
    const { log, answered } = await turn(
      [writes(INIT, calls("m1", "c1", "Bash", {}), before(), withdraw("h"), ...ends)],
      { permission: wait },
    );
    expect(seen.calls).toBe(0);
    expect(answered).toEqual([]);
    expect(ofType(log, "permission").map(({ state }) => state)).toEqual(["denied"]);
  });

  it("changes nothing if it has been answered", async () => {
    let signal: AbortSignal | undefined;
    const { log, answered } = await turn(
      [
        writes(INIT, calls("m1", "c1", "Bash", {}), before()),
        { waitForInput: "line" },
        writes(withdraw("h"), withdraw("h"), ...ends),
      ],
      {
        permission: (call) => {
          ({ signal } = call);
          return { allow: true };
        },
      },
    );
    expect([answered, signal?.aborted]).toEqual([["h"], false]);
    expect(ofType(log, "permission").map(({ state }) => state)).toEqual(["allowed"]);
  });

  it("does not send the model the notes of hooks about an undecided call", async () => {
    const { wait } = waiting();
    const { log } = await turn(
      [
        writes(INIT, calls("m1", "c1", "Bash", {}), before()),
        { waitMs: 10 },
        writes(withdraw("h")),
        { waitMs: 10 },
        writes(...ends),
      ],
      { hooks: [{ "before-tool": [() => ({ context: "Mind the gap." })] }], permission: wait },
    );
    expect(JSON.stringify(ofType(log, "message"))).not.toContain("Mind the gap.");
    expect(ofType(log, "permission").map(({ state }) => state)).toEqual(["denied"]);
  });

  it("ends the conversation if guards have not checked an output that the model now gets unchanged", async () => {
    const { seen, wait } = waiting();
    const { log, conversation } = await turn(
      [
        writes(INIT, calls("m1", "c1", "Bash", {}), after),
        { waitMs: 10 },
        writes(withdraw("h")),
        { waitMs: 10 },
        writes(...ends),
      ],
      { guards: [{ name: "secrets", place: "tool-result", check: wait }] },
    );
    expect(seen).toEqual({ calls: 1, fired: 1 });
    expect(log.at(-1)).toMatchObject({ result: { status: "error", error: { code: "guard-denied" } } });
    expect(conversation.sessionId).toBeUndefined();
  });
});
