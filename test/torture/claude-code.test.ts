import { describe, expect, it } from "vitest";
import { describeThrown, type ProcessFamily, type ProcessHandle, type Spawn } from "#domain";
import { assertRunLog, createSeededRandom } from "#testing";
import type { Watchdog } from "#transports";
import { createClaudeCodeBackend } from "../../src/backends/claude-code/backend.ts";
import type { ClaudeCodeWorld } from "../../src/backends/claude-code/launch.ts";
import type { ClaudeCodeOptions } from "../../src/backends/claude-code/options.ts";
import { openQuery } from "../../src/backends/claude-code/query.ts";
import { readLog, sendAsRun, settingsFor } from "../claude-code/place.ts";
import { greet, INIT, openScripted, result, says, type ScriptedPlace, writes } from "../claude-code/scripted.ts";

/** Lets the n-th call of all fallible seams fail; counts them when there is no such call. */
function createFault(failing: number) {
  let calls = 0;
  let failed = "";
  const strike = (name: string): void => {
    calls += 1;
    if (calls !== failing) return;
    failed = name;
    throw new Error(`${name} failed on purpose`);
  };
  return {
    strike,
    calls: () => calls,
    failed: () => failed,
    /** The same function, which may fail before it does anything. */
    wrap:
      <Args extends readonly unknown[], Value>(name: string, call: (...args: Args) => Promise<Value>) =>
      async (...args: Args): Promise<Value> => {
        strike(name);
        return call(...args);
      },
  };
}

type Fault = ReturnType<typeof createFault>;

interface Stage {
  readonly place: ScriptedPlace;
  readonly world: ClaudeCodeWorld;
}

function openStage(fault: Fault): Stage {
  const place = openScripted((request) => {
    if (request.args.includes("--version")) return [{ write: "2.1.197 (Claude Code)\n" }, { exit: 0 }];
    const answer = writes(INIT, says("m1", "Hello."), result("Hello."));
    return request.args.includes("--input-format")
      ? [greet, { waitForInput: "line" }, answer, { waitForInput: "end" }, { exit: 0 }]
      : [{ waitForInput: "end" }, answer, { exit: 0 }];
  });
  const { files } = place.world;
  const spawn: Spawn = fault.wrap("spawn", async (request) => breakHandle(await place.spawn(request), fault));
  const watchdog: Watchdog = {
    guard: fault.wrap("watchdog.guard", async () => undefined),
    follow: () => fault.strike("watchdog.follow"),
    release: () => fault.strike("watchdog.release"),
    close: () => undefined,
  };
  const world: ClaudeCodeWorld = {
    ...place.world,
    spawn,
    watchdog,
    files: {
      ...files,
      read: fault.wrap("files.read", (path) => files.read(path)),
      write: fault.wrap("files.write", (path, bytes) => files.write(path, bytes)),
      remove: fault.wrap("files.remove", (path) => files.remove(path)),
      exists: fault.wrap("files.exists", (path) => files.exists(path)),
      list: fault.wrap("files.list", (path) => files.list(path)),
    },
  };
  return { place, world };
}

const FAMILY: ProcessFamily = {
  controlGroup: undefined,
  onChange: () => undefined,
  look: async () => [],
  killAtOnce: () => undefined,
  close: () => undefined,
};

/** A process whose pipes may break. */
function breakHandle(handle: ProcessHandle, fault: Fault): ProcessHandle {
  async function* read(name: string, stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    fault.strike(name);
    for await (const bytes of stream) {
      yield bytes;
      fault.strike(name);
    }
  }
  return Object.assign(handle, {
    family: FAMILY,
    stdout: read("stdout", handle.stdout),
    stderr: read("stderr", handle.stderr),
    write: fault.wrap("stdin", handle.write.bind(handle)),
  });
}

/** Moves virtual time on until it is over; an hour of it is a hang. */
async function settle<Value>({ clock }: ScriptedPlace, work: Promise<Value>): Promise<Value> {
  let over = false;
  const note = (): void => void (over = true);
  work.then(note, note);
  for (let step = 0; step < 3700 && !over; step += 1) await clock.advance(step < 100 ? 0 : 1000);
  if (!over) throw new Error("It hangs.");
  return work;
}

// Longer than an argument may be, so that a file is written for it.
const OPTIONS: ClaudeCodeOptions = { systemPrompt: "Be brief. ".repeat(20_000) };

const isTyped = (error: unknown): boolean => typeof (error as { code?: unknown } | undefined)?.code === "string";

async function converse({ place, world }: Stage, mode: "plain" | "control"): Promise<void> {
  const backend = createClaudeCodeBackend({ mode, ...OPTIONS }, world);
  const conversation = await settle(place, backend.open(settingsFor({})));
  const run = sendAsRun(conversation, "hello", { clock: place.clock, random: createSeededRandom(3) });
  const { log } = await settle(place, readLog(run));
  assertRunLog([...log]);
  await settle(place, conversation.close());
}

const SCENES: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  plain: (stage) => converse(stage, "plain"),
  control: (stage) => converse(stage, "control"),
  async query({ place, world }) {
    const query = await settle(place, openQuery("hello", OPTIONS, world));
    for (let item = await settle(place, query.next()); item.kind !== "end"; item = await settle(place, query.next()));
    await settle(place, query.close());
  },
};

describe.each(Object.entries(SCENES))("R11: Claude Code, %s, when one call of the world fails", (_name, play) => {
  it("ends every time, with a typed error or as usual, and leaves no timer and no file", async () => {
    const counted = createFault(0);
    await play(openStage(counted));
    expect(counted.calls()).toBeGreaterThan(5);
    const problems: string[] = [];
    for (let failing = 1; failing <= counted.calls(); failing += 1) {
      const fault = createFault(failing);
      const stage = openStage(fault);
      const thrown = await play(stage).then(
        () => undefined,
        (error: unknown) => error,
      );
      const what = `${failing}, ${fault.failed()}: `;
      if (thrown !== undefined && !isTyped(thrown)) problems.push(what + describeThrown(thrown));
      if (stage.place.clock.pending() > 0) problems.push(`${what}a timer is left`);
      // One whose own removal failed may be.
      const files = await stage.place.world.files.list("/tmp");
      if (files.length > 0 && fault.failed() !== "files.remove") problems.push(`${what}a file is left`);
    }
    expect(problems).toEqual([]);
  });
});
