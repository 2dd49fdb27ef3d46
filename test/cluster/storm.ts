import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentEvent } from "#domain";
import type { Store } from "#sessions";
import { findViolation } from "#testing";
import type { Dice } from "../simulation/dice.ts";
import { findForeignEvent, findReaderFault } from "../simulation/reader.ts";
import { order, type ServedNode, visit } from "./nodes.ts";

/** A time between two kills. */
const KILL_MS = 5000;

export interface StormOptions {
  readonly nodes: readonly ServedNode[];
  /** A store of the test itself, which no fault meets but that of Postgres. */
  readonly store: Store;
  readonly dice: Dice;
  /** How often a node is killed. */
  readonly kills: number;
  readonly runs: number;
  readonly steps: number;
  /** A node stands still for so long: longer than the queue keeps its jobs for it. */
  readonly frozenMs: number;
  readonly effects: string;
  restartPostgres(): Promise<void>;
  restartQueue(): Promise<void>;
}

/** What came of it. All lists are of runs or calls that broke a promise. */
export interface Storm {
  readonly faults: readonly string[];
  readonly runs: number;
  readonly kills: number;
  readonly tools: number;
  /** Runs that another node continued. */
  readonly continued: number;
  readonly incomplete: number;
  /** From the kill of a node to the first event that another one wrote into its run, in milliseconds. */
  readonly handOverMs: readonly number[];
}

interface Kill {
  readonly at: number;
  readonly runIds: readonly string[];
}

/** Lets runs begin at random nodes while nodes, Postgres, the queue and the wires between them fail, and waits for their ends. */
export async function storm(options: StormOptions): Promise<Storm> {
  const { nodes, store, dice, kills, runs, steps } = options;
  const readers: Promise<readonly [string, readonly AgentEvent[]]>[] = [];
  const killed: Kill[] = [];
  const up = (): readonly ServedNode[] => nodes.filter(({ state }) => state === "up");
  const stormMs = kills * KILL_MS;
  let isOver = false;

  const begin = async (): Promise<void> => {
    for (let begun = 0; begun < runs; ) {
      const node = dice.pick(nodes);
      const runId = node.state === "up" ? await order(node, { steps, ms: 300 + dice.upTo(600) }) : undefined;
      if (runId === undefined) await sleep(100);
      else {
        begun += 1;
        readers.push(read(runId));
        // All of them have begun shortly before the last kill.
        await sleep((stormMs - KILL_MS) / runs);
      }
    }
  };

  /** Somebody who follows a run at one node after the other. */
  const read = async (runId: string): Promise<readonly [string, readonly AgentEvent[]]> => {
    const seen: AgentEvent[] = [];
    while (seen.at(-1)?.type !== "done" && !isOver) {
      const node = dice.pick(nodes);
      if (node.state === "up") await visit(node, runId, seen);
      if (seen.at(-1)?.type !== "done") await sleep(100);
    }
    return [runId, seen];
  };

  const kill = async (): Promise<void> => {
    const [first, ...more] = up();
    if (first === undefined) return;
    const node = dice.pick([first, ...more]);
    const unfinished = await store.listRuns({ isOver: false }).catch(() => []);
    const runIds = unfinished.filter(({ claim }) => claim?.worker === node.name).map(({ id }) => id);
    killed.push({ at: Date.now(), runIds });
    await node.restart();
  };

  const others = createFaults(options);
  const work: Promise<void>[] = [begin()];
  for (let at = 0; at < kills; at += 1) {
    await sleep(KILL_MS);
    work.push(kill());
    if (at % 2 === 0) work.push(others());
  }
  await Promise.all(work);
  await endOfAll(store);
  const logs = new Map<string, readonly AgentEvent[]>();
  for (const { id } of await store.listRuns()) logs.set(id, await store.read(id));
  const seen = await Promise.all(readers);
  isOver = true;
  const lines = existsSync(options.effects) ? readFileSync(options.effects, "utf8").trim().split("\n") : [];
  return judge({ logs, seen, lines, killed, steps });
}

/** One fault after the other, besides the kills. */
function createFaults({ nodes, dice, frozenMs, restartPostgres, restartQueue }: StormOptions): () => Promise<void> {
  const pickUp = (): ServedNode | undefined => nodes.filter(({ state }) => state === "up").at(dice.upTo(1));
  const faults = [
    async () => {
      const node = pickUp();
      node?.freeze();
      await sleep(frozenMs);
      node?.thaw();
    },
    restartPostgres,
    async () => {
      const node = pickUp();
      node?.cut();
      await sleep(frozenMs);
      node?.mend();
    },
    restartQueue,
  ];
  let next = 0;
  return async () => {
    const fault = faults[next % faults.length];
    next += 1;
    await fault?.();
  };
}

/** A bound for what hangs: every run is over long before. */
const LONGEST_END_MS = 300_000;

async function endOfAll(store: Store): Promise<void> {
  const until = Date.now() + LONGEST_END_MS;
  while (Date.now() < until && (await store.listRuns({ isOver: false })).length > 0) await sleep(500);
}

interface Remains {
  readonly logs: ReadonlyMap<string, readonly AgentEvent[]>;
  readonly seen: readonly (readonly [string, readonly AgentEvent[]])[];
  readonly lines: readonly string[];
  readonly killed: readonly Kill[];
  readonly steps: number;
}

function judge({ logs, seen, lines, killed, steps }: Remains): Storm {
  const faults = [...logs].flatMap(([id, log]) => faultsOf(log, steps).map((fault) => `${id}: ${fault}`));
  for (const [id, events] of seen) {
    const log = logs.get(id) ?? [];
    const fault = findReaderFault(events, log) ?? findForeignEvent(events, log);
    if (fault !== undefined) faults.push(`${id}: ${fault}`);
  }
  const starts = lines.filter((line) => line.startsWith("start ")).map((line) => line.slice(6));
  const carriedOut = new Set<string>();
  for (const start of starts) {
    const [runId = "", step = "", callId] = start.split(" ");
    if (carriedOut.has(`${runId} ${step}`)) faults.push(`${runId}: step ${step} was carried out twice.`);
    carriedOut.add(`${runId} ${step}`);
    const call = logs.get(runId)?.find((event) => event.type === "tool-call" && event.callId === callId);
    if (call === undefined) faults.push(`${runId}: the call ${String(callId)} has an effect and is not stored.`);
  }
  const all = [...logs.values()];
  return {
    faults,
    runs: logs.size,
    kills: killed.length,
    tools: starts.length,
    continued: all.filter((log) => log.some(isResumed)).length,
    incomplete: all.flat().filter((event) => event.type === "tool-result" && event.skipped === "incomplete").length,
    handOverMs: killed.flatMap(({ at, runIds }) =>
      runIds.flatMap((id) => {
        const next = logs.get(id)?.find((event) => isResumed(event) && event.ts >= at);
        return next === undefined ? [] : [next.ts - at];
      }),
    ),
  };
}

const isResumed = (event: AgentEvent): boolean => event.type === "notice" && event.kind === "resumed";

/** Every step was called once and answered, and the run ended as a success after the last one. */
function faultsOf(log: readonly AgentEvent[], steps: number): string[] {
  const faults: string[] = [];
  const violation = findViolation(log);
  if (violation !== undefined) faults.push(`${violation.invariant}: ${violation.message}`);
  const done = log.at(-1);
  if (done?.type !== "done") return [...faults, `it is not over: ${log.length} events.`];
  const { status, text } = done.result;
  if (status !== "success") faults.push(`it ended as ${status}: ${JSON.stringify(done.result)}.`);
  if (!text.endsWith(`Done after ${steps}.`)) faults.push(`it ended early: ${JSON.stringify(text)}.`);
  const called = log.flatMap((event) => (event.type === "tool-call" ? [(event.input as { step: number }).step] : []));
  const wanted = Array.from({ length: steps }, (_, at) => at);
  if (called.join() !== wanted.join()) faults.push(`its steps are ${called.join()}.`);
  return faults;
}
