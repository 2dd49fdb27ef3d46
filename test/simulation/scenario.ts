import { type Agent, agent, type RunOptions, type Swarm, swarm } from "#runtime";
import type { VirtualClock } from "#testing";
import { type Tool, tool } from "#tools";
import type { Dice } from "./dice.ts";

/** What a simulated caller brings along, and what it notes down. */
export interface Scenario {
  readonly tools: readonly Tool[];
  readonly options: RunOptions;
  /** Who asks a person, and how the person answers. */
  readonly person: { readonly delayMs: number; readonly decision: { readonly allow: boolean } } | undefined;
  /** How often each call was carried out. */
  readonly executed: ReadonlyMap<string, number>;
  /** Tools that only run after somebody has said yes. */
  readonly asked: ReadonlySet<string>;
  readonly denied: ReadonlySet<string>;
  /** When the run is aborted. */
  readonly abortAtMs: number | undefined;
}

const NAMES = ["look", "change", "remove", "wait"] as const;

export const TOOL_NAMES: readonly string[] = NAMES;

export function createScenario(dice: Dice, clock: VirtualClock): Scenario {
  const executed = new Map<string, number>();
  const tools = NAMES.map((name) => makeTool(name, dice.fork(), { clock, executed }));
  const asked = new Set(NAMES.filter(() => dice.percent(25)));
  const denied = new Set(NAMES.filter((name) => !asked.has(name) && dice.percent(15)));
  const callback = dice.percent(50) ? dice.pick(CALLBACKS) : undefined;
  const timeoutMs = dice.percent(20) ? 1 + dice.upTo(60_000) : undefined;
  const options: RunOptions = {
    tools,
    permissions: { deny: [...denied], ask: [...asked] },
    limits: {
      turns: 6,
      toolMs: 5000,
      idleMs: 20_000,
      ...(timeoutMs !== undefined && { timeoutMs }),
    },
    ...(callback !== undefined && { permission: (call) => callback(call, clock) }),
    ...(dice.percent(30) && { hooks: { "before-tool": [hookOf(dice.fork(), clock)] } }),
    ...(dice.percent(20) && { guards: [guardOf(dice.fork(), clock)], outputMode: "buffer" as const }),
    ...(dice.percent(20) && { toolConcurrency: 1 + dice.upTo(3) }),
    ...(dice.percent(20) && { retry: dice.pick([false, { attempts: 2 }, { afterFirstToken: true }] as const) }),
  };
  return {
    tools,
    options,
    person: { delayMs: dice.upTo(20_000), decision: { allow: dice.percent(60) } },
    executed,
    asked,
    denied,
    abortAtMs: dice.percent(25) ? dice.upTo(30_000) : undefined,
  };
}

/** Two agents on two backends, the first of which may hand over to the second. */
export function createTeam(backends: readonly [Agent["backend"], Agent["backend"]]): Swarm {
  return swarm([
    agent({ name: "first", backend: backends[0], handoffs: ["second"] }),
    agent({ name: "second", backend: backends[1] }),
  ]);
}

interface Notes {
  readonly clock: VirtualClock;
  readonly executed: Map<string, number>;
}

function makeTool(name: string, dice: Dice, { clock, executed }: Notes): Tool {
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));
  return tool(name, `The tool ${name}`, { n: "number" }, async ({ n }, { callId }) => {
    executed.set(callId, (executed.get(callId) ?? 0) + 1);
    const way = dice.upTo(9);
    if (way === 0) throw new Error("The tool broke.");
    if (way === 1) return new Promise<number>(() => undefined);
    if (way < 6) await wait(dice.upTo(4000));
    return n;
  });
}

type Callback = (call: { readonly name: string }, clock: VirtualClock) => Promise<never> | Promise<Answer>;
type Answer = { readonly allow: true } | { readonly allow: false; readonly reason: string };

const CALLBACKS: readonly Callback[] = [
  async () => ({ allow: true }),
  async () => ({ allow: false, reason: "Not today." }),
  async () => Promise.reject(new Error("The callback broke.")),
  () => new Promise<never>(() => undefined),
  (_, clock) => new Promise((resolve) => void clock.after(60_000 + 1, () => resolve({ allow: true } as const))),
];

function hookOf(dice: Dice, clock: VirtualClock) {
  return (): Promise<{ block: string } | undefined> | undefined => {
    const way = dice.upTo(9);
    if (way === 0) throw new Error("The hook broke.");
    if (way === 1) return Promise.resolve({ block: "The hook says no." });
    if (way === 2) return new Promise((resolve) => void clock.after(90_000, () => resolve(undefined)));
    return undefined;
  };
}

function guardOf(dice: Dice, clock: VirtualClock) {
  return {
    name: "looks",
    place: "output" as const,
    check: async (): Promise<{ deny: string } | undefined> => {
      await new Promise<void>((resolve) => void clock.after(dice.upTo(500), resolve));
      return dice.percent(5) ? { deny: "No." } : undefined;
    },
  };
}
