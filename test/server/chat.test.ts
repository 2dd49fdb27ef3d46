import { describe, expect, it } from "vitest";
import type { AgentEvent, Message } from "#domain";
import { textDelta, messageItem, startItem } from "#domain";
import { agent } from "#runtime";
import { StoreError } from "#sessions";
import { createDeferred } from "#streams";
import { assertRunLog, createScriptedBackend, type ScriptedReply } from "#testing";
import { tool } from "#tools";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { readEvents, readFrames, readText, startServer, type TestServer, testWorld } from "./support.ts";

const NASTY = "line one\nline two\r\nthree\u2028four\u2029five\0 data: x\n\nevent: fake\n\n";

/** An agent with a script, and a server that has it. */
function serve(replies: readonly ScriptedReply[], more: Parameters<typeof startServer>[0] = {}) {
  const backend = createScriptedBackend(replies);
  const clerk = agent({ name: "clerk", backend });
  const world = testWorld();
  return { ...startServer({ agents: [clerk], target: "clerk", world, ...more }), backend, world };
}

async function newThread({ ask }: TestServer, body: object = {}): Promise<string> {
  const response = await ask("POST", "/api/threads", body);
  expect(response.status).toBe(201);
  return ((await response.json()) as { id: string }).id;
}

async function chatEvents(server: TestServer, thread: string, input: unknown, query = ""): Promise<AgentEvent[]> {
  const response = await server.ask("POST", `/api/threads/${thread}/chat${query}`, { input });
  expect(
    response.status,
    await response
      .clone()
      .text()
      .then((text) => text.slice(0, 300)),
  ).toBe(200);
  return readEvents(response);
}

describe("chat", () => {
  it("S3-32: an answer is a stream of events, with the run's id in a header, and a whole log", async () => {
    const server = serve([{ text: "Hello" }]);
    const thread = await newThread(server);
    const response = await server.ask("POST", `/api/threads/${thread}/chat`, { input: "Hi" });
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-cache, no-transform");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    const text = await readText(response);
    expect(text.startsWith("retry: 1000\n\n")).toBe(true);
    const frames = readFrames(text);
    const events = frames.map(({ data }) => JSON.parse(data) as AgentEvent);
    assertRunLog(events);
    expect(frames.map(({ id }) => id)).toEqual(events.map(({ seq }) => String(seq)));
    expect(frames.map(({ event }) => event)).toEqual(events.map(({ type }) => type));
    expect(frames.at(-1)?.event).toBe("done");
    expect(new Set(events.map(({ runId }) => runId))).toEqual(new Set([response.headers.get("x-run-id")]));
    const shown = await server.ask("GET", `/api/runs/${response.headers.get("x-run-id")}`);
    expect(await shown.json()).toMatchObject({ status: "success", result: { text: "Hello" }, threadId: thread });
  });

  it("AT-62 S2-26 S3-34: six seconds of silence give a heartbeat, any text gives valid frames, and done is last", async () => {
    const world = testWorld();
    const slow: ScriptedReply = async function* () {
      yield [textDelta("m", 0, "before ")];
      await new Promise<void>((resolve) => world.clock.after(6000, resolve));
      yield [
        textDelta("m", 0, NASTY),
        messageItem({
          id: "m",
          role: "assistant",
          blocks: [{ type: "text", text: `before ${NASTY}` }],
          stopReason: "end-turn",
        }),
      ];
    };
    const server = serve([slow], { world });
    const thread = await newThread(server);
    const response = await server.ask("POST", `/api/threads/${thread}/chat`, { input: "go" });
    const reading = readText(response);
    await world.clock.advance(4999);
    await world.clock.advance(6000);
    const text = await reading;
    const beat = text.indexOf(": ping\n\n");
    expect(beat).toBeGreaterThan(text.indexOf("before"));
    expect(beat).toBeLessThan(text.indexOf("line one"));
    const events = readFrames(text).map(({ data }) => JSON.parse(data) as AgentEvent);
    assertRunLog(events);
    expect(events.at(-1)).toMatchObject({ type: "done", result: { text: `before ${NASTY}` } });
    expect(readFrames(text).filter(({ event }) => event === "fake")).toEqual([]);
  });

  it("S3-34: the first heartbeat comes after 5 s, the following every 15 s, from the first byte on", async () => {
    const world = testWorld();
    const silent: ScriptedReply = async function* (_, signal) {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      yield [];
    };
    const server = serve([silent], { world });
    const thread = await newThread(server);
    const response = await server.ask("POST", `/api/threads/${thread}/chat`, { input: "go" });
    const beats: number[] = [];
    const startedAt = world.clock.now();
    const reading = (async () => {
      for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
        if (new TextDecoder().decode(bytes) === ": ping\n\n") beats.push(world.clock.now() - startedAt);
      }
    })();
    for (let second = 0; second < 60; second += 1) await world.clock.advance(1000);
    expect(beats).toEqual([5000, 20_000, 35_000, 50_000]);
    await server.ask("POST", `/api/runs/${response.headers.get("x-run-id")}/abort`);
    await world.clock.advance(1000);
    await reading;
  });

  it.each([
    ["runner", ["RunItemEvent", "RawResponseEvent", "RunCompleteEvent"]],
    ["chat", ["text_delta", "message_complete"]],
  ])(
    "AT-62 S2-26 S3-33: the vocabulary %s is there too, each frame on one line, and ends with done",
    async (name, expected) => {
      const server = serve([{ text: NASTY }]);
      const thread = await newThread(server);
      const response = await server.ask("POST", `/api/threads/${thread}/chat?events=${name}`, { input: "Hi" });
      const frames = readFrames(await readText(response));
      for (const { data } of frames) expect(() => JSON.parse(data)).not.toThrow();
      const names = frames.map(({ event }) => event);
      for (const one of expected) expect(names).toContain(one);
      expect(names.at(-1)).toBe("done");
      expect(names.filter((one) => one === "done")).toHaveLength(1);
      expect(JSON.stringify(frames)).toContain("line one");
    },
  );

  it.each(["runner", "chat"])("a reader of %s resumes at any of its frames without gap or double", async (name) => {
    const server = serve([{ text: "Hello there", calls: [{ name: "nothing", input: {} }] }, { text: "Bye" }]);
    const thread = await newThread(server);
    const response = await server.ask("POST", `/api/threads/${thread}/chat?events=${name}`, { input: "Hi" });
    const runId = response.headers.get("x-run-id");
    const frames = readFrames(await readText(response));
    for (const [at, frame] of frames.entries()) {
      const again = await server.ask("GET", `/api/runs/${runId}/events?events=${name}`, undefined, {
        "last-event-id": frame.id ?? "",
      });
      expect(readFrames(await readText(again))).toEqual(frames.slice(at + 1));
    }
  });

  it("an unknown vocabulary is refused with the known ones, and no run begins", async () => {
    const server = serve([{ text: "x" }]);
    const thread = await newThread(server);
    const response = await server.ask("POST", `/api/threads/${thread}/chat?events=morse`, { input: "Hi" });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("millrace, runner, chat");
    expect(server.backend.requests).toHaveLength(0);
  });

  it("AT-64 S3-30: the third request has the whole conversation", async () => {
    const server = serve([{ text: "One" }, { text: "Two" }, { text: "Three" }]);
    const thread = await newThread(server);
    for (const input of ["first", "second", "third"]) await chatEvents(server, thread, input);
    const said = server.backend.requests[2]?.messages.map(({ role, blocks }) => [
      role,
      (blocks[0] as { text: string }).text,
    ]);
    expect(said).toEqual([
      ["user", "first"],
      ["assistant", "One"],
      ["user", "second"],
      ["assistant", "Two"],
      ["user", "third"],
    ]);
  });

  it("AT-64 S3-5: usage is booked under the model that answered, and shown with the thread", async () => {
    const reply = (id: string, model: string): ScriptedReply => [
      startItem({ backend: "b", mode: "http", model: "asked-for" }),
      messageItem({
        id,
        role: "assistant",
        model,
        blocks: [{ type: "text", text: id }],
        usage: { inputTokens: 3, outputTokens: 1 },
        stopReason: "end-turn",
      }),
    ];
    const server = serve([reply("a", "model-a"), reply("b", "model-b"), reply("c", "model-b")]);
    const thread = await newThread(server);
    for (const input of ["1", "2", "3"]) await chatEvents(server, thread, input);
    expect(await server.store.listUsage("local", thread)).toMatchObject([
      { model: "model-a", usage: { inputTokens: 3, outputTokens: 1 }, runs: 1 },
      { model: "model-b", usage: { inputTokens: 6, outputTokens: 2 }, runs: 2 },
    ]);
    const shown = (await (await server.ask("GET", `/api/threads/${thread}`)).json()) as { thread: object };
    expect(shown.thread).toMatchObject({ usage: { inputTokens: 9, outputTokens: 3 } });
  });

  it("AT-64 S3-32: a thread keeps its target when the default changes", async () => {
    const first = createScriptedBackend([{ text: "from the first" }]);
    const second = createScriptedBackend([{ text: "from the second" }]);
    const agents = [agent({ name: "one", backend: first }), agent({ name: "two", backend: second })];
    const world = testWorld();
    const before = startServer({ agents, target: "one", world });
    const thread = await newThread(before);
    const after = startServer({ agents, target: "two", world, store: before.store });
    const old = await chatEvents(after, thread, "Hi");
    expect(old.at(-1)).toMatchObject({ result: { text: "from the first" } });
    const fresh = await chatEvents(after, await newThread(after), "Hi");
    expect(fresh.at(-1)).toMatchObject({ result: { text: "from the second" } });
  });

  it("S3-34: the user's message is stored before a model is asked, the assistant's with the end", async () => {
    let atAsking: readonly Message[] = [];
    const looking: ScriptedReply = async function* () {
      atAsking = await server.store.listMessages("local", thread);
      yield [
        messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "ok" }], stopReason: "end-turn" }),
      ];
    };
    const server = serve([looking]);
    const thread = await newThread(server);
    await chatEvents(server, thread, "Hi");
    expect(atAsking.map(({ role }) => role)).toEqual(["user"]);
    const { messages } = (await (await server.ask("GET", `/api/threads/${thread}/messages`)).json()) as {
      messages: Message[];
    };
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  it("S3-34: a slow disk holds the model back, and one that refuses keeps it from being asked", async () => {
    const disk = createDeferred<void>();
    const kept = createMemoryStore();
    const store = {
      ...kept,
      createRun: (...given: Parameters<typeof kept.createRun>) => disk.promise.then(() => kept.createRun(...given)),
    };
    const server = serve([{ text: "Hello" }], { store });
    const thread = await newThread(server);
    const answer = server.ask("POST", `/api/threads/${thread}/chat`, { input: "Hi" });
    await server.world.clock.advance(1000);
    expect(server.backend.requests).toHaveLength(0);
    disk.resolve();
    expect((await readEvents(await answer)).at(-1)?.type).toBe("done");
    expect(server.backend.requests).toHaveLength(1);

    const refuse = () => Promise.reject(new StoreError("store-failed", "disk full"));
    const other = serve([{ text: "Hello" }], { store: { ...createMemoryStore(), createRun: refuse } });
    const lost = await newThread(other);
    expect((await other.ask("POST", `/api/threads/${lost}/chat`, { input: "Hi" })).status).toBeGreaterThanOrEqual(500);
    await other.world.clock.advance(1000);
    expect(other.backend.requests).toHaveLength(0);
    // Nothing of it is left: the thread takes the next question.
    expect((await other.ask("GET", `/api/threads/${lost}`)).status).toBe(200);
    await other.server.close();
  });

  it("a thread is named after its first message, and what a person calls it stays", async () => {
    const server = serve([{ text: "x" }]);
    const one = await newThread(server);
    await chatEvents(server, one, `  What is\nthe ${"very ".repeat(30)}long question?`);
    const named = (await server.store.findThread("local", one))?.title ?? "";
    expect(named).toMatch(/^What is the very.*…$/);
    expect(Array.from(named).length).toBeLessThanOrEqual(60);
    const two = await newThread(server, { title: "Mine" });
    await chatEvents(server, two, "Hi");
    expect((await server.store.findThread("local", two))?.title).toBe("Mine");
  });

  it("one run at a time: a second is refused with 409 until the first is over", async () => {
    const world = testWorld();
    const slow: ScriptedReply = async function* () {
      await new Promise<void>((resolve) => world.clock.after(1000, resolve));
      yield [
        messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "ok" }], stopReason: "end-turn" }),
      ];
    };
    const server = serve([slow], { world });
    const thread = await newThread(server);
    const chats = await Promise.all(
      [1, 2, 3].map(() => server.ask("POST", `/api/threads/${thread}/chat`, { input: "x" })),
    );
    expect(chats.filter(({ status }) => status === 409)).toHaveLength(2);
    const refusal = chats.find(({ status }) => status === 409);
    expect(await refusal?.json()).toMatchObject({ error: { code: "run-active" } });
    expect((await (await server.ask("DELETE", `/api/threads/${thread}`)).json()) as object).toMatchObject({
      error: { code: "run-active" },
    });
    const reading = readText(chats.find(({ status }) => status === 200) as Response);
    await world.clock.advance(1000);
    await reading;
    expect((await server.ask("DELETE", `/api/threads/${thread}`)).status).toBe(204);
    expect((await server.ask("GET", `/api/threads/${thread}`)).status).toBe(404);
  });

  it("a closed tab is not an abort: the run continues, and the reader returns to its cursor", async () => {
    const world = testWorld();
    const slow: ScriptedReply = async function* () {
      yield [textDelta("m", 0, "one ")];
      await new Promise<void>((resolve) => world.clock.after(1000, resolve));
      yield [
        textDelta("m", 0, "two"),
        messageItem({
          id: "m",
          role: "assistant",
          blocks: [{ type: "text", text: "one two" }],
          stopReason: "end-turn",
        }),
      ];
    };
    const server = serve([slow], { world });
    const thread = await newThread(server);
    const response = await server.ask("POST", `/api/threads/${thread}/chat`, { input: "x" });
    const runId = response.headers.get("x-run-id") ?? "";
    await response.body?.cancel();
    await world.clock.advance(2000);
    // What came is stored in the next turn of the event loop.
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const run = (await (await server.ask("GET", `/api/runs/${runId}`)).json()) as { lastSeq: number };
    expect(run).toMatchObject({ status: "success" });
    const whole = await readEvents(await server.ask("GET", `/api/runs/${runId}/events`));
    assertRunLog(whole);
    const rest = await readEvents(await server.ask("GET", `/api/runs/${runId}/events?after=1`));
    expect(rest).toEqual(whole.slice(2));
    const over = await server.ask("GET", `/api/runs/${runId}/events`, undefined, {
      "last-event-id": String(run.lastSeq),
    });
    expect(over.status).toBe(204);
  });

  it("an abort ends the run with the status aborted, once, and is in the audit", async () => {
    const silent: ScriptedReply = async function* (_, signal) {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      yield [];
    };
    const server = serve([silent]);
    const thread = await newThread(server);
    const response = await server.ask("POST", `/api/threads/${thread}/chat`, { input: "x" });
    const runId = response.headers.get("x-run-id");
    expect(await (await server.ask("POST", `/api/runs/${runId}/abort`)).json()).toEqual({ accepted: true });
    expect((await readEvents(response)).at(-1)).toMatchObject({ type: "done", result: { status: "aborted" } });
    expect(await (await server.ask("POST", `/api/runs/${runId}/abort`, {})).json()).toEqual({ accepted: false });
    expect(await server.store.listAudit("local")).toMatchObject([{ action: "run-aborted", runId }]);
  });

  it("a caller may ask for less than the server allows, never for more", async () => {
    const server = serve([{ calls: [{ name: "nothing", input: {} }] }], { run: { limits: { turns: 3 } } });
    const turns = async (limits: object): Promise<number> => {
      const before = server.backend.requests.length;
      const thread = await newThread(server);
      await readText(await server.ask("POST", `/api/threads/${thread}/chat`, { input: "x", options: { limits } }));
      return server.backend.requests.length - before;
    };
    expect(await turns({ turns: 2 })).toBe(2);
    expect(await turns({ turns: 50 })).toBe(3);
  });

  it("a set-up that is missing is a 503 that says what to do, and the thread stays usable", async () => {
    const server = startServer({ world: testWorld(), targets: ["anthropic"] });
    const thread = await newThread(server, { target: "anthropic" });
    const response = await server.ask("POST", `/api/threads/${thread}/chat`, { input: "x" });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      error: { code: "set-up-missing", message: expect.stringContaining("ANTHROPIC_API_KEY") },
    });
    expect((await server.store.findThread("local", thread))?.runId).toBeUndefined();
    expect(await server.store.listMessages("local", thread)).toEqual([]);
  });

  it("a run of an earlier process whose input is not stored cannot continue, and is closed as interrupted before the first answer", async () => {
    const { store, ...first } = serve([{ text: "x" }]);
    const thread = await newThread({ store, ...first });
    await store.createRun({ id: "dead", createdAt: 1, threadId: thread, tenant: "local" }, []);
    const next = serve([{ text: "y" }], { store });
    const events = await readEvents(await next.ask("GET", "/api/runs/dead/events"));
    assertRunLog(events);
    expect(events.at(-1)).toMatchObject({ type: "done", result: { status: "interrupted" } });
    await chatEvents(next, thread, "goes on");
  });
});

describe("permissions", () => {
  const removed: string[] = [];
  const remove = tool("remove", "Removes a file", { path: "string" }, ({ path }) => {
    removed.push(path);
    return "removed";
  });
  const setUp = () => {
    removed.length = 0;
    return serve([{ calls: [{ name: "remove", input: { path: "x" }, id: "call/1 ä" }] }, { text: "done" }], {
      run: { tools: [remove], permissions: { ask: ["remove"] } },
    });
  };

  async function question(server: TestServer): Promise<{ runId: string; callId: string; threadId: string }> {
    for (let tries = 0; tries < 200; tries += 1) {
      const { permissions } = (await (await server.ask("GET", "/api/permissions")).json()) as { permissions: never[] };
      if (permissions[0] !== undefined) return permissions[0];
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error("nobody asked");
  }

  it.each([
    [{ allow: true }, ["x"], "allowed"],
    [{ allow: false, reason: "not today" }, [], "denied"],
    [{ allow: true, input: { path: "y" } }, ["y"], "allowed"],
  ])("a question is listed, answered with %j over HTTP, and noted once", async (answer, expected, state) => {
    const server = setUp();
    const thread = await newThread(server);
    const response = await server.ask("POST", `/api/threads/${thread}/chat`, { input: "x" });
    const reading = readEvents(response);
    const asked = await question(server);
    expect(asked).toMatchObject({ name: "remove", input: { path: "x" }, threadId: thread, callId: "call/1 ä" });
    expect(removed).toEqual([]);
    const path = `/api/runs/${asked.runId}/permissions/${encodeURIComponent(asked.callId)}`;
    expect(await (await server.ask("POST", path, answer)).json()).toEqual({ accepted: true });
    const events = await reading;
    assertRunLog(events);
    expect(events.filter(({ type }) => type === "permission").at(-1)).toMatchObject({ state, by: "user" });
    expect(removed).toEqual(expected);
    expect(await (await server.ask("POST", path, answer)).json()).toEqual({ accepted: false });
    expect(await (await server.ask("GET", "/api/permissions")).json()).toEqual({ permissions: [] });
    expect(await server.store.listAudit("local")).toMatchObject([{ action: `permission-${state}`, by: "user" }]);
  });
});

describe("threads", () => {
  it("are listed page by page, searched, renamed and exported", async () => {
    const world = testWorld();
    const server = serve(
      [{ text: "The needle\n```js\ncode```", calls: [{ name: "nothing", input: { a: "```" } }] }, { text: "end" }],
      { world },
    );
    const ids: string[] = [];
    for (let at = 0; at < 5; at += 1) {
      await world.clock.advance(10);
      ids.push(await newThread(server, { title: `Thread ${at}` }));
    }
    const first = (await (await server.ask("GET", "/api/threads?limit=2")).json()) as {
      threads: { id: string }[];
      next: string;
    };
    expect(first.threads.map(({ id }) => id)).toEqual([ids[4], ids[3]]);
    const second = (await (
      await server.ask("GET", `/api/threads?limit=2&before=${first.next}`)
    ).json()) as typeof first;
    expect(second.threads.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
    const one = ids[0] ?? "";
    await chatEvents(server, one, "Where is it?");
    const found = (await (await server.ask("GET", "/api/threads?q=NEEDLE")).json()) as typeof first;
    expect(found.threads.map(({ id }) => id)).toEqual([one]);
    expect(await (await server.ask("PATCH", `/api/threads/${one}`, { title: "New" })).json()).toMatchObject({
      title: "New",
    });
    const lines = (await (await server.ask("GET", `/api/threads/${one}/export?format=jsonl`)).text())
      .trim()
      .split("\n");
    const kinds = lines.map((line) => (JSON.parse(line) as { kind: string }).kind);
    expect(new Set(kinds)).toEqual(new Set(["thread", "message", "event"]));
    assertRunLog(
      lines
        .map((line) => JSON.parse(line) as { kind: string; event: AgentEvent })
        .filter(({ kind }) => kind === "event")
        .map(({ event }) => event),
    );
    const markdown = await server.ask("GET", `/api/threads/${one}/export?format=markdown`);
    expect(markdown.headers.get("content-disposition")).toBe(`attachment; filename="${one}.md"`);
    expect(await markdown.text()).toMatch(/^# New\n[^]*## User\n\nWhere is it\?[^]*## Assistant[^]*````json/);
    const whole = (await (await server.ask("GET", `/api/threads/${one}`)).json()) as {
      runs: object[];
      messages: object[];
    };
    expect(whole.runs).toMatchObject([{ status: "success" }]);
    expect(whole.messages.length).toBeGreaterThanOrEqual(3);
  });

  it("GET /api/backends says who can answer, and why somebody cannot", async () => {
    const server = serve([{ text: "x" }], { targets: ["offline", "openai"] });
    const { default: chosen, backends } = (await (await server.ask("GET", "/api/backends")).json()) as {
      default: string;
      backends: { target: string }[];
    };
    expect(chosen).toBe("clerk");
    expect(backends[0]).toEqual({ target: "clerk", kind: "agent", available: true });
    expect(backends.find(({ target }) => target === "offline")).toMatchObject({ available: true });
    expect(backends.find(({ target }) => target === "openai")).toMatchObject({
      available: false,
      reason: expect.stringContaining("OPENAI_API_KEY"),
    });
  });

  it("health, readiness and metrics", async () => {
    const server = serve([{ text: "x" }]);
    const thread = await newThread(server);
    await chatEvents(server, thread, "x");
    expect((await server.ask("GET", "/healthz")).status).toBe(200);
    expect((await server.ask("GET", "/readyz")).status).toBe(200);
    const metrics = await (await server.ask("GET", "/metrics")).text();
    expect(metrics).toMatch(/^millrace_runs_total\{status="success"\} 1$/m);
    expect(metrics).toMatch(/^millrace_runs_active 0$/m);
    expect(metrics).toMatch(/^millrace_http_requests_total\{status="201"\} 1$/m);
    await server.server.close();
    expect((await server.ask("GET", "/readyz")).status).toBe(503);
    expect((await server.ask("POST", `/api/threads/${thread}/chat`, { input: "x" })).status).toBe(503);
  });

  it("F-A8: readiness is answered within a second, also when the store never answers", async () => {
    const world = testWorld();
    const store = { ...createMemoryStore(), listThreads: () => new Promise<never>(() => undefined) };
    const server = startServer({ world, store });
    const asked = server.ask("GET", "/readyz");
    await world.clock.advance(1_000);
    expect((await asked).status).toBe(503);
  });

  it("F-A8: a store that does not even say which runs were left open delays neither of the probes", async () => {
    const world = testWorld();
    const store = { ...createMemoryStore(), listRuns: () => new Promise<never>(() => undefined) };
    const server = startServer({ world, store });
    expect((await server.ask("GET", "/healthz")).status).toBe(200);
    const asked = server.ask("GET", "/readyz");
    await world.clock.advance(1_000);
    expect((await asked).status).toBe(503);
  });

  it("a shutdown lets runs finish, and leaves those that do not to the next start", async () => {
    const world = testWorld();
    const reply = (ms: number): ScriptedReply =>
      async function* (_, signal) {
        await new Promise<void>((resolve) => {
          world.clock.after(ms, resolve);
          signal.addEventListener("abort", () => resolve());
        });
        if (!signal.aborted)
          yield [
            messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "ok" }], stopReason: "end-turn" }),
          ];
      };
    const server = serve([reply(5000), reply(1e9)], { world });
    const runs: string[] = [];
    for (let at = 0; at < 2; at += 1) {
      const response = await server.ask("POST", `/api/threads/${await newThread(server)}/chat`, { input: "x" });
      runs.push(response.headers.get("x-run-id") ?? "");
      await world.clock.advance(1);
    }
    const closing = server.server.close();
    await world.clock.advance(60_000);
    await closing;
    const statuses = await Promise.all(runs.map(async (id) => (await server.store.findRun("local", id))?.status));
    expect(statuses).toEqual(["success", undefined]);
    const next = serve([{ text: "ok" }], { store: server.store });
    const events = await readEvents(await next.ask("GET", `/api/runs/${runs[1]}/events`));
    assertRunLog(events);
    expect(events.at(-1)).toMatchObject({ type: "done", result: { status: "success", text: "ok" } });
  });
});
