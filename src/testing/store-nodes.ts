import type { Store } from "#sessions";
import { expectSame, expectThat, type Trial } from "./conformance.ts";
import { refused } from "./store-threads.ts";

type NodeStore = Store & Required<Pick<Store, "noteNode">>;

/** A trial for stores in which nodes leave notes. */
function noting(behaviour: string, attempt: (store: NodeStore) => Promise<void>): Trial<Store> {
  return [
    behaviour,
    async (store) => {
      if (store.noteNode !== undefined) await attempt(store as NodeStore);
    },
  ];
}

const byName = (notes: readonly { readonly node: string }[]): readonly unknown[] =>
  notes.toSorted((one, other) => (one.node < other.node ? -1 : 1));

/** The contract of `Store` for what nodes say about themselves. */
export const NODE_TRIALS: readonly Trial<Store>[] = [
  noting("a node sees the last note of each other one, until it is taken back", async (store) => {
    expectSame(await store.noteNode("one", { count: 1, text: "\0é\u2028" }), [], "what the first one sees");
    expectSame(
      await store.noteNode("two\0'", 2),
      [{ node: "one", note: { count: 1, text: "\0é\u2028" } }],
      "what the second one sees",
    );
    await store.noteNode("one", null);
    const shown = [
      { node: "one", note: null },
      { node: "two\0'", note: 2 },
    ];
    expectSame(byName(await store.noteNode("three", undefined)), shown, "what one sees that says nothing");
    expectSame(await store.noteNode("two\0'", undefined), shown.slice(0, 1), "what one sees that goes");
    expectSame(await store.noteNode("one", 3), [], "what is left");
  }),
  noting("nodes that leave notes at once see each other afterwards", async (store) => {
    const nodes = ["a", "b", "c", "d", "e", "f"];
    await Promise.all(nodes.map((node) => store.noteNode(node, node)));
    expectSame(
      byName(await store.noteNode("a", "a")),
      nodes.slice(1).map((node) => ({ node, note: node })),
      "notes",
    );
  }),
  noting("a note that is no JSON, or of a node without a name, is refused", async (store) => {
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    await refused(store.noteNode("", 1), "invalid-node", "an empty name");
    await refused(store.noteNode("x".repeat(201), 1), "invalid-node", "a long name");
    await refused(store.noteNode("one", loop), "invalid-node", "a value that contains itself");
    await refused(
      store.noteNode("one", () => 1),
      "invalid-node",
      "a function",
    );
    expectThat((await store.noteNode("two", 2)).length === 0, "a refused note is there");
  }),
];
