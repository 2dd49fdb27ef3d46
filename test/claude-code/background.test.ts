import { describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import { startRun, startSession, systemWorld, type World } from "#runtime";
import { assertRunLog, createSeededRandom, type SpawnStep } from "#testing";
import type { ClaudeCodeOptions } from "../../src/backends/claude-code/options.ts";
import { openQuery, type QueryItem } from "../../src/backends/claude-code/query.ts";
import { ofType } from "./place.ts";
import { greet, INIT, openScripted, result, says, type ScriptedPlace, writes } from "./scripted.ts";

const AGENT = {
  type: "system",
  subtype: "task_started",
  task_id: "agent-1",
  task_type: "local_agent",
  is_backgrounded: true,
  description: "Look around",
};
const AGENT_ENDED = { type: "system", subtype: "task_notification", task_id: "agent-1" };

/** What goes on behind the first result, and what the warning says of it. */
const LEFT: readonly { name: string; after: SpawnStep[]; work: unknown[]; says: string }[] = [
  {
    name: "a sub-agent never ends",
    after: [{ hang: true }],
    work: [{ id: "agent-1", description: "Look around" }],
    says: "background work: Look around (agent-1)",
  },
  {
    name: "a turn that it began by itself never ends",
    after: [writes(AGENT_ENDED, INIT), { hang: true }],
    work: [],
    says: "a turn of its own",
  },
];

const MODES = ["plain", "control", "session, plain", "session, control"] as const;

function openPlace(mode: string, after: readonly SpawnStep[]): ScriptedPlace {
  const begin: SpawnStep[] = mode.endsWith("control") ? [greet, { waitForInput: "line" }] : [{ waitForInput: "end" }];
  return openScripted([...begin, writes(INIT, AGENT, says("m1", "first"), result("first")), ...after]);
}

async function passTime({ clock }: ScriptedPlace, until: () => boolean): Promise<number> {
  let ms = 0;
  for (; ms < 400_000 && !until(); ms += 500) await clock.advance(500);
  expect(until()).toBe(true);
  return ms;
}

async function readQuery(place: ScriptedPlace, options: ClaudeCodeOptions = {}) {
  const query = await openQuery("hello", { skipVersionCheck: true, ...options }, place.world);
  const items: QueryItem[] = [];
  let isOver = false;
  const reading = (async () => {
    for await (const item of query) items.push(item);
    isOver = true;
  })();
  const ms = await passTime(place, () => isOver);
  await reading;
  return { query, items, ms };
}

describe("F-B4 C2: background work of Claude Code that never ends", () => {
  const CASES = MODES.flatMap((mode) => LEFT.map((left) => ({ mode, left, title: `${mode}: ${left.name}` })));

  it.each(CASES)(
    "$title: the run ends after idleMs with a warning that names what was left",
    async ({ mode, left }) => {
      const place = openPlace(mode, left.after);
      const backend = place.backend({ mode: mode.endsWith("control") ? "control" : "plain" });
      const seams: World = { ...systemWorld(), clock: place.clock, random: createSeededRandom(5) };
      const limits = { idleMs: 20_000 };
      const session = mode.startsWith("session") ? startSession(backend, { limits }, seams) : undefined;
      const run = session?.send("hello") ?? startRun(backend, "hello", { limits }, seams);
      const log: AgentEvent[] = [];
      run.on("*", (event) => log.push(event));
      expect(await passTime(place, () => run.isComplete())).toBeLessThanOrEqual(25_000);
      assertRunLog(log);
      const kept = mode === "session, control";
      expect(ofType(log, "warning")).toMatchObject([
        { code: "background-left", context: { work: left.work, kept, silentMs: 20_000 } },
      ]);
      expect(ofType(log, "warning")[0]?.message).toContain(left.says);
      expect(ofType(log, "warning")[0]?.message).toContain(kept ? "left running" : "stopped");
      expect(log.at(-1)).toMatchObject({ result: { status: "success", text: "first" } });
      let isClosed = false;
      void (session === undefined ? run.closed : session.close()).then(() => (isClosed = true));
      await passTime(place, () => isClosed);
      expect(place.spawn.calls[0]?.isGone).toBe(true);
    },
  );

  it.each(LEFT)("query: $name: it ends with that warning, and the process is gone", async (left) => {
    const place = openPlace("query", left.after);
    const { query, items, ms } = await readQuery(place);
    expect(ms).toBeGreaterThanOrEqual(300_000);
    expect(items.at(-1)).toMatchObject({
      kind: "warning",
      warning: { code: "background-left", context: { work: left.work, kept: false } },
    });
    expect(place.spawn.calls[0]?.isGone).toBe(true);
    expect(await query.next()).toEqual({ kind: "end" });
  });

  it("query: waits for background work that still produces output", async () => {
    const step: SpawnStep[] = [{ waitMs: 200_000 }, writes({ type: "keep_alive" })];
    const more = writes(AGENT_ENDED, INIT, says("m2", "second"), result("second"));
    const place = openPlace("query", [...step, { waitMs: 150_000 }, more, { exit: 0 }]);
    const { items } = await readQuery(place);
    expect(items.filter(({ kind }) => kind !== "message")).toEqual([]);
    expect(items.at(-1)).toMatchObject({ message: { type: "result", result: "second" } });
  });
});
