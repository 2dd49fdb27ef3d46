import { describe, expect, it } from "vitest";
import { createVirtualClock } from "#testing";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { createOtherNodes, type OwnNote } from "../../src/server/other-nodes.ts";

function noteOf(name: string, streams: ReadonlyMap<string, number> = new Map()): OwnNote {
  const none = new Map<string, number>();
  return {
    name,
    version: "1.2.3",
    worksOn: [`target-${name}`],
    counts: { requests: none, failures: none, streams, tenantStreams: none },
  };
}

function createPlace() {
  const clock = createVirtualClock(1000);
  const store = createMemoryStore();
  const warnings: string[] = [];
  const write = (_: string, event: string): void => void warnings.push(event);
  const pass = async (seconds: number): Promise<void> => {
    for (let step = 0; step < seconds; step += 1) await clock.advance(1000);
  };
  return {
    clock,
    store,
    warnings,
    pass,
    open: (id: string, from = store) => createOtherNodes({ store: from, clock, id, write }),
  };
}

describe("what nodes know of each other", () => {
  it("each sees the sum of what the others count, and what they work on, until they close", async () => {
    const { pass, open } = createPlace();
    const [a, b, c] = [open("a"), open("b"), open("c")];
    const streams = new Map([["10.0.0.1 one", 2]]);
    for (const [name, node] of Object.entries({ a, b, c })) node.start(async () => noteOf(name, streams));
    await pass(3);
    expect([a.size, a.count("streams", "10.0.0.1 one"), a.count("streams", "10.0.0.2 one")]).toEqual([2, 4, 0]);
    expect(a.count("requests", "10.0.0.1 one")).toBe(0);
    expect([a.worksOn("target-b"), a.worksOn("target-a")]).toEqual([true, false]);
    await b.close();
    await pass(2);
    expect([a.size, a.count("streams", "10.0.0.1 one"), a.worksOn("target-b")]).toEqual([1, 2, false]);
    streams.set("10.0.0.1 one", 5);
    await pass(2);
    expect(a.count("streams", "10.0.0.1 one")).toBe(5);
  });

  it("a note that does not change is that of a dead node: it counts for 10 s at most, and is removed", async () => {
    const { store, pass, open } = createPlace();
    await store.noteNode?.("dead", { name: "dead", beat: 7, worksOn: ["x"], counts: { streams: {} } });
    const node = open("a");
    node.start(async () => noteOf("a"));
    await pass(3);
    expect([node.size, node.worksOn("x")]).toEqual([0, false]);
    await store.noteNode?.("dead", { name: "dead", beat: 8, worksOn: ["x"], counts: {} });
    await pass(2);
    expect([node.size, node.worksOn("x")]).toEqual([1, true]);
    await pass(10);
    expect([node.size, node.worksOn("x")]).toEqual([0, false]);
    expect(await store.noteNode?.("b", undefined)).toHaveLength(2);
    await pass(60);
    expect(await store.noteNode?.("b", undefined)).toMatchObject([{ node: "a" }]);
    await node.close();
    expect(await store.noteNode?.("b", undefined)).toEqual([]);
  });

  it("notes of another form are ignored, and a store that fails is reported once and asked again", async () => {
    const { store, warnings, pass, open } = createPlace();
    for (const note of [null, 5, [], {}, { beat: "x" }, { beat: 1, counts: [], worksOn: {} }]) {
      await store.noteNode?.(JSON.stringify(note), note);
    }
    let fails = true;
    const failing = {
      noteNode: (node: string, note: unknown) =>
        fails ? Promise.reject(new Error("away")) : (store.noteNode?.(node, note) ?? Promise.resolve([])),
    };
    const node = open("a", failing as typeof store);
    node.start(async () => noteOf("a"));
    await pass(5);
    expect(warnings).toEqual(["node-not-noted"]);
    fails = false;
    await store.noteNode?.("b", { beat: 1, counts: { streams: { x: "y" } }, worksOn: [5, "t"] });
    await pass(2);
    await store.noteNode?.("b", { beat: 2, counts: { streams: { x: "y" } }, worksOn: [5, "t"] });
    await pass(2);
    expect([node.size, node.worksOn("t"), node.count("streams", "x")]).toEqual([1, true, 0]);
    await node.close();
  });
});
