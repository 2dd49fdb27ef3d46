import { expect } from "vitest";
import type { AgentEvent } from "#domain";
import { agent } from "#runtime";
import type { ServerOptions } from "#server";
import type { Store } from "#sessions";
import { tool, type ToolContext } from "#tools";
import { startServer, testWorld } from "../server/support.ts";
import { modelOf, type Step } from "./resumable.ts";

const STEPS: readonly Step[] = [{ text: "I ask.", calls: [{ name: "work", input: { n: 1 } }] }, { text: "Done." }];

interface Serving {
  readonly store: Store;
  /** The tool `work`. */
  readonly run: (call: Pick<ToolContext, "runId" | "callId">) => unknown;
  /** The calls that are asked about. Default: those of `work`. */
  readonly ask?: readonly string[];
  readonly steps?: readonly Step[];
  readonly options?: Partial<ServerOptions>;
}

/** One process of a server, with an agent that has the tool `work`, on a clock of its own. */
export function serve({ store, run, ask = ["work"], steps = STEPS, options }: Serving) {
  const world = testWorld();
  const clerk = agent({
    name: "clerk",
    backend: modelOf(steps),
    tools: [tool("work", "Work", { n: "number" }, (_, call) => run(call))],
    permissions: { ask, otherwise: "allow" },
  });
  return { ...startServer({ store, agents: [clerk], target: "clerk", world, ...options }), clock: world.clock };
}

export type Served = ReturnType<typeof serve>;

/** Begins a run on a new thread, and returns its id. */
export async function begin(server: Served, headers: Record<string, string> = {}): Promise<string> {
  const made = (await (await server.ask("POST", "/api/threads", {}, headers)).json()) as { id: string };
  await server.ask("POST", `/api/threads/${made.id}/chat`, { input: "go" }, headers);
  const [run] = await server.store.listRuns({ threadId: made.id });
  return run?.id as string;
}

/** Waits for something that needs no time of the clock. A part that is used for the first time is read from the disk. */
export async function until(check: () => Promise<boolean>): Promise<void> {
  const latest = performance.now() + 30_000;
  while (!(await check()) && performance.now() < latest) await new Promise((next) => setImmediate(next));
  expect(await check()).toBe(true);
}

export const statusOf = async (server: Served, runId: string): Promise<string> =>
  ((await (await server.ask("GET", `/api/runs/${runId}`)).json()) as { status: string }).status;

export const logOf = async (store: Store, runId: string): Promise<readonly AgentEvent[]> => store.read(runId);

/** The calls of a run that wait for an answer. */
export async function askedIn(store: Store, runId: string): Promise<readonly string[]> {
  const questions = await store.listQuestions("local");
  return questions.filter((question) => question.runId === runId).map(({ callId }) => callId);
}
