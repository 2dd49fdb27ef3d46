import type { ProcessHandle, Spawn } from "#domain";
import type { RecorderContext } from "./recorder-context.ts";
import type { StreamMask } from "#secrets";
import { keepFailure } from "./tape-line.ts";

/** Records every process of a `Spawn`: its start, both directions of its streams, signals and its exit. */
export function recordSpawn(seam: Spawn, context: RecorderContext): Spawn {
  const { log, redactor } = context;
  return async (request) => {
    const id = context.nextId();
    for (const [name, value] of Object.entries(request.env)) redactor.addVariable(name, value);
    const executable = redactor.text(request.executable);
    const args = redactor.args(request.args);
    const env = Object.keys(request.env).sort();
    const { cwd } = request;
    log.add({ type: "spawn", id, executable, args, ...(cwd !== undefined && { cwd }), env }, context.place());
    let handle: ProcessHandle;
    try {
      handle = await seam(request);
    } catch (thrown) {
      log.add({ type: "not-spawned", id, failure: keepFailure(thrown, redactor.text) }, context.place());
      throw thrown;
    }
    const { pid } = handle;
    log.add({ type: "spawned", id, ...(pid !== undefined && { pid }) }, context.place());
    return recordHandle(handle, id, context);
  };
}

function recordHandle(handle: ProcessHandle, id: number, context: RecorderContext): ProcessHandle {
  const { log } = context;
  const input = context.redactor.stream();
  return {
    pid: handle.pid,
    startTicks: handle.startTicks,
    family: handle.family,
    get isRunning() {
      return handle.isRunning;
    },
    stdout: recordOutput(handle.stdout, { type: "stdout", id }, context),
    stderr: recordOutput(handle.stderr, { type: "stderr", id }, context),
    async write(bytes) {
      log.addPiece({ type: "stdin", id }, context.place(), bytes, input);
      try {
        await handle.write(bytes);
      } catch (thrown) {
        settle(input, context);
        log.add({ type: "stdin-refused", id, failure: keepFailure(thrown, context.redactor.text) }, context.place());
        throw thrown;
      }
    },
    endInput() {
      settle(input, context);
      log.add({ type: "stdin-end", id }, context.place());
      handle.endInput();
    },
    kill(signal) {
      log.add({ type: "kill", id, signal }, context.place());
      handle.kill(signal);
    },
    exit: handle.exit.then((exit) => {
      settle(input, context);
      log.add({ type: "exit", id, code: exit.code, signal: exit.signal }, context.place());
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
  context: RecorderContext,
): AsyncIterable<Uint8Array> {
  const mask = context.redactor.stream();
  return {
    [Symbol.asyncIterator]() {
      const pieces = bytes[Symbol.asyncIterator]();
      return {
        async next() {
          try {
            const pulled = await pieces.next();
            if (pulled.done !== true) {
              context.log.addPiece(output, context.place(), pulled.value, mask);
              return pulled;
            }
          } catch (thrown) {
            settle(mask, context);
            const failure = keepFailure(thrown, context.redactor.text);
            context.log.add({ type: `${output.type}-end`, id: output.id, failure }, context.place());
            throw thrown;
          }
          settle(mask, context);
          context.log.add({ type: `${output.type}-end`, id: output.id }, context.place());
          return { done: true, value: undefined };
        },
        async return() {
          settle(mask, context);
          await pieces.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

function settle(mask: StreamMask, context: RecorderContext): void {
  mask.settle(true);
  context.log.flush();
}
