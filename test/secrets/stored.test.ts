import { describe, expect, it } from "vitest";
import { compareIn, JOURNAL_FILE } from "#compare";
import { agent, type World } from "#runtime";
import { ANY_KIND, CHAT_TENANT, type Store } from "#sessions";
import { createMemoryFiles, createScriptedFetch } from "#testing";
import { park, tool } from "#tools";
import { openKeptConversation } from "../../src/runtime/kept-conversation.ts";
import { openai } from "../../src/runtime/openai.ts";
import { startStored } from "../../src/runtime/stored-run.ts";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { chat, createCluster, wake } from "../server/cluster.ts";
import { readText, startServer, testWorld } from "../server/support.ts";
import { HOSTS, KEY, leaks } from "./hosts.ts";

/** Of another host than the one that is asked. */
const OTHER = "sk-other-host-4Hq8Zt6Lw2Yb9Nc3";
const PASSWORD = "store-password-7Rm5Kx1Vd8Jp";
const SAID = `The keys are ${KEY}, ${OTHER} and ${PASSWORD}.`;

/** A model whose key only the backend knows, and a tool that prints what it finds in the environment. */
function scene() {
  const replies = [HOSTS.openai.calls(['{"note":"x"}']), HOSTS.openai.says(["Done."])];
  const backend = openai.compatible({
    model: "m",
    apiKey: KEY,
    baseUrl: "https://host.example/v1",
    fetch: createScriptedFetch(replies),
  });
  const keep = tool("keep", "Keep a note", { note: "string" }, () => SAID);
  const world: World = {
    ...testWorld(),
    env: { OTHER_API_KEY: OTHER, MILLRACE_STORE: `postgres://millrace:${PASSWORD}@db.example/millrace` },
  };
  return { backend, tools: [keep], world };
}

/** Everything that a store has. */
async function everything(store: Store, tenant: string): Promise<string> {
  const runs = await store.listRuns();
  const { threads } = await store.listThreads({ tenant });
  return JSON.stringify([
    threads,
    await Promise.all(threads.map(({ id }) => store.listMessages(tenant, id))),
    await Promise.all(runs.map(async (run) => [run, await store.read(run.id)])),
  ]);
}

function expectCovered(text: string): void {
  expect(text).toContain("The keys are");
  expect(leaks(text)).toEqual([]);
  expect(text).not.toContain(OTHER);
  expect(text).not.toContain(PASSWORD);
}

describe("F-A3 SEC16: what is stored has no secret, whether a person, a tool or a model has written it", () => {
  it("on a server: the key of an agent's own backend, and every secret of the environment", async () => {
    const { backend, tools, world } = scene();
    const store = createMemoryStore();
    const { ask } = startServer({ store, agents: [agent({ name: "one", backend, tools })], target: "one", world });
    const { id } = (await (await ask("POST", "/api/threads", {})).json()) as { id: string };
    const stream = await readText(await ask("POST", `/api/threads/${id}/chat`, { input: SAID }));
    expect(stream).toContain('"status":"success"');
    for (const text of [stream, await everything(store, "local")]) expectCovered(text);
  });

  it("by runStored", async () => {
    const { backend, tools, world } = scene();
    const store = createMemoryStore();
    const run = startStored(store, backend, SAID, { tools }, world);
    expect(await run.result()).toMatchObject({ status: "success" });
    await run.closed;
    expectCovered(await everything(store, "local"));
  });

  it("of a kept chat, its title included", async () => {
    const { backend, tools, world } = scene();
    const store = createMemoryStore();
    const chat = await openKeptConversation({ store, target: backend, options: { tools }, world });
    expect(await (await chat.send(SAID)).result()).toMatchObject({ status: "success" });
    await chat.close();
    expectCovered(await everything(store, CHAT_TENANT));
  });

  it("of a comparison: its prompts, the answers of other targets, and what the judge says", async () => {
    const compatible = (apiKey: string) =>
      openai.compatible({
        model: "m",
        apiKey,
        baseUrl: "https://host.example/v1",
        fetch: createScriptedFetch(Array.from({ length: 8 }, () => HOSTS.openai.says([...SAID]))),
      });
    const files = createMemoryFiles();
    const world: World = { ...scene().world, files };
    const report = await compareIn(
      {
        prompts: [SAID],
        repeat: 1,
        targets: [
          { name: "a", target: compatible(KEY) },
          { name: "b", target: compatible("another-key-9Wd3Tz7Qp5Lx") },
        ],
        judge: { target: compatible("a-third-key-2Vn8Ks4Rb6Yc"), options: { retry: false } },
        options: { retry: false },
        folder: "/out",
      },
      world,
    );
    expect(report.samples.map(({ status }) => status)).toEqual(["success", "success"]);
    expectCovered(JSON.stringify(report));
    expectCovered(new TextDecoder().decode(await files.read(`/out/${JOURNAL_FILE}`)));
  });
});

describe("F-A3: what a run waits for is stored without a secret before the run continues", () => {
  /** A store that keeps a copy of every answer: the end of the run removes them. */
  function watchedStore() {
    const answers: unknown[] = [];
    const store = createMemoryStore();
    const { addAnswer } = store;
    store.addAnswer = (runId, answer) => {
      answers.push(answer);
      return addAnswer.call(store, runId, answer);
    };
    return { store, answers };
  }

  const GIVEN = {
    "the result of a parked call": { ask: [], at: "call-parked", path: "results", body: { output: SAID } },
    "the answer to a question": {
      ask: ["work"],
      at: "asked",
      path: "permissions",
      body: { allow: false, reason: SAID },
    },
  } as const;
  const cases = (["one server", "several nodes"] as const).flatMap((servers) =>
    Object.entries(GIVEN).map(([what, given]) => ({ what, servers, ...given })),
  );

  it.each(cases)("$what, on $servers", async ({ servers, ask, at, path, body }) => {
    const { store, answers } = watchedStore();
    const cluster = createCluster(ask, store);
    const { OTHER_API_KEY, MILLRACE_STORE } = scene().world.env;
    const world: World = { ...testWorld(1), clock: cluster.clock, env: { OTHER_API_KEY, MILLRACE_STORE } };
    const node = cluster.node(() => park(), { world }, servers === "one server" ? "none" : undefined);
    await wake(node);
    const { runId, text } = await chat(node);
    const find = async () => JSON.stringify(await store.read(runId));
    await cluster.untilTrue(async () => (await find()).includes(`"${at}"`));
    const [, callId] = /"callId":"([^"]+)"/.exec(await find()) ?? [];
    const answer = await cluster.until(node.ask("POST", `/api/runs/${runId}/${path}/${callId}`, body));
    expect(await answer.json()).toEqual({ accepted: true });
    await cluster.until(text);
    expect(answers).toHaveLength(1);
    const kept = JSON.stringify(answers);
    expect(kept).toContain("The keys are");
    expect(kept).not.toContain(OTHER);
    expect(kept).not.toContain(PASSWORD);
  });
});

describe("F-A3 F-A2: a run that cannot be continued", () => {
  it.each(["one server", "several nodes"])("ends with a reason in which no secret is, on %s", async (servers) => {
    const { store, clock, first, node, untilTrue } = createCluster();
    const target = `removed with ${OTHER} and ${PASSWORD}`;
    await store.createThread({ id: "t", tenant: "local", title: "", target, createdAt: 1 });
    const input = { id: "i", role: "user", blocks: [{ type: "text", text: "go" }] } as const;
    await store.createRun({ id: "r", createdAt: 1, threadId: "t", tenant: "local" }, [input]);
    // A job that says of itself that every node can do it.
    await first.connect().add({ runId: "r", kind: ANY_KIND });
    const { env } = scene().world;
    const world: World = { ...testWorld(1), clock, env };
    const logged: string[] = [];
    const log = (entry: unknown): void => void logged.push(JSON.stringify(entry));
    let ran = 0;
    await wake(node(() => (ran += 1), { world, log }, servers === "one server" ? "none" : undefined));
    await untilTrue(async () => (await store.findRun("local", "r"))?.isOver === true);
    for (const text of [JSON.stringify(await store.read("r")), logged.join("\n")]) {
      expect(text).toContain("removed with");
      expect(text).not.toContain(OTHER);
      expect(text).not.toContain(PASSWORD);
    }
    expect(JSON.stringify(await store.read("r"))).toContain("could not be continued");
    expect(ran).toBe(0);
  });
});
