import type { Block, Message } from "#domain";
import { isRecord, type JsonRecord, ownArray, ownNumber, ownRecord, ownString, ownValue } from "#wire";
import type { ModelPrompt, PromptTool, ToolChoice } from "../prompt.ts";

/** Reads a Messages request. */
export function readAnthropicPrompt(body: JsonRecord): ModelPrompt {
  const notes: string[] = [];
  const messages: Message[] = [];
  for (const entry of ownArray(body, "messages") ?? []) {
    if (!isRecord(entry)) continue;
    const blocks = readContent(ownValue(entry, "content"));
    if (entry.role === "system") notes.push(textOf(blocks));
    else
      messages.push({
        id: `message-${messages.length}`,
        role: entry.role === "assistant" ? "assistant" : "user",
        blocks,
      });
  }
  const choice = ownRecord(body, "tool_choice") ?? {};
  const thinking = ownString(ownRecord(body, "thinking") ?? {}, "type");
  return {
    protocol: "anthropic",
    model: ownString(body, "model") ?? "",
    instructions: [textOf(readContent(ownValue(body, "system"))), ...notes].join("\n"),
    messages,
    tools: readTools(body),
    toolChoice: readChoice(choice),
    parallelCalls: ownValue(choice, "disable_parallel_tool_use") !== true,
    maxTokens: ownNumber(body, "max_tokens"),
    stopSequences: (ownArray(body, "stop_sequences") ?? []).filter((entry) => typeof entry === "string"),
    stream: body.stream === true,
    thinking: thinking === "enabled" || thinking === "adaptive",
    outputSchema: readOutputSchema(body),
    caches: hasCacheControl(body),
  };
}

function readTools(body: JsonRecord): PromptTool[] {
  const tools: PromptTool[] = [];
  for (const tool of ownArray(body, "tools") ?? []) {
    if (!isRecord(tool)) continue;
    const name = ownString(tool, "name");
    const schema = ownRecord(tool, "input_schema");
    // The vendor's own tools have no schema: only the vendor can run them.
    if (name !== undefined && schema !== undefined)
      tools.push({ name, description: ownString(tool, "description") ?? "", schema });
  }
  return tools;
}

function readChoice(choice: JsonRecord): ToolChoice {
  const name = ownString(choice, "name");
  if (choice.type === "tool" && name !== undefined) return { type: "tool", name };
  if (choice.type === "any") return { type: "required" };
  return { type: choice.type === "none" ? "none" : "auto" };
}

function readOutputSchema(body: JsonRecord): JsonRecord | undefined {
  const format = ownRecord(ownRecord(body, "output_config") ?? {}, "format") ?? ownRecord(body, "output_format");
  return format?.type === "json_schema" ? ownRecord(format, "schema") : undefined;
}

/** Only where the vendor accepts it: on blocks of the prompt, on tools, or on the request itself. */
function hasCacheControl(body: JsonRecord): boolean {
  const isMarked = (entry: unknown): boolean => isRecord(entry) && isRecord(ownValue(entry, "cache_control"));
  if (isMarked(body)) return true;
  const messages = ownArray(body, "messages") ?? [];
  const contents = messages.map((message) => (isRecord(message) ? ownValue(message, "content") : undefined));
  return [ownValue(body, "system"), ownValue(body, "tools"), ...contents].some(
    (list) => Array.isArray(list) && list.some(isMarked),
  );
}

function readContent(content: unknown): Block[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) ? content.map(readBlock) : [];
}

function readBlock(raw: unknown): Block {
  if (!isRecord(raw)) return { type: "unknown", raw };
  switch (raw.type) {
    case "text":
      return { type: "text", text: ownString(raw, "text") ?? "" };
    case "thinking":
      return { type: "thinking", text: ownString(raw, "thinking") ?? "" };
    case "tool_use":
      return {
        type: "tool-call",
        callId: ownString(raw, "id") ?? "",
        name: ownString(raw, "name") ?? "",
        input: ownValue(raw, "input") ?? {},
      };
    case "tool_result":
      return {
        type: "tool-result",
        callId: ownString(raw, "tool_use_id") ?? "",
        output: ownValue(raw, "content") ?? "",
        isError: raw.is_error === true,
      };
    default:
      return { type: "unknown", raw };
  }
}

function textOf(blocks: readonly Block[]): string {
  return blocks.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}
