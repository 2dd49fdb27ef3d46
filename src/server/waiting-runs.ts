import type { AgentEvent, Clock, NoticeItem } from "#domain";
import type { startRun } from "#runtime";
import type { Store, StoredMark, StoredRun } from "#sessions";
import { createDeferred, type Deferred } from "#streams";

type Run = ReturnType<typeof startRun>;
type Wait = { readonly callId: string; readonly for: "answer" | "result" | "time" };

/** What a waiting run waits for. Empty if it does not wait. */
export async function waitsOf(store: Store, { id, lastSeq }: StoredRun): Promise<readonly Wait[]> {
  const [last] = await store.read(id, { after: lastSeq - 1, limit: 1 });
  if (last?.type !== "notice" || last.kind !== "parked") return [];
  return (last.data as { readonly calls?: readonly Wait[] }).calls ?? [];
}

/** Whether a call of a waiting run waits for its result. */
export async function waitsForResult(store: Store, run: StoredRun, callId: string): Promise<boolean> {
  return (await waitsOf(store, run)).some((wait) => wait.callId === callId && wait.for !== "answer");
}

/** How often, and for how long, a log is looked at for whether a tool parks its call. */
const LOOK_MS = 250;
const MOST_LOOK_MS = 30_000;

interface CallAtWork {
  readonly store: Store;
  readonly clock: Clock;
  readonly runId: string;
  readonly callId: string;
}

/**
 * Whether a call of a run at work, here or on another node, waits for its result. While its tool is still running, this
 * waits until it is known. A call that waits for a decision, or whose tool returns a result itself, does not.
 */
export async function isParkedSoon({ store, clock, runId, callId }: CallAtWork): Promise<boolean> {
  const until = clock.now() + MOST_LOOK_MS;
  let state: "none" | "asked" | "begun" | "parked" = "none";
  for (let after = -1; ; ) {
    const events = await store.read(runId, { after, limit: 512, maxCharacters: 1_048_576 });
    for (const event of events) {
      if (event.type === "done") return false;
      if (event.type === "notice" && event.kind === "call-parked" && callIdOf(event.data) === callId) state = "parked";
      if (!("callId" in event) || event.callId !== callId) continue;
      if (event.type === "tool-call" && event.parent === undefined) state = "begun";
      if (event.type === "permission" && state !== "none") state = event.state === "asked" ? "asked" : "begun";
      if (event.type === "tool-result") state = "none";
    }
    after = events.at(-1)?.seq ?? after;
    if (events.length > 0) continue;
    if (state !== "begun" || clock.now() >= until) return state === "parked";
    await new Promise<void>((resolve) => {
      clock.after(LOOK_MS, resolve);
    });
  }
}

/** Whether something that a waiting run waits for was stored. Answers that it has used are stored as well. */
export async function hasNewAnswer(store: Store, run: StoredRun): Promise<boolean> {
  const waits = await waitsOf(store, run);
  const answers = await store.listAnswers(run.id);
  return waits.some((wait) => answers.some(({ callId }) => callId === wait.callId));
}

/**
 * How often a run was continued because its process had died. A run that was parked, or handed over by a server that
 * shut down, has ended no process, so there is no reason not to continue it once more.
 */
export function countCrashes(events: readonly AgentEvent[]): number {
  return events.filter((event, at) => {
    const before = events[at - 1];
    return isNotice(event, ["resumed"]) && !(before !== undefined && isNotice(before, ["parked", "suspended"]));
  }).length;
}

function isNotice(event: AgentEvent, kinds: readonly string[]): boolean {
  return event.type === "notice" && kinds.includes(event.kind);
}

/** Which calls of an active run wait for a result from elsewhere. */
export class ParkedCalls {
  private readonly _open = new Map<string, Deferred<boolean>>();

  /** `stored`: how far the run is stored. A call that is not stored as parked would not wait after a crash. */
  constructor(run: Run, stored: StoredMark) {
    run.on("tool-call", ({ callId, parent }) => {
      if (parent === undefined) this._open.set(callId, createDeferred());
    });
    run.on("notice", ({ kind, data, seq }) => {
      if (kind !== "call-parked") return;
      const open = this._open.get(callIdOf(data));
      stored.reached(seq).then(
        (isStored) => open?.resolve(isStored),
        () => open?.resolve(false),
      );
    });
    run.on("tool-result", ({ callId }) => this._end(callId));
    run.closed.then(
      () => this._endAll(),
      () => this._endAll(),
    );
  }

  /**
   * Whether a call waits for its result. While its tool is still running, this waits until it is known: the service
   * that finishes the work may be quicker than the tool that has asked it.
   */
  async has(callId: string): Promise<boolean> {
    return (await this._open.get(callId)?.promise) ?? false;
  }

  private _end(callId: string): void {
    this._open.get(callId)?.resolve(false);
    this._open.delete(callId);
  }

  private _endAll(): void {
    for (const callId of this._open.keys()) this._end(callId);
  }
}

function callIdOf(data: NoticeItem["data"]): string {
  return (data as { readonly callId: string }).callId;
}
