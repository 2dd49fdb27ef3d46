import type { Clock } from "#domain";
import type { QueueCounts, QueuedJob } from "../queue.ts";

/** The longest delay of a timer. */
const LONGEST_MS = 2 ** 31 - 1;

/** Who waits for a job. */
export interface WaitingNode {
  readonly kinds: readonly string[];
  /** Receives the job, which it holds from then on. */
  readonly give: (entry: Entry) => void;
}

/** A run in the queue. */
export interface Entry {
  readonly runId: string;
  readonly kind: string;
  dueAt: number;
  isHeld: boolean;
  isHandOver: boolean;
  /** When it is to be taken again, if it was added while it was held. */
  again: number | undefined;
}

/** The jobs of all nodes of an in-process queue. */
export class JobList {
  private readonly _clock: Clock;
  /** In the order in which they were queued. */
  private readonly _entries = new Map<string, Entry>();
  private readonly _waiting = new Set<WaitingNode>();
  private _stopTimer: (() => void) | undefined;

  constructor(clock: Clock) {
    this._clock = clock;
  }

  add({ runId, kind, notBefore }: QueuedJob & { readonly kind: string }): void {
    const dueAt = notBefore ?? this._clock.now();
    const entry = this._entries.get(runId);
    if (entry === undefined) this._put({ runId, kind, dueAt, isHeld: false, isHandOver: false, again: undefined });
    else if (entry.isHeld) entry.again = Math.min(entry.again ?? dueAt, dueAt);
    else entry.dueAt = Math.min(entry.dueAt, dueAt);
    this._dispatch();
  }

  wait(node: WaitingNode): void {
    this._waiting.add(node);
    this._dispatch();
  }

  leave(node: WaitingNode): void {
    if (this._waiting.delete(node)) this._dispatch();
  }

  /** The holder's work is done. */
  finish(entry: Entry): void {
    this._entries.delete(entry.runId);
    const { runId, kind, again } = entry;
    if (again !== undefined) this.add({ runId, kind, notBefore: again });
  }

  /** Another one gets it. */
  release(entry: Entry, isHandOver: boolean): void {
    this._entries.delete(entry.runId);
    this._put({ ...entry, dueAt: this._clock.now(), isHeld: false, isHandOver });
    this._dispatch();
  }

  count(): QueueCounts {
    const entries = [...this._entries.values()];
    const active = entries.filter(({ isHeld }) => isHeld).length;
    const waiting = entries.filter((entry) => this._isDue(entry)).length;
    return { waiting, delayed: entries.length - waiting - active, active };
  }

  private _put(entry: Entry): void {
    this._entries.set(entry.runId, entry);
  }

  private _isDue({ isHeld, dueAt }: Entry): boolean {
    return !isHeld && dueAt <= this._clock.now();
  }

  /** Gives due jobs to those who wait, and looks again when the next one becomes due. */
  private _dispatch(): void {
    this._stopTimer?.();
    this._stopTimer = undefined;
    for (const node of this._waiting) {
      const entry = this._firstFor(node);
      if (entry === undefined) continue;
      this._waiting.delete(node);
      entry.isHeld = true;
      // Added while it was queued: this take is the one.
      if (entry.again !== undefined && entry.again <= this._clock.now()) entry.again = undefined;
      node.give(entry);
    }
    const nextAt = Math.min(...this._awaited().map(({ dueAt }) => dueAt));
    if (nextAt === Number.POSITIVE_INFINITY) return;
    const delayMs = Math.min(Math.max(0, nextAt - this._clock.now()), LONGEST_MS);
    this._stopTimer = this._clock.after(delayMs, () => this._dispatch());
  }

  /** Due the earliest; of those that became due at once, the one that was queued first. */
  private _firstFor({ kinds }: WaitingNode): Entry | undefined {
    let first: Entry | undefined;
    for (const entry of this._entries.values()) {
      if (!kinds.includes(entry.kind) || !this._isDue(entry)) continue;
      if (first === undefined || entry.dueAt < first.dueAt) first = entry;
    }
    return first;
  }

  /** The jobs for which someone waits until they are due. */
  private _awaited(): readonly Entry[] {
    const kinds = new Set([...this._waiting].flatMap((node) => node.kinds));
    return [...this._entries.values()].filter(({ isHeld, kind }) => !isHeld && kinds.has(kind));
  }
}
