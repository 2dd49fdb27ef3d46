import { noticeItem } from "#domain";
import type { Store } from "#sessions";
import { closeRunLog } from "./close-run-log.ts";
import { expectSame, expectThat, type Trial } from "./conformance.ts";
import { refused } from "./store-threads.ts";

const RUN = { id: "run-1", createdAt: 20, tenant: "a" };
const EVENTS = closeRunLog([noticeItem("status", { at: 1 }), noticeItem("status", { at: 2 })], RUN.id);
const LARGE = new Uint8Array(200_000).fill(7);

type Claiming = Store & Required<Pick<Store, "claim" | "extendClaim" | "releaseClaim">>;

/** A trial for stores in which runs can be claimed. */
function claiming(behaviour: string, attempt: (store: Claiming) => Promise<void>): Trial<Store> {
  return [
    behaviour,
    async (store) => {
      const { claim, extendClaim, releaseClaim } = store;
      const given = [claim, extendClaim, releaseClaim].filter((method) => method !== undefined).length;
      if (given === 0) return;
      expectThat(given === 3, "claim, extendClaim and releaseClaim belong together");
      await store.createRun(RUN);
      await attempt(store as Claiming);
    },
  ];
}

const by = (worker: string, at = 1) => ({ worker, at });

/** The contract of `Store` for runs that several workers may take over. */
export const CLAIM_TRIALS: readonly Trial<Store>[] = [
  claiming("a claim is shown with its run until it is given back, extended or the run is over", async (store) => {
    const shown = { ...RUN, lastSeq: -1, isOver: false };
    const epoch = await store.claim(RUN.id, by("one\0'"));
    expectThat(Number.isSafeInteger(epoch) && epoch > 0, `the epoch ${epoch} is not a whole number from 1 on`);
    const held = { ...shown, claim: { epoch, worker: "one\0'", at: 1 } };
    expectSame([await store.findRun("a", RUN.id), ...(await store.listRuns())], [held, held], "a claimed run");
    await store.extendClaim({ runId: RUN.id, epoch, at: 5 });
    expectSame((await store.findRun("a", RUN.id))?.claim?.at, 5, "the time of an extended claim");
    expectSame(await store.releaseClaim({ runId: RUN.id, epoch }), true, "giving it back");
    expectSame(await store.releaseClaim({ runId: RUN.id, epoch }), false, "giving it back again");
    const free = await store.findRun("a", RUN.id);
    expectThat(free !== undefined && !("claim" in free), "a run that was given back shows a claim");
    const next = await store.claim(RUN.id, by("two"));
    expectThat(next > epoch, `epoch ${next} follows ${epoch}`);
    await store.append(RUN.id, EVENTS, undefined, next);
    expectSame(await store.findRun("a", RUN.id), { ...RUN, lastSeq: 2, isOver: true, status: "success" }, "the end");
  }),
  claiming("a worker whose claim was taken can write nothing", async (store) => {
    const stale = await store.claim(RUN.id, by("stale"));
    await store.append(RUN.id, EVENTS.slice(0, 1), undefined, stale);
    await store.keepFile("f", new Uint8Array([1]), { runId: RUN.id, epoch: stale });
    const epoch = await store.claim(RUN.id, by("new"));
    const late = { runId: RUN.id, epoch: stale };
    await refused(store.append(RUN.id, EVENTS.slice(1, 2), undefined, stale), "claim-lost", "an append");
    await refused(store.append(RUN.id, [], undefined, stale), "claim-lost", "an append of nothing");
    const end = { at: 1, messages: [], usage: [] };
    await refused(store.append(RUN.id, EVENTS.slice(1), end, stale), "claim-lost", "the end of a run");
    await refused(store.keepFile("f", LARGE, late), "claim-lost", "a file");
    await refused(store.keepFile("g", new Uint8Array(), late), "claim-lost", "an empty file");
    await refused(store.extendClaim({ ...late, at: 9 }), "claim-lost", "extending it");
    expectSame(await store.releaseClaim(late), false, "giving it back");
    expectSame(await store.read(RUN.id), EVENTS.slice(0, 1), "events");
    expectSame([...((await store.findFile("f")) ?? [])], [1], "the file");
    expectThat((await store.findFile("g")) === undefined, "a refused file is there");
    expectSame((await store.findRun("a", RUN.id))?.claim, { epoch, worker: "new", at: 1 }, "the claim");
    await store.append(RUN.id, EVENTS.slice(1), undefined, epoch);
    expectSame(await store.read(RUN.id), EVENTS, "all events");
    await refused(store.append(RUN.id, EVENTS.slice(1), undefined, stale), "run-over", "an append after the end");
    await refused(store.extendClaim({ ...late, epoch, at: 9 }), "claim-lost", "extending it after the end");
    await refused(store.keepFile("f", LARGE, { ...late, epoch }), "claim-lost", "a file after the end");
    await refused(store.claim(RUN.id, by("late")), "run-over", "a claim after the end");
  }),
  claiming("without a claim, a run that is held cannot be written, and one that is not held can", async (store) => {
    await store.append(RUN.id, EVENTS.slice(0, 1));
    await refused(store.append(RUN.id, EVENTS.slice(1, 2), undefined, 1), "claim-lost", "a claim that was never given");
    const epoch = await store.claim(RUN.id, by("one"));
    await refused(store.append(RUN.id, EVENTS.slice(1, 2)), "claim-lost", "an append without a claim");
    expectSame(await store.addAnswer(RUN.id, { callId: "c", at: 1 }), true, "an answer, which anyone may give");
    await store.releaseClaim({ runId: RUN.id, epoch });
    const stale = store.append(RUN.id, EVENTS.slice(1, 2), undefined, epoch);
    await refused(stale, "claim-lost", "an append with a claim that was given back");
    await store.append(RUN.id, EVENTS.slice(1));
    expectSame(await store.read(RUN.id), EVENTS, "events");
  }),
  claiming("of several workers that have seen the same claim exactly one gets the run", async (store) => {
    const race = async (seen: number): Promise<number> => {
      const workers = ["a", "b", "c", "d", "e"];
      const outcomes = await Promise.allSettled(workers.map((name) => store.claim(RUN.id, { ...by(name), seen })));
      const epochs = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
      expectSame(epochs.length, 1, `workers that got the run with seen ${seen}`);
      expectSame((await store.findRun("a", RUN.id))?.claim?.epoch, epochs[0], "the claim");
      return epochs[0] as number;
    };
    const first = await race(0);
    const second = await race(first);
    await refused(store.claim(RUN.id, { ...by("late"), seen: first }), "claim-lost", "one who saw the first claim");
    await refused(store.claim(RUN.id, { ...by("late"), seen: 0 }), "claim-lost", "one who saw none");
    await store.releaseClaim({ runId: RUN.id, epoch: second });
    await refused(store.claim(RUN.id, { ...by("late"), seen: second }), "claim-lost", "one who saw it held");
    await race(0);
  }),
  claiming("of a former holder and its successor that write at once only the successor succeeds", async (store) => {
    const stale = await store.claim(RUN.id, by("stale"));
    const taken = store.claim(RUN.id, by("new"));
    const epoch = await taken;
    const writes = await Promise.allSettled([
      store.append(RUN.id, EVENTS.slice(0, 1), undefined, stale),
      store.append(RUN.id, EVENTS.slice(0, 2), undefined, epoch),
      store.append(RUN.id, EVENTS.slice(0, 1), undefined, stale),
    ]);
    expectSame(
      writes.map(({ status }) => status),
      ["rejected", "fulfilled", "rejected"],
      "writes",
    );
    expectSame(await store.read(RUN.id), EVENTS.slice(0, 2), "events");
  }),
  claiming("a claim of a missing run, or one that says nothing, is refused", async (store) => {
    await refused(store.claim("none", by("one")), "unknown-run", "a missing run");
    await refused(store.extendClaim({ runId: "none", epoch: 1, at: 1 }), "unknown-run", "extending a missing run");
    await refused(store.releaseClaim({ runId: "none", epoch: 1 }), "unknown-run", "giving back a missing run");
    await refused(store.keepFile("f", LARGE, { runId: "none", epoch: 1 }), "unknown-run", "a file for a missing run");
    const wrong = [by(""), by("x".repeat(201)), by("one", Number.NaN), { ...by("one"), seen: -1 }];
    for (const wanted of [...wrong, { ...by("one"), seen: 0.5 }]) {
      await refused(store.claim(RUN.id, wanted), "invalid-claim", JSON.stringify(wanted));
    }
    expectThat((await store.findRun("a", RUN.id))?.claim === undefined, "a refused claim is there");
  }),
];

export function reopeningClaims(reopen: (store: Store) => Promise<Store>): Trial<Store> {
  return claiming("a claim is there after the store was opened again, and later ones are newer", async (store) => {
    const first = await store.claim(RUN.id, by("one"));
    await store.append(RUN.id, EVENTS.slice(0, 1), undefined, first);
    await store.createRun({ ...RUN, id: "run-2" });
    const given = await store.claim("run-2", by("two"));
    await store.releaseClaim({ runId: "run-2", epoch: given });
    const again = (await reopen(store)) as Claiming;
    try {
      expectSame((await again.findRun("a", RUN.id))?.claim, { epoch: first, worker: "one", at: 1 }, "the claim");
      await refused(again.append(RUN.id, EVENTS.slice(1)), "claim-lost", "an append without a claim");
      await again.append(RUN.id, EVENTS.slice(1, 2), undefined, first);
      const next = await again.claim(RUN.id, by("two"));
      expectThat(next > first, `epoch ${next} follows ${first}`);
      await refused(again.append(RUN.id, EVENTS.slice(2), undefined, first), "claim-lost", "a former holder");
      expectThat((await again.claim("run-2", by("x"))) > given, "a claim after one that was given back is not newer");
    } finally {
      await again.close();
    }
  });
}
