import { describe, expect, it } from "vitest";
import type { Run } from "#run";
import type { AgentEvent, ProcessEntry } from "#domain";
import { startRun, startSession, systemWorld, type World } from "#runtime";
import { assertRunLog, createSeededRandom, type SpawnStep } from "#testing";
import type { ProcessTable } from "#transports";
import { createClaudeCodeBackend } from "../../src/backends/claude-code/backend.ts";
import type { ClaudeCodeOptions } from "../../src/backends/claude-code/options.ts";
import { openQuery, type QueryItem } from "../../src/backends/claude-code/query.ts";
import { ofType } from "./place.ts";
import { greet, INIT, openScripted, result, says, type ScriptedPlace, writes } from "./scripted.ts";

// The end of a run on Claude Code, whatever the CLI does after its verdict: every mode, every way of staying.

const MODES = ["plain", "control", "session, plain", "session, control", "query"] as const;
type Mode = (typeof MODES)[number];

const SHELL = {
  type: "system",
  subtype: "task_started",
  task_id: "shell-1",
  task_type: "local_bash",
  is_backgrounded: true,
  description: "npm run dev",
};
const AGENT = { ...SHELL, task_id: "agent-1", task_type: "local_agent", description: "Look around" };

interface Ending {
  readonly name: string;
  /** What stands before the result. */
  readonly before?: readonly unknown[];
  readonly after: readonly SpawnStep[];
  /** Codes of warnings. */
  readonly warnings?: readonly string[];
  /** Something it has started stays when it goes, and minds SIGKILL only. */
  readonly grandchild?: boolean;
}

const ENDINGS: readonly Ending[] = [
  { name: "it exits", after: [{ waitForInput: "end" }, { exit: 0 }] },
  { name: "a grandchild lingers", after: [{ waitForInput: "end" }, { exit: 0 }], grandchild: true },
  { name: "it stays, and holds its output", after: [{ hang: true }] },
  { name: "it stays, and ignores SIGTERM", after: [{ ignore: ["SIGTERM"] }, { hang: true }] },
  { name: "it exits with 1", after: [{ exit: 1 }], warnings: ["non-zero-exit-after-result"] },
  {
    name: "it gives a second result",
    after: [writes(result("second")), { waitForInput: "end" }, { exit: 0 }],
    warnings: ["unexpected-message-after-result"],
  },
  {
    name: "it goes on with text that is not JSON",
    after: [{ write: "not JSON\n".repeat(20) }, { hang: true }],
    warnings: Array.from({ length: 5 }, () => "unexpected-message-after-result"),
  },
  {
    name: "it has left a monitor running",
    before: [{ ...SHELL, task_type: "monitor_ws", description: "watch the log" }],
    after: [{ hang: true }],
  },
  {
    name: "it tidies up its memory",
    before: [{ type: "system", subtype: "background_tasks_changed", tasks: [{ task_id: "d1", task_type: "dream" }] }],
    after: [{ hang: true }],
  },
  {
    name: "it goes on with frames in which nothing is said, and ignores SIGTERM",
    after: [
      { ignore: ["SIGTERM"] },
      ...Array.from({ length: 40 }, () => [{ waitMs: 60 }, writes({ type: "keep_alive" })] as const).flat(),
      { hang: true },
    ],
  },
  { name: "it has left a shell running", before: [SHELL], after: [{ hang: true }] },
];

/** One process of a tag that goes on SIGKILL alone; gone when `entries` is empty. */
function createLingeringTable(): ProcessTable & { readonly entries: ProcessEntry[] } {
  const entries: ProcessEntry[] = [{ pid: 4242, parent: 1, startTicks: 1 } as ProcessEntry];
  return {
    entries,
    source: "proc",
    list: async () => [...entries],
    tagged: async () => [...entries],
    async signal(_, signal) {
      if (signal === "SIGKILL") entries.length = 0;
    },
  };
}

interface Played {
  readonly log: readonly AgentEvent[];
  /** From the verdict to the end, in virtual milliseconds. */
  readonly ms: number;
  readonly wasGoneAtDone: boolean;
  readonly isGoneAtClosed: boolean;
}

function openPlaceFor(mode: Mode, { before = [], after, grandchild = false }: Ending) {
  const isControl = mode.endsWith("control");
  const begin: SpawnStep[] = isControl ? [greet, { waitForInput: "line" }] : [{ waitForInput: "end" }];
  const table = grandchild ? createLingeringTable() : undefined;
  const place = openScripted([...begin, writes(INIT, ...before, says("m1", "first"), result("first")), ...after]);
  const world = { ...place.world, processes: table };
  const isGone = (): boolean => place.spawn.calls[0]?.isGone === true && (table?.entries.length ?? 0) === 0;
  return { place, world, isGone };
}

async function passTime(place: ScriptedPlace, until: () => boolean, mostMs = 60_000): Promise<void> {
  for (let ms = 0; ms < mostMs && !until(); ms += 10) await place.clock.advance(10);
  expect(until()).toBe(true);
}

async function playRun(mode: Exclude<Mode, "query">, ending: Ending, options: ClaudeCodeOptions = {}): Promise<Played> {
  const { place, world, isGone } = openPlaceFor(mode, ending);
  const backend = createClaudeCodeBackend(
    { skipVersionCheck: true, mode: mode.endsWith("control") ? "control" : "plain", ...options },
    world,
  );
  const seams: World = { ...systemWorld(), clock: place.clock, random: createSeededRandom(5) };
  const session = mode.startsWith("session") ? startSession(backend, {}, seams) : undefined;
  const run: Run<unknown> = session?.send("hello") ?? startRun(backend, "hello", {}, seams);
  const log: AgentEvent[] = [];
  let wasGoneAtDone = false;
  run.on("*", (event) => {
    log.push(event);
    if (event.type === "done") wasGoneAtDone = isGone();
  });
  await passTime(place, () => run.isComplete());
  let isClosed = false;
  // A session keeps its process until it is closed.
  const closed = session === undefined ? run.closed : session.close();
  void closed.then(() => (isClosed = true));
  await passTime(place, () => isClosed || options.keepBackground === true);
  const isGoneAtClosed = isGone();
  if (options.keepBackground === true) {
    const aborted = run.abort();
    await passTime(place, () => isGone());
    await aborted;
  }
  assertRunLog(log);
  const at = (type: AgentEvent["type"]): number => ofType(log, type).at(0)?.ts ?? Number.NaN;
  return { log, ms: at("done") - at("result"), wasGoneAtDone, isGoneAtClosed };
}

async function playQuery(ending: Ending, options: ClaudeCodeOptions = {}) {
  const { place, world, isGone } = openPlaceFor("query", ending);
  const query = await openQuery("hello", { skipVersionCheck: true, ...options }, world);
  const items: QueryItem[] = [];
  let resultAt = Number.NaN;
  let endAt = Number.NaN;
  const reading = (async () => {
    for await (const item of query) {
      items.push(item);
      if (item.kind === "message" && item.message.type === "result") resultAt = place.clock.now();
    }
    endAt = place.clock.now();
  })();
  await passTime(place, () => !Number.isNaN(endAt));
  await reading;
  const wasGone = isGone();
  let isClosed = false;
  void query.close().then(() => (isClosed = true));
  await passTime(place, () => isClosed);
  return { items, ms: endAt - resultAt, wasGone, isGoneAtClosed: isGone() };
}

const CASES = MODES.flatMap((mode) => ENDINGS.map((ending) => ({ mode, ending, title: `${mode}: ${ending.name}` })));

describe("S1-24 F-B3 F-B4 F-B5 F-B9: after the verdict of Claude Code", () => {
  it.each(CASES)("$title: the end comes within a second, and nothing is left when it is closed", async (row) => {
    const { mode, ending } = row;
    if (mode === "query") {
      const { items, ms, isGoneAtClosed } = await playQuery(ending);
      expect(ms).toBeLessThanOrEqual(1000);
      expect(isGoneAtClosed).toBe(true);
      const codes = items.flatMap((item) => (item.kind === "warning" ? [item.warning.code] : []));
      expect(codes).toEqual(ending.warnings ?? []);
      return;
    }
    const { log, ms, isGoneAtClosed } = await playRun(mode, ending);
    expect(ms).toBeLessThanOrEqual(1000);
    expect(isGoneAtClosed).toBe(true);
    expect(log.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
    expect(ofType(log, "result").map(({ text }) => text)).toEqual(["first"]);
    // A session's process stays for the next message, and what it does meanwhile belongs to that one.
    const isLater = mode === "session, control";
    expect(ofType(log, "warning").map(({ code }) => code)).toEqual(isLater ? [] : (ending.warnings ?? []));
  });

  it.each(["plain", "control"] as const)("%s: a CLI that exits by itself has exited before the end", async (mode) => {
    const played = await playRun(mode, ENDINGS[0] as Ending);
    expect(played).toMatchObject({ wasGoneAtDone: true, ms: 0 });
  });

  it.each(MODES)("F-B5 S1-89: strictExitStatus makes an exit after a good result an error: %s", async (mode) => {
    const ending: Ending = { name: "", after: [{ exit: 7 }] };
    if (mode === "query") {
      const { items } = await playQuery(ending, { strictExitStatus: true });
      expect(items.at(-1)).toMatchObject({ kind: "error", error: { code: "process-exited" } });
      return;
    }
    const { log } = await playRun(mode, ending, { strictExitStatus: true });
    expect(log.at(-1)).toMatchObject({ result: { status: "error", error: { code: "process-exited" } } });
  });

  it.each([
    ["F-B5: an exit", [{ waitMs: 50 }, { exit: 3 }], "non-zero-exit-after-result"],
    [
      "F-B9: a second result",
      [
        { waitMs: 50 },
        writes(result("second")),
        { waitForInput: "line" },
        writes(INIT, says("m2", "hi"), result("ok")),
        { waitForInput: "end" },
      ],
      "unexpected-message-after-result",
    ],
  ] as [string, SpawnStep[], string][])(
    "%s between two messages of a session is reported by the next",
    async (_, steps, code) => {
      let call = 0;
      const place = openScripted(() => {
        call += 1;
        const answer = [greet, { waitForInput: "line" }, writes(INIT, says(`m${call}`, "hi"), result("ok"))] as const;
        return call === 1 ? [...answer, ...steps] : [...answer, { waitForInput: "end" }];
      });
      const seams: World = { ...systemWorld(), clock: place.clock, random: createSeededRandom(5) };
      const session = startSession(place.backend({ mode: "control" }), {}, seams);
      const first = session.send("one");
      await passTime(place, () => first.isComplete());
      await place.clock.advance(100);
      const second = session.send("two");
      const log: AgentEvent[] = [];
      second.on("*", (event) => log.push(event));
      await passTime(place, () => second.isComplete());
      expect(ofType(log, "warning").map((warning) => warning.code)).toEqual([code]);
      expect(ofType(log, "result")).toHaveLength(1);
      expect(await second.result()).toMatchObject({ status: "success" });
      const closing = session.close();
      await place.clock.advance(20_000);
      await closing;
    },
  );

  const RUNS = ["plain", "control"] as const;

  it.each(RUNS)("C2: a sub-agent in the background is awaited, and the last result counts: %s", async (mode) => {
    const ended = { type: "system", subtype: "task_notification", task_id: "agent-1" };
    const { log } = await playRun(mode, {
      name: "",
      before: [AGENT],
      after: [
        { waitMs: 5000 },
        writes(ended, INIT, says("m2", "second"), result("second")),
        { waitForInput: "end" },
        { exit: 0 },
      ],
    });
    expect(ofType(log, "result").map(({ text }) => text)).toEqual(["first", "second"]);
    expect(ofType(log, "warning")).toEqual([]);
    const [, verdict] = ofType(log, "result");
    expect((log.at(-1)?.ts ?? 0) - (verdict?.ts ?? 0)).toBeLessThanOrEqual(1000);
  });

  it.each(RUNS)("F-B4 C2: a shell that ends at once starts a turn that counts: %s", async (mode) => {
    const ended = { type: "system", subtype: "task_notification", task_id: "shell-1" };
    const { log } = await playRun(mode, {
      name: "",
      before: [SHELL],
      after: [
        { waitMs: 200 },
        writes(ended, INIT, says("m2", "second"), result("second")),
        { waitForInput: "end" },
        { exit: 0 },
      ],
    });
    expect(ofType(log, "result").map(({ text }) => text)).toEqual(["first", "second"]);
  });

  it.each(RUNS)("F-B4: a shell that was left running is reported and stopped: %s", async (mode) => {
    const { log, isGoneAtClosed } = await playRun(mode, ENDINGS.at(-1) as Ending);
    expect(ofType(log, "notice").filter(({ kind }) => kind === "background")).toMatchObject([
      { data: { kept: false, shells: [{ id: "shell-1", description: "npm run dev" }] } },
    ]);
    expect(isGoneAtClosed).toBe(true);
  });

  it.each(RUNS)("F-B4: with keepBackground it is reported, and remains until the run is aborted: %s", async (mode) => {
    const { log, ms, isGoneAtClosed } = await playRun(mode, ENDINGS.at(-1) as Ending, { keepBackground: true });
    expect(ofType(log, "notice").filter(({ kind }) => kind === "background")).toMatchObject([{ data: { kept: true } }]);
    expect(ms).toBeLessThanOrEqual(1000);
    // playRun aborts it afterwards, and waits until it is gone.
    expect(isGoneAtClosed).toBe(false);
  });
});
