import { createHash } from "node:crypto";
import { type Clock, describeThrown } from "#domain";
import type { NodeNote, Store } from "#sessions";
import { isRecord, ownArray, ownNumber, ownRecord } from "#wire";
import type { WriteLog } from "./server-log.ts";

/** What limits count over all nodes. */
export type Counted = "requests" | "failures" | "streams" | "tenantStreams";

/** What this node counts, by address or tenant. */
export type OwnCounts = Readonly<Record<Counted, ReadonlyMap<string, number>>>;

/** What this node tells the others. */
export interface OwnNote {
  readonly name: string;
  /** The version of this package, for `millrace doctor`. */
  readonly version: string;
  /** The targets on whose runs it works. */
  readonly worksOn: readonly string[];
  readonly counts: OwnCounts;
}

/** The other nodes that are alive, by the notes that this one has read lately. */
export interface OtherNodes {
  /** How often they have counted this key. */
  count(what: Counted, key: string): number;
  /** Whether one of them works on runs of this target. */
  worksOn(target: string): boolean;
  /** Their number. */
  readonly size: number;
  /** Starts to tell and to listen. */
  start(own: () => Promise<OwnNote>): void;
  /** Tells the others that this node is gone. */
  close(): Promise<void>;
}

/** How often a node tells what it counts: so much later another one knows of it. */
const TELL_MS = 1000;

/** A node whose note has not changed for so long counts as gone. */
const GONE_MS = 10_000;

/** Then its note is removed. */
const REMOVED_MS = 60_000;

/** The most keys of a kind in a note: those with the greatest counts. */
const MOST_KEYS = 500;

interface KnownNode {
  beat: number;
  /** When its note was seen to change; `undefined` until then, because it may be that of a dead node. */
  changedAt: number | undefined;
  readonly seenAt: number;
  worksOn: readonly string[];
  counts: ReadonlyMap<Counted, ReadonlyMap<string, number>>;
}

export interface OtherNodesOptions {
  readonly store: Pick<Store, "noteNode">;
  readonly clock: Clock;
  /** A name that no other node has. */
  readonly id: string;
  readonly write: WriteLog;
}

/**
 * Exchanges notes with the nodes that share the store. No clocks are compared: a node lives as long as its note is seen to
 * change.
 */
export function createOtherNodes({ store, clock, id, write }: OtherNodesOptions): OtherNodes {
  const others = new Map<string, KnownNode>();
  let beat = 0;
  let stop = (): void => undefined;
  let isClosed = false;
  let isFailing = false;
  let telling: Promise<void> = Promise.resolve();

  const lives = ({ changedAt }: KnownNode): boolean => changedAt !== undefined && clock.now() - changedAt < GONE_MS;
  const living = (): KnownNode[] => [...others.values()].filter(lives);

  const tell = async (own: () => Promise<OwnNote>): Promise<void> => {
    const { name, version, worksOn, counts } = await own();
    beat += 1;
    const note = { name, version, beat, worksOn, counts: Object.fromEntries(Object.entries(counts).map(shorten)) };
    const notes = (await store.noteNode?.(id, note)) ?? [];
    for (const other of notes) readNote(others, other, clock.now());
    const there = new Set(notes.map(({ node }) => node));
    for (const [node, { changedAt, seenAt }] of others) {
      if (!there.has(node)) others.delete(node);
      else if (clock.now() - (changedAt ?? seenAt) > REMOVED_MS) await store.noteNode?.(node, undefined);
    }
  };

  const repeat = (own: () => Promise<OwnNote>): void => {
    if (isClosed) return;
    telling = tell(own).then(
      () => {
        isFailing = false;
      },
      (error: unknown) => {
        // Said once: the store is away, which the log has elsewhere as well.
        if (!isFailing) write("warn", "node-not-noted", { message: describeThrown(error) });
        isFailing = true;
      },
    );
    telling.then(
      () => {
        if (!isClosed) stop = clock.after(TELL_MS, () => repeat(own));
      },
      () => undefined,
    );
  };

  return {
    count(what, key) {
      if (others.size === 0) return 0;
      const short = shortOf(key);
      return living().reduce((sum, { counts }) => sum + (counts.get(what)?.get(short) ?? 0), 0);
    },
    worksOn: (target) => living().some((node) => node.worksOn.includes(target)),
    get size() {
      return living().length;
    },
    start(own) {
      if (store.noteNode !== undefined && beat === 0) repeat(own);
    },
    async close() {
      isClosed = true;
      stop();
      await telling;
      if (beat > 0) await store.noteNode?.(id, undefined).catch(() => undefined);
    },
  };
}

/** Addresses are told as digests: others need to compare them only. */
function shortOf(key: string): string {
  return createHash("sha256").update(key).digest("base64url").slice(0, 16);
}

function shorten([what, counts]: [string, ReadonlyMap<string, number>]): [string, Record<string, number>] {
  const greatest = [...counts].toSorted(([, one], [, other]) => other - one).slice(0, MOST_KEYS);
  return [what, Object.fromEntries(greatest.map(([key, count]) => [shortOf(key), count]))];
}

function readNote(others: Map<string, KnownNode>, { node, note }: NodeNote, now: number): void {
  const beat = isRecord(note) ? ownNumber(note, "beat") : undefined;
  if (!isRecord(note) || beat === undefined) return;
  const known = others.get(node) ?? { beat, changedAt: undefined, seenAt: now, worksOn: [], counts: new Map() };
  others.set(node, known);
  if (known.beat === beat) return;
  known.beat = beat;
  known.changedAt = now;
  known.worksOn = (ownArray(note, "worksOn") ?? []).filter((one) => typeof one === "string");
  known.counts = readCounts(ownRecord(note, "counts") ?? {});
}

function readCounts(counts: Readonly<Record<string, unknown>>): KnownNode["counts"] {
  const kinds = Object.keys(counts) as Counted[];
  return new Map(
    kinds.map((what) => [
      what,
      new Map(
        Object.entries(ownRecord(counts, what) ?? {}).filter(
          (entry): entry is [string, number] => typeof entry[1] === "number",
        ),
      ),
    ]),
  );
}
