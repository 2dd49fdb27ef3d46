import { type Run, StoredMark } from "#run";
import { type Message, StartError } from "#domain";
import { CHAT_TENANT, type Store, type StoredThread, titleOf } from "#sessions";
import { checkOptions } from "./check-options.ts";
import type { RunOptions } from "./options.ts";
import { describeTarget, planRun, type Target } from "./plan-run.ts";
import { retarget } from "./retarget.ts";
import { coverStartErrors } from "./run-secrets.ts";
import { findLastSession, resumeStored, type StoredPlace, startStored } from "./stored-run.ts";
import { findSingleAgent, type KeptAgent } from "./thread-agents.ts";
import { secretsAround, withSecrets } from "./stored-secrets.ts";
import type { World } from "./world.ts";

/** A conversation in a thread of a store. A run that its process left unfinished is continued by the next one. */
export interface KeptConversation {
  /** What was said before this process began. */
  readonly earlier: readonly Message[];
  /** The run that an earlier process left unfinished. */
  readonly unfinished: UnfinishedRun | undefined;
  /** Other targets with a conversation whose run is unfinished. */
  readonly waitingElsewhere: readonly string[];
  /** Continues the unfinished run from its log. */
  takeUp(): Promise<Run<unknown>>;
  send(text: string): Promise<Run<unknown>>;
  /** Whether the event with this number of the active run is stored. Resolves when that is known. */
  isStored(seq: number): Promise<boolean>;
  /** From the next message on. Rejects with a `StartError` if the model is not available. */
  setModel(model: string): Promise<void>;
  /** The next message begins another conversation. */
  startOver(): Promise<void>;
  /** Ends the work on the active run without ending the run: the next process continues it. */
  suspend(): void;
  /** Aborts the active run, unless it was suspended. Resolves when everything is stored and nothing is left. */
  close(): Promise<void>;
}

/** A run to continue. */
export interface UnfinishedRun {
  /** The number of its last event. */
  readonly lastSeq: number;
  /** A person has not answered yet. */
  readonly asks: boolean;
}

interface KeptSettings {
  readonly store: Store;
  readonly target: Target;
  readonly options: RunOptions;
  readonly world: World;
}

/** Longer names are not accepted by stores. */
const LONGEST_TARGET = 200;
const MOST_THREADS = 200;

/**
 * Opens the latest conversation with a target in a store, or a new one. One with an unfinished run comes first.
 *
 * @throws StartError as `run` does.
 */
export async function openKeptConversation({
  store,
  target,
  options: given,
  world,
}: KeptSettings): Promise<KeptConversation> {
  const name = describeTarget(target).slice(0, LONGEST_TARGET);
  checkOptions(given);
  planned(target, given, world);
  const { threads } = await store.listThreads({ tenant: CHAT_TENANT, limit: MOST_THREADS });
  const own = threads.filter((one) => one.target === name);
  let thread: StoredThread | undefined = own.find(({ runId }) => runId !== undefined) ?? own[0];
  const unfinished = await findUnfinished(store, thread);
  const leaving = new AbortController();
  let current = target;
  let agent: KeptAgent | undefined;
  let active: Run<unknown> | undefined;
  let stored = new StoredMark();

  /** A person at a terminal may take any time to answer, so the run keeps its process. */
  const place: Omit<StoredPlace, "thread"> = { suspend: leaving.signal, parkMs: Number.POSITIVE_INFINITY };

  const optionsFor = (session: RunOptions["session"]): RunOptions => {
    const { session: _, limits: { parkMs: _parkMs, ...limits } = {}, ...rest } = given;
    return { ...rest, limits, ...(session !== undefined && { session }) };
  };

  const dropAgent = async (): Promise<void> => {
    const dropped = agent;
    agent = undefined;
    await dropped?.close();
  };

  const begin = async (input: Message): Promise<StoredThread> => {
    const createdAt = world.clock.now();
    const mask = withSecrets(world, secretsAround([current], given, world)).maskOf?.([]);
    const title = titleOf(mask?.value(input) ?? input);
    const made = { id: world.random.id(), tenant: CHAT_TENANT, title, target: name, createdAt };
    await store.createThread(made);
    return { ...made, updatedAt: createdAt, usage: {} };
  };

  /** An agent that is not alive resumes its session; the flags name a session for the first message only. */
  const sessionFor = async (threadId: string, isNew: boolean): Promise<RunOptions["session"]> => {
    if (isNew) return given.session;
    const session = agent === undefined ? await findLastSession(store, threadId) : undefined;
    return session === undefined ? undefined : { resume: session, orReplay: true };
  };

  const follow = (run: Run<unknown>): Run<unknown> => {
    active = run;
    return run;
  };

  return {
    earlier: thread === undefined ? [] : await store.listMessages(CHAT_TENANT, thread.id),
    unfinished,
    waitingElsewhere: threads.flatMap((one) => (one.runId !== undefined && one.target !== name ? one.target : [])),
    async takeUp() {
      const options = { ...optionsFor(undefined), target: current };
      const tenant = { tenant: CHAT_TENANT };
      const within = { ...place, stored, thread: tenant };
      return follow(await resumeStored(store, thread?.runId ?? "", options, world, within));
    },
    async send(text) {
      // The thread takes another message when the last run is stored.
      await active?.closed;
      if (active !== undefined && (await active.result()).status !== "success") await dropAgent();
      const input: Message = { id: world.random.id(), role: "user", blocks: [{ type: "text", text }] };
      thread ??= await begin(input);
      const { id } = thread;
      const messages = await store.listMessages(CHAT_TENANT, id);
      const session = await sessionFor(id, messages.length === 0);
      const sole = coverStartErrors([current, given], world, () =>
        findSingleAgent(current, optionsFor(session), world),
      );
      if (sole?.canWait === true) agent ??= sole.keep();
      const options = sole?.hasSessions === true || messages.length === 0 ? optionsFor(session) : optionsFor(undefined);
      const conversations = agent?.conversations;
      stored = new StoredMark();
      const within = {
        ...place,
        stored,
        ...(conversations && { conversations }),
        thread: { id, tenant: CHAT_TENANT, messages },
      };
      return follow(startStored(store, current, [input], options, world, within));
    },
    isStored: (seq) => stored.reached(seq),
    async setModel(model) {
      const { legs, start } = planned(current, given, world);
      const leg = legs.find((one) => one.agent === start) ?? legs[0];
      const next = coverStartErrors([target, given, model], world, () =>
        retarget(current, { models: { [leg?.agent ?? ""]: model } }),
      );
      const changed = planned(next, given, world).legs.find((one) => one.agent === leg?.agent);
      if (leg?.backend.kind === "agent" && changed?.backend === leg.backend) {
        throw new StartError(
          "feature-unavailable",
          `setModel is not available on ${leg.backend.name} in a conversation that is kept. Name its model where the agent is defined.`,
        );
      }
      current = next;
      await dropAgent();
    },
    async startOver() {
      await active?.closed;
      active = undefined;
      thread = undefined;
      await dropAgent();
    },
    suspend: () => leaving.abort(),
    async close() {
      if (!leaving.signal.aborted) await active?.abort("The conversation was closed.");
      await active?.closed;
      await dropAgent();
    },
  };
}

function planned(target: Target, options: RunOptions, world: World): ReturnType<typeof planRun> {
  return coverStartErrors([target, options], world, () => planRun(target, options, world));
}

async function findUnfinished(store: Store, thread: StoredThread | undefined): Promise<UnfinishedRun | undefined> {
  const runId = thread?.runId;
  const run = runId === undefined ? undefined : await store.findRun(CHAT_TENANT, runId);
  if (run === undefined || run.isOver) return undefined;
  const questions = await store.listQuestions(CHAT_TENANT);
  return { lastSeq: run.lastSeq, asks: questions.some((question) => question.runId === runId) };
}
