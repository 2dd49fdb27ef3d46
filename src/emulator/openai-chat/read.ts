import type { Block, Message } from "#domain";
import { isRecord, type JsonRecord, ownArray, ownNumber, ownRecord, ownString, ownValue } from "#wire";
import {
  asksForReasoning,
  readCallBlock,
  readFormat,
  readFunction,
  readContent,
  readToolChoice,
  readToolOutput,
  textOf,
} from "../openai/read-tools.ts";
import type { ModelPrompt } from "../prompt.ts";

/** Reads a Chat Completions request. */
export function readChatPrompt(body: JsonRecord): ModelPrompt {
  const choice = ownValue(body, "tool_choice");
  const named = isRecord(choice) ? ownString(ownRecord(choice, "function") ?? {}, "name") : undefined;
  const format = ownRecord(body, "response_format") ?? {};
  const stop = ownValue(body, "stop");
  return {
    protocol: "openai-chat",
    model: ownString(body, "model") ?? "",
    ...readMessages(ownArray(body, "messages") ?? []),
    tools: (ownArray(body, "tools") ?? []).flatMap((tool) => {
      const found = isRecord(tool) ? readFunction(ownRecord(tool, "function") ?? {}) : undefined;
      return found === undefined ? [] : [found];
    }),
    toolChoice: readToolChoice(choice, named),
    parallelCalls: body.parallel_tool_calls !== false,
    maxTokens: ownNumber(body, "max_completion_tokens") ?? ownNumber(body, "max_tokens"),
    stopSequences: (Array.isArray(stop) ? stop : [stop]).filter((entry) => typeof entry === "string"),
    stream: body.stream === true,
    thinking: asksForReasoning(body),
    outputSchema: readFormat(format.type, ownRecord(format, "json_schema") ?? {}),
    caches: true,
  };
}

function readMessages(list: readonly unknown[]): { readonly instructions: string; readonly messages: Message[] } {
  const instructions: string[] = [];
  const messages: Message[] = [];
  let results: Block[] | undefined;
  for (const entry of list) {
    if (!isRecord(entry)) continue;
    const content = ownValue(entry, "content");
    if (entry.role === "tool") {
      const result: Block = {
        type: "tool-result",
        callId: ownString(entry, "tool_call_id") ?? "",
        output: readToolOutput(content),
        isError: false,
      };
      if (results === undefined) {
        results = [];
        messages.push({ id: `message-${messages.length}`, role: "user", blocks: results });
      }
      results.push(result);
      continue;
    }
    results = undefined;
    const blocks = readContent(content);
    if (entry.role === "system" || entry.role === "developer") instructions.push(textOf(blocks));
    else if (entry.role === "assistant") {
      messages.push({ id: `message-${messages.length}`, role: "assistant", blocks: [...blocks, ...readCalls(entry)] });
    } else messages.push({ id: `message-${messages.length}`, role: "user", blocks });
  }
  return { instructions: instructions.join("\n"), messages };
}

function readCalls(message: JsonRecord): Block[] {
  return (ownArray(message, "tool_calls") ?? []).flatMap((call) => {
    if (!isRecord(call)) return [];
    const fields = ownRecord(call, "function") ?? {};
    return [
      readCallBlock(ownString(call, "id") ?? "", ownString(fields, "name") ?? "", ownString(fields, "arguments") ?? ""),
    ];
  });
}
