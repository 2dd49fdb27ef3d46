import { QueueError, type RunQueue, type Store, type TakenJob } from "#sessions";
import type { Dice } from "../dice.ts";
import type { Life } from "./life.ts";
import { type InProcessQueue, LOCK_MS, type Place, storeAway } from "./place.ts";

/** How long a call without an answer is waited for. */
const GIVEN_UP_MS = 2000;

/** The shared store as one node reaches it: messages take their time, and some get lost. */
export function reachStore(place: Place, life: Life, dice: Dice): Store {
  const { clock, faults } = place;
  const own = place.openStore(dice);
  const later = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));

  const call = async (name: string, act: () => Promise<unknown>): Promise<unknown> => {
    await later(dice.upTo(faults.slowMs));
    if (faults.isStoreAway || life.isCut) {
      // What was sent may still arrive after its sender has given up.
      if (life.isCut && dice.percent(20))
        clock.after(dice.upTo(GIVEN_UP_MS * 2), () => void act().catch(() => undefined));
      await later(dice.upTo(GIVEN_UP_MS));
      throw storeAway();
    }
    const done = await act();
    const isLost = isWrite(name) && dice.percent(faults.refusedAfterCommit);
    await later(dice.upTo(faults.slowMs));
    if (isLost || life.isCut) throw storeAway();
    return done;
  };

  const entries = Object.entries(own).map(([name, method]) => {
    if (name === "watch") {
      const watch = own.watch?.bind(own);
      return [
        name,
        (listener: (runId: string | undefined) => void) => watch?.((runId) => life.run(() => listener(runId))),
      ];
    }
    const act = method as (...args: unknown[]) => Promise<unknown>;
    return [name, (...args: unknown[]) => life.reach(call(name, () => act(...args)))];
  });
  return Object.fromEntries(entries) as Store;
}

function isWrite(name: string): boolean {
  return !/^(read|list|find|count)/.test(name);
}

/** The shared queue as one node reaches it. Its lock ends when nothing is heard of it for as long. */
export function reachQueue(place: Place, life: Life, dice: Dice): RunQueue {
  const { clock, faults } = place;
  let connection = place.connect();
  const later = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));
  const isHeard = (): boolean => life.isUp && !life.isCut;
  const away = (): QueueError => new QueueError("queue-failed", "The queue does not answer.");

  let heardAt = clock.now();
  const watch = (): void => {
    if (life.isDead) {
      const old = connection;
      clock.after(Math.max(0, heardAt + LOCK_MS - clock.now()), () => old.cutOff());
      return;
    }
    if (isHeard() && !faults.isQueueAway) heardAt = clock.now();
    else if (faults.isQueueAway) heardAt = Math.max(heardAt, clock.now() - 1000);
    else if (clock.now() - heardAt > LOCK_MS) replace();
    clock.after(1000, watch);
  };
  /** The jobs of this node go to others. It hears of it as soon as it hears anything. */
  const replace = (): void => {
    connection.cutOff();
    connection = place.connect();
    heardAt = clock.now();
  };
  clock.after(1000, watch);
  place.onQueueLost(() => {
    if (!life.isDead) replace();
  });

  const call = async <Value>(act: (at: InProcessQueue) => Promise<Value>): Promise<Value> => {
    await later(dice.upTo(faults.slowMs));
    if (faults.isQueueAway || life.isCut) {
      await later(dice.upTo(GIVEN_UP_MS));
      throw away();
    }
    const done = await act(connection);
    const isLost = dice.percent(faults.refusedAfterCommit);
    await later(dice.upTo(faults.slowMs));
    if (isLost || life.isCut) throw away();
    return done;
  };

  const wrap = (job: TakenJob): TakenJob => {
    const lost = new AbortController();
    job.lost.addEventListener("abort", () => life.run(() => lost.abort()));
    // A connection that was given up refuses until the lock has ended.
    const end = (act: () => Promise<boolean>) => (): Promise<boolean> =>
      life.reach(call(async () => act().catch(() => false)));
    return {
      runId: job.runId,
      kind: job.kind,
      isHandOver: job.isHandOver,
      lost: lost.signal,
      extend: end(() => job.extend()),
      finish: end(() => job.finish()),
      giveBack: end(() => job.giveBack()),
    };
  };

  const take: RunQueue["take"] = async (wanted) => {
    for (;;) {
      await later(dice.upTo(faults.slowMs));
      if (wanted.signal?.aborted === true) return undefined;
      if (faults.isQueueAway || life.isCut) throw away();
      const at = connection;
      const job = await at.take(wanted);
      if (job !== undefined) return wrap(job);
      await life.reach(Promise.resolve());
    }
  };

  return {
    add: (job) => life.reach(call((at) => at.add(job))),
    count: () => life.reach(call((at) => at.count())),
    take: (wanted) => life.reach(take(wanted)),
    close: () => connection.close(),
  };
}
