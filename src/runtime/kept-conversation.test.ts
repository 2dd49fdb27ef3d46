import { describe, expect, it } from "vitest";
import type { Run } from "#run";
import { isStartError } from "#domain";
import { CHAT_TENANT, type Store } from "#sessions";
import { assertRunLog, createSeededRandom } from "#testing";
import { tool } from "#tools";
import { modelOf, newWorld } from "../../test/durability/resumable.ts";
import { createMemoryStore } from "../sessions/stores/memory/memory-store.ts";
import { openKeptConversation } from "./kept-conversation.ts";

const STEPS = [{ text: "I ask.", calls: [{ name: "work", input: { n: 1 } }] }, { text: "Done." }, { text: "More." }];

/** Opens the conversation as a new process would. */
function processes(store: Store) {
  let started = 0;
  const ran: string[] = [];
  const open = (backend = modelOf(STEPS)) => {
    const work = tool("work", "Work", { n: "number" }, (_, { callId }) => ran.push(callId));
    const options = { tools: [work], permissions: { ask: ["work"] }, limits: { parkMs: 1 } };
    const world = { ...newWorld(), random: createSeededRandom((started += 1)) };
    return openKeptConversation({ store, target: backend, options, world });
  };
  return { open, ran };
}

/** Resolves with the call that a run asks about, once it waits for the answer. */
function askedIn(run: Run<unknown>, after = -1): Promise<string> {
  return new Promise((resolve) => {
    run.on("notice", ({ kind, data, seq }) => {
      if (kind === "waiting" && seq > after) resolve((data as { readonly callId: string }).callId);
    });
  });
}

describe("Runs that survive: a conversation in a store", () => {
  it("an open question is continued by any number of processes; its answer ends the run, and the next message follows", async () => {
    const store = createMemoryStore();
    const { open, ran } = processes(store);
    const first = await open();
    expect(first).toMatchObject({ earlier: [], unfinished: undefined });
    await askedIn(await first.send("go"));
    first.suspend();
    await first.close();
    for (let restarts = 0; restarts < 3; restarts += 1) {
      const next = await open();
      expect(next.unfinished).toMatchObject({ asks: true });
      await askedIn(await next.takeUp(), next.unfinished?.lastSeq);
      next.suspend();
      await next.close();
    }
    const last = await open();
    expect(last.earlier.map(({ role }) => role)).toEqual(["user"]);
    const run = await last.takeUp();
    run.answer(await askedIn(run, last.unfinished?.lastSeq), { allow: true });
    expect(await run.result()).toMatchObject({ status: "success", text: "Done." });
    expect(await (await last.send("and now?")).result()).toMatchObject({ status: "success", text: "More." });
    await last.close();
    expect(ran).toHaveLength(1);
    const runs = await store.listRuns();
    expect(runs.map(({ isOver, tenant }) => [isOver, tenant])).toEqual([
      [true, CHAT_TENANT],
      [true, CHAT_TENANT],
    ]);
    for (const { id } of runs) assertRunLog(await store.read(id));
    const after = await open();
    expect(after.unfinished).toBeUndefined();
    expect(after.earlier.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
  });

  it("another target has a conversation of its own, and is told of the one that waits", async () => {
    const store = createMemoryStore();
    const { open } = processes(store);
    const first = await open();
    await askedIn(await first.send("go"));
    first.suspend();
    await first.close();
    const other = await open(modelOf([{ text: "Hello." }], "another"));
    expect(other).toMatchObject({ earlier: [], unfinished: undefined, waitingElsewhere: ["scripted/script"] });
    expect(await (await other.send("hi")).result()).toMatchObject({ text: "Hello." });
    await other.close();
    expect((await open()).unfinished).toMatchObject({ asks: true });
  });

  it("a run that was aborted does not keep the thread from the next message", async () => {
    const { open } = processes(createMemoryStore());
    const conversation = await open();
    const run = await conversation.send("go");
    await askedIn(run);
    run.abort().catch(() => undefined);
    expect(await (await conversation.send("and now?")).result()).toMatchObject({ status: "success" });
    await conversation.close();
  });

  it("what is aborted is over, and starting over begins another thread", async () => {
    const store = createMemoryStore();
    const { open } = processes(store);
    const first = await open();
    const run = await first.send("go");
    await askedIn(run);
    await first.close();
    expect(await run.result()).toMatchObject({ status: "aborted" });
    const next = await open(modelOf([{ text: "One." }]));
    expect(next.unfinished).toBeUndefined();
    await next.startOver();
    expect(await (await next.send("again")).result()).toMatchObject({ text: "One." });
    await next.close();
    expect((await store.listThreads({ tenant: CHAT_TENANT })).threads).toHaveLength(2);
    expect((await store.listThreads({ tenant: "local" })).threads).toEqual([]);
  });

  it("a model that does not exist is refused, and the conversation goes on with the one before", async () => {
    const { open } = processes(createMemoryStore());
    const conversation = await open(modelOf([{ text: "One." }]));
    await expect(conversation.setModel("nothing/at-all")).rejects.toSatisfy(isStartError);
    expect(await (await conversation.send("hi")).result()).toMatchObject({ text: "One." });
    await conversation.close();
  });
});
