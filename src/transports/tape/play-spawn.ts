import type { ProcessExit, ProcessHandle, ProcessRequest, Spawn } from "#domain";
import { HIDDEN } from "#secrets";
import { handled } from "#streams";
import { findTextDifference } from "./difference.ts";
import { rebuildFailure } from "./rebuild-failure.ts";
import { receive } from "./receive.ts";
import { readRecorded } from "./recorded-answer.ts";
import type { Stage } from "./replay-order.ts";
import type { TapeEntry } from "./tape.ts";
import { bytesOf } from "./tape-line.ts";

type SpawnEntry = Extract<TapeEntry, { readonly type: "spawn" }>;
type Numbered = Extract<TapeEntry, { readonly id: number }>;

/** A `Spawn` whose processes are on a tape. `check`: they must be started and fed as they were. */
export function playSpawn(stage: Stage, check: boolean): Spawn {
  const left = stage.tape.entries.flatMap((entry, index) => (entry.type === "spawn" ? [{ entry, index }] : []));
  return async (request) => {
    const fitting = left.findIndex(({ entry }) => findDifference(entry, request) === undefined);
    const [taken] = left.splice(Math.max(0, fitting), 1);
    const shown = `the process ${request.executable}`;
    if (taken === undefined) {
      const error = stage.mismatch(stage.tape.entries.length, `it starts ${shown}, which is not on the tape`);
      stage.fail(error);
      throw error;
    }
    const difference = findDifference(taken.entry, request);
    if (check && difference !== undefined) {
      const error = stage.mismatch(taken.index, `${shown} is not started as it was: ${difference}`);
      stage.fail(error);
      throw error;
    }
    stage.perform(taken.entry);
    const { id } = taken.entry;
    const started = await receive(stage, `spawned:${id}`, { waitsFor: `${shown} to start` });
    if (started.type === "not-spawned") throw rebuildFailure(started.failure);
    return playHandle(stage, { id, check, shown });
  };
}

interface Part {
  readonly id: number;
  readonly check: boolean;
  readonly shown: string;
}

function playHandle(stage: Stage, part: Part): ProcessHandle {
  const { id, shown } = part;
  let isRunning = true;
  const gone = (exit: ProcessExit): ProcessExit => {
    isRunning = false;
    return exit;
  };
  return {
    get isRunning() {
      return isRunning;
    },
    // None: whoever has it now is somebody else, and must not be sent signals.
    pid: undefined,
    stdout: readRecorded(() => receive(stage, `stdout:${id}`, { waitsFor: `stdout of ${shown}` })),
    stderr: readRecorded(() => receive(stage, `stderr:${id}`, { waitsFor: `stderr of ${shown}` })),
    write: playInput(stage, part),
    endInput: () => undefined,
    // The tape knows when the process is gone.
    kill: () => undefined,
    exit: handled(
      receive(stage, `exit:${id}`, { waitsFor: `the exit of ${shown}` }).then(
        (entry) =>
          gone(entry.type === "exit" ? { code: entry.code, signal: entry.signal } : { code: null, signal: null }),
        // An exit never rejects: whoever ends the play has killed the process.
        () => gone({ code: null, signal: "SIGKILL" }),
      ),
    ),
  };
}

/** Takes what is written piece by piece, however it was cut when it was recorded. */
function playInput(stage: Stage, { id, check, shown }: Part): ProcessHandle["write"] {
  const expected = entriesOf(stage, id).filter(({ type }) => type === "stdin" || type === "stdin-refused");
  const latin = new TextDecoder("latin1");
  let next = 0;
  let written = "";

  const take = (): Promise<void> => {
    for (let entry = expected[next]; entry?.type === "stdin"; entry = expected[next]) {
      const recorded = latin.decode(bytesOf(entry));
      if (written.length < recorded.length) break;
      const difference = findTextDifference(recorded, written.slice(0, recorded.length));
      if (check && difference !== undefined) {
        const index = stage.tape.entries.indexOf(entry);
        const error = stage.mismatch(index, `${shown} is not told what it was told: ${difference}`);
        stage.fail(error);
        throw error;
      }
      written = written.slice(recorded.length);
      next += 1;
      stage.perform(entry);
    }
    if (expected[next]?.type !== "stdin-refused") return Promise.resolve();
    next += 1;
    return receive(stage, `stdin:${id}`, { waitsFor: `${shown} to take its input` }).then((entry) => {
      if (entry.type === "stdin-refused") throw rebuildFailure(entry.failure);
    });
  };

  return async (bytes) => {
    written += latin.decode(bytes);
    await take();
  };
}

function entriesOf(stage: Stage, id: number): readonly Numbered[] {
  return stage.tape.entries.filter((entry): entry is Numbered => "id" in entry && entry.id === id);
}

/** The folder an executable stands in, and the folder it works in, are those of another machine. */
function findDifference(entry: SpawnEntry, request: ProcessRequest): string | undefined {
  const executable = findTextDifference(fileName(entry.executable), fileName(request.executable));
  if (executable !== undefined) return `the executable was ${entry.executable}`;
  if (entry.args.length !== request.args.length) {
    return `there were ${entry.args.length} arguments, and now there are ${request.args.length}`;
  }
  for (const [index, recorded] of entry.args.entries()) {
    const sent = request.args[index] ?? "";
    if (
      recorded === HIDDEN ||
      (recorded.endsWith(`=${HIDDEN}`) && sent.startsWith(recorded.slice(0, -HIDDEN.length)))
    ) {
      continue;
    }
    // Files for a process lie where this machine has room for them.
    const isPath = recorded.startsWith("/") && sent.startsWith("/");
    const difference = isPath
      ? findTextDifference(fileName(recorded), fileName(sent))
      : findTextDifference(recorded, sent);
    if (difference !== undefined) return `argument ${index + 1}: ${difference}`;
  }
  return undefined;
}

function fileName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}
