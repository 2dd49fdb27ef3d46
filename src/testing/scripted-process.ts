import { type Clock, describeThrown, type ProcessExit, type ProcessHandle, type ProcessRequest } from "#domain";
import { createDeferred } from "#streams";
import { createBytePipe } from "./byte-pipe.ts";
import { createInputLines } from "./input-lines.ts";
import type { Bytes, SpawnCall, SpawnStep } from "./scripted-steps.ts";

interface Part {
  readonly steps: readonly SpawnStep[];
  readonly pid: number;
  readonly clock: Clock | undefined;
}

/** A process that follows its script, and the record of what it received. */
export function openScriptedProcess(
  request: ProcessRequest,
  { steps, pid, clock }: Part,
): { readonly handle: ProcessHandle; readonly call: SpawnCall } {
  const stdout = createBytePipe();
  const stderr = createBytePipe();
  const input = createInputLines();
  const signals: string[] = [];
  const ignored = new Set<string>();
  const exit = createDeferred<ProcessExit>();
  let gone = false;
  let endStep = (): void => undefined;

  const die = (how: ProcessExit): void => {
    if (gone) return;
    gone = true;
    input.close();
    stdout.end();
    stderr.end();
    exit.resolve(how);
    endStep();
  };

  const act = async (step: SpawnStep): Promise<void> => {
    if ("write" in step) return give(stdout, step.write);
    if ("stderr" in step) return give(stderr, step.stderr);
    if ("waitForInput" in step) return step.waitForInput === "line" ? void (await input.line()) : input.ended();
    if ("reply" in step) return give(stdout, step.reply(await input.line()));
    if ("waitMs" in step) return wait(clock, step.waitMs);
    if ("closeInput" in step) return input.close();
    if ("ignore" in step) return step.ignore.forEach((signal) => ignored.add(signal));
    if ("hang" in step) return new Promise(() => undefined);
    die(typeof step.exit === "number" ? { code: step.exit, signal: null } : { code: null, signal: step.exit });
  };

  /** A step also ends with its process. */
  const untilOver = (step: Promise<void>): Promise<void> =>
    new Promise((resolve, reject) => {
      endStep = resolve;
      step.then(resolve, reject);
    });

  const play = async (): Promise<void> => {
    for (const step of steps) {
      await untilOver(act(step));
      if (gone) return;
    }
    die({ code: 0, signal: null });
  };

  play().catch((thrown: unknown) => {
    // The test must see a failing script, and the reader must not wait for ever.
    const error = thrown instanceof Error ? thrown : new Error(describeThrown(thrown));
    stdout.fail(new Error(`The script of ${request.executable} failed: ${error.message}`, { cause: error }));
    die({ code: 70, signal: null });
  });

  return {
    handle: {
      pid,
      stdout,
      stderr,
      write: (bytes) => input.write(bytes),
      endInput: () => input.end(),
      kill(signal) {
        if (gone) return;
        signals.push(signal);
        if (!ignored.has(signal)) die({ code: null, signal });
      },
      exit: exit.promise,
    },
    call: {
      ...request,
      args: [...request.args],
      env: { ...request.env },
      get stdin() {
        return input.text();
      },
      get inputEnded() {
        return input.isEnded();
      },
      signals,
      get isGone() {
        return gone;
      },
    },
  };
}

/** A reader that has left does not stop the script: a real process that ignores SIGPIPE continues as well. */
function give(pipe: ReturnType<typeof createBytePipe>, bytes: Bytes): Promise<void> {
  return pipe.write(typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes).catch(() => undefined);
}

function wait(clock: Clock | undefined, ms: number): Promise<void> {
  if (clock === undefined) throw new Error("waitMs needs a clock: createScriptedSpawn(script, { clock })");
  return new Promise((resolve) => clock.after(ms, resolve));
}
