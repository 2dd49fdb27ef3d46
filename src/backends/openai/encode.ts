import type { Block, MediaBlock, Message, ToolCallBlock } from "#domain";
import type { ModelRequest, ToolChoice } from "../backend.ts";
import { contentBlocks, outputText } from "../content.ts";
import type { ProviderProfile } from "./profiles.ts";

/** The body of `POST /chat/completions` for one request. */
export function encodeOpenaiRequest(
  model: string,
  request: ModelRequest,
  profile: ProviderProfile,
): Record<string, unknown> {
  const { instructions, tools, toolChoice, maxTokens, temperature } = request;
  const system =
    instructions !== undefined && instructions !== ""
      ? [{ role: profile.instructionsRole, content: instructions }]
      : [];
  return {
    model,
    stream: true,
    ...(profile.usageInStream && { stream_options: { include_usage: true } }),
    messages: [...system, ...request.messages.flatMap(encodeMessage)],
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({
        type: "function",
        function: { name: tool.name, description: tool.description, parameters: tool.inputSchema },
      })),
      ...(toolChoice !== undefined && { tool_choice: encodeToolChoice(toolChoice) }),
      ...(request.parallelToolCalls === false && profile.parallelToolCalls && { parallel_tool_calls: false }),
    }),
    ...(maxTokens !== undefined && { [profile.limitField]: maxTokens }),
    ...(temperature !== undefined && { temperature }),
  };
}

function encodeMessage(message: Message): unknown[] {
  return message.role === "assistant" ? encodeAssistant(message.blocks) : encodeUser(message.blocks);
}

function encodeAssistant(blocks: readonly Block[]): unknown[] {
  const text = blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
  const calls = blocks.filter((block): block is ToolCallBlock => block.type === "tool-call");
  if (text === "" && calls.length === 0) return [];
  return [
    {
      role: "assistant",
      content: text === "" ? null : text,
      ...(calls.length > 0 && {
        tool_calls: calls.map((call) => ({
          id: call.callId,
          type: "function",
          // Arguments the model wrote badly are kept as it wrote them (S2-13).
          function: {
            name: call.name,
            arguments: typeof call.input === "string" ? call.input : JSON.stringify(call.input ?? {}),
          },
        })),
      }),
    },
  ];
}

/** Tool results are messages of their own and must stand right behind their calls, so they go first. */
function encodeUser(blocks: readonly Block[]): unknown[] {
  const messages: unknown[] = [];
  const parts: unknown[] = [];
  for (const block of blocks) {
    if (block.type === "tool-result") {
      const content = contentBlocks(block.output);
      messages.push({
        role: "tool",
        tool_call_id: block.callId,
        content:
          content === undefined
            ? outputText(block.output)
            : content.map((part) => (part.type === "text" ? part.text : "")).join("\n"),
      });
      // This API takes no pictures in tool messages; they follow as the user's.
      for (const part of content ?? [])
        if (part.type === "image" || part.type === "document") parts.push(encodeMedia(part));
    } else if (block.type === "text") {
      if (block.text !== "") parts.push({ type: "text", text: block.text });
    } else if (block.type === "image" || block.type === "document") parts.push(encodeMedia(block));
  }
  const texts = parts as { readonly type: string; readonly text?: string }[];
  if (texts.length > 0) {
    const plain = texts.every((part) => part.type === "text");
    messages.push({ role: "user", content: plain ? texts.map((part) => part.text).join("\n") : parts });
  }
  return messages;
}

function encodeMedia(block: MediaBlock): unknown {
  const url = block.url ?? `data:${block.mediaType ?? "image/png"};base64,${block.data ?? ""}`;
  if (block.type === "image") return { type: "image_url", image_url: { url } };
  return { type: "file", file: { filename: block.title ?? "document", file_data: url } };
}

function encodeToolChoice(choice: ToolChoice): unknown {
  return typeof choice === "object" ? { type: "function", function: { name: choice.name } } : choice;
}
