import type { Chunk, ModelBackend } from "millrace";
import { errorItem, messageItem, textDelta, toolCallItem } from "millrace/formats";
import type { ModelSituation } from "millrace/testing";

/** A model that does what the situation says. */
export function createModel(situation: ModelSituation): ModelBackend {
  let replies = 0;
  return {
    kind: "model",
    name: "outside-model",
    model: "small",
    async *stream(request, signal): AsyncGenerator<Chunk[]> {
      replies += 1;
      const id = `reply-${replies}`;
      if (signal.aborted) return;
      if (situation === "failure") {
        yield [errorItem({ code: "provider-error", message: "The model is out.", terminal: true })];
        return;
      }
      const [tool] = request.tools ?? [];
      if (situation === "tool-call" && tool !== undefined) {
        const call = { callId: `call-${replies}`, name: tool.name, input: { text: "hello" } };
        yield [
          messageItem({ id, role: "assistant", blocks: [{ type: "tool-call", ...call }], stopReason: "tool-use" }),
        ];
        yield [toolCallItem({ ...call, executedBy: "millrace" })];
        return;
      }
      yield [textDelta(id, 0, "Hello ")];
      if (situation === "cut") return;
      if (situation === "stall") await aborted(signal);
      if (signal.aborted) return;
      yield [textDelta(id, 0, "there.")];
      yield [
        messageItem({
          id,
          role: "assistant",
          blocks: [{ type: "text", text: "Hello there." }],
          stopReason: "end-turn",
        }),
      ];
    },
  };
}

/** Resolves when the signal fires. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
