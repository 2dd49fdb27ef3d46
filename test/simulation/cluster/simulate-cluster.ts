import type { AgentEvent } from "#domain";
import { createVirtualClock, findViolation, type VirtualClock } from "#testing";
import { createDice, type Dice } from "../dice.ts";
import { findForeignEvent, findReaderFault } from "../reader.ts";
import { VirtualNode } from "./node.ts";
import { calm, createPlace, type Place } from "./place.ts";
import { type Effect, lastWords, type Plan } from "./work.ts";

/** What came of one seed. */
export interface ClusterSimulation {
  /** What was promised and not kept. */
  readonly violations: readonly string[];
  /** Logs and effects: the same seed gives the same text. */
  readonly trace: string;
  /** What happened in it. */
  readonly counts: Readonly<Record<string, number>>;
}

/** So long things go wrong; then nothing does, and everything has to come to its end. */
const FAULTY_MS = 60_000;
/** No run may take longer, in virtual time. */
const LONGEST_MS = 1_800_000;
const STEP_MS = 250;

/** Servers on one store and one queue, with everything that can go wrong between them. */
export async function simulateCluster(seed: number, size?: number): Promise<ClusterSimulation> {
  const cluster = new Cluster(seed, size);
  return cluster.play();
}

interface Reading {
  readonly runId: string;
  readonly seen: AgentEvent[];
  isOver: boolean;
}

class Cluster {
  private readonly _dice: Dice;
  private readonly _clock: VirtualClock = createVirtualClock(1_700_000_000_000);
  private readonly _place: Place = createPlace(this._clock);
  private readonly _effects: Effect[] = [];
  private readonly _nodes: VirtualNode[] = [];
  private readonly _readings: Reading[] = [];
  /** Aborted by somebody, and by their own words. */
  private readonly _aborted = new Set<string>();
  private readonly _counts: Record<string, number> = {};
  private readonly _violations: string[] = [];
  private readonly _skewMs: number;
  private _started = 0;

  constructor(seed: number, size: number | undefined) {
    this._dice = createDice(seed);
    this._skewMs = this._dice.pick([0, 100, 2000, 30_000]);
    const nodes = size ?? this._dice.pick([3, 10, 30, 100]);
    for (let at = 0; at < nodes; at += 1) this._add();
  }

  async play(): Promise<ClusterSimulation> {
    this._plan();
    const end = this._clock.now() + FAULTY_MS;
    while (this._clock.now() < end) await this._clock.advance(STEP_MS);
    calm(this._place.faults);
    const until = this._clock.now() + LONGEST_MS;
    while (this._clock.now() < until && !(await this._isOver())) await this._clock.advance(STEP_MS);
    return this._judge();
  }

  private _note(what: string): void {
    this._counts[what] = (this._counts[what] ?? 0) + 1;
  }

  private _add(): void {
    const dice = this._dice.fork();
    const name = `node-${this._started}`;
    this._started += 1;
    const skewMs = Math.round((dice.upTo(2000) / 1000 - 1) * this._skewMs);
    this._nodes.push(new VirtualNode({ name, place: this._place, dice, skewMs, effects: this._effects }));
  }

  private _any(): VirtualNode {
    const up = this._nodes.filter(({ life }) => life.isUp);
    return (up.length === 0 ? this._nodes[0] : this._dice.pick(up)) as VirtualNode;
  }

  /** Mostly one that works on something. */
  private async _victim(): Promise<VirtualNode> {
    const runs = await this._place.truth.listRuns({ isOver: false });
    const workers = new Set(runs.map(({ claim }) => claim?.worker));
    const busy = this._nodes.filter(({ name, life }) => life.isUp && workers.has(name));
    return busy.length > 0 && this._dice.percent(80) ? this._dice.pick(busy) : this._any();
  }

  private _at(ms: number, act: () => void | Promise<void>): void {
    this._clock.after(ms, () => {
      Promise.resolve(act()).catch((error: unknown) => this._violations.push(`Something failed: ${String(error)}`));
    });
  }

  private _wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this._clock.after(ms, resolve));
  }

  /** What is going to happen, drawn in advance. */
  private _plan(): void {
    const dice = this._dice;
    const { faults } = this._place;
    faults.slowMs = dice.pick([5, 50, 300, 1500]);
    faults.lostHints = dice.pick([0, 20, 100]);
    faults.refusedAfterCommit = dice.pick([0, 0, 3, 15]);
    for (let runs = 3 + dice.upTo(7); runs > 0; runs -= 1) {
      const steps = Array.from({ length: 1 + dice.upTo(4) }, () =>
        dice.pick(["quick", "slow", "slow", "asked", "late"] as const),
      );
      this._at(dice.upTo(30_000), () => this._begin({ steps }));
    }
    for (let count = 2 + dice.upTo(8); count > 0; count -= 1) {
      const act = dice.pick([this._kill, this._kill, this._freeze, this._freeze, this._cut, this._leave]);
      this._at(2000 + dice.upTo(50_000), () => act.call(this));
    }
    for (let count = dice.upTo(2); count > 0; count -= 1) {
      this._at(dice.upTo(50_000), () => this._away("isStoreAway"));
      this._at(dice.upTo(50_000), () => this._away("isQueueAway"));
    }
    if (dice.percent(15)) {
      this._at(dice.upTo(50_000), () => {
        this._note("queue lost");
        this._place.loseQueue();
      });
    }
    this._at(1000, () => this._answerAll());
  }

  private async _kill(): Promise<void> {
    (await this._victim()).life.kill();
    this._note("kill");
    await this._wait(this._dice.upTo(10_000));
    this._add();
  }

  private async _freeze(): Promise<void> {
    const { life } = await this._victim();
    life.freeze();
    this._note("freeze");
    await this._wait(this._dice.upTo(25_000));
    life.thaw();
  }

  private async _cut(): Promise<void> {
    const ms = this._dice.upTo(20_000);
    (await this._victim()).life.cut(ms);
    this._note("cut");
  }

  private async _leave(): Promise<void> {
    const node = await this._victim();
    this._add();
    this._note("shutdown");
    await node.leave();
  }

  private async _away(what: "isStoreAway" | "isQueueAway"): Promise<void> {
    const { faults } = this._place;
    faults[what] = true;
    this._note(what === "isStoreAway" ? "store away" : "queue away");
    await this._wait(this._dice.upTo(15_000));
    faults[what] = false;
  }

  /** Somebody asks, again and again until it is accepted. */
  private async _begin(plan: Plan): Promise<void> {
    const dice = this._dice.fork();
    const input = JSON.stringify(plan);
    for (;;) {
      const node = this._any();
      const made = await node.askJson("POST", "/api/threads", {});
      if (made !== undefined) {
        const head = await node.askHead("POST", `/api/threads/${String(made["id"])}/chat`, { input });
        const runId = head?.get("x-run-id") ?? undefined;
        if (runId !== undefined) return this._follow(runId, dice);
      }
      await this._wait(300 + dice.upTo(700));
    }
  }

  private _follow(runId: string, dice: Dice): void {
    for (let readers = 1 + dice.upTo(1); readers > 0; readers -= 1) this._keepReading(runId, dice.fork());
    if (!dice.percent(15)) return;
    this._at(dice.upTo(20_000), async () => {
      const answer = await this._any().askJson("POST", `/api/runs/${runId}/abort`, {});
      // Without an answer it may have been aborted, and it may not.
      if (answer?.["accepted"] !== false) this._aborted.add(runId);
    });
  }

  private _keepReading(runId: string, dice: Dice): void {
    this._read(runId, dice).catch((error: unknown) => this._violations.push(`A reader failed: ${String(error)}`));
  }

  /** Goes from one node to another, always on from where it stands. */
  private async _read(runId: string, dice: Dice): Promise<void> {
    const reading: Reading = { runId, seen: [], isOver: false };
    this._readings.push(reading);
    const leaving = dice.pick([0, 5, 20]);
    while (reading.seen.at(-1)?.type !== "done") {
      await this._any().read(runId, reading.seen, () => dice.percent(leaving));
      if (reading.seen.at(-1)?.type !== "done") await this._wait(50 + dice.upTo(500));
    }
    reading.isOver = true;
  }

  /** People and services that answer what they find, at any node, some of it twice. */
  private async _answerAll(): Promise<void> {
    const { truth } = this._place;
    for (const { runId, callId } of await truth.listQuestions("local"))
      this._answer(`${runId}/permissions/${callId}`, { allow: true });
    for (const run of await truth.listRuns({ isOver: false })) {
      for (const event of (await truth.read(run.id)).filter(({ type }) => type === "notice")) {
        const { kind, data } = event as { readonly kind: string; readonly data: { readonly callId?: string } };
        if (kind === "call-parked") this._answer(`${run.id}/results/${data.callId ?? ""}`, { output: "late" });
      }
    }
    this._at(3000 + this._dice.upTo(3000), () => this._answerAll());
  }

  private _answer(path: string, body: object): void {
    const times = this._dice.percent(20) ? 2 : 1;
    for (let at = 0; at < times; at += 1) {
      this._at(this._dice.upTo(8000), async () => void (await this._any().askJson("POST", `/api/runs/${path}`, body)));
    }
  }

  private async _isOver(): Promise<boolean> {
    if (this._readings.some(({ isOver }) => !isOver)) return false;
    return (await this._place.truth.listRuns({ isOver: false })).length === 0;
  }

  private async _judge(): Promise<ClusterSimulation> {
    const { truth } = this._place;
    const violations = [...this._violations];
    const logs = new Map<string, readonly AgentEvent[]>();
    for (const run of (await truth.listRuns()).toReversed()) {
      const log = await truth.read(run.id);
      logs.set(run.id, log);
      violations.push(...this._faultsOf(run.id, log).map((fault) => `${run.id}: ${fault}`));
    }
    for (const { runId, seen } of this._readings) {
      const log = logs.get(runId) ?? [];
      const fault = findReaderFault(seen, log) ?? findForeignEvent(seen, log);
      if (fault !== undefined) violations.push(`${runId}: ${fault}`);
    }
    const carriedOut = new Set<string>();
    for (const { runId, callId, step, isStored } of this._effects) {
      if (carriedOut.has(`${runId} ${step}`)) violations.push(`${runId}: step ${step} was carried out twice.`);
      carriedOut.add(`${runId} ${step}`);
      if (!isStored) violations.push(`${runId}: ${callId} had an effect before it was stored.`);
    }
    const trace = JSON.stringify([[...logs], this._effects, this._readings.map(({ seen }) => seen)]);
    return { violations, trace, counts: this._counts };
  }

  /** Every step was called once, and the run ended after the last one, or because somebody aborted it. */
  private _faultsOf(runId: string, log: readonly AgentEvent[]): string[] {
    const faults: string[] = [];
    const violation = findViolation(log);
    if (violation !== undefined) faults.push(`${violation.invariant}: ${violation.message}`);
    for (const event of log) if (event.type === "notice") this._note(event.kind);
    const done = log.at(-1);
    if (done?.type !== "done") return [...faults, `it is not over after ${log.length} events.`];
    const { status, text } = done.result;
    this._note(status);
    if (status === "aborted" && this._aborted.has(runId)) return faults;
    if (status !== "success") return [...faults, `it ended as ${status}: ${JSON.stringify(done.result)}`];
    const first = log.find((event) => event.type === "message" && event.role === "user");
    const [asked] = first?.type === "message" ? first.blocks : [];
    const plan = JSON.parse(asked?.type === "text" ? asked.text : "{}") as Plan;
    const called = log.flatMap((event) => (event.type === "tool-call" ? [(event.input as { step: number }).step] : []));
    if (called.join() !== plan.steps.map((_, at) => at).join()) faults.push(`its steps are ${called.join()}.`);
    if (!text.endsWith(lastWords(plan))) faults.push(`it ended early: ${JSON.stringify(text)}`);
    return faults;
  }
}

// What Node and the server load when they first need it takes real time, which no seed determines.
await simulateCluster(0, 3);
