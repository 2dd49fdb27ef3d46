import { describe, expect, it } from "vitest";
import type { AgentBackend, ModelBackend } from "#backends";
import {
  type Chunk,
  errorItem,
  messageItem,
  resultItem,
  startItem,
  textDelta,
  toolCallItem,
  toolResultItem,
} from "#domain";
import type { EmulatorScript } from "#emulator";
import { checkAgentBackend, checkModelBackend, type AgentSituation, type ModelSituation } from "#testing";
import { resolveBackend } from "../../src/runtime/resolve-backend.ts";
import { BACKENDS, createTestWorld } from "./model-backends.ts";

const text = "A text that is long enough to be cut in the middle of it.";
const SCRIPTS: Readonly<Record<ModelSituation, EmulatorScript["rules"][number]>> = {
  answer: { reply: { text } },
  "tool-call": { reply: { toolCalls: [{ name: "echo", input: { text } }] } },
  failure: { reply: { text }, fault: { status: 400 } },
  cut: { reply: { text }, fault: { cutAfterEvents: 3 } },
  stall: { reply: { text }, fault: { stallAfterEvents: 3 } },
};

describe("checkModelBackend", () => {
  it.each(BACKENDS)("%s fulfils the contract", async (name) => {
    const create = (situation: ModelSituation): ModelBackend => {
      const { world } = createTestWorld({ rules: [SCRIPTS[situation]] });
      const backend = resolveBackend(name, {}, world);
      if (backend.kind !== "model") throw new Error("not a model");
      return backend;
    };
    expect(await checkModelBackend(create)).toEqual([]);
  });

  it("reports a backend that violates its contract, by requirement", async () => {
    const careless: ModelBackend = {
      kind: "model",
      name: "careless",
      model: "m",
      async *stream() {
        yield [textDelta("m1", 0, "Hello")];
        yield [messageItem({ id: "m1", role: "assistant", blocks: [{ type: "text", text: "Goodbye" }] })];
      },
    };
    const behaviours = (await checkModelBackend(() => careless)).map(({ behaviour }) => behaviour);
    expect(behaviours).toEqual([
      "an answer is deltas and a message with the same text, without an error",
      "every tool call of the message is a tool-call after it, to be executed by millrace",
      "ids are new in every reply",
      "a failure is a terminal error, the last thing it yields",
      "a reply that is cut is no success, and runs no tool",
      "nothing is shown of a reply that was aborted before it was asked for",
    ]);
  });
});

/** An agent that does as it should, but for what `fault` names. */
function createAgent(
  situation: AgentSituation,
  fault?: "runs first" | "runs denied" | "does not wait" | "no result",
): AgentBackend {
  return {
    kind: "agent",
    name: "small",
    model: undefined,
    explain: ({ features }) => ({
      backend: "small",
      mode: "plain",
      features,
      requiresControl: false,
      override: undefined,
      reasons: [],
      ignored: [],
      text: "small",
    }),
    async open() {
      return {
        sessionId: undefined,
        async send(_, link) {
          const write = async (...chunks: Chunk[]): Promise<void> => {
            const wait = link.write(chunks);
            if (fault !== "does not wait") await wait;
          };
          await write(startItem({ backend: "small", mode: "plain" }));
          if (situation === "failure") return write({ ...errorChunk });
          if (situation === "tool-call") {
            const call = { callId: "c1", name: "echo", input: { text: "x" }, executedBy: "millrace" } as const;
            await write(messageItem({ id: "m0", role: "assistant", blocks: [{ type: "tool-call", ...call }] }));
            await write(toolCallItem(call));
            if (fault === "runs first") await link.runTool(call);
            const verdict = await link.policy.checkCall(call);
            const isAllowed = verdict.kind === "run" && verdict.grant.redeem(verdict.input);
            if (isAllowed || fault === "runs denied") {
              const { output } = fault === "runs first" ? { output: "" } : await link.runTool(call);
              const checked = await link.policy.checkResult(call, { output, isError: false });
              await write(toolResultItem({ callId: "c1", name: "echo", output: checked.output, isError: false }));
            } else {
              await write(
                toolResultItem({ callId: "c1", name: "echo", output: "no", isError: true, skipped: "denied" }),
              );
            }
          }
          await write(textDelta("m1", 0, text));
          if (situation === "stall") {
            await new Promise((resolve) => {
              if (link.signal.aborted) resolve(undefined);
              link.signal.addEventListener("abort", resolve);
            });
            return undefined;
          }
          await write(messageItem({ id: "m1", role: "assistant", blocks: [{ type: "text", text }] }));
          if (fault !== "no result") await write(resultItem({ subtype: "success", isError: false, text, usage: {} }));
          return undefined;
        },
        interrupt: async () => undefined,
        setModel: async () => undefined,
        setPermissionMode: async () => undefined,
        close: async () => undefined,
      };
    },
  };
}

const errorChunk: Chunk = errorItem({ code: "provider-error", message: "It failed.", terminal: true });

describe("checkAgentBackend", () => {
  it("a correct agent fulfils the contract", async () => {
    expect(await checkAgentBackend((situation) => createAgent(situation))).toEqual([]);
  });

  it.each([
    [
      "runs first",
      [
        "a call is written, then checked, then run, then answered",
        "a call that is denied is answered as denied, and does not run",
      ],
    ],
    ["runs denied", ["a call that is denied is answered as denied, and does not run"]],
    ["does not wait", ["nothing is written while a reader lags"]],
    ["no result", ["a turn is a start, messages and one result, which is the last"]],
  ] as const)("reports one that %s", async (fault, promises) => {
    const failures = await checkAgentBackend((situation) => createAgent(situation, fault));
    expect(failures.map(({ behaviour }) => behaviour)).toEqual(promises);
  });
});
