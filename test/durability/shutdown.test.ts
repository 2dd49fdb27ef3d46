import { expect, it } from "vitest";
import type { AgentBackend, ModelBackend } from "#backends";
import { errorItem, startItem, textDelta } from "#domain";
import { type Agent, agent, agentTool } from "#runtime";
import type { Server } from "#server";
import { assertRunLog } from "#testing";
import { park, sleepUntil, tool } from "#tools";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { startServer, testWorld } from "../server/support.ts";
import { modelOf, type Step } from "./resumable.ts";
import { agentOf } from "./scripted-agent.ts";
import { until } from "./serving.ts";

type AgentOptions = Parameters<typeof agent>[0];

const call = { name: "work", input: { n: 1 } };
const STEPS: readonly Step[] = [{ text: "I work.", calls: [call] }, { text: "Done." }];
const TIME = 1_700_000_000_000;

/** What one process of the server does: in the first one everything hangs that can. */
interface Process {
  readonly isFirst: boolean;
  readonly started: string[];
  /** Called when something hangs. */
  readonly onStuck: () => void;
}

/** Agents whose runs are in different states when the server is shut down. */
function agentsIn({ isFirst, started, onStuck }: Process): readonly Agent[] {
  const hang = (signal?: AbortSignal): Promise<void> | undefined => {
    if (!isFirst) return undefined;
    onStuck();
    return new Promise((resolve) => signal?.addEventListener("abort", () => resolve()));
  };
  const work = (run: (signal: AbortSignal) => unknown = () => 1, isSequential = false) =>
    tool(
      "work",
      "Work",
      { n: "number" },
      (_, { runId, callId, signal }) => {
        started.push(`${runId} ${callId}`);
        return run(signal);
      },
      { sequential: isSequential },
    );
  const one = (name: string, options: Partial<AgentOptions>) =>
    agent({ name, backend: modelOf(STEPS, name), tools: [work()], ...options } as AgentOptions);
  const hook = (point: string) => one(`${point} hook`.replaceAll(/\W/g, "-"), { hooks: { [point]: [() => hang()] } });
  const guard = (place: "input" | "tool-call" | "tool-result" | "output") =>
    one(`guard-${place}`, { guards: [{ name: "g", place, check: () => hang() }], outputMode: "buffer" });
  const hanging = (listens: boolean): ModelBackend => ({
    ...modelOf(STEPS, "hanging"),
    async *stream(request, signal) {
      if (!isFirst) return yield* modelOf(STEPS, "hanging").stream(request, signal);
      yield [textDelta("half", 0, "I be")];
      await hang(listens ? signal : undefined);
    },
  });
  const overloaded: ModelBackend = {
    ...modelOf(STEPS, "overloaded"),
    async *stream(request, signal) {
      if (!isFirst) return yield* modelOf(STEPS, "overloaded").stream(request, signal);
      onStuck();
      yield [
        errorItem({
          code: "provider-overloaded",
          message: "Later.",
          terminal: true,
          diagnostic: { retryAfterMs: 30_000 },
        }),
      ];
    },
  };
  const processName = isFirst ? "first" : "second";
  const deafAgent: AgentBackend = {
    ...agentOf([], processName),
    open: async (settings) => {
      const conversation = await agentOf([], processName).open(settings);
      return {
        ...conversation,
        async send(messages, link) {
          if (!isFirst) return conversation.send(messages, link);
          await link.write([startItem({ backend: "scripted-agent", mode: "control" })]);
          await hang();
        },
      };
    },
  };
  const nested = (name: string, options: Partial<AgentOptions>) =>
    one(name, {
      backend: modelOf([{ calls: [{ name: "work", input: { prompt: "Help." } }] }, { text: "Done." }], name),
      tools: [agentTool(one("helper", options), { name: "work", description: "Help." })],
    });
  return [
    one("model", { backend: hanging(true) }),
    one("deaf-model", { backend: hanging(false) }),
    one("tool", {
      tools: [work(() => hang())],
    }),
    one("deaf-tool", { tools: [work(() => hang())] }),
    one("queued", {
      backend: modelOf([{ calls: [call, call, call] }, { text: "Done." }]),
      tools: [work(() => hang(), true)],
    }),
    one("asked", { permissions: { ask: ["work"] } }),
    one("parked", { tools: [work(() => park())] }),
    one("sleeping", { tools: [work(() => sleepUntil(TIME + 3_600_000, "slept"))] }),
    ...["prompt", "before-tool", "after-tool", "before-stop"].map(hook),
    ...(["input", "tool-call", "tool-result", "output"] as const).map(guard),
    one("permission", { permission: async () => ({ allow: (await hang()) === undefined }) }),
    nested("nested-tool", { tools: [work(() => hang())] }),
    one("overloaded", { backend: overloaded }),
    one("deaf-agent", { backend: deafAgent }),
    one("agent-tool", { backend: agentOf([call], processName), tools: [work(() => hang())] }),
    one("agent-asked", { backend: agentOf([call], processName), permissions: { ask: ["work"] } }),
    one("finished", {}),
  ];
}

const LIMITS = { runs: 100, runsPerTenant: 100, requestsPerMinute: 1e6 };

it("Runs that survive: a deploy with runs in more than twenty states loses none of them, and no question, also if what they do cannot be stopped", async () => {
  const store = createMemoryStore();
  const started: string[] = [];
  let stuck = 0;
  const serve = (isFirst: boolean) => {
    const world = { ...testWorld(), onCleanUpFailure: () => undefined };
    const agents = agentsIn({ isFirst, started, onStuck: () => (stuck += 1) });
    return { ...startServer({ store, agents, target: "model", world, limits: LIMITS }), clock: world.clock, agents };
  };
  const first = serve(true);
  expect(first.agents.length).toBeGreaterThan(20);
  const ids = new Map<string, string>();
  for (const { name } of first.agents) {
    const thread = (await (await first.ask("POST", "/api/threads", { target: name })).json()) as { id: string };
    const answer = await first.ask("POST", `/api/threads/${thread.id}/chat`, { input: "go" });
    expect(answer.status, name).toBe(200);
    ids.set(name, answer.headers.get("x-run-id") as string);
  }
  const logs = () => Promise.all([...ids.values()].map((id) => store.read(id)));
  const isStuck = async (): Promise<boolean> => {
    const notices = (await logs()).flat().filter((event) => event.type === "notice" && event.kind === "call-parked");
    const isFinished = (await store.read(ids.get("finished") as string)).at(-1)?.type === "done";
    return isFinished && notices.length === 2 && (await store.listQuestions("local")).length === 2 && stuck === 18;
  };
  await until(isStuck);
  await shutDown(first.server, first.clock);
  const ends = (await logs()).map((log) => log.at(-1));
  expect(ends.filter((end) => end?.type === "done")).toHaveLength(1);
  expect(ends.filter((end) => end?.type === "notice" && end.kind === "parked")).toHaveLength(4);
  const next = serve(false);
  expect(await store.listQuestions("local")).toHaveLength(2);
  for (const { runId, callId } of await store.listQuestions("local")) {
    const path = `/api/runs/${runId}/permissions/${callId}`;
    expect(await (await next.ask("POST", path, { allow: true })).json()).toEqual({ accepted: true });
  }
  const parked = ids.get("parked") as string;
  const callId = (await store.read(parked)).find(({ type }) => type === "tool-call") as { callId: string } | undefined;
  await next.ask("POST", `/api/runs/${parked}/results/${callId?.callId}`, { output: "built" });
  await next.clock.advance(3_600_000);
  await until(async () => {
    // An agent asks again, about a call of its own; the answer that is stored counts.
    await next.clock.advance(1000);
    return (await logs()).every((log) => log.at(-1)?.type === "done");
  });
  for (const [name, id] of ids) {
    const log = await store.read(id);
    expect(() => assertRunLog(log), name).not.toThrow();
    expect(log.at(-1), name).toMatchObject({ result: { status: "success" } });
  }
  expect(started.filter((one, at) => started.indexOf(one) !== at)).toEqual([]);
  await shutDown(next.server, next.clock);
});

/** Lets time pass until the server is closed: at most 10 s for runs to finish, 15 s for what cannot be stopped, and 5 s for its agent. */
async function shutDown(server: Server, clock: { now(): number; advance(ms: number): Promise<void> }): Promise<void> {
  const latest = clock.now() + 10_000 + 15_000 + 5000;
  let isClosed = false;
  const closed = server.close().then(() => void (isClosed = true));
  await until(async () => {
    if (!isClosed && clock.now() < latest) await clock.advance(500);
    return isClosed;
  });
  await closed;
}
