import { describe, expect, it } from "vitest";
import { createEmulator } from "#emulator";
import { createDecoder, createDeclarativeFormat, ndjson } from "#formats";
import { agent, decodeStream, openSession, replay, run, swarm } from "#runtime";
import { createTelemetry } from "#sinks";
import { buildArgv, query } from "./claude-code.ts";

const clerk = agent({ name: "clerk", backend: "offline" });

/** Every function of the package that takes options, with one that is misspelt. */
const CALLS: readonly [string, (options: never) => unknown, object, string][] = [
  ["run", (options) => run("offline", "hi", options), { instruction: "x" }, "Did you mean instructions?"],
  ["openSession", (options) => openSession("offline", options), { mesages: [] }, "Did you mean messages?"],
  ["openSession, of a run", (options) => openSession("offline", options), { record: "x" }, "called record"],
  ["a message of a session", (options) => openSession("offline").send("hi", options), { sgnal: 1 }, "mean signal?"],
  ["toResponse", (options) => run("offline", "hi").toResponse(options), { event: "chat" }, "Did you mean events?"],
  ["toTextResponse", (options) => run("offline", "hi").toTextResponse(options), { header: {} }, "mean headers?"],
  ["telemetry", (telemetry) => run("offline", "hi", { telemetry }), { recordContents: true }, "mean recordContent?"],
  ["createTelemetry", (options) => createTelemetry({} as never, options), { recordContents: true }, "recordContent?"],
  ["claudeCode, elsewhere", (claudeCode) => run("offline", "hi", { claudeCode }), { modle: "x" }, "mean model?"],
  ["buildArgv", (options) => buildArgv(options, { mode: "plain" }), { modle: "x" }, "Did you mean model?"],
  ["createEmulator", (options) => createEmulator(options), { scrpt: {} }, "Did you mean script?"],
  ["createDecoder", (options) => createDecoder(ndjson, options), { keepraw: true }, "Did you mean keepRaw?"],
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

  it("listen of an emulator", async () => {
    const emulator = createEmulator();
    await expect(emulator.listen({ prt: 1 } as never)).rejects.toThrow(/called prt. Did you mean port\?/);
    await emulator.close();
  });

  it("F-D8: a schema within an object of its own is told how to be written", () => {
    const schema = { "~standard": { version: 1, vendor: "mine", validate: (value: unknown) => ({ value }) } };
    const call = () => run("offline", "hi", { output: { schema } as never });
    expect(call).toThrow("output.jsonSchema is undefined. Give one, or the schema itself, without { schema }.");
  });

  it("query", async () => {
    await expect(query("hi", { modle: "x" } as never)).rejects.toThrow(/modle is not an option. Did you mean model\?/);
  });
});
