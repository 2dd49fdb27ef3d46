import { type AgentEvent, checkOptionNames, type Message, StartError } from "#domain";
import { type KeptFiles, readInput, type RunInput } from "#agents";
import { type GivenAnswer, type Run, StoredMark } from "#run";
import {
  createEventLog,
  createUsageCounter,
  LOCAL_TENANT,
  settlementOf,
  type Store,
  type StoredRun,
  type StoredThread,
  storeFailure,
  type ThreadRecorder,
} from "#sessions";
import type { SchemaInput } from "#tools";
import { OPTION_NAMES } from "./check-options.ts";
import type { RunOptions } from "./options.ts";
import type { OutputOf } from "./output-option.ts";
import { planRun, type Target } from "./plan-run.ts";
import { type RunEnvironment, startRun } from "./run.ts";
import { coverStartErrors } from "./run-secrets.ts";
import { secretsAround, withSecrets } from "./stored-secrets.ts";
import { systemWorld, type World } from "./world.ts";

/** The options of a run that is kept in a store. */
export interface StoredRunOptions<Output extends SchemaInput | undefined = SchemaInput | undefined>
  extends Omit<RunOptions<Output>, "record" | "replay"> {}

/** The options of `resumeRun`. */
export interface ResumeOptions<Output extends SchemaInput | undefined = SchemaInput | undefined>
  extends StoredRunOptions<Output> {
  /** What carries the run out: the same agents, tools and policy as before. */
  readonly target: Target<Output>;
}

/**
 * Starts a run whose events are stored as they are written, so that it survives its process: no tool starts before its
 * call is stored, and `resumeRun` continues the run from its log in any process. Throws as `run` does; a store that
 * fails ends the run with an error.
 *
 * @example
 * const store = await openStore("data")
 * const deploy = tool("deploy", "Deploy a version", { version: "string" }, ({ version }) => `deployed ${version}`)
 * const answer = runStored(store, "offline", "Deploy version 2.", { tools: [deploy], permissions: { ask: ["deploy"] } })
 * const parked = await answer.parked()
 */
export function runStored<const Output extends SchemaInput | undefined = undefined>(
  store: Store,
  target: Target<Output>,
  input: RunInput,
  options?: StoredRunOptions<Output>,
): Run<OutputOf<Output>> {
  return startStored(store, target, input, options ?? {}, systemWorld()) as Run<OutputOf<Output>>;
}

/**
 * Continues a run from its log: in another process after a crash or a deploy, or after it was parked. Everything is
 * rebuilt from the log: the conversation, what was used, open calls. The handle yields the run from its first event on.
 * Rejects with a `StartError` if the store has no such run, or if it is over.
 *
 * A call that may have begun is not run again, unless its tool is `idempotent`; the model is told that it is incomplete.
 * Continue a run in one process at a time: the store refuses the events of the other.
 *
 * @example
 * const store = await openStore("data")
 * for (const { id } of await store.listRuns({ isOver: false })) {
 *   const answer = await resumeRun(store, id, { target: "offline" })
 *   console.log(await answer.output())
 * }
 */
export async function resumeRun<const Output extends SchemaInput | undefined = undefined>(
  store: Store,
  runId: string,
  options: ResumeOptions<Output>,
): Promise<Run<OutputOf<Output>>> {
  return (await resumeStored(store, runId, options as ResumeOptions, systemWorld())) as Run<OutputOf<Output>>;
}

/** The thread whose next message a run answers, and what outlives the run. */
export interface StoredPlace extends Pick<RunEnvironment, "conversations" | "suspend" | "parkMs"> {
  readonly thread?: Pick<StoredThread, "id" | "tenant"> & {
    /** What was said in it so far. */
    readonly messages: readonly Message[];
  };
  /** Advanced as far as the run is stored. */
  readonly stored?: StoredMark;
}

/** `runStored` with its seams passed in. */
export function startStored(
  store: Store,
  target: Target,
  input: RunInput,
  options: StoredRunOptions,
  world: World,
  { thread, stored = new StoredMark(), ...more }: StoredPlace = {},
): Run<unknown> {
  checkOptionNames(options, STORED_NAMES, "runStored");
  const messages = readInput(input);
  const covered = withSecrets(world, secretsAround([target], options, world));
  const shown = covered.maskOf?.([])?.value(messages) ?? messages;
  // The run exists before it is stored: its id is the key in the store.
  let begin: (created: Promise<void>) => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const said = thread === undefined ? messages : [...thread.messages, ...messages];
  const run = startRun(target, said, options, covered, { ...more, ready, ...surroundingsOf(stored, store) });
  const stub = { id: run.id, createdAt: world.clock.now() };
  const created =
    thread === undefined
      ? store.createRun({ ...stub, settings: { messages: shown } })
      : store.createRun({ ...stub, threadId: thread.id, tenant: thread.tenant }, shown);
  begin(created);
  const recorder = thread && createThreadRecorder(shown.at(-1));
  const written = created.then(
    () => writeLog(run, { store, world, stored, after: -1, recorder }),
    () => stored.end(),
  );
  return closedAfter(run, written);
}

/** `resumeRun` with its seams passed in. */
export async function resumeStored(
  store: Store,
  runId: string,
  options: ResumeOptions,
  world: World,
  {
    thread,
    stored = new StoredMark(),
    ...more
  }: Omit<StoredPlace, "thread"> & { readonly thread?: Pick<StoredThread, "tenant"> } = {},
): Promise<Run<unknown>> {
  checkOptionNames(options, [...STORED_NAMES, "target"], "resumeRun");
  const { target, ...runOptions } = options;
  coverStartErrors([target, options], world, () => planRun(target, runOptions, world));
  const found = await store.findRun(thread?.tenant ?? LOCAL_TENANT, runId);
  if (found === undefined) throw refused(runId, "there is no such run in this store");
  if (found.isOver) throw refused(runId, "it is over");
  const resumed = await readRun(store, found);
  const surroundings = { ...more, resumed, ...surroundingsOf(stored, store) };
  const covered = withSecrets(world, secretsAround([target], runOptions, world));
  const run = startRun(target, resumed.messages, runOptions, covered, surroundings);
  const recorder = found.threadId === undefined ? undefined : createThreadRecorder(resumed.messages.at(-1));
  return closedAfter(run, writeLog(run, { store, world, stored, after: found.lastSeq, recorder }));
}

function surroundingsOf(stored: StoredMark, store: Store) {
  return { stored, isEndStored: true, files: filesOf(store) };
}

/** The files of agents in a store. With a claim, they are kept only while it is held. */
export function filesOf(store: Store, claim?: { readonly runId: string; readonly epoch: number }): KeptFiles {
  return {
    keep: (name, data) => store.keepFile(name, data, claim),
    find: (name) => store.findFile(name),
    remove: (name) => store.removeFile(name),
  };
}

/** Everything that is stored of an unfinished run. */
export interface RunRecord {
  readonly id: string;
  readonly events: readonly AgentEvent[];
  readonly answers: readonly GivenAnswer[];
  /** What it was started with. */
  readonly messages: readonly Message[];
}

/** Reads an unfinished run, to continue it. */
export async function readRun(store: Store, run: StoredRun): Promise<RunRecord> {
  const events: AgentEvent[] = [];
  for (;;) {
    const next = await store.read(run.id, { after: events.at(-1)?.seq ?? -1, limit: 512, maxCharacters: 1_048_576 });
    if (next.length === 0) break;
    events.push(...next);
  }
  const answers = await store.listAnswers(run.id);
  const messages =
    run.threadId === undefined
      ? ((run.settings as { readonly messages?: readonly Message[] } | undefined)?.messages ?? [])
      : await store.listMessages(run.tenant ?? LOCAL_TENANT, run.threadId);
  return { id: run.id, events, answers, messages };
}

/** What is added to a thread with the end of the run that answers `input`. */
function createThreadRecorder(input: Message | undefined): ThreadRecorder | undefined {
  if (input === undefined) return undefined;
  const counter = createUsageCounter();
  return { add: (event) => counter.add(event), settle: (done) => settlementOf(done, input, counter) };
}

interface LogWriting {
  readonly store: Store;
  readonly world: World;
  readonly stored: StoredMark;
  /** The number of the last event that is stored already. */
  readonly after: number;
  readonly recorder: ThreadRecorder | undefined;
}

function writeLog(run: Run<unknown>, { store, world, stored, after, recorder }: LogWriting): Promise<unknown> {
  const stop = (why: string): void => {
    stored.fail(storeFailure(why, "Make room, and continue the run with resumeRun from what is stored of it."));
    run.abort("The run could not be stored.").catch(() => undefined);
  };
  const log = createEventLog({ store, clock: world.clock, nextTurn: world.nextTurn });
  return log.write(run, { recorder, stored, after, onStoreFailure: { stop, hold: () => undefined } });
}

/** The session of the last run of a thread, if it succeeded. The session of a failed run may be in any state. */
export async function findLastSession(store: Store, threadId: string): Promise<string | undefined> {
  const [last] = await store.listRuns({ threadId });
  if (last?.status !== "success") return undefined;
  const done = (await store.read(last.id, { after: last.lastSeq - 1 })).at(-1);
  return done?.type === "done" ? done.result.sessionId : undefined;
}

/** The same run, whose `closed` also waits until its events are stored. */
function closedAfter(run: Run<unknown>, written: Promise<unknown>): Run<unknown> {
  const closed = Promise.all([run.closed, written]).then(() => undefined);
  return Object.defineProperty(run, "closed", { value: closed });
}

const STORED_NAMES = OPTION_NAMES.filter((name) => name !== "record" && name !== "replay");

function refused(runId: string, why: string): StartError {
  return new StartError("invalid-option", `The run "${runId}" cannot be continued: ${why}.`);
}
