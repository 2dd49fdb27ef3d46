import type { Run } from "#run";
import type { AgentEvent, Clock, Fetch, FileSystem, ProcessFamily, ProcessHandle, Random } from "#domain";
import { describeThrown } from "#domain";
import { createEmulator, type EmulatorScript } from "#emulator";
import { type RunOptions, startRun, type Target, type World } from "#runtime";
import {
  createMemoryFiles,
  createScriptedSpawn,
  createSeededRandom,
  createVirtualClock,
  type ScriptedSpawn,
  type SpawnScript,
  type VirtualClock,
} from "#testing";
import type { Watchdog } from "#transports";
import type { ClaudeCodeWorld } from "../../src/backends/claude-code/world.ts";
import type { Fault } from "./fault.ts";

/** A world any call of which may fail, and what is still open in it. */
export interface Stage {
  readonly fault: Fault;
  /** The time that passes, whatever the clock of the world says. */
  readonly clock: VirtualClock;
  readonly world: World;
  readonly claudeCode: ClaudeCodeWorld;
  /** The files themselves, which never fail. */
  readonly disk: FileSystem;
  /** The processes that were started. */
  readonly spawned: ScriptedSpawn;
  /** Every log that came to its end, as its reader saw it. */
  readonly logs: AgentEvent[][];
  /** Everything that was said beside events: to listeners, in a server's log, in a refusal. */
  readonly notes: string[];
  /** Notes a failure that was told to the caller. */
  note(thrown: unknown): void;
  /** Reads a run to its end and until nothing of it is left. */
  read(run: Run<unknown>): Promise<void>;
  /** Starts a run and reads it. */
  run(target: Target, input: string, options?: RunOptions): Promise<void>;
  /** Something that has to be closed by the end; the function it gives closes it. */
  open(what: string): () => void;
  /** What was left open, in words. */
  leftovers(): Promise<string[]>;
}

export interface StageOptions {
  /** What the model host says. */
  readonly host?: EmulatorScript | undefined;
  /** What processes do. */
  readonly processes?: SpawnScript | undefined;
}

export const KEYS = {
  ANTHROPIC_API_KEY: "test-key",
  ANTHROPIC_BASE_URL: "http://offline.test",
  OPENAI_API_KEY: "test-key",
  OPENAI_BASE_URL: "http://offline.test/v1",
  GEMINI_API_KEY: "test-key",
  GOOGLE_GEMINI_BASE_URL: "http://offline.test",
};

/** An hour by which the clock of the machine is set. */
const SET_MS = 3_600_000;
/** By how much a timer is late when the machine was asleep. */
const LATE_MS = 60_000;

export function createStage(fault: Fault, { host, processes = [] }: StageOptions): Stage {
  const clock = createVirtualClock(1_700_000_000_000);
  const openThings = new Map<string, number>();
  const open = (what: string): (() => void) => {
    openThings.set(what, (openThings.get(what) ?? 0) + 1);
    let isOpen = true;
    return () => {
      if (isOpen) openThings.set(what, (openThings.get(what) ?? 0) - 1);
      isOpen = false;
    };
  };
  const notes: string[] = [];
  const logs: AgentEvent[][] = [];
  const note = (thrown: unknown): void => void notes.push(describeChain(thrown));
  const faultyClock = breakClock(clock, fault);
  const random = breakRandom(createSeededRandom(7), fault);
  const memory = createMemoryFiles();
  const files = breakFiles(memory, fault);
  const emulator = createEmulator({
    clock,
    random: createSeededRandom(3),
    ...(host !== undefined && { script: cutIntoPieces(host) }),
  });
  const spawned = createScriptedSpawn(processes, { clock });
  const spawn = fault.wrap("spawn", async (request: Parameters<typeof spawned>[0]) =>
    breakProcess(await spawned(request), request.args.includes("--version") ? " of a version check" : "", fault, open),
  );
  const world: World = {
    clock: faultyClock,
    random,
    fetch: breakFetch(emulator.fetch, fault, open),
    spawn,
    files,
    env: KEYS,
    onListenerError: note,
    onCleanUpFailure: note,
  };
  const read = async (run: Run<unknown>): Promise<void> => {
    const log: AgentEvent[] = [];
    logs.push(log);
    for await (const event of run) {
      log.push(event);
      // A person who says no after a while: what cannot be decided for certain is asked.
      if (event.type === "permission" && event.state === "asked") {
        clock.after(1000, () => void run.answer(event.callId, { allow: false, reason: "I cannot tell." }));
      }
    }
    await run.closed;
  };
  return {
    fault,
    clock,
    world,
    claudeCode: {
      clock: faultyClock,
      random,
      spawn,
      files,
      // By its contract it never rejects: what cannot be looked at is missing.
      probe: async () => (fault.reach("probe") ? "missing" : "executable"),
      env: { PATH: "/usr/bin", HOME: "/home/user" },
      cwd: "/work",
      temporaryFolder: "/tmp",
      processes: undefined,
      watchdog: createFaultyWatchdog(fault, open),
    },
    disk: memory,
    spawned,
    logs,
    notes,
    note,
    read,
    run: (target, input, options = {}) => read(startRun(target, input, options, world)),
    open,
    async leftovers() {
      const left = [...openThings].filter(([, count]) => count !== 0).map(([what, count]) => `${count} × ${what}`);
      if (clock.pending() > 0) left.push(`${clock.pending()} × timer`);
      const living = spawned.calls.filter(({ isGone }) => !isGone).length;
      if (living > 0) left.push(`${living} × process`);
      for (const name of await memory.list("/tmp")) left.push(`the file /tmp/${name}`);
      return left;
    },
  };
}

/** A host that sends its answers bit by bit: a connection may then break in many places. */
function cutIntoPieces({ rules, ...rest }: EmulatorScript): EmulatorScript {
  return { ...rest, rules: rules.map((rule) => ({ ...rule, fault: { pieceBytes: 200, ...rule.fault } })) };
}

/** An error with its causes: one of them may be the only place where the failure is named. */
function describeChain(thrown: unknown): string {
  const words: string[] = [];
  for (let error = thrown, depth = 0; error !== undefined && error !== null && depth < 5; depth += 1) {
    words.push(describeThrown(error));
    error = (error as { cause?: unknown }).cause;
  }
  return words.join(": ");
}

/** Time that is set back or ahead by an hour, and timers that fire a minute late. None of them throws. */
function breakClock(clock: VirtualClock, fault: Fault): Clock {
  let setBy = 0;
  return {
    now() {
      if (fault.reach("clock, set back")) setBy = -SET_MS;
      if (fault.reach("clock, set ahead")) setBy = SET_MS;
      return clock.now() + setBy;
    },
    after: (ms, fire) => clock.after(fault.reach("clock, late timer") ? ms + LATE_MS : ms, fire),
  };
}

/** The seams that disturb without a failure that could be named. */
export const DISTURBANCES: ReadonlySet<string> = new Set(["clock, set back", "clock, set ahead", "clock, late timer"]);

function breakRandom(random: Random, fault: Fault): Random {
  return {
    next() {
      fault.strike("random.next");
      return random.next();
    },
    id() {
      fault.strike("random.id");
      return random.id();
    },
  };
}

function breakFiles(files: FileSystem, fault: Fault): FileSystem {
  return {
    read: fault.wrap("files.read", (path) => files.read(path)),
    write: fault.wrap("files.write", (path, bytes) => files.write(path, bytes)),
    append: fault.wrap("files.append", (path, bytes) => files.append(path, bytes)),
    makePrivate: fault.wrap("files.makePrivate", (path) => files.makePrivate(path)),
    exists: fault.wrap("files.exists", (path) => files.exists(path)),
    remove: fault.wrap("files.remove", (path) => files.remove(path)),
    list: fault.wrap("files.list", (path) => files.list(path)),
    realPath: fault.wrap("files.realPath", (path) => files.realPath(path)),
  };
}

type Open = Stage["open"];

function breakFetch(fetch: Fetch, fault: Fault, open: Open): Fetch {
  return fault.wrap("fetch", async (request) => {
    const response = await fetch(request);
    return { ...response, body: breakBody(response.body, fault, open) };
  });
}

/** A connection that may break before each of its pieces, and has to be read to its end or left. */
function breakBody(body: AsyncIterable<Uint8Array>, fault: Fault, open: Open): AsyncIterable<Uint8Array> {
  const close = open("answer of a host");
  return {
    [Symbol.asyncIterator]() {
      const pieces = body[Symbol.asyncIterator]();
      return {
        async next() {
          try {
            fault.strike("body");
            const piece = await pieces.next();
            if (piece.done === true) close();
            return piece;
          } catch (error) {
            // A connection that broke is closed.
            close();
            throw error;
          }
        },
        async return() {
          close();
          await pieces.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/** A process whose pipes may break, and which may not be signalled. */
function breakProcess(handle: ProcessHandle, whose: string, fault: Fault, open: Open): ProcessHandle {
  async function* read(name: string, stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    fault.strike(name);
    for await (const bytes of stream) {
      yield bytes;
      fault.strike(name);
    }
  }
  const close = open("family of a process");
  const family: ProcessFamily = {
    controlGroup: undefined,
    onChange: () => undefined,
    look: async () => [],
    killAtOnce: () => undefined,
    close,
  };
  return Object.assign(handle, {
    family,
    stdout: read(`stdout${whose}`, handle.stdout),
    stderr: read(`stderr${whose}`, handle.stderr),
    write: fault.wrap(`stdin${whose}`, handle.write.bind(handle)),
  });
}

function createFaultyWatchdog(fault: Fault, open: Open): Watchdog {
  const guarded = new Map<string, () => void>();
  return {
    async guard({ value }) {
      fault.strike("watchdog.guard");
      guarded.set(value, open("process guarded by the watchdog"));
    },
    follow: () => fault.strike("watchdog.follow"),
    release({ value }) {
      // Released all the same: what is asked of it twice is what counts.
      guarded.get(value)?.();
      fault.strike("watchdog.release");
    },
    close: () => undefined,
  };
}
