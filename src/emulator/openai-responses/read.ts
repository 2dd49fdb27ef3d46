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

/** Reads a Responses request. */
export function readResponsesPrompt(body: JsonRecord): ModelPrompt {
  const choice = ownValue(body, "tool_choice");
  const named = isRecord(choice) && choice.type === "function" ? ownString(choice, "name") : undefined;
  const format = ownRecord(ownRecord(body, "text") ?? {}, "format") ?? {};
  const input = ownValue(body, "input");
  const { messages, notes } = readItems(Array.isArray(input) ? input : [{ role: "user", content: input }]);
  return {
    protocol: "openai-responses",
    model: ownString(body, "model") ?? "",
    instructions: [ownString(body, "instructions") ?? "", ...notes].join("\n"),
    messages,
    tools: (ownArray(body, "tools") ?? []).flatMap((tool) => {
      const found = isRecord(tool) && tool.type === "function" ? readFunction(tool) : undefined;
      return found === undefined ? [] : [found];
    }),
    toolChoice: readToolChoice(choice, named),
    parallelCalls: body.parallel_tool_calls !== false,
    maxTokens: ownNumber(body, "max_output_tokens"),
    stopSequences: [],
    stream: body.stream === true,
    thinking: asksForReasoning(body),
    outputSchema: readFormat(format.type, format),
    caches: true,
  };
}

function readItems(items: readonly unknown[]): { readonly messages: Message[]; readonly notes: string[] } {
  const notes: string[] = [];
  const turns: { readonly role: Message["role"]; readonly blocks: Block[] }[] = [];
  const add = (role: Message["role"], blocks: readonly Block[]): void => {
    const last = turns.at(-1);
    if (last?.role === role) for (const block of blocks) last.blocks.push(block);
    else turns.push({ role, blocks: [...blocks] });
  };
  for (const item of items) {
    if (!isRecord(item)) continue;
    const type = ownString(item, "type") ?? "message";
    if (type === "function_call") {
      add("assistant", [
        readCallBlock(
          ownString(item, "call_id") ?? "",
          ownString(item, "name") ?? "",
          ownString(item, "arguments") ?? "",
        ),
      ]);
    } else if (type === "function_call_output") {
      const callId = ownString(item, "call_id") ?? "";
      add("user", [{ type: "tool-result", callId, output: readToolOutput(ownValue(item, "output")), isError: false }]);
    } else if (type === "message") {
      const blocks = readContent(ownValue(item, "content"));
      if (item.role === "system" || item.role === "developer") notes.push(textOf(blocks));
      else add(item.role === "assistant" ? "assistant" : "user", blocks);
    }
  }
  return { messages: turns.map(({ role, blocks }, index) => ({ id: `message-${index}`, role, blocks })), notes };
}
