import type { Block, MediaBlock } from "#domain";
import type { ModelRequest, ToolChoice } from "../backend.ts";
import { contentBlocks, inputObject, joinRoles, outputText } from "../content.ts";

/** The Messages API insists on a limit; this is what current models all allow. */
export const DEFAULT_MAX_TOKENS = 8192;

/** The body of `POST /v1/messages` for one request. */
export function encodeAnthropicRequest(model: string, request: ModelRequest): Record<string, unknown> {
  const { instructions, tools, temperature, thinkingTokens } = request;
  const maxTokens = request.maxTokens ?? DEFAULT_MAX_TOKENS;
  return {
    model,
    // Thinking counts against the limit, and a limit that leaves no room for the answer is refused.
    max_tokens: thinkingTokens === undefined ? maxTokens : Math.max(maxTokens, thinkingTokens + 1024),
    stream: true,
    ...(instructions !== undefined && instructions !== "" && { system: instructions }),
    messages: encodeMessages(request),
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({ name: tool.name, description: tool.description, input_schema: tool.inputSchema })),
      ...encodeToolChoices(request),
    }),
    ...(temperature !== undefined && { temperature }),
    ...(thinkingTokens !== undefined && { thinking: { type: "enabled", budget_tokens: thinkingTokens } }),
  };
}

function encodeMessages(request: ModelRequest): unknown[] {
  return joinRoles(request.messages)
    .map(({ role, blocks }) => ({ role, content: blocks.flatMap(encodeBlock) }))
    .filter((message) => message.content.length > 0);
}

function encodeBlock(block: Block): unknown[] {
  switch (block.type) {
    case "text":
      return block.text.trim() === "" ? [] : [{ type: "text", text: block.text }];
    case "thinking":
      // Only a signature of its own makes the vendor take thinking back.
      if (block.signature === undefined || block.vendor !== "anthropic") return [];
      return [{ type: "thinking", thinking: block.text, signature: block.signature }];
    case "tool-call":
      return [{ type: "tool_use", id: block.callId, name: block.name, input: inputObject(block.input) }];
    case "tool-result":
      return [
        {
          type: "tool_result",
          tool_use_id: block.callId,
          content: contentBlocks(block.output)?.flatMap(encodeBlock) ?? outputText(block.output),
          ...(block.isError && { is_error: true }),
        },
      ];
    case "image":
    case "document":
      return [encodeMedia(block)];
    case "unknown":
      return isRedactedThinking(block.raw) ? [block.raw] : [];
  }
}

function encodeMedia(block: MediaBlock): unknown {
  const source =
    block.url === undefined
      ? { type: "base64", media_type: block.mediaType ?? "image/png", data: block.data ?? "" }
      : { type: "url", url: block.url };
  return { type: block.type, source, ...(block.title !== undefined && { title: block.title }) };
}

/** Hidden thinking has to go back as it came, or the vendor refuses the turn. */
function isRedactedThinking(raw: unknown): boolean {
  return typeof raw === "object" && raw !== null && "type" in raw && raw.type === "redacted_thinking";
}

function encodeToolChoices({ toolChoice, parallelToolCalls }: ModelRequest): { readonly tool_choice?: unknown } {
  if (toolChoice === undefined && parallelToolCalls !== false) return {};
  const choice = encodeToolChoice(toolChoice ?? "auto");
  const oneAtATime = parallelToolCalls === false && choice.type !== "none";
  return { tool_choice: { ...choice, ...(oneAtATime && { disable_parallel_tool_use: true }) } };
}

function encodeToolChoice(choice: ToolChoice): { readonly type: string; readonly name?: string } {
  if (typeof choice === "object") return { type: "tool", name: choice.name };
  return { type: choice === "required" ? "any" : choice };
}
