import type { Block, MediaBlock, Message } from "#domain";
import type { ModelRequest, ToolChoice } from "../backend.ts";
import { contentBlocks, inputObject, joinRoles } from "../content.ts";

/** The body of `:streamGenerateContent` for one request. */
export function encodeGeminiRequest(request: ModelRequest): Record<string, unknown> {
  const { instructions, tools, toolChoice } = request;
  const generationConfig = encodeGeneration(request);
  return {
    ...(instructions !== undefined &&
      instructions !== "" && { systemInstruction: { parts: [{ text: instructions }] } }),
    contents: encodeContents(request.messages),
    ...(tools.length > 0 && {
      tools: [
        {
          functionDeclarations: tools.map((tool) => ({
            name: tool.name,
            description: tool.description,
            parametersJsonSchema: tool.inputSchema,
          })),
        },
      ],
      ...(toolChoice !== undefined && { toolConfig: { functionCallingConfig: encodeToolChoice(toolChoice) } }),
    }),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
  };
}

function encodeGeneration({ maxTokens, temperature, thinkingTokens }: ModelRequest): Record<string, unknown> {
  return {
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(thinkingTokens !== undefined && { thinkingConfig: { thinkingBudget: thinkingTokens, includeThoughts: true } }),
  };
}

function encodeContents(messages: readonly Message[]): unknown[] {
  // A function response names its function; our results know only the call's id.
  const names = new Map<string, string>();
  for (const message of messages) {
    for (const block of message.blocks) if (block.type === "tool-call") names.set(block.callId, block.name);
  }
  return joinRoles(messages)
    .map(({ role, blocks }) => ({
      role: role === "assistant" ? "model" : "user",
      parts: blocks.flatMap((block, index) => encodePart(block, signatureBefore(blocks, index), names)),
    }))
    .filter((content) => content.parts.length > 0);
}

/**
 * The signature that belongs to a call or a picture: the format keeps it as an empty signed thought right before the
 * block, and the vendor wants it back on the part itself.
 */
function signatureBefore(blocks: readonly Block[], index: number): { readonly thoughtSignature?: string } {
  const before = blocks[index - 1];
  if (before?.type !== "thinking" || before.text !== "" || before.vendor !== "google") return {};
  return before.signature === undefined ? {} : { thoughtSignature: before.signature };
}

function encodePart(
  block: Block,
  signature: { readonly thoughtSignature?: string },
  names: ReadonlyMap<string, string>,
): unknown[] {
  switch (block.type) {
    case "text":
      return block.text === "" ? [] : [{ text: block.text }];
    case "thinking":
      if (block.signature === undefined || block.vendor !== "google" || block.text === "") return [];
      return [{ text: block.text, thought: true, thoughtSignature: block.signature }];
    case "tool-call":
      return [{ functionCall: { id: block.callId, name: block.name, args: inputObject(block.input) }, ...signature }];
    case "tool-result":
      return encodeResult(block, names);
    case "image":
    case "document":
      return [encodeMedia(block)];
    case "unknown":
      return isSignedEnd(block.raw) ? [block.raw] : [];
  }
}

/** The signature of a text stands behind it as a part without text. */
function isSignedEnd(raw: unknown): boolean {
  return typeof raw === "object" && raw !== null && "thoughtSignature" in raw && "text" in raw && raw.text === "";
}

function encodeResult(block: Extract<Block, { type: "tool-result" }>, names: ReadonlyMap<string, string>): unknown[] {
  const content = contentBlocks(block.output);
  const output =
    content === undefined ? block.output : content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  const media = content?.filter((part): part is MediaBlock => part.type === "image" || part.type === "document") ?? [];
  return [
    {
      functionResponse: {
        id: block.callId,
        name: names.get(block.callId) ?? "unknown",
        response: block.isError ? { error: output } : { output },
      },
    },
    ...media.map(encodeMedia),
  ];
}

function encodeMedia(block: MediaBlock): unknown {
  if (block.url !== undefined) return { fileData: { mimeType: block.mediaType ?? "image/png", fileUri: block.url } };
  return { inlineData: { mimeType: block.mediaType ?? "image/png", data: block.data ?? "" } };
}

function encodeToolChoice(choice: ToolChoice): unknown {
  if (typeof choice === "object") return { mode: "ANY", allowedFunctionNames: [choice.name] };
  return { mode: { auto: "AUTO", none: "NONE", required: "ANY" }[choice] };
}
