import type { RunInput } from "#agents";
import { ChunkMask, type Run, type RunSource } from "#run";
import { asksPerson, type Chunk, describeThrown, type FileSystem, present, StartError, waitForPerson } from "#domain";
import { createSecretMask } from "#secrets";
import { artifactState, documentsState, toJsonValue } from "#tools";
import { createRecorder, createTapeFile, type Recorder, type TapeFile } from "#transports";
import type { Backend, ModelBackend } from "#backends";
import { agentOf, carryAgent } from "./agent-tool.ts";
import type { RunOptions } from "./options.ts";
import type { Target } from "./plan-run.ts";
import { describeProgram, replaceCalls, secretsOfProgram } from "./record-program.ts";
import type { Tap, World } from "./world.ts";

/** A run that is to be started. */
export interface RunCall {
  readonly target: Target;
  readonly input: RunInput;
  readonly options: RunOptions;
  readonly world: World;
}

/**
 * Starts a run and writes its tape into `options.record`: what is sent and received, the answers of callbacks,
 * decisions, times. Recording does not change the run. Secrets are masked before anything is written.
 *
 * @throws StartError as the run does, and `invalid-option` when the file exists already or cannot be created.
 */
export function recordRun(
  call: RunCall,
  start: (target: Target, input: RunInput, options: RunOptions, world: World) => Run<unknown>,
): Run<unknown> {
  const { record: path, ...options } = call.options;
  const secrets = secretsOfProgram([call.target, options], call.world.env);
  const recording = recordWorld(call.world, path ?? "", {
    secrets,
    program: {
      target: describeProgram(call.target, "target"),
      input: call.input,
      options: describeProgram(options, "options"),
      env: relevantVariables(call),
    },
  });
  const { recorder } = recording;
  const run = start(
    tapCalls(call.target, "target", recorder, secrets) as Target,
    call.input,
    tapCalls(options, "options", recorder, secrets) as RunOptions,
    recording.world,
  );
  try {
    recording.open();
  } catch (error) {
    // The source has not begun, so nothing was started.
    run.abort("The tape cannot be written.").catch(() => undefined);
    throw error;
  }
  // The first listener, so that the tape is complete before any other listener receives `done`.
  return run.once("done", () => recording.finish());
}

export interface Recording {
  /** The same world, recorded. */
  readonly world: World;
  readonly recorder: Recorder;
  /**
   * Creates the file and writes what was recorded so far.
   * @throws StartError `invalid-option`.
   */
  open(): void;
  /** Writes the end. Idempotent; never throws. A failed recording is reported to `onListenerError`. */
  finish(): void;
}

export interface RecordingOptions {
  readonly secrets?: readonly string[];
  readonly program?: unknown;
}

/** Records everything that a program takes from a world and passes to it. */
export function recordWorld(world: World, path: string, options: RecordingOptions = {}): Recording {
  let file: TapeFile | undefined;
  let isFinished = false;
  const early: string[] = [];
  const recorder = createRecorder({
    clock: world.clock,
    random: world.random,
    env: world.env,
    toJson: toJsonValue,
    write: (line) => (file === undefined ? void early.push(line) : file.write(line)),
    ...options,
  });
  const tap = createRecordingTap(world, recorder);
  return {
    recorder,
    world: {
      ...world,
      clock: recorder.clock,
      random: recorder.random,
      fetch: recorder.fetch(world.fetch),
      spawn: recorder.spawn(world.spawn),
      files: tapFiles(world.files, tap),
      tap,
    },
    open() {
      file ??= createTapeFile(path);
      try {
        for (const line of early.splice(0)) file.write(line);
      } catch (error) {
        file.close();
        const why = `record is "${path}", but it cannot be written: ${describeThrown(error)}. Give the path of another file.`;
        throw new StartError("invalid-option", why, { cause: error });
      }
    },
    finish() {
      if (isFinished) return;
      isFinished = true;
      const failure = recorder.finish();
      file?.close();
      if (failure !== undefined) world.onListenerError(failure);
    },
  };
}

function createRecordingTap(real: World, recorder: Recorder): Tap {
  const number = createNumbers();
  const take: Tap["take"] = (key, act) => recorder.callback(number(key), () => act(real));
  return {
    real,
    isPlayed: false,
    exchange: (fetch) => recorder.fetch(fetch),
    take,
    around:
      (source): RunSource =>
      async (writer) => {
        const unwatch = recorder.watchAbort(writer.signal);
        try {
          await source({
            ...writer,
            async ask(callId) {
              const decision = await writer.ask(callId);
              // After an abort, the answer is not a decision.
              if (!writer.signal.aborted) recorder.decision(callId, decision);
              return decision;
            },
            canAnswer: () => take("can-answer", () => writer.canAnswer?.() !== false),
          });
        } finally {
          unwatch();
        }
      },
  };
}

/** Files through a tap. Bytes are stored as base64. */
export function tapFiles(files: FileSystem, tap: Pick<Tap, "take">): FileSystem {
  return {
    async read(path) {
      const base64 = await tap.take("files.read", async () => Buffer.from(await files.read(path)).toString("base64"));
      return new Uint8Array(Buffer.from(base64, "base64"));
    },
    async write(path, bytes) {
      // The written content is kept, because a process may read it.
      await tap.take("files.write", async () => {
        await files.write(path, bytes);
        return { text: new TextDecoder().decode(bytes) };
      });
    },
    append: (path, bytes) => tap.take("files.append", () => files.append(path, bytes)),
    makePrivate: (path, kind) => tap.take("files.makePrivate", () => files.makePrivate(path, kind)),
    exists: (path) => tap.take("files.exists", () => files.exists(path)),
    remove: (path) => tap.take("files.remove", () => files.remove(path)),
    list: (path) => tap.take("files.list", () => files.list(path)),
    realPath: (path) => tap.take("files.realPath", () => files.realPath(path)),
  };
}

/** Numbers the calls of each name. */
export function createNumbers(): (name: string) => string {
  const counts = new Map<string, number>();
  return (name) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return `${name}#${count}`;
  };
}

function tapCalls(value: unknown, path: string, recorder: Recorder, secrets: readonly string[]): unknown {
  const number = createNumbers();
  return replaceCalls(value, path, {
    call(place, call) {
      function recorded(this: unknown, ...args: unknown[]): unknown {
        const key = number(place);
        return recorder.callback(key, () => Reflect.apply(call, this, withProgress(args, key, recorder)));
      }
      const one = agentOf(call);
      if (one !== undefined) return carryAgent(one, recorded);
      return asksPerson(call) ? waitForPerson(recorded) : recorded;
    },
    backend: (place, backend) => tapBackend(place, backend, recorder, secrets),
  });
}

/** A tool reports its progress through its second argument. */
function withProgress(args: readonly unknown[], key: string, recorder: Recorder): readonly unknown[] {
  const [input, context, ...rest] = args;
  if (typeof context !== "object" || context === null || !("progress" in context)) return args;
  const { progress } = context as { readonly progress: (state: unknown) => void };
  const tapped = (state: unknown): void => {
    recorder.progress(key, state);
    progress(state);
  };
  const reports = {
    artifact: (artifact: unknown) => tapped(artifactState(artifact)),
    documents: (documents: unknown) => tapped(documentsState(documents)),
  };
  return [input, { ...context, progress: tapped, ...reports }, ...rest];
}

/** A backend made by hand has its own seams, so its output is recorded instead. */
function tapBackend(path: string, backend: Backend, recorder: Recorder, known: readonly string[]): ModelBackend {
  const model = backend as ModelBackend;
  const number = createNumbers();
  const { name, ignores, nativeOutput, secrets, hasKnownPrices } = model;
  return {
    kind: "model",
    name,
    model: model.model,
    ...present({ ignores, secrets, hasKnownPrices }),
    ...(tapCalls({ nativeOutput }, path, recorder, known) as Pick<ModelBackend, "nativeOutput">),
    async *stream(request, signal) {
      const key = number(`${path}.stream`);
      const mask = createSecretMask(known);
      // The recorded pieces of a text must not join to a secret either.
      const shown = mask === undefined ? undefined : new ChunkMask(mask);
      const keep = (at: number, chunks: readonly Chunk[] | null): Promise<unknown> =>
        recorder.callback(`${key}/${at}`, async () => chunks?.map(withoutBytes) ?? null);
      const batches = model.stream(request, signal)[Symbol.asyncIterator]();
      let turn = 0;
      const next = (): number => (turn += 1) - 1;
      const keepRest = async (): Promise<void> => {
        const rest = shown?.end() ?? [];
        if (rest.length > 0) await keep(next(), rest);
      };
      try {
        for (;;) {
          const pulled = await batches.next().catch(async (thrown: unknown) => {
            await keepRest();
            return recorder.callback(`${key}/${turn}`, () => Promise.reject(thrown));
          });
          if (pulled.done === true) {
            await keepRest();
            await keep(turn, null);
            return;
          }
          await keep(next(), shown?.pass(pulled.value) ?? pulled.value);
          yield pulled.value;
        }
      } finally {
        await batches.return?.();
      }
    },
  };
}

function withoutBytes(chunk: Chunk): unknown {
  return chunk.raw === undefined ? chunk : { ...chunk, raw: { json: chunk.raw.json } };
}

/**
 * The variables that say where things are: addresses, and for a run with a CLI the folders it is searched in. None of
 * them is a secret; a secret inside an address is masked like everything else.
 */
function relevantVariables({ target, options, world }: RunCall): Readonly<Record<string, string>> {
  const needsPath = JSON.stringify(describeProgram([target, options.fallback], "")).includes('"claude-code');
  const kept: [string, string][] = [];
  for (const [name, value] of Object.entries(world.env)) {
    const isRelevant = name.endsWith("_BASE_URL") || (needsPath && name.toUpperCase() === "PATH");
    if (value !== undefined && isRelevant) kept.push([name, value]);
  }
  return Object.fromEntries(kept);
}
