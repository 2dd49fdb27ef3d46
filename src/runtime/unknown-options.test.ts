import { describe, expect, it } from "vitest";
import { createDeclarativeFormat, ndjson } from "#formats";
import { agent, decodeStream, openSession, replay, run, swarm } from "#runtime";
import { query } from "./claude-code.ts";

const clerk = agent({ name: "clerk", backend: "offline" });

/** Every function of the package that takes options, with one that is misspelt. */
const CALLS: readonly [string, (options: never) => unknown, object, string][] = [
  ["run", (options) => run("offline", "hi", options), { instruction: "x" }, "Did you mean instructions?"],
  ["openSession", (options) => openSession("offline", options), { mesages: [] }, "Did you mean messages?"],
  ["openSession, of a run", (options) => openSession("offline", options), { record: "x" }, "called record"],
  ["agent", (options) => agent({ ...clerk, ...(options as object) }), { tool: [] }, "Did you mean tools?"],
  ["swarm", (options) => swarm([clerk], options), { begin: "clerk" }, "called begin"],
  ["replay", (options) => replay(new Uint8Array(), options), { sped: 1 }, "Did you mean speed?"],
  [
    "decodeStream",
    (options) => decodeStream(ndjson, (async function* () {})(), options),
    { keepraw: true },
    "Did you mean keepRaw?",
  ],
  [
    "a declarative format",
    (options) =>
      createDeclarativeFormat({
        name: "mine",
        framing: "ndjson",
        events: [{ kind: "message", match: {}, extract: { text: "text" } }],
        ...(options as object),
      } as never),
    { descripton: "x" },
    "descripton",
  ],
];

describe("F-C7: options that do not exist are refused by name", () => {
  it.each(CALLS)("%s", (_, call, options, message) => {
    expect(() => call(options as never)).toThrow(message);
    expect(() => call(options as never)).toThrow(expect.objectContaining({ name: expect.stringMatching(/Error$/) }));
  });

  it("query", async () => {
    await expect(query("hi", { modle: "x" } as never)).rejects.toThrow(/modle is not an option. Did you mean model\?/);
  });
});
