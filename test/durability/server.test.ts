import { describe, expect, it } from "vitest";
import { CHAT_TENANT } from "#sessions";
import { assertRunLog } from "#testing";
import { park, sleepUntil } from "#tools";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { begin, logOf, serve, type Served, statusOf, until } from "./serving.ts";

describe("Runs that survive: the server", () => {
  it("a question is parked after limits.parkMs, and its answer continues the run, over any number of restarts", async () => {
    const store = createMemoryStore();
    let ran = 0;
    const work = () => (ran += 1);
    const first = serve({ store, run: work });
    const runId = await begin(first);
    await until(async () => (await store.listQuestions("local")).length === 1);
    await first.clock.advance(60_000);
    await until(async () => (await statusOf(first, runId)) === "waiting");
    for (let restarts = 0; restarts < 8; restarts += 1) {
      const next = serve({ store, run: work });
      expect(await statusOf(next, runId)).toBe("waiting");
    }
    const last = serve({ store, run: work });
    const [question] = await store.listQuestions("local");
    const path = `/api/runs/${runId}/permissions/${question?.callId}`;
    expect(await (await last.ask("POST", path, { allow: true })).json()).toEqual({ accepted: true });
    await until(async () => (await statusOf(last, runId)) === "success");
    expect(ran).toBe(1);
    expect(await (await last.ask("POST", path, { allow: true })).json()).toEqual({ accepted: false });
    assertRunLog(await logOf(store, runId));
  });

  it("the unfinished run of a chat in the same store is left to the chat, whose name no token can have", async () => {
    const store = createMemoryStore();
    const thread = { id: "t", tenant: CHAT_TENANT, title: "", target: "gone", createdAt: 1 };
    await store.createThread(thread);
    await store.createRun({ id: "r", createdAt: 1, threadId: "t", tenant: CHAT_TENANT });
    const server = serve({ store, run: () => 1 });
    expect(((await (await server.ask("GET", "/api/threads")).json()) as { threads: unknown[] }).threads).toEqual([]);
    expect(await store.findRun(CHAT_TENANT, "r")).toMatchObject({ isOver: false });
    const options = { tokens: [{ token: "t".repeat(32), tenant: CHAT_TENANT }] };
    expect(() => serve({ store, run: () => 1, options })).toThrow('that of "millrace chat"');
  });

  it("shutting down leaves an open question to the next start", async () => {
    const store = createMemoryStore();
    let ran = 0;
    const first = serve({ store, run: () => (ran += 1) });
    const runId = await begin(first);
    await until(async () => (await store.listQuestions("local")).length === 1);
    const closed = first.server.close();
    await first.clock.advance(60_000);
    await closed;
    const next = serve({ store, run: () => (ran += 1) });
    expect(await statusOf(next, runId)).toBe("waiting");
    const [question] = await store.listQuestions("local");
    await next.ask("POST", `/api/runs/${runId}/permissions/${question?.callId}`, { allow: true });
    await until(async () => (await statusOf(next, runId)) === "success");
    expect(ran).toBe(1);
    assertRunLog(await logOf(store, runId));
  });

  it("shutting down during a tool leaves the run to the next start, which never runs the tool again", async () => {
    const store = createMemoryStore();
    let ran = 0;
    const first = serve({ store, run: () => new Promise(() => (ran += 1)), ask: [] });
    const runId = await begin(first);
    await until(async () => ran === 1);
    const closed = first.server.close();
    await first.clock.advance(60_000);
    await closed;
    const next = serve({ store, run: () => (ran += 1), ask: [] });
    await until(async () => (await statusOf(next, runId)) === "success");
    expect(ran).toBe(1);
    const log = await logOf(store, runId);
    assertRunLog(log);
    expect(log).toContainEqual(expect.objectContaining({ type: "tool-result", skipped: "incomplete" }));
    expect(log).toContainEqual(expect.objectContaining({ type: "notice", kind: "resumed" }));
  });

  it("the result of a parked call is given over HTTP, once", async () => {
    const store = createMemoryStore();
    const first = serve({ store, run: () => park(), ask: [] });
    const runId = await begin(first);
    await until(async () =>
      (await logOf(store, runId)).some((event) => event.type === "notice" && event.kind === "call-parked"),
    );
    await first.clock.advance(60_000);
    await until(async () => (await statusOf(first, runId)) === "waiting");
    const callId = (await logOf(store, runId)).find((event) => event.type === "tool-call")?.callId;
    const path = `/api/runs/${runId}/results/${callId}`;
    expect((await first.ask("POST", path, {})).status).toBe(400);
    expect(await (await first.ask("POST", path, { output: "built" })).json()).toEqual({ accepted: true });
    await until(async () => (await statusOf(first, runId)) === "success");
    expect(await (await first.ask("POST", path, { output: "again" })).json()).toEqual({ accepted: false });
    expect(await logOf(store, runId)).toContainEqual(expect.objectContaining({ type: "tool-result", output: "built" }));
  });

  it("a result that is given before the time of a sleeping tool counts, and its time has no effect any more", async () => {
    for (const end of ["result", "abort"] as const) {
      const store = createMemoryStore();
      const server: Served = serve({ store, run: () => sleepUntil(server.clock.now() + 600_000), ask: [] });
      const runId = await begin(server);
      await until(async () =>
        (await logOf(store, runId)).some((event) => event.type === "notice" && event.kind === "call-parked"),
      );
      await server.clock.advance(60_000);
      await until(async () => (await statusOf(server, runId)) === "waiting");
      const pending = server.clock.pending();
      const callId = (await logOf(store, runId)).find((event) => event.type === "tool-call")?.callId;
      if (end === "abort") await server.ask("POST", `/api/runs/${runId}/abort`);
      else await server.ask("POST", `/api/runs/${runId}/results/${callId}`, { output: "early" });
      await until(async () => (await statusOf(server, runId)) === (end === "abort" ? "aborted" : "success"));
      const log = await logOf(store, runId);
      expect(server.clock.pending()).toBe(pending - 1);
      await server.clock.advance(3_600_000);
      expect(await logOf(store, runId)).toEqual(log);
      assertRunLog(log);
    }
  });

  it("a waiting run can be aborted, and its thread takes no other message meanwhile", async () => {
    const store = createMemoryStore();
    const first = serve({ store, run: () => 1 });
    const runId = await begin(first);
    await until(async () => (await store.listQuestions("local")).length === 1);
    await first.clock.advance(60_000);
    await until(async () => (await statusOf(first, runId)) === "waiting");
    const [{ threadId } = { threadId: "" }] = await store.listRuns();
    expect((await first.ask("POST", `/api/threads/${threadId}/chat`, { input: "more" })).status).toBe(409);
    await first.clock.advance(3_600_000);
    expect(await (await first.ask("POST", `/api/runs/${runId}/abort`)).json()).toEqual({ accepted: true });
    expect(await statusOf(first, runId)).toBe("aborted");
    const log = await logOf(store, runId);
    assertRunLog(log);
    // The hour in which no process worked on it does not count.
    expect(log.at(-1)).toMatchObject({ type: "done", result: { ms: 60_000 } });
  });
});
