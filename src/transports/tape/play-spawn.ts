import type { ProcessExit, ProcessHandle, ProcessRequest, Spawn } from "#domain";
import { HIDDEN } from "#secrets";
import { handled } from "#streams";
import { findTextDifference } from "./difference.ts";
import { bytesOf, rebuildFailure } from "./tape-line.ts";
import { receive } from "./receive.ts";
import { readRecorded } from "./recorded-answer.ts";
import type { ReplayOrder } from "./replay-order.ts";
import type { TapeEntry } from "./tape.ts";

type SpawnEntry = Extract<TapeEntry, { readonly type: "spawn" }>;
type Numbered = Extract<TapeEntry, { readonly id: number }>;

/** A `Spawn` whose processes are on a tape. `check`: their start and input must equal the recorded ones. */
export function playSpawn(order: ReplayOrder, check: boolean): Spawn {
  const left = order.tape.entries.flatMap((entry, index) => (entry.type === "spawn" ? [{ entry, index }] : []));
  return async (request) => {
    const fitting = left.findIndex(({ entry }) => findDifference(entry, request) === undefined);
    const [taken] = left.splice(Math.max(0, fitting), 1);
    const shown = `the process ${request.executable}`;
    if (taken === undefined) {
      const error = order.mismatch(order.tape.entries.length, `it starts ${shown}, which is not on the tape`);
      order.fail(error);
      throw error;
    }
    const difference = findDifference(taken.entry, request);
    if (check && difference !== undefined) {
      const error = order.mismatch(taken.index, `${shown} is not started as it was: ${difference}`);
      order.fail(error);
      throw error;
    }
    order.perform(taken.entry);
    const { id } = taken.entry;
    const started = await receive(order, `spawned:${id}`, { waitsFor: `${shown} to start` });
    if (started.type === "not-spawned") throw rebuildFailure(started.failure);
    return playHandle(order, { id, check, shown });
  };
}

interface Part {
  readonly id: number;
  readonly check: boolean;
  readonly shown: string;
}

function playHandle(order: ReplayOrder, part: Part): ProcessHandle {
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
    // None: the recorded id may belong to another process now, which must not be signalled.
    pid: undefined,
    stdout: readRecorded(() => receive(order, `stdout:${id}`, { waitsFor: `stdout of ${shown}` })),
    stderr: readRecorded(() => receive(order, `stderr:${id}`, { waitsFor: `stderr of ${shown}` })),
    write: playInput(order, part),
    endInput: () => undefined,
    // The tape determines when the process ends.
    kill: () => undefined,
    exit: handled(
      receive(order, `exit:${id}`, { waitsFor: `the exit of ${shown}` }).then(
        (entry) =>
          gone(entry.type === "exit" ? { code: entry.code, signal: entry.signal } : { code: null, signal: null }),
        // An exit never rejects: ending the replay counts as killing the process.
        () => gone({ code: null, signal: "SIGKILL" }),
      ),
    ),
  };
}

/** Accepts written input in any pieces, however it was split when it was recorded. */
function playInput(order: ReplayOrder, { id, check, shown }: Part): ProcessHandle["write"] {
  const expected = entriesOf(order, id).filter(({ type }) => type === "stdin" || type === "stdin-refused");
  const latin = new TextDecoder("latin1");
  let next = 0;
  let written = "";

  const take = (): Promise<void> => {
    for (let entry = expected[next]; entry?.type === "stdin"; entry = expected[next]) {
      const recorded = latin.decode(bytesOf(entry));
      if (written.length < recorded.length) break;
      const difference = findTextDifference(recorded, written.slice(0, recorded.length));
      if (check && difference !== undefined) {
        const index = order.tape.entries.indexOf(entry);
        const error = order.mismatch(index, `${shown} receives different input than was recorded: ${difference}`);
        order.fail(error);
        throw error;
      }
      written = written.slice(recorded.length);
      next += 1;
      order.perform(entry);
    }
    if (expected[next]?.type !== "stdin-refused") return Promise.resolve();
    next += 1;
    return receive(order, `stdin:${id}`, { waitsFor: `${shown} to take its input` }).then((entry) => {
      if (entry.type === "stdin-refused") throw rebuildFailure(entry.failure);
    });
  };

  return async (bytes) => {
    written += latin.decode(bytes);
    await take();
  };
}

function entriesOf(order: ReplayOrder, id: number): readonly Numbered[] {
  return order.tape.entries.filter((entry): entry is Numbered => "id" in entry && entry.id === id);
}

/** The folder of the executable and the working folder may be those of another machine, so they are not compared. */
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
    // The folders of files that were written for a process depend on the machine.
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
