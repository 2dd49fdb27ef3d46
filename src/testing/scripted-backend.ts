import type { ModelBackend, ModelRequest } from "#backends";
import { checkNames, type Chunk, messageItem, textDelta, toolCallItem, toolInputDelta } from "#domain";

/** One reply of a scripted backend: chunks in batches, or the content to make them from. */
export type ScriptedReply =
  | readonly Chunk[]
  | {
      readonly text?: string;
      readonly calls?: readonly { readonly name: string; readonly input: unknown; readonly id?: string }[];
    }
  | ((request: ModelRequest, signal: AbortSignal) => AsyncIterable<readonly Chunk[]>);

/** A model backend that replies from a script and records its requests. */
export type ScriptedBackend = ModelBackend & { readonly requests: readonly ModelRequest[] };

/**
 * Creates a backend that gives one scripted reply per request, in order; the last one is repeated when they run out.
 *
 * @example
 * const backend = createScriptedBackend([{ calls: [{ name: "add", input: { a: 1, b: 2 } }] }, { text: "3" }])
 */
export function createScriptedBackend(replies: readonly ScriptedReply[], name = "scripted"): ScriptedBackend {
  for (const [index, reply] of replies.entries()) checkReply(reply, `replies[${index}].`);
  const requests: ModelRequest[] = [];
  return {
    kind: "model",
    name,
    model: "script",
    requests,
    async *stream(request, signal) {
      // A copy: the runner keeps appending to the same transcript.
      requests.push({ ...request, messages: [...request.messages] });
      const turn = requests.length;
      const reply = replies[Math.min(turn, replies.length) - 1] ?? { text: "" };
      if (typeof reply === "function") yield* reply(request, signal);
      else if (isChunks(reply)) yield structuredClone(reply) as Chunk[];
      else yield replyChunks(`${name}-${turn}`, reply);
    },
  };
}

function replyChunks(
  id: string,
  reply: Exclude<ScriptedReply, readonly Chunk[] | ((...given: never) => unknown)>,
): Chunk[] {
  const calls = (reply.calls ?? []).map((call, index) => ({ ...call, callId: call.id ?? `${id}-call-${index}` }));
  const text = reply.text ?? "";
  const first = text === "" ? 0 : 1;
  return [
    ...(text === "" ? [] : [textDelta(id, 0, text)]),
    ...calls.map((call, index) => toolInputDelta(id, first + index, call, JSON.stringify(call.input))),
    messageItem({
      id,
      role: "assistant",
      blocks: [
        ...(text === "" ? [] : [{ type: "text" as const, text }]),
        ...calls.map(({ callId, name, input }) => ({ type: "tool-call" as const, callId, name, input })),
      ],
      stopReason: calls.length > 0 ? "tool-use" : "end-turn",
      usage: { inputTokens: 10, outputTokens: 2 },
    }),
    ...calls.map(({ callId, name, input }) => toolCallItem({ callId, name, input, executedBy: "millrace" })),
  ];
}

function checkReply(reply: ScriptedReply, place: string): void {
  if (typeof reply === "function" || isChunks(reply)) return;
  checkNames(reply, ["text", "calls"] satisfies (keyof typeof reply)[], place);
  for (const [index, call] of (reply.calls ?? []).entries()) {
    checkNames(call, ["name", "input", "id"] satisfies (keyof typeof call)[], `${place}calls[${index}].`);
  }
}

function isChunks(reply: ScriptedReply): reply is readonly Chunk[] {
  return Array.isArray(reply);
}
