import { describe, expect, it } from "vitest";
import type { AgentEvent, Message } from "#domain";
import type { Store } from "#sessions";
import { assertRunLog } from "#testing";
import { park } from "#tools";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { resumeStored } from "../../src/runtime/stored-run.ts";
import { modelOf, newWorld } from "./resumable.ts";
import { askedIn, begin, logOf, serve, type Served, statusOf, until } from "./serving.ts";

const call = { name: "work", input: { n: 1 } };
const one = [{ calls: [call] }, { text: "Done." }];

const isResumed = (event: AgentEvent): boolean => event.type === "notice" && event.kind === "resumed";
const resumedIn = async (store: Store, runId: string): Promise<number> =>
  (await logOf(store, runId)).filter(isResumed).length;

/** Waits until the run holds no process because of `calls` calls. */
async function parked(server: Served, runId: string, calls = 1): Promise<readonly string[]> {
  await until(async () => (await askedIn(server.store, runId)).length === calls);
  await server.clock.advance(60_000);
  await until(async () => (await statusOf(server, runId)) === "waiting");
  return askedIn(server.store, runId);
}

async function answer(server: Served, runId: string, callId: string | undefined): Promise<unknown> {
  const response = await server.ask("POST", `/api/runs/${runId}/permissions/${callId}`, { allow: true });
  return ((await response.json()) as { accepted: unknown }).accepted;
}

/** A store as a process sees it that dies at once: from then on nothing it appends is stored. */
function dying(store: Store) {
  let isDead = false;
  const append: Store["append"] = (...given) => (isDead ? new Promise(() => undefined) : store.append(...given));
  return {
    store: { ...store, append },
    die: () => {
      isDead = true;
    },
  };
}

describe("Runs that survive: waiting on the server", () => {
  it("a run whose second question is parked stays waiting, although its first one has a stored answer", async () => {
    const store = createMemoryStore();
    const run = () => 1;
    const first = serve({ store, run, steps: [{ calls: [call] }, { calls: [call] }, { text: "Done." }] });
    const runId = await begin(first);
    const [earlier] = await parked(first, runId);
    expect(await answer(first, runId, earlier)).toBe(true);
    const [later] = await parked(first, runId);
    expect(later).not.toBe(earlier);
    for (let minutes = 0; minutes < 60; minutes += 1) await first.clock.advance(60_000);
    await until(async () => (await statusOf(first, runId)) === "waiting");
    expect(await resumedIn(store, runId)).toBe(1);
    for (let restarts = 0; restarts < 25; restarts += 1) {
      const next = serve({ store, run, steps: one });
      expect(await statusOf(next, runId)).toBe("waiting");
    }
    expect(await resumedIn(store, runId)).toBe(1);
    expect(await answer(first, runId, later)).toBe(true);
    await until(async () => (await statusOf(first, runId)) === "success");
    assertRunLog(await logOf(store, runId));
  });

  it("a run is parked and answered more often than a run that crashes is continued", async () => {
    const store = createMemoryStore();
    let ran = 0;
    const questions = Array.from({ length: 30 }, () => ({ calls: [call] }));
    const server = serve({ store, run: () => (ran += 1), steps: [...questions, { text: "Done." }] });
    const runId = await begin(server);
    for (const _ of questions) {
      const [callId] = await parked(server, runId);
      expect(await answer(server, runId, callId)).toBe(true);
    }
    await until(async () => (await statusOf(server, runId)) === "success");
    expect(ran).toBe(30);
    assertRunLog(await logOf(store, runId));
  });

  it("a run is handed to the next start by more deploys than a run that crashes is continued", async () => {
    const store = createMemoryStore();
    let started = 0;
    const run = () => new Promise(() => (started += 1));
    const steps = [...Array.from({ length: 30 }, () => ({ calls: [call] })), { text: "Done." }];
    let server = serve({ store, run, steps, ask: [] });
    const runId = await begin(server);
    for (let deploys = 1; deploys <= 30; deploys += 1) {
      await until(async () => started === deploys);
      const closed = server.server.close();
      await server.clock.advance(60_000);
      await closed;
      server = serve({ store, run, steps, ask: [] });
      await statusOf(server, runId);
    }
    await until(async () => (await statusOf(server, runId)) === "success");
    assertRunLog(await logOf(store, runId));
  });

  it("a run that keeps ending its process is not continued for ever", async () => {
    const store = createMemoryStore();
    const steps = [...Array.from({ length: 60 }, () => ({ calls: [call] })), { text: "Done." }];
    let started = 0;
    const run = () => new Promise(() => (started += 1));
    let process = dying(store);
    const runId = await begin(serve({ store: process.store, run, steps, ask: [] }));
    for (let crashes = 1; crashes <= 21; crashes += 1) {
      await until(async () => started === crashes);
      process.die();
      process = dying(store);
      await statusOf(serve({ store: process.store, run, steps, ask: [] }), runId);
    }
    const [stored] = await store.listRuns();
    expect(stored).toMatchObject({ isOver: true, status: "interrupted" });
    assertRunLog(await logOf(store, runId));
  });

  it("two questions of a parked run that are answered at the same moment both count at once", async () => {
    const store = createMemoryStore();
    let ran = 0;
    const server = serve({ store, run: () => (ran += 1), steps: [{ calls: [call, call] }, { text: "Done." }] });
    const runId = await begin(server);
    const asked = await parked(server, runId, 2);
    const accepted = await Promise.all(asked.map((callId) => answer(server, runId, callId)));
    expect(accepted).toEqual([true, true]);
    await until(async () => (await statusOf(server, runId)) === "success");
    expect(ran).toBe(2);
    assertRunLog(await logOf(store, runId));
  });

  it("an abort at the moment a parked run is continued ends it once", async () => {
    const store = createMemoryStore();
    const server = serve({ store, run: () => new Promise(() => undefined), steps: one });
    const runId = await begin(server);
    const [callId] = await parked(server, runId);
    const accepted = await Promise.all([
      answer(server, runId, callId),
      server.ask("POST", `/api/runs/${runId}/abort`).then((response) => response.json()),
    ]);
    expect(accepted[1]).toEqual({ accepted: true });
    await until(async () => (await statusOf(server, runId)) === "aborted");
    assertRunLog(await logOf(store, runId));
  });

  it("an answer that was accepted is not lost if the process dies before it took effect", async () => {
    const store = createMemoryStore();
    let ran = 0;
    const process = dying(store);
    const first = serve({ store: process.store, run: () => (ran += 1), steps: one });
    const runId = await begin(first);
    await until(async () => (await askedIn(store, runId)).length === 1);
    process.die();
    expect(await answer(first, runId, (await askedIn(store, runId))[0])).toBe(true);
    expect({ ran, asked: await askedIn(store, runId) }).toEqual({ ran: 0, asked: [] });
    const next = serve({ store, run: () => (ran += 1), steps: one });
    await until(async () => (await statusOf(next, runId)) === "success");
    expect(ran).toBe(1);
    assertRunLog(await logOf(store, runId));
  });

  it("a result that was accepted is not lost if the process dies before it was stored with the call", async () => {
    const store = createMemoryStore();
    const process = dying(store);
    const first = serve({ store: process.store, run: () => park(), steps: one, ask: [] });
    const runId = await begin(first);
    await until(async () => (await logOf(store, runId)).some((event) => event.type === "notice"));
    process.die();
    const callId = (await logOf(store, runId)).find((event) => event.type === "tool-call")?.callId;
    const path = `/api/runs/${runId}/results/${callId}`;
    expect(await (await first.ask("POST", path, { output: "built" })).json()).toEqual({ accepted: true });
    expect(await (await first.ask("POST", path, { output: "again" })).json()).toEqual({ accepted: false });
    const next = serve({ store, run: () => park(), steps: one, ask: [] });
    await until(async () => (await statusOf(next, runId)) === "success");
    expect(await logOf(store, runId)).toContainEqual(expect.objectContaining({ type: "tool-result", output: "built" }));
    assertRunLog(await logOf(store, runId));
  });

  it("an answer that cannot be stored is refused, and the question stays open", async () => {
    const store = createMemoryStore();
    let isFull = true;
    const addAnswer: Store["addAnswer"] = async (...given) => {
      if (isFull) throw new Error("The disk is full.");
      return store.addAnswer(...given);
    };
    let ran = 0;
    const server = serve({ store: { ...store, addAnswer }, run: () => (ran += 1), steps: one });
    const runId = await begin(server);
    await until(async () => (await askedIn(store, runId)).length === 1);
    const [callId] = await askedIn(store, runId);
    const path = `/api/runs/${runId}/permissions/${callId}`;
    expect((await server.ask("POST", path, { allow: true })).status).toBe(500);
    expect({ ran, asked: await askedIn(store, runId) }).toEqual({ ran: 0, asked: [callId] });
    isFull = false;
    expect(await answer(server, runId, callId)).toBe(true);
    await until(async () => (await statusOf(server, runId)) === "success");
  });

  it("runs of a library in the same store are left to it, also those that do not wait", async () => {
    const store = createMemoryStore();
    await store.createRun({ id: "r1", createdAt: 1, settings: { messages: [userMessage("go")] } });
    const server = serve({ store, run: () => 1, steps: one });
    await server.ask("GET", "/api/threads");
    expect(await store.findRun("local", "r1")).toMatchObject({ isOver: false });
    const continued = await resumeStored(store, "r1", { target: modelOf(one.slice(1)) }, newWorld());
    expect(await continued.result()).toMatchObject({ status: "success", text: "Done." });
  });
});

const userMessage = (text: string): Message => ({ id: "u1", role: "user", blocks: [{ type: "text", text }] });
