import type { AgentEvent, Clock } from "#domain";
import { createDeferred, type Deferred } from "#streams";
import { requireNext } from "../sequence.ts";
import type { ModelUsage, NewRun, Question, Settlement } from "../store.ts";
import { addModelUsage, permissionSteps, statusAfter, waitAfter } from "../thread-rules.ts";
import type { Bodies } from "./bodies.ts";
import type { Database } from "./database.ts";
import type { Hints } from "./hints.ts";
import { refusalOf, type Verdict } from "./refusals.ts";

/** How many transactions are under way at a time. Each run belongs to one lane, so its appends stay in order. */
const LANES = 4;

/** One transaction has at most this much. */
const BATCH = { entries: 256, characters: 4_194_304 } as const;

/** The place of a run, which its questions and its audit name. */
export type RunPlace = Pick<NewRun, "threadId"> & { readonly tenant: string };

interface Entry {
  readonly runId: string;
  readonly epoch: number | undefined;
  readonly events: readonly AgentEvent[];
  readonly bodies: readonly string[];
  readonly characters: number;
  readonly more: object | null;
  readonly stored: Deferred<void>;
}

export interface AppenderParts {
  readonly database: Database;
  readonly bodies: Bodies;
  readonly hints: Hints;
  readonly clock: Clock;
  /** @throws StoreError `unknown-run`. */
  place(runId: string): Promise<RunPlace>;
  usage(threadId: string, tenant: string): Promise<readonly ModelUsage[]>;
}

/** Appends of one process: what arrives while a transaction is under way goes into the next one. */
export class Appender {
  private readonly _parts: AppenderParts;
  private readonly _lanes = Array.from({ length: LANES }, () => ({ waiting: [] as Entry[], isBusy: false }));
  /** Runs for which something has to be encoded or read first: later appends wait for it. */
  private readonly _turns = new Map<string, Promise<void>>();
  private readonly _pending = new Set<Promise<void>>();

  constructor(parts: AppenderParts) {
    this._parts = parts;
  }

  append(
    runId: string,
    events: readonly AgentEvent[],
    settlement: Settlement | undefined,
    epoch: number | undefined,
  ): Promise<void> {
    // Whether it continues the log is for the database to say; this is what is wrong in itself.
    const [first] = events;
    if (first !== undefined) requireNext(runId, { lastSeq: (first.firstSeq ?? first.seq) - 1, isOver: false }, events);
    const before = this._turns.get(runId);
    const encoded =
      before?.then(() => this._encode(runId, events, settlement, epoch)) ??
      this._encode(runId, events, settlement, epoch);
    const stored = encoded instanceof Promise ? this._inTurn(runId, encoded) : this._add(encoded);
    this._pending.add(stored);
    const forget = (): void => void this._pending.delete(stored);
    stored.then(forget, forget);
    return stored;
  }

  async drain(): Promise<void> {
    while (this._pending.size > 0) await Promise.allSettled(this._pending);
  }

  private async _inTurn(runId: string, encoded: Promise<Entry>): Promise<void> {
    const turn = encoded.then(
      () => undefined,
      () => undefined,
    );
    this._turns.set(runId, turn);
    try {
      const entry = await encoded;
      const stored = this._add(entry);
      if (this._turns.get(runId) === turn) this._turns.delete(runId);
      await stored;
    } finally {
      if (this._turns.get(runId) === turn) this._turns.delete(runId);
    }
  }

  /** A promise only if something is large, or has to be read. */
  private _encode(
    runId: string,
    events: readonly AgentEvent[],
    settlement: Settlement | undefined,
    epoch: number | undefined,
  ): Entry | Promise<Entry> {
    const bodies = events.map((event) => this._parts.bodies.event(event));
    const steps = permissionSteps(events);
    if (steps.length > 0 || settlement !== undefined || bodies.some((body) => body instanceof Promise)) {
      return Promise.all(bodies.map((body) => Promise.resolve(body))).then(async (texts) => {
        const more = await this._more(runId, steps, settlement);
        return entryOf({ runId, epoch, events, more }, texts);
      });
    }
    return entryOf({ runId, epoch, events, more: null }, bodies as readonly string[]);
  }

  /** What is stored besides the events, as JSON for the database. */
  private async _more(
    runId: string,
    steps: ReturnType<typeof permissionSteps>,
    settlement: Settlement | undefined,
  ): Promise<object | null> {
    const { bodies } = this._parts;
    const place = await this._parts.place(runId);
    const told: unknown[] = [];
    for (const step of steps) {
      if (step.kind === "asked") {
        const question: Question = { ...step.question, ...place };
        const body = await bodies.value(question, { code: "invalid-event", what: `A question of run ${runId}` });
        told.push(["asked", callKey(question.callId), question.askedAt, body]);
      } else {
        told.push(["decided", callKey(step.callId), JSON.stringify({ ...step.entry, ...place })]);
      }
    }
    if (settlement === undefined || place.threadId === undefined) return { steps: told };
    const { at } = settlement;
    const refusal = { code: "invalid-event", what: `A message of run ${runId}` } as const;
    const messages = await Promise.all(settlement.messages.map((message) => bodies.message(message, refusal)));
    // A thread has one run at a time, so nothing else writes what is read here.
    const before = await this._parts.usage(place.threadId, place.tenant);
    const usage = settlement.usage.map((line) => [
      JSON.stringify(line.model),
      JSON.stringify(
        addModelUsage(
          before.find(({ model }) => model === line.model),
          line,
        ),
      ),
    ]);
    const bytes = messages.reduce((sum, [body]) => sum + Buffer.byteLength(body), 0);
    return { steps: told, thread: { at, bytes, messages, usage } };
  }

  private _add(entry: Entry): Promise<void> {
    const lane = this._lanes[hash(entry.runId) % LANES] as (typeof this._lanes)[number];
    lane.waiting.push(entry);
    if (!lane.isBusy) this._work(lane).catch(() => undefined);
    return entry.stored.promise;
  }

  /** Never rejects. */
  private async _work(lane: { waiting: Entry[]; isBusy: boolean }): Promise<void> {
    lane.isBusy = true;
    // What arrives in the same turn of the event loop goes into the first transaction.
    await new Promise<void>((resolve) => {
      this._parts.clock.after(0, resolve);
    });
    while (lane.waiting.length > 0) {
      const batch = takeBatch(lane.waiting);
      try {
        const verdicts = await this._store(batch);
        for (const [at, { stored, runId, epoch }] of batch.entries()) {
          const error = refusalOf(runId, epoch, verdicts[at]);
          if (error === undefined) {
            this._parts.hints.tell(runId);
            stored.resolve();
          } else {
            stored.reject(error);
          }
        }
      } catch (error) {
        for (const { stored } of batch) stored.reject(error);
      }
    }
    lane.isBusy = false;
  }

  private async _store(batch: readonly Entry[]): Promise<readonly Verdict[]> {
    const entries: number[] = [];
    const seqs: number[] = [];
    for (const [at, { events }] of batch.entries()) {
      for (const { seq } of events) {
        entries.push(at + 1);
        seqs.push(seq);
      }
    }
    const waits = batch.map(({ events }) => waitAfter(events));
    const values = [
      batch.map(({ runId }) => runId),
      batch.map(({ epoch }) => epoch ?? null),
      batch.map(({ events: [first] }) => (first === undefined ? null : (first.firstSeq ?? first.seq))),
      batch.map(({ events }) => events.at(-1)?.seq ?? null),
      batch.map(({ events }) => statusAfter(events) ?? null),
      waits.map((wait) => wait !== undefined),
      waits.map((wait) => wait?.wakeAt ?? null),
      batch.map(({ bodies }) => bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0)),
      entries,
      seqs,
      // JSON has no raw line breaks.
      batch.flatMap(({ bodies }) => bodies).join("\n"),
      JSON.stringify(batch.map(({ more }) => more)),
    ];
    let isAgain = false;
    return await this._parts.database.repeat(async (call) => {
      const again = isAgain;
      isAgain = true;
      return await call<Verdict & Record<string, unknown>>(
        "SELECT * FROM @.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        [...values, again],
      );
    });
  }
}

function entryOf(entry: Pick<Entry, "runId" | "epoch" | "events" | "more">, bodies: readonly string[]): Entry {
  const characters = bodies.reduce((sum, { length }) => sum + length, 0);
  return { ...entry, bodies, characters, stored: createDeferred<void>() };
}

function takeBatch(waiting: Entry[]): readonly Entry[] {
  let characters = 0;
  let end = 0;
  while (end < waiting.length && end < BATCH.entries && (end === 0 || characters < BATCH.characters)) {
    characters += (waiting[end] as Entry).characters;
    end += 1;
  }
  return waiting.splice(0, end);
}

/** A vendor's call id may contain anything; as JSON it has no NUL. */
export function callKey(callId: string): string {
  return JSON.stringify(callId);
}

function hash(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum = (sum * 31 + text.charCodeAt(at)) >>> 0;
  return sum;
}
