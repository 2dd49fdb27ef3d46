import { StartError } from "#domain";
import type { StoredRun, StoredThread } from "../stores/store.ts";
import { type CopyableStore, listContents, type StoreContents } from "./copyable-store.ts";
import { answersOf, digestLog, jsonOf, originOf, titlesOf, usageOf } from "./digests.ts";

/** What has to be copied. */
export interface CopyPlan {
  readonly contents: StoreContents;
  readonly parts: readonly CopyPart[];
  /** Files that the target has not, or not whole. */
  readonly files: readonly string[];
}

/** A thread with its runs, or a run without a thread. Parts may be copied in any order, and at the same time. */
export interface CopyPart {
  /** Absent if it is in the target as it is in the source. */
  readonly thread?: StoredThread;
  /** In the order in which the target accepts them. */
  readonly runs: readonly CopyRun[];
}

export interface CopyRun {
  readonly run: StoredRun;
  /** The last `seq` in the target; absent if the run is not there. */
  readonly hasSeq?: number;
}

export interface PlanOptions {
  /** Throws if the copy was interrupted. Called for every thread, run and file. */
  step(total: number): void;
  /** Nobody works on the source: unfinished runs are copied as they are. */
  readonly isStopped: boolean;
}

/** How many faults a message lists. */
const SHOWN = 10;

/**
 * Compares what both stores have, and changes nothing. What the target has of a thread, run or file must be the beginning
 * of what the source has.
 * @throws StartError if the source has runs that somebody may work on, or the target has other data with the same ids.
 */
export async function planCopy(
  from: CopyableStore,
  to: CopyableStore,
  { step, isStopped }: PlanOptions,
): Promise<CopyPlan> {
  const contents = await listContents(from);
  await requireRest(from, contents, isStopped);
  const known = await listContents(to);
  const total = contents.threads.size + contents.runs.size + contents.files.length;
  const conflicts: string[] = [];
  const runs = new Map<string, CopyRun>();
  for (const run of contents.runs.values()) {
    step(total);
    const there = known.runs.get(run.id);
    const conflict = there === undefined ? undefined : await findRunConflict(from, to, run, there);
    if (conflict !== undefined) conflicts.push(`run ${run.id} ${conflict}`);
    runs.set(run.id, { run, ...(there !== undefined && { hasSeq: there.lastSeq }) });
  }
  const threads: StoredThread[] = [];
  for (const thread of contents.threads.values()) {
    step(total);
    const there = known.threads.get(thread.id);
    const state = there === undefined ? "behind" : await compareThread(from, to, thread, there);
    const active = there?.runId;
    if (state === "other") conflicts.push(`thread ${thread.id} is another one, or was changed there`);
    else if (active !== undefined && !contents.runs.has(active)) {
      conflicts.push(`thread ${thread.id} has the run ${active} there, which is not over`);
    } else if (state === "behind") threads.push(thread);
  }
  const files: string[] = [];
  const filesThere = new Set(known.files);
  for (const name of contents.files) {
    step(total);
    const state = filesThere.has(name) ? await compareFile(from, to, name) : "behind";
    if (state === "other") conflicts.push(`file ${name} has another content there`);
    else if (state === "behind") files.push(name);
  }
  if (conflicts.length > 0) {
    throw new StartError(
      "invalid-config",
      `The target has other data with the same ids, so nothing was copied: ${list(conflicts)}. Copy into an empty store.`,
    );
  }
  return { contents, parts: toParts(contents, threads, [...runs.values()]), files };
}

/** What somebody works on would change while it is copied, and an end that is kept elsewhere would be lost. */
async function requireRest(from: CopyableStore, { runs }: StoreContents, isStopped: boolean): Promise<void> {
  const unfinished = [...runs.values()].filter(({ isOver }) => !isOver);
  const ends = new Set((await from.listEnds?.())?.map(({ run }) => run.id));
  const kept = unfinished.filter(({ id }) => ends.has(id));
  if (kept.length > 0) {
    throw new StartError(
      "invalid-config",
      `The ends of runs of the source are not in its log yet, because its disk was full: ${list(kept.map(({ id }) => id))}. Start millrace serve on the source, which stores them, stop it, and copy again.`,
    );
  }
  const busy = isStopped ? [] : unfinished.filter(({ isWaiting, claim }) => isWaiting !== true || claim !== undefined);
  if (busy.length === 0) return;
  const ids = list(busy.map(({ id, claim }) => (claim === undefined ? id : `${id} (held by ${claim.worker})`)));
  throw new StartError(
    "invalid-config",
    `Runs of the source are neither over nor waiting, so somebody may work on them: ${ids}. Stop every server of the source with Ctrl-C or SIGTERM, and repeat the command with --stopped; the target continues these runs.`,
  );
}

function list(all: readonly string[]): string {
  const more = all.length - SHOWN;
  return all.slice(0, SHOWN).join("; ") + (more > 0 ? `; and ${more} more` : "");
}

async function findRunConflict(
  from: CopyableStore,
  to: CopyableStore,
  run: StoredRun,
  there: StoredRun,
): Promise<string | undefined> {
  if (originOf(run) !== originOf(there)) return "is another one there";
  if (there.lastSeq > run.lastSeq) return "has more events there";
  if (there.lastSeq < run.lastSeq && there.claim !== undefined) return `is held by ${there.claim.worker} there`;
  const [here, begun] = [await digestLog(from, run.id, there.lastSeq), await digestLog(to, run.id, there.lastSeq)];
  if (here.count !== begun.count || here.digest !== begun.digest) return "has other events there";
  if (there.isOver || run.isOver) return undefined;
  const answers = new Set(answersOf(await from.listAnswers(run.id)));
  return answersOf(await to.listAnswers(run.id)).every((answer) => answers.has(answer))
    ? undefined
    : "has other answers there";
}

type State = "same" | "behind" | "other";

async function compareThread(
  from: CopyableStore,
  to: CopyableStore,
  thread: StoredThread,
  there: StoredThread,
): Promise<State> {
  const { id, tenant, target, createdAt, updatedAt } = thread;
  if (jsonOf([tenant, target, createdAt]) !== jsonOf([there.tenant, there.target, there.createdAt])) return "other";
  const messages = (await from.listMessages(tenant, id)).map(jsonOf);
  const begun = (await to.listMessages(tenant, id)).map(jsonOf);
  if (there.updatedAt > updatedAt || !begun.every((message, at) => message === messages[at])) return "other";
  const usage = [await from.listUsage(tenant, id), await to.listUsage(tenant, id)].map(usageOf);
  const isSame =
    begun.length === messages.length && jsonOf(usage[0]) === jsonOf(usage[1]) && titlesOf(thread) === titlesOf(there);
  return isSame ? "same" : "behind";
}

async function compareFile(from: CopyableStore, to: CopyableStore, name: string): Promise<State> {
  const [here, there] = [await from.findFile(name), await to.findFile(name)];
  if (here === undefined || there === undefined) return "behind";
  if (there.length > here.length || !there.every((byte, at) => byte === here[at])) return "other";
  return there.length === here.length ? "same" : "behind";
}

function toParts(
  { threads }: StoreContents,
  changed: readonly StoredThread[],
  runs: readonly CopyRun[],
): readonly CopyPart[] {
  const parts: CopyPart[] = [];
  const byThread = new Map<string, CopyRun[]>();
  for (const one of runs) {
    const { threadId } = one.run;
    if (threadId === undefined || !threads.has(threadId)) parts.push({ runs: [one] });
    else byThread.set(threadId, [...(byThread.get(threadId) ?? []), one]);
  }
  const restored = new Map(changed.map((thread) => [thread.id, thread]));
  for (const id of threads.keys()) {
    const thread = restored.get(id);
    const inOrder = (byThread.get(id) ?? []).toSorted(compareRuns);
    if (thread !== undefined || inOrder.length > 0) parts.push({ runs: inOrder, ...(thread && { thread }) });
  }
  return parts;
}

/** A thread has one unfinished run at a time: first the one that the target has begun, last the one that is waiting. */
function compareRuns(left: CopyRun, right: CopyRun): number {
  const rank = ({ run, hasSeq }: CopyRun): number => (hasSeq !== undefined ? 0 : run.isOver ? 1 : 2);
  return rank(left) - rank(right) || left.run.createdAt - right.run.createdAt || (left.run.id < right.run.id ? -1 : 1);
}
