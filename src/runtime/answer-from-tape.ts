import type { RunInput } from "#agents";
import type { Run } from "#run";
import type { Backend } from "#backends";
import { asksPerson, type FileSystem, present, StartError, waitForPerson } from "#domain";
import { createRedactor } from "#secrets";
import { createWirePlayer, openTape, readTape, type Tape, type WirePlayer } from "#transports";
import { isDecision, lineIdentity } from "../backends/claude-code/control/line-identity.ts";
import type { ClaudeCodeWorld } from "../backends/claude-code/world.ts";
import { agentOf } from "./agent-tool.ts";
import { createNotes, type Notes, whileOccupied } from "./answer-notes.ts";
import type { ReplaySource, RunOptions } from "./options.ts";
import type { Target } from "./plan-run.ts";
import { PROVIDERS } from "./providers.ts";
import type { RunCall } from "./record.ts";
import { describeProgram, replaceCalls, secretsOfProgram } from "./record-program.ts";
import type { Tap, World } from "./world.ts";

/** A placeholder for a key: no host receives it. */
const NO_KEY = "answered-from-a-tape";

/**
 * Starts a run whose model answers from `options.replay`: all of the caller's code runs, and only the wire comes from
 * the tape. What the run sends is compared with what was recorded.
 *
 * @throws StartError as the run does, and `invalid-tape` when the tape cannot be read or was recorded with another
 * backend.
 */
export function answerFromTape(
  call: RunCall,
  start: (target: Target, input: RunInput, options: RunOptions, world: World) => Run<unknown>,
): Run<unknown> {
  const { replay = "", ...options } = call.options;
  const source: ReplaySource = typeof replay === "string" ? { tape: replay } : replay;
  const tape = open(source);
  checkBackends(call, tape, nameOf(source));
  const notes = createNotes(source.onDifference ?? "error");
  const player = createWirePlayer(tape, {
    clock: call.world.clock,
    random: call.world.random,
    redactor: redactorOf(call, options),
    goesOn: notes.goesOn,
    protocol: { identity: lineIdentity, mustAgree: isDecision },
  });
  let run: Run<unknown>;
  try {
    run = start(
      occupyCalls(call.target, "target", player) as Target,
      call.input,
      occupyCalls(options, "options", player) as RunOptions,
      playedWorld(call.world, tape, player, notes),
    );
  } catch (error) {
    player.close();
    throw error;
  }
  return run.once("done", () => player.close());
}

function open({ tape, allowTorn, allowEdited }: ReplaySource): Tape {
  const how = { ...present({ allowTorn, allowEdited }) };
  return typeof tape === "string" ? readTape(tape, how) : openTape(tape, how);
}

function nameOf({ tape }: ReplaySource): string {
  return typeof tape === "string" ? tape : "The tape";
}

/** Masks the keys of this run: they are not on the tape, so what is sent is compared without them. */
function redactorOf({ target, world }: RunCall, options: RunOptions) {
  const redactor = createRedactor(world.env);
  for (const secret of secretsOfProgram([target, options], world.env)) redactor.addSecret(secret);
  return redactor;
}

/**
 * Checks that the tape was recorded with a backend of this run.
 * @throws StartError `invalid-tape`, `feature-unavailable`.
 */
function checkBackends({ target, options }: RunCall, tape: Tape, name: string): void {
  refuseMade([target, options.fallback]);
  const now = backendsIn(describeProgram(target, "target"));
  const program = tape.header.program as {
    readonly target?: unknown;
    readonly options?: { readonly fallback?: unknown };
  };
  const then = [...backendsIn(program?.target), ...backendsIn(program?.options?.fallback)];
  if (then.length === 0 || now.some((one) => then.includes(one))) return;
  throw new StartError(
    "invalid-tape",
    `${name} was recorded with ${list(then)}, and this run asks ${list(now)}. Record a tape with ${list(now)}, or run ${list(then)}.`,
  );
}

function list(names: readonly string[]): string {
  return [...new Set(names)].join(", ");
}

/** The backends of a described program, by name and without the model. */
function backendsIn(program: unknown): readonly string[] {
  if (typeof program === "string") return [program.split("/", 1)[0] as string];
  if (Array.isArray(program)) return program.flatMap(backendsIn);
  if (typeof program !== "object" || program === null) return [];
  const { $command, $backend, backend, agents } = program as { readonly [name: string]: unknown };
  if ($command !== undefined) return ["command"];
  if ($backend !== undefined)
    return [`${(($backend as { readonly name?: unknown }).name as string) ?? ""} (created in code)`];
  return [...backendsIn(backend), ...backendsIn(agents)];
}

/** A backend that was made by hand makes its exchanges itself, past any tape. */
function refuseMade(program: unknown): void {
  replaceCalls(program, "", {
    call: (_, given) => given,
    backend(_, { name }: Backend) {
      throw new StartError(
        "feature-unavailable",
        `replay is not available on ${name}: the backend was created in code, and its exchanges are on no tape. Give it by name, such as "${name}/<model>".`,
      );
    },
  });
}

/** The caller's functions unchanged, except that time passes normally while one runs. */
function occupyCalls(value: unknown, path: string, player: WirePlayer): unknown {
  return replaceCalls(value, path, {
    call(_, call) {
      // An agent inside a tool call is part of the run like any other.
      if (agentOf(call) !== undefined) return call;
      function occupying(this: unknown, ...args: unknown[]): unknown {
        return whileOccupied(player, () => Reflect.apply(call, this, args));
      }
      return asksPerson(call) ? waitForPerson(occupying) : occupying;
    },
    backend: (_, backend) => backend,
  });
}

function playedWorld(real: World, tape: Tape, player: WirePlayer, notes: Notes): World {
  const files = occupyFiles(real.files, player);
  const tap: Tap = {
    real,
    isPlayed: true,
    exchange: () => player.fetch,
    take: (_, take) => take(real),
    claudeCode: (machine) => playedMachine(machine, player),
    // Loaded on demand: very few runs are answered from a tape.
    around: (source) => async (writer) => {
      const { playSource } = await import("./answer-source.ts");
      await playSource(source, player, notes)(writer);
    },
  };
  return {
    ...real,
    clock: player.clock,
    random: player.random,
    fetch: player.fetch,
    spawn: player.spawn,
    files,
    env: variablesOf(real, tape),
    tap,
  };
}

/** Addresses and the location of a CLI come from the recording; a missing key is replaced by a placeholder. */
function variablesOf({ env }: World, { header }: Tape): World["env"] {
  const recorded = (header.program as { readonly env?: unknown } | undefined)?.env;
  const keys = Object.values(PROVIDERS).flatMap(({ keyVariables }) => keyVariables.slice(0, 1));
  const own = Object.entries(env).filter(([name]) => !name.endsWith("_BASE_URL"));
  return {
    ...Object.fromEntries(keys.map((name) => [name, NO_KEY])),
    ...Object.fromEntries(own.filter(([, value]) => (value ?? "").trim() !== "")),
    ...(typeof recorded === "object" && recorded !== null ? (recorded as Readonly<Record<string, string>>) : {}),
  };
}

function occupyFiles(files: FileSystem, player: WirePlayer): FileSystem {
  const during = Object.entries(files).map(([name, call]: [string, (...given: unknown[]) => unknown]) => [
    name,
    (...given: unknown[]) => whileOccupied(player, () => call(...given)),
  ]);
  return Object.fromEntries(during) as FileSystem;
}

/** A machine on which the CLI is installed, whatever is installed here. Nothing is written to it. */
function playedMachine(machine: ClaudeCodeWorld, player: WirePlayer): ClaudeCodeWorld {
  let written = 0;
  return {
    ...machine,
    temporaryFolder: "/millrace-replay",
    probe: async () => "executable",
    watchdog: undefined,
    processes: undefined,
    stop: async (handle) => {
      handle.kill("SIGKILL");
      return { how: "killed", survivors: [] };
    },
    files: {
      ...machine.files,
      async write(_path, bytes) {
        written += 1;
        await player.compareFile(written, new TextDecoder().decode(bytes));
      },
      remove: async () => undefined,
    },
  };
}
