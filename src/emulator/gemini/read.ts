import type { Block, Message } from "#domain";
import { isRecord, type JsonRecord, ownNumber, ownString, ownValue } from "#wire";
import type { ModelPrompt, PromptTool, ToolChoice } from "../prompt.ts";
import { listOf, recordOf, textOf, valueOf } from "./fields.ts";

/** Reads a generateContent request. */
export function readGeminiPrompt(model: string, body: JsonRecord, stream: boolean): ModelPrompt {
  const config = recordOf(body, "generationConfig") ?? {};
  const thinking = recordOf(config, "thinkingConfig") ?? {};
  const isJson = textOf(config, "responseMimeType") === "application/json";
  const system = recordOf(body, "systemInstruction");
  return {
    protocol: "gemini",
    model,
    instructions:
      system === undefined
        ? ""
        : readContent(system, [])
            .map((block) => (block.type === "text" ? block.text : ""))
            .join("\n"),
    messages: readContents(listOf(body, "contents") ?? []),
    tools: readTools(body),
    toolChoice: readChoice(body),
    parallelCalls: true,
    maxTokens: ownNumber(config, "maxOutputTokens") ?? ownNumber(config, "max_output_tokens"),
    stopSequences: (listOf(config, "stopSequences") ?? []).filter((entry) => typeof entry === "string"),
    stream,
    thinking: valueOf(thinking, "includeThoughts") === true,
    outputSchema: isJson
      ? (recordOf(config, "responseSchema") ?? recordOf(config, "responseJsonSchema") ?? {})
      : undefined,
    caches: true,
  };
}

function readTools(body: JsonRecord): PromptTool[] {
  return (listOf(body, "tools") ?? []).flatMap((tool) => {
    const declarations = isRecord(tool) ? (listOf(tool, "functionDeclarations") ?? []) : [];
    return declarations.flatMap((declaration): PromptTool[] => {
      const name = isRecord(declaration) ? ownString(declaration, "name") : undefined;
      if (!isRecord(declaration) || name === undefined) return [];
      const schema = recordOf(declaration, "parameters") ?? recordOf(declaration, "parametersJsonSchema") ?? {};
      return [{ name, description: ownString(declaration, "description") ?? "", schema }];
    });
  });
}

function readChoice(body: JsonRecord): ToolChoice {
  const calling = recordOf(recordOf(body, "toolConfig") ?? {}, "functionCallingConfig") ?? {};
  const mode = textOf(calling, "mode");
  const [name, ...others] = listOf(calling, "allowedFunctionNames") ?? [];
  if (mode === "ANY" && typeof name === "string" && others.length === 0) return { type: "tool", name };
  if (mode === "ANY") return { type: "required" };
  return { type: mode === "NONE" ? "none" : "auto" };
}

function readContents(list: readonly unknown[]): Message[] {
  const messages: Message[] = [];
  // Calls without ids are answered in order, so they get an id from their position.
  let open: { readonly id: string; readonly name: string }[] = [];
  for (const [index, entry] of list.entries()) {
    if (!isRecord(entry)) continue;
    const blocks = readContent(entry, open, `content-${index}`);
    open = blocks.flatMap((block) => (block.type === "tool-call" ? [{ id: block.callId, name: block.name }] : []));
    messages.push({ id: `message-${index}`, role: entry.role === "model" ? "assistant" : "user", blocks });
  }
  return messages;
}

function readContent(
  content: JsonRecord,
  open: { readonly id: string; readonly name: string }[],
  idPrefix = "part",
): Block[] {
  return (listOf(content, "parts") ?? []).map((part, index): Block => {
    if (!isRecord(part)) return { type: "unknown", raw: part };
    const text = ownString(part, "text");
    if (text !== undefined) return { type: part.thought === true ? "thinking" : "text", text };
    const call = recordOf(part, "functionCall");
    if (call !== undefined) {
      const callId = ownString(call, "id") || `${idPrefix}-${index}`;
      return { type: "tool-call", callId, name: ownString(call, "name") ?? "", input: ownValue(call, "args") ?? {} };
    }
    const answer = recordOf(part, "functionResponse");
    return answer === undefined ? { type: "unknown", raw: part } : readAnswer(answer, open);
  });
}

function readAnswer(answer: JsonRecord, open: { readonly id: string; readonly name: string }[]): Block {
  const name = ownString(answer, "name");
  const id = ownString(answer, "id");
  const index = open.findIndex((call) => (id ? call.id === id : call.name === name));
  const [call] = index === -1 ? [] : open.splice(index, 1);
  const response = ownValue(answer, "response") ?? {};
  const isError = isRecord(response) && Object.hasOwn(response, "error");
  return { type: "tool-result", callId: call?.id ?? id ?? "", output: isError ? response.error : response, isError };
}
