import { expect, onTestFinished } from "vitest";
import type { AgentEvent } from "#domain";
import { agent, type World } from "#runtime";
import type { ServerOptions } from "#server";
import type { RunQueue, Store } from "#sessions";
import { createVirtualClock, type VirtualClock } from "#testing";
import { tool } from "#tools";
import { createQueueInProcess, type InProcessQueue } from "../../src/sessions/queues/in-process/in-process-queue.ts";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { modelOf } from "../durability/resumable.ts";
import { readFrames, readText, startServer, type TestServer, testWorld } from "./support.ts";

const STEPS = [{ text: "I work.", calls: [{ name: "work", input: { n: 1 } }] }, { text: "Done." }];

/** Servers that share a store and a queue, on virtual time. */
export interface Cluster {
  readonly store: Store;
  readonly clock: VirtualClock;
  readonly first: InProcessQueue;
  /** Starts a node, or with `"none"` a server without a queue; `work` is what its tool does. */
  node(work: () => unknown, options?: Partial<ServerOptions>, queue?: RunQueue | "none"): TestServer;
  /** Advances the clock until it happens. */
  until<Value>(promise: Promise<Value>): Promise<Value>;
  /** Advances the clock until it holds. */
  untilTrue(check: () => Promise<boolean> | boolean): Promise<void>;
}

export function createCluster(ask: readonly string[] = [], store: Store = createMemoryStore()): Cluster {
  const clock = createVirtualClock(1_700_000_000_000);
  const first = createQueueInProcess({ clock, lockMs: 5000 });
  let nodes = 0;
  const until = async <Value>(promise: Promise<Value>): Promise<Value> => {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    promise.then(settle, settle);
    for (let steps = 0; !isSettled && steps < 5000; steps += 1) await clock.advance(50);
    if (!isSettled) throw new Error("it did not happen");
    return promise;
  };
  return {
    store,
    clock,
    first,
    until,
    async untilTrue(check) {
      for (let steps = 0; steps < 5000 && !(await check()); steps += 1) await clock.advance(50);
      expect(await check()).toBe(true);
    },
    node(work, options = {}, queue = first.connect()) {
      nodes += 1;
      const world: World = { ...testWorld(nodes), clock };
      const clerk = agent({
        name: "clerk",
        backend: modelOf(STEPS),
        tools: [tool("work", "Work", { n: "number" }, work)],
        permissions: { ask, otherwise: "allow" },
      });
      const started = startServer({
        store,
        agents: [clerk],
        target: "clerk",
        world,
        ...(queue !== "none" && { queue }),
        ...options,
      });
      onTestFinished(async () => {
        await until(started.server.close());
        if (queue !== "none") await queue.close();
      });
      return started;
    },
  };
}

/** Sends a message at this node. */
export async function chat(at: TestServer): Promise<{ readonly runId: string; readonly text: Promise<string> }> {
  const made = (await (await at.ask("POST", "/api/threads", {})).json()) as { id: string };
  const response = await at.ask("POST", `/api/threads/${made.id}/chat`, { input: "go" });
  expect(response.status).toBe(200);
  return { runId: response.headers.get("x-run-id") ?? "", text: readText(response) };
}

/** The worker starts with the first request. */
export const wake = (at: TestServer): Promise<Response> => at.ask("GET", "/api/threads");

export const eventsOf = (text: string): AgentEvent[] =>
  readFrames(text)
    .filter(({ data }) => data !== "")
    .map(({ data }) => JSON.parse(data) as AgentEvent);
