import type { ProcessHandle, Spawn } from "#domain";
import type { RecorderContext } from "./recorder-context.ts";
import type { StreamMask } from "#secrets";
import { keepFailure } from "./tape-line.ts";

/** Records every process of a `Spawn`: how it was started, both directions of its streams, signals and its exit. */
export function recordSpawn(seam: Spawn, desk: RecorderContext): Spawn {
  const { log, redactor } = desk;
  return async (request) => {
    const id = desk.nextId();
    for (const [name, value] of Object.entries(request.env)) redactor.addVariable(name, value);
    const executable = redactor.text(request.executable);
    const args = redactor.args(request.args);
    const env = Object.keys(request.env).sort();
    const { cwd } = request;
    log.add({ type: "spawn", id, executable, args, ...(cwd !== undefined && { cwd }), env }, desk.place());
    let handle: ProcessHandle;
    try {
      handle = await seam(request);
    } catch (thrown) {
      log.add({ type: "not-spawned", id, failure: keepFailure(thrown, redactor.text) }, desk.place());
      throw thrown;
    }
    const { pid } = handle;
    log.add({ type: "spawned", id, ...(pid !== undefined && { pid }) }, desk.place());
    return recordHandle(handle, id, desk);
  };
}

function recordHandle(handle: ProcessHandle, id: number, desk: RecorderContext): ProcessHandle {
  const { log } = desk;
  const input = desk.redactor.stream();
  return {
    pid: handle.pid,
    startTicks: handle.startTicks,
    family: handle.family,
    get isRunning() {
      return handle.isRunning;
    },
    stdout: recordOutput(handle.stdout, { type: "stdout", id }, desk),
    stderr: recordOutput(handle.stderr, { type: "stderr", id }, desk),
    async write(bytes) {
      log.addPiece({ type: "stdin", id }, desk.place(), bytes, input);
      try {
        await handle.write(bytes);
      } catch (thrown) {
        settle(input, desk);
        log.add({ type: "stdin-refused", id, failure: keepFailure(thrown, desk.redactor.text) }, desk.place());
        throw thrown;
      }
    },
    endInput() {
      settle(input, desk);
      log.add({ type: "stdin-end", id }, desk.place());
      handle.endInput();
    },
    kill(signal) {
      log.add({ type: "kill", id, signal }, desk.place());
      handle.kill(signal);
    },
    exit: handle.exit.then((exit) => {
      settle(input, desk);
      log.add({ type: "exit", id, code: exit.code, signal: exit.signal }, desk.place());
      return exit;
    }),
  };
}

interface Output {
  readonly type: "stdout" | "stderr";
  readonly id: number;
}

function recordOutput(
  bytes: AsyncIterable<Uint8Array>,
  output: Output,
  desk: RecorderContext,
): AsyncIterable<Uint8Array> {
  const mask = desk.redactor.stream();
  return {
    [Symbol.asyncIterator]() {
      const pieces = bytes[Symbol.asyncIterator]();
      return {
        async next() {
          try {
            const pulled = await pieces.next();
            if (pulled.done !== true) {
              desk.log.addPiece(output, desk.place(), pulled.value, mask);
              return pulled;
            }
          } catch (thrown) {
            settle(mask, desk);
            const failure = keepFailure(thrown, desk.redactor.text);
            desk.log.add({ type: `${output.type}-end`, id: output.id, failure }, desk.place());
            throw thrown;
          }
          settle(mask, desk);
          desk.log.add({ type: `${output.type}-end`, id: output.id }, desk.place());
          return { done: true, value: undefined };
        },
        async return() {
          settle(mask, desk);
          await pieces.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

function settle(mask: StreamMask, desk: RecorderContext): void {
  mask.settle(true);
  desk.log.flush();
}
