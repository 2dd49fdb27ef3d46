import { type Block, type MediaBlock, type Message, unreachable } from "#domain";
import type { JsonSchema } from "#tools";
import type { ModelRequest, ToolChoice } from "../backend.ts";
import { contentBlocks, inputObject, mediaTypeOf, objectSchema, outputText } from "../content.ts";
import { type Encoded, EncodedTranscript, encoded, writeBody } from "../encoded-transcript.ts";
import { fitSchema } from "../output-schema.ts";
import { BEGINNING, fitCalls, joinTurns, resultsFirst, type Turn } from "../transcript.ts";
import { ANTHROPIC_SCHEMAS } from "./output.ts";

/** The Messages API insists on a limit; this is what current models all allow. */
export const DEFAULT_MAX_TOKENS = 8192;

const CALL_ID = /^[a-zA-Z0-9_-]{1,128}$/;

/** A block in the vendor's words. */
interface Part {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The body of `POST /v1/messages` for one request. `known` is what was encoded for requests before. */
export function encodeAnthropicRequest(model: string, request: ModelRequest, known = new EncodedTranscript()): string {
  const messages = fitCalls(request.messages, CALL_ID);
  const encode = (message: Message): readonly Encoded<Part>[] => {
    const made = known.encode(message, encodeMessage);
    return made.parts.length === 0 ? [] : [made];
  };
  const turns = joinTurns(messages, encode, encoded<Part>([{ type: "text", text: BEGINNING }]));
  const written = turns.map(({ role, parts }) => {
    return `{"role":"${role}","content":[${parts.map(({ json }) => json).join(",")}]}`;
  });
  return writeBody(encodeFields(model, request, turns), "messages", `[${written.join(",")}]`);
}

function encodeFields(
  model: string,
  request: ModelRequest,
  turns: readonly Turn<Encoded<Part>>[],
): Record<string, unknown> {
  const { instructions, tools, temperature } = request;
  const thinkingTokens = mayThink(request, turns) ? request.thinkingTokens : undefined;
  const maxTokens = request.maxTokens ?? DEFAULT_MAX_TOKENS;
  return {
    model,
    // Thinking counts against the limit, and a limit that leaves no room for the answer is refused.
    max_tokens: thinkingTokens === undefined ? maxTokens : Math.max(maxTokens, thinkingTokens + 1024),
    stream: true,
    ...(instructions !== undefined && instructions !== "" && { system: instructions }),
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({
        name: tool.name,
        description: tool.description,
        input_schema: objectSchema(tool.inputSchema),
      })),
      ...encodeToolChoices(request),
    }),
    // A model that thinks chooses its own temperature; another one is refused.
    ...(thinkingTokens === undefined
      ? temperature !== undefined && { temperature }
      : { thinking: { type: "enabled", budget_tokens: thinkingTokens } }),
    ...(request.output !== undefined && {
      output_config: { format: { type: "json_schema", schema: encodeSchema(request.output.schema) } },
    }),
  };
}

function encodeSchema(schema: JsonSchema): JsonSchema {
  const fitted = fitSchema(schema, ANTHROPIC_SCHEMAS);
  return "why" in fitted ? schema : fitted.schema;
}

/**
 * Whether thinking can be asked for in this turn. The vendor refuses it while a tool is forced, and in the middle of
 * a turn that was begun without thinking, be it by another vendor's model.
 */
function mayThink({ tools, toolChoice }: ModelRequest, turns: readonly Turn<Encoded<Part>>[]): boolean {
  if (tools.length > 0 && (toolChoice === "required" || typeof toolChoice === "object")) return false;
  const isAnswer = turns.at(-1)?.parts.some(({ parts }) => parts.some((part) => part.type === "tool_result"));
  if (isAnswer !== true) return true;
  const begun = turns.at(-2)?.parts[0]?.parts[0]?.type;
  return begun === "thinking" || begun === "redacted_thinking";
}

function encodeMessage({ role, blocks }: Message): Part[] {
  return role === "assistant" ? blocks.flatMap(encodeReplyBlock) : resultsFirst(blocks).flatMap(encodeUserBlock);
}

function encodeReplyBlock(block: Block): Part[] {
  switch (block.type) {
    case "text":
      return encodeText(block.text);
    case "thinking":
      // Only a signature of its own makes the vendor take thinking back.
      if (block.signature === undefined || block.vendor !== "anthropic") return [];
      return [{ type: "thinking", thinking: block.text, signature: block.signature }];
    case "tool-call":
      return [{ type: "tool_use", id: block.callId, name: block.name, input: inputObject(block.input) }];
    case "unknown":
      return isRedactedThinking(block.raw) ? [block.raw] : [];
    // Another vendor's model may have drawn a picture; here replies hold none.
    case "image":
    case "document":
    case "tool-result":
      return [];
    default:
      return unreachable(block);
  }
}

function encodeUserBlock(block: Block): Part[] {
  switch (block.type) {
    case "text":
      return encodeText(block.text);
    case "image":
    case "document":
      return [encodeMedia(block)];
    case "tool-result":
      return [
        {
          type: "tool_result",
          tool_use_id: block.callId,
          content: encodeOutput(block.output, block.isError),
          ...(block.isError && { is_error: true }),
        },
      ];
    case "thinking":
    case "tool-call":
    case "unknown":
      return [];
    default:
      return unreachable(block);
  }
}

/** Text of blanks alone is refused. */
function encodeText(text: string): Part[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function encodeOutput(output: unknown, isError: boolean): string | Part[] {
  const content = contentBlocks(output)?.flatMap(encodeUserBlock) ?? outputText(output);
  // A failure has to say something.
  return isError && content.length === 0 ? "The tool failed." : content;
}

function encodeMedia(block: MediaBlock): Part {
  return { type: block.type, source: encodeSource(block), ...(block.title !== undefined && { title: block.title }) };
}

function encodeSource(block: MediaBlock): unknown {
  if (block.url !== undefined) return { type: "url", url: block.url };
  return { type: "base64", media_type: mediaTypeOf(block), data: block.data ?? "" };
}

/** Hidden thinking has to go back as it came, or the vendor refuses the turn. */
function isRedactedThinking(raw: unknown): raw is Part {
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
