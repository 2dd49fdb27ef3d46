import { type Clock, StartError } from "#domain";
import type { NewRun, Store, StoredThread } from "../stores/store.ts";
import { checkCopy } from "./check-copy.ts";
import { type CopyableStore, mergeAudit, PROBE_FILE, requireCopyable } from "./copyable-store.ts";
import { jsonOf, readLog } from "./digests.ts";
import { type CopyPart, type CopyRun, planCopy } from "./plan-copy.ts";

/** What a copy is doing: comparing what both stores have, copying, checking what was copied. */
export type CopyPhase = "comparing" | "copying" | "checking";

/** How far a phase is, in steps. */
export interface CopyProgress {
  readonly phase: CopyPhase;
  readonly done: number;
  readonly total: number;
}

export interface CopyStoreOptions {
  readonly clock: Clock;
  readonly onProgress?: (progress: CopyProgress) => void;
  /** Ends the copy after the current step. The same copy can be made again, and goes on there. */
  readonly signal?: AbortSignal;
  /** Nobody works on the source: runs that are neither over nor waiting are copied too. Default: they are refused. */
  readonly isStopped?: boolean;
}

/** How much a store has, and how much of it was copied. */
interface CopiedCount {
  readonly all: number;
  /** The others were in the target already. */
  readonly copied: number;
}

/** What a copy did. */
export interface CopiedStore {
  readonly threads: CopiedCount;
  readonly runs: CopiedCount;
  readonly files: CopiedCount;
  /** The events that were copied. */
  readonly events: number;
  /** What the target lacks or has otherwise, in words. Empty: everything is there as it is in the source. */
  readonly faults: readonly string[];
}

/** How many threads are copied at the same time: a store commits what comes together at once. */
const WORKERS = 8;

/**
 * Copies everything of a store to another one: threads with messages and usage, runs with their events, answers and
 * questions, the audit of every tenant and the files of agents. Claims stay behind. Afterwards it reads both again and
 * compares them.
 *
 * It can be repeated: what is there already is left alone, and the log of a run continues where it ends.
 * @throws StartError before anything is written, if the source has runs that somebody may work on, or the target has other
 * data with the same ids.
 */
export async function copyStore(source: Store, target: Store, options: CopyStoreOptions): Promise<CopiedStore> {
  const from = requireCopyable(source, "source");
  const to = requireCopyable(target, "target");
  await requireTwoStores(from, to, options.clock);
  const plan = await planCopy(from, to, {
    step: stepper("comparing", options),
    isStopped: options.isStopped === true,
  });
  const { contents, parts, files } = plan;
  const eventsOf = ({ run, hasSeq = -1 }: CopyRun): number => run.lastSeq - hasSeq;
  const weight = ({ runs }: CopyPart): number => runs.reduce((sum, run) => sum + eventsOf(run) + 1, 1);
  const total = parts.reduce((sum, part) => sum + weight(part), files.length + contents.tenants.length);
  const step = stepper("copying", options);
  let events = 0;
  const count = (appended: number, steps: number): void => {
    events += appended;
    step(total, steps);
  };
  await inParallel(parts, (part) => copyPart(from, to, part, count));
  for (const name of files) {
    const data = await from.findFile(name);
    if (data !== undefined) await to.keepFile(name, data);
    step(total);
  }
  for (const tenant of contents.tenants) {
    const there = await to.listAudit(tenant);
    const merged = mergeAudit(await from.listAudit(tenant), there);
    if (jsonOf(merged) !== jsonOf(there)) await to.replaceAudit(tenant, merged);
    step(total);
  }
  const faults = await checkCopy(from, to, stepper("checking", options));
  const runs = parts.flatMap((part) => part.runs);
  return {
    threads: { all: contents.threads.size, copied: parts.filter(({ thread }) => thread !== undefined).length },
    runs: { all: runs.length, copied: runs.filter(({ run, hasSeq }) => hasSeq !== run.lastSeq).length },
    files: { all: contents.files.length, copied: files.length },
    events,
    faults,
  };
}

/** Reports each step, and throws when the copy is to end. */
function stepper(phase: CopyPhase, { onProgress, signal }: CopyStoreOptions): (total: number, steps?: number) => void {
  let done = 0;
  return (total, steps = 1) => {
    done += steps;
    onProgress?.({ phase, done, total });
    signal?.throwIfAborted();
  };
}

/** One store may have several names. What is written to the target must not appear in the source. */
async function requireTwoStores(from: CopyableStore, to: CopyableStore, clock: Clock): Promise<void> {
  const mark = new TextEncoder().encode(`probe of ${clock.now()}`);
  let isOne: boolean;
  await to.keepFile(PROBE_FILE, mark);
  try {
    const found = await from.findFile(PROBE_FILE);
    isOne = found?.length === mark.length && found.every((byte, at) => byte === mark[at]);
  } finally {
    await to.removeFile(PROBE_FILE);
  }
  if (isOne) throw new StartError("invalid-config", "Source and target are the same store. Name two different ones.");
}

async function copyPart(
  from: CopyableStore,
  to: CopyableStore,
  { thread, runs }: CopyPart,
  count: (events: number, steps: number) => void,
): Promise<void> {
  if (thread !== undefined) await copyThread(from, to, thread);
  count(0, 1);
  for (const run of runs) await copyRun(from, to, run, count);
}

async function copyThread(from: CopyableStore, to: CopyableStore, thread: StoredThread): Promise<void> {
  const { id, tenant, title, target, createdAt, updatedAt } = thread;
  const messages = await from.listMessages(tenant, id);
  const usage = await from.listUsage(tenant, id);
  await to.restoreThread({ id, tenant, title, target, createdAt, updatedAt, messages, usage });
}

async function copyRun(
  from: CopyableStore,
  to: CopyableStore,
  { run, hasSeq }: CopyRun,
  count: (events: number, steps: number) => void,
): Promise<void> {
  const { id, createdAt, threadId, tenant, settings, lastSeq, isOver } = run;
  if (hasSeq === undefined) {
    const begun: NewRun = {
      id,
      createdAt,
      ...(threadId !== undefined && { threadId }),
      ...(tenant !== undefined && { tenant }),
      ...(settings !== undefined && { settings }),
    };
    await to.createRun(begun);
  }
  count(0, 1);
  let cursor = hasSeq ?? -1;
  for await (const events of readLog(from, id, cursor, lastSeq)) {
    await to.append(id, events);
    const last = events.at(-1)?.seq ?? cursor;
    count(events.length, last - cursor);
    cursor = last;
  }
  if (isOver) return;
  for (const answer of await from.listAnswers(id)) await to.addAnswer(id, answer);
}

/** Works on all items, several at a time. After a failure, no further one is begun. */
async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values();
  let hasFailed = false;
  const outcomes = await Promise.allSettled(
    Array.from({ length: Math.min(WORKERS, items.length) }, async () => {
      for (const item of left) {
        if (hasFailed) return;
        await work(item).catch((error: unknown) => {
          hasFailed = true;
          throw error;
        });
      }
    }),
  );
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}
