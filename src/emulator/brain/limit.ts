import type { Reply, ReplyCall } from "../reply.ts";
import type { ModelPrompt } from "../prompt.ts";
import { estimateTokens } from "../tokens.ts";

/** A reply cut where the request wants it cut: at a stop sequence, or when its tokens are used up. */
export function limitReply(reply: Reply, prompt: ModelPrompt): Reply & { readonly stopSequence?: string } {
  return limitTokens(limitStop(reply, prompt.stopSequences), prompt.maxTokens);
}

function limitStop(reply: Reply, sequences: readonly string[]): Reply & { readonly stopSequence?: string } {
  const text = reply.text ?? "";
  let at = text.length;
  let found: string | undefined;
  for (const sequence of sequences) {
    const index = sequence === "" ? -1 : text.indexOf(sequence);
    if (index !== -1 && index < at) {
      at = index;
      found = sequence;
    }
  }
  if (found === undefined) return reply;
  const { toolCalls: _, ...rest } = reply;
  return { ...rest, text: text.slice(0, at), stopReason: "stop-sequence", stopSequence: found };
}

function limitTokens(reply: Reply, maxTokens: number | undefined): Reply {
  if (maxTokens === undefined) return reply;
  const text = reply.text ?? "";
  let left = maxTokens - estimateTokens(text);
  if (left < 0) {
    const { toolCalls: _, ...rest } = reply;
    return { ...rest, text: text.slice(0, maxTokens * 4), stopReason: "max-tokens" };
  }
  const calls: ReplyCall[] = [];
  for (const call of reply.toolCalls ?? []) {
    const json = JSON.stringify(call.input ?? {});
    left -= estimateTokens(call.name);
    if (left <= 0) return { ...reply, toolCalls: calls, stopReason: "max-tokens" };
    if (estimateTokens(json) > left) {
      // The model was cut off while it wrote: what is there of the arguments is sent, and is no JSON.
      return {
        ...reply,
        toolCalls: [...calls, { name: call.name, json: json.slice(0, left * 4) }],
        stopReason: "max-tokens",
      };
    }
    left -= estimateTokens(json);
    calls.push(call);
  }
  return reply;
}
