import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import { createServer, type Server, type ServerLimits } from "#server";
import type { Store } from "#sessions";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { processesWith } from "../claude-code/place.ts";
import { openStage, type Stage } from "../conformance/targets.ts";
import { locateRealCli, realCliOptions } from "../real-cli.ts";
import { removeFolder } from "../temporary-folder.ts";
import { readEvents } from "./support.ts";

const TOKENS = [
  { token: "token-of-tenant-a", tenant: "a" },
  { token: "token-of-tenant-b", tenant: "b" },
];

let stage: Stage;
const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  expect(processesWith(stage.home)).toEqual([]);
  await stage.close();
});

async function serve(store: Store, limits: Partial<ServerLimits> = {}) {
  const server = createServer({
    store,
    target: "claude-code",
    page: false,
    tokens: TOKENS,
    limits,
    run: { cwd: stage.home, claudeCode: realCliOptions() },
    world: stage.world,
  });
  servers.push(server);
  const ask = (path: string, body: object, token: string): Promise<Response> =>
    server.fetch(
      new Request(`http://localhost${path}`, {
        method: "POST",
        headers: { host: "localhost", "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
      }),
    );
  return {
    server,
    async thread(token = "token-of-tenant-a"): Promise<string> {
      return ((await (await ask("/api/threads", {}, token)).json()) as { id: string }).id;
    },
    async chat(thread: string, input: string, token = "token-of-tenant-a"): Promise<readonly AgentEvent[]> {
      const before = stage.emulator.requests.length;
      const log = await readEvents(await ask(`/api/threads/${thread}/chat`, { input }, token));
      asked = JSON.stringify(stage.emulator.requests.slice(before).map(({ body }) => body));
      return log;
    },
  };
}

/** What the model was asked for the last message. */
let asked = "";

const resultOf = (log: readonly AgentEvent[]) => {
  const done = log.at(-1);
  if (done?.type !== "done") throw new Error("no end");
  return done.result;
};

const noticesOf = (log: readonly AgentEvent[]): readonly string[] =>
  log.flatMap((event) => (event.type === "notice" ? [event.kind] : []));

/** How a transcript is told to a CLI that does not know it. */
const REPLAYED = /<conversation>/;

describe.runIf(locateRealCli() !== undefined)("S3-31: threads continue with the session of the CLI", () => {
  it("the second message goes to the same process and session, without the transcript as text", async () => {
    stage = await openStage({ rules: [{ reply: { text: "Noted." } }] });
    const { thread, chat } = await serve(createMemoryStore());
    const id = await thread();
    const first = resultOf(await chat(id, "My name is Ada."));
    const [one] = processesWith(stage.home);
    const second = resultOf(await chat(id, "What is my name?"));
    expect(second.status).toBe("success");
    expect(second.sessionId).toBe(first.sessionId);
    expect(asked).toContain("My name is Ada.");
    expect(asked).not.toMatch(REPLAYED);
    expect(processesWith(stage.home)).toContain(one);
  });

  it("another server on the same store continues the session, in a separate process", async () => {
    stage = await openStage({ rules: [{ reply: { text: "Noted." } }] });
    const store = createMemoryStore();
    const before = await serve(store);
    const id = await before.thread();
    const first = resultOf(await before.chat(id, "My name is Ada."));
    await before.server.close();
    expect(processesWith(stage.home)).toEqual([]);
    const after = await serve(store, { warmThreads: 0 });
    const log = await after.chat(id, "What is my name?");
    expect(resultOf(log)).toMatchObject({ status: "success", sessionId: first.sessionId });
    expect(noticesOf(log)).not.toContain("session-lost");
    expect(asked).toContain("My name is Ada.");
    expect(asked).not.toMatch(REPLAYED);
    // Without warm processes nothing waits.
    expect(resultOf(await after.chat(id, "And again?"))).toMatchObject({ sessionId: first.sessionId });
  });

  it("a lost session is sent again as text, with a notice", async () => {
    stage = await openStage({ rules: [{ reply: { text: "Noted." } }] });
    const store = createMemoryStore();
    const before = await serve(store);
    const id = await before.thread();
    const first = resultOf(await before.chat(id, "My name is Ada."));
    await before.server.close();
    const { chat } = await serve(store);
    await removeFolder(join(stage.home, ".claude", "projects"));
    const log = await chat(id, "What is my name?");
    expect(resultOf(log).status).toBe("success");
    expect(resultOf(log).sessionId).not.toBe(first.sessionId);
    expect(noticesOf(log)).toContain("session-lost");
    expect(asked).toMatch(REPLAYED);
    // From here on the new session goes on.
    const third = await chat(id, "And now?");
    expect(noticesOf(third)).not.toContain("session-lost");
    expect(resultOf(third).sessionId).toBe(resultOf(log).sessionId);
  });

  it("no thread and no tenant hears what another one said, spares included", async () => {
    stage = await openStage({ rules: [{ reply: { text: "Noted." } }] });
    const { thread, chat } = await serve(createMemoryStore(), { warmSpares: 1 });
    const [mine, other, foreign] = [await thread(), await thread(), await thread("token-of-tenant-b")];
    const first = resultOf(await chat(mine, "The word is aubergine."));
    for (const [id, token] of [
      [other, "token-of-tenant-a"],
      [foreign, "token-of-tenant-b"],
    ] as const) {
      const result = resultOf(await chat(id, "What is the word?", token));
      expect(result.status).toBe("success");
      expect(result.sessionId).not.toBe(first.sessionId);
      expect(asked).not.toContain("aubergine");
    }
    expect(resultOf(await chat(mine, "What is the word?"))).toMatchObject({ sessionId: first.sessionId });
    expect(asked).toContain("aubergine");
  });
});
