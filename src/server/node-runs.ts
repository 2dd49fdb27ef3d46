import { describeThrown, type Message } from "#domain";
import type { RunOptions } from "#runtime";
import {
  ANY_KIND,
  closeInterruptedRun,
  isStoreError,
  LOCAL_TENANT,
  type QueueCounts,
  type RunQueue,
  type StoredAnswer,
  type StoredRun,
  type StoredThread,
  titleOf,
} from "#sessions";
import { ApiError } from "./api-error.ts";
import type { GivenAnswer, LiveRuns } from "./live-runs.ts";
import type { NodeRunOptions } from "./node-run.ts";
import { requireClaims } from "./claims.ts";
import { FRESH_MS, NodeWorker } from "./node-worker.ts";
import { kindOfTarget, targetsHere } from "./node-kinds.ts";
import { requireOffered } from "./options.ts";
import { isParkedSoon, waitsOf } from "./waiting-runs.ts";
import type { Readiness } from "./readiness.ts";
import { isServed, runActive } from "./run-rules.ts";

/** How often a node adds runs to the queue of which nobody knows any more. */
const SWEEP_MS = 15_000;

/** How often the jobs are counted for the metrics. */
const COUNT_MS = 5000;

export interface NodeOptions extends NodeRunOptions {
  readonly queue: RunQueue;
  /** Whether this node works on runs itself. */
  readonly isWorker: boolean;
  readonly readiness: Readiness;
}

/**
 * The runs of a server that shares its store with other nodes. Whoever receives a request stores what it asks for and adds
 * the run to the queue; the worker that takes it is wherever there is room.
 */
export function createNodeRuns(options: NodeOptions): LiveRuns {
  const { queue, settings, metrics, quota, readiness, write } = options;
  const { world } = settings;
  const store = requireClaims(options.store);
  const name = settings.node;
  const kindOf = async ({ tenant = LOCAL_TENANT, threadId = "" }: StoredRun): Promise<string> => {
    const thread = await store.findThread(tenant, threadId);
    return thread === undefined ? ANY_KIND : kindOfTarget(thread.target);
  };
  const kinds = async (): Promise<readonly string[]> => {
    return [ANY_KIND, ...(await targetsHere(settings, readiness)).map(kindOfTarget)];
  };
  const worker = new NodeWorker({ ...options, store, name, kinds, kindOf });
  let counts: QueueCounts = { waiting: 0, delayed: 0, active: 0 };
  let closing = false;
  let isReady = false;
  const timers = new Set<() => void>();

  metrics.gauge("millrace_queue_waiting", "Jobs that are due.", () => counts.waiting);
  metrics.gauge("millrace_queue_delayed", "Jobs that are not due yet.", () => counts.delayed);
  metrics.gauge("millrace_queue_active", "Jobs that are worked on.", () => counts.active);

  /** Does this from time to time until the node is closed. */
  const repeat = (ms: number, act: () => Promise<void>): void => {
    if (closing) return;
    const stop = world.clock.after(ms, () => {
      timers.delete(stop);
      const again = (): void => repeat(ms, act);
      act()
        .catch((error: unknown) => write("warn", "queue-failed", { message: describeThrown(error) }))
        .then(again, again);
    });
    timers.add(stop);
  };

  const enqueue = async (stored: StoredRun, notBefore?: number): Promise<void> => {
    await queue.add({ runId: stored.id, kind: await kindOf(stored), ...(notBefore !== undefined && { notBefore }) });
  };

  /** Adds an unfinished run to the queue if there is something to do for it, and nobody is at it. */
  const consider = async (stored: StoredRun): Promise<void> => {
    const { claim, isWaiting, wakeAt } = stored;
    if (claim !== undefined && world.clock.now() - claim.at < FRESH_MS) return;
    if (isWaiting !== true) return enqueue(stored);
    if (wakeAt !== undefined) await enqueue(stored, wakeAt);
    const calls = await waitsOf(store, stored);
    const answers = await store.listAnswers(stored.id);
    if (answers.some(({ callId }) => calls.some((call) => call.callId === callId))) await enqueue(stored);
  };

  const sweep = async (): Promise<void> => {
    const unfinished = await store.listRuns({ isOver: false });
    for (const stored of unfinished.filter(isServed)) await consider(stored);
  };

  /** Over all nodes: how many runs are queued or worked on. */
  const requireRoom = async (tenant: string): Promise<void> => {
    const { runs, runsPerTenant } = settings.limits;
    const active = (await store.listRuns({ isOver: false, isWaiting: false })).filter(isServed);
    const own = active.filter((stored) => (stored.tenant ?? LOCAL_TENANT) === tenant).length;
    if (active.length >= runs) {
      throw new ApiError("too-many-runs", "Too many runs are under way. Ask again later.", { "retry-after": "5" });
    }
    if (own < runsPerTenant) return;
    throw new ApiError(
      "too-many-tenant-runs",
      `You have ${own} active runs, and ${runsPerTenant} are allowed (limits.runsPerTenant). Wait for one, or abort one.`,
      { "retry-after": "5" },
    );
  };

  const begin = async (thread: StoredThread, input: Message, limits: RunOptions["limits"]): Promise<string> => {
    // Refused before anything is stored.
    counts = await queue.count();
    const shown = settings.secrets?.value(input) ?? input;
    const { tenant, id: threadId } = thread;
    const stored: StoredRun = {
      id: world.random.id(),
      createdAt: world.clock.now(),
      threadId,
      tenant,
      settings: { limits },
      lastSeq: -1,
      isOver: false,
    };
    const { lastSeq: _, isOver: __, ...run } = stored;
    await store.createRun(run, [shown]);
    try {
      await enqueue(stored);
    } catch (error) {
      // It is stored, so a later sweep adds it.
      write("warn", "queue-failed", { runId: run.id, message: describeThrown(error) });
    }
    write("info", "run-queued", { runId: run.id, threadId, tenant, target: thread.target });
    if (thread.title === "") await giveTitle(thread, shown);
    return run.id;
  };

  /** The run continues even if this fails: a thread without a title can still be found. */
  const giveTitle = async ({ tenant, id }: StoredThread, input: Message): Promise<void> => {
    try {
      await store.renameThread(tenant, id, { title: titleOf(input), at: world.clock.now() });
    } catch (error) {
      write("warn", "title-not-stored", { threadId: id, message: describeThrown(error) });
    }
  };

  /** Whether a call waits for what is given. */
  const isAwaited = async (stored: StoredRun, { callId, decision }: GivenAnswer): Promise<boolean> => {
    if (decision !== undefined) {
      const questions = await store.listQuestions(stored.tenant ?? LOCAL_TENANT);
      return questions.some((question) => question.runId === stored.id && question.callId === callId);
    }
    if (stored.isWaiting === true) {
      const calls = await waitsOf(store, stored);
      return calls.some((call) => call.callId === callId && call.for !== "answer");
    }
    return isParkedSoon({ store, clock: world.clock, runId: stored.id, callId });
  };

  return {
    get size() {
      return worker.atWork.size;
    },
    prepare() {
      if (isReady || closing) return;
      isReady = true;
      repeat(SWEEP_MS, sweep);
      repeat(COUNT_MS, async () => {
        counts = await queue.count();
      });
      if (options.isWorker) worker.start();
    },
    async start(thread, input, limits) {
      requireOffered(thread.target, settings);
      if (closing) throw new ApiError("shutting-down", "The server is shutting down. Ask again in a moment.");
      if (thread.runId !== undefined) throw runActive(thread.id);
      return quota.inTurn(thread.tenant, async () => {
        await requireRoom(thread.tenant);
        await quota.require(thread.tenant);
        return begin(thread, input, limits);
      });
    },
    resume: consider,
    async abort({ id: runId, tenant = LOCAL_TENANT }, reason) {
      const own = worker.atWork.get(runId);
      if (own !== undefined && own.run.toJSON().state !== "waiting") {
        if (own.run.isComplete()) return false;
        own.run
          .abort(reason)
          .catch((error: unknown) => write("error", "abort-failed", { runId, message: describeThrown(error) }));
        return true;
      }
      const stored = await store.findRun(tenant, runId);
      if (stored === undefined || stored.isOver) return false;
      try {
        // Takes the run from the node that works on it, which notices within seconds.
        await closeInterruptedRun(store, stored, world.clock, reason, "aborted", name);
        metrics.runs.add("aborted");
        return true;
      } catch (error) {
        if (isStoreError(error) && error.code === "run-over") return false;
        throw error;
      }
    },
    async answer({ id: runId, tenant = LOCAL_TENANT }, answer) {
      const stored = await store.findRun(tenant, runId);
      if (stored === undefined || stored.isOver || !(await isAwaited(stored, answer))) return false;
      const kept = settings.secrets?.value(answer) ?? answer;
      if (!(await store.addAnswer(runId, { ...kept, at: world.clock.now() } as StoredAnswer))) return false;
      const own = worker.atWork.get(runId);
      const { callId, decision, result } = answer;
      if (decision !== undefined && own?.run.answer(callId, decision) === true) own.answered.add(callId);
      else if (result !== undefined && own?.run.giveResult(callId, result) === true) own.answered.add(callId);
      // Also if a worker is at it: it may be about to park the run.
      await enqueue(stored).catch((error: unknown) => {
        write("warn", "queue-failed", { runId, message: describeThrown(error) });
      });
      return true;
    },
    async close(graceMs) {
      closing = true;
      for (const stop of timers) stop();
      await worker.close(graceMs);
    },
  };
}
