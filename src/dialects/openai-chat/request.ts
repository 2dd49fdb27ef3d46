import { type Block, type MediaBlock, type Message, noticeItem, textOf, type ToolCallBlock } from "#domain";
import type { JsonSchema } from "#tools";
import { JsonInText } from "#wire";
import type { ModelRequest, OutputSpec, ToolChoice } from "../shared/model-request.ts";
import { isMedia, mediaTypeOf, objectSchema, outputText, splitContent } from "../shared/content.ts";
import { EncodedTranscript } from "../shared/encoded-transcript.ts";
import { documentText, noteOf, TEXT_REPLIES, withResults } from "../shared/media.ts";
import { fitSchema, type SchemaDialect } from "../shared/output-schema.ts";
import { joinText, json, type RequestText, writeBody } from "../shared/request-text.ts";
import { fitCalls } from "../shared/transcript.ts";
import type { ProviderProfile } from "./types.ts";

// Hosts that imitate this API use dots and colons in ids and expect them back; OpenAI itself allows 40 characters.
const CALL_ID = /^[\u0021-\u007e]{1,40}$/;

/** The body of `POST /chat/completions` for one request. `known` holds what earlier requests have encoded. */
export function encodeOpenaiRequest(
  model: string,
  request: ModelRequest,
  profile: ProviderProfile,
  known = new EncodedTranscript(),
): RequestText {
  const { instructions } = request;
  const system =
    instructions !== undefined && instructions !== ""
      ? [{ role: profile.instructionsRole, content: instructions }]
      : [];
  const before = system.map((message) => JSON.stringify(message)).join(",");
  const text = writeMessages(fitCalls(request.messages, CALL_ID, known.checked), known);
  return writeBody(encodeFields(model, request, profile), "messages", json`[${joinText(before, text)}]`);
}

/** Reasoning counts towards the host's limit, so it is added to the limit of the answer. */
function reasoningTokens(model: string, { thinkingTokens }: ModelRequest, profile: ProviderProfile): number {
  return thinkingTokens !== undefined && mayThink(model, profile) ? thinkingTokens : 0;
}

function writeMessages(messages: readonly Message[], known: EncodedTranscript): RequestText {
  const begun = known.written.take(messages);
  let text: RequestText = begun?.value ?? "";
  for (let at = begun?.count ?? 0; at < messages.length; at += 1) {
    text = joinText(text, known.encode(messages[at] as Message, encodeMessage).json);
  }
  known.written.keep(messages, text);
  return text;
}

function encodeFields(model: string, request: ModelRequest, profile: ProviderProfile): Record<string, unknown> {
  const { tools, toolChoice, maxTokens, temperature } = request;
  return {
    model,
    stream: true,
    ...(profile.usageInStream && { stream_options: { include_usage: true } }),
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({
        type: "function",
        function: { name: tool.name, description: tool.description, parameters: objectSchema(tool.inputSchema) },
      })),
      ...(toolChoice !== undefined && { tool_choice: encodeToolChoice(toolChoice) }),
      ...(request.parallelToolCalls === false && profile.parallelToolCalls && { parallel_tool_calls: false }),
    }),
    ...(maxTokens !== undefined && { [profile.limitField]: maxTokens + reasoningTokens(model, request, profile) }),
    ...(temperature !== undefined && { temperature }),
    ...encodeThinking(model, request, profile),
    ...(request.output !== undefined && { response_format: encodeOutput(request.output, profile) }),
  };
}

function encodeMessage(message: Message): object[] {
  return message.role === "assistant" ? encodeAssistant(message.blocks) : encodeUser(message.blocks);
}

function encodeAssistant(blocks: readonly Block[]): object[] {
  const notes = blocks.filter(isMedia).map((block) => noteOf(block, TEXT_REPLIES));
  const text = [textOf(blocks), ...notes].filter((part) => part !== "").join("\n");
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
          // Invalid arguments are sent back as the model wrote them (S2-13).
          function: {
            name: call.name,
            arguments: typeof call.input === "string" ? call.input : new JsonInText(call.input ?? {}),
          },
        })),
      }),
    },
  ];
}

type Part = { readonly type: "text"; readonly text: string } | { readonly type: "image_url" | "file" | "input_audio" };

/** Tool results are separate messages that must directly follow their calls, so they come first. */
function encodeUser(blocks: readonly Block[]): object[] {
  const messages: object[] = [];
  const parts: Part[] = [];
  for (const block of blocks) {
    if (block.type === "tool-result") {
      const { value, media } = splitContent(block.output);
      messages.push({ role: "tool", tool_call_id: block.callId, content: outputText(value) });
      // The API accepts no pictures in tool messages; they follow in a user message.
      parts.push(...media.map(encodeMedia));
    } else if (block.type === "text") {
      if (block.text !== "") parts.push({ type: "text", text: block.text });
    } else if (isMedia(block)) parts.push(encodeMedia(block));
  }
  if (parts.length > 0) messages.push({ role: "user", content: plainContent(parts) ?? parts });
  return messages;
}

/** Content that is only text, as the single string that every imitating host accepts. */
function plainContent(parts: readonly Part[]): string | undefined {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === parts.length ? texts.join("\n") : undefined;
}

function encodeMedia(block: MediaBlock): Part & Record<string, unknown> {
  const why = cannotSendToChat(block);
  if (why !== undefined) return { type: "text", text: noteOf(block, why) };
  const format = AUDIO_FORMATS.get(mediaTypeOf(block));
  if (block.type === "audio") return { type: "input_audio", input_audio: { data: block.data ?? "", format } };
  const url = block.url ?? `data:${mediaTypeOf(block)};base64,${block.data ?? ""}`;
  if (block.type === "image") return { type: "image_url", image_url: { url } };
  const text = documentText(block);
  if (text !== undefined) {
    return { type: "text", text: block.title === undefined ? text : `${block.title}:\n\n${text}` };
  }
  return { type: "file", file: { filename: block.title ?? "document", file_data: url } };
}

/** The audio types that this API accepts. */
const AUDIO_FORMATS: ReadonlyMap<string, string> = new Map([
  ["audio/wav", "wav"],
  ["audio/x-wav", "wav"],
  ["audio/wave", "wav"],
  ["audio/mp3", "mp3"],
  ["audio/mpeg", "mp3"],
]);

/** The blocks that the chat completions API accepts: pictures, inline PDF and text, WAV and MP3. */
export const cannotSendToChat = withResults(
  (block) => {
    const mediaType = mediaTypeOf(block);
    if (block.type === "image") return undefined;
    if (block.url !== undefined)
      return "it takes files as data, not by their address. Give the bytes as base64 in data.";
    if (block.type === "audio")
      return AUDIO_FORMATS.has(mediaType) ? undefined : `it takes no ${mediaType}. Give WAV or MP3.`;
    if (mediaType === "application/pdf" || documentText(block) !== undefined) return undefined;
    return `it takes no ${mediaType}. Give a PDF or text.`;
  },
  ["data:"],
);

function encodeToolChoice(choice: ToolChoice): unknown {
  return typeof choice === "object" ? { type: "function", function: { name: choice.name } } : choice;
}

/** The JSON Schema features that OpenAI accepts in a strict schema. */
const STRICT_SCHEMAS: SchemaDialect = {
  constraints: new Set(
    "pattern multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems".split(" "),
  ),
  formats: new Set("date-time time date duration email hostname ipv4 ipv6 uuid".split(" ")),
  mostMinItems: Number.POSITIVE_INFINITY,
  hasConst: true,
  isRecursive: true,
  allRequired: true,
  maxDepth: 5,
  maxOptional: Number.POSITIVE_INFINITY,
  maxUnions: Number.POSITIVE_INFINITY,
};

/** Whether a model supports structured output for this schema. A schema that it cannot guarantee is still attempted. */
export function checkOpenaiOutput(
  {
    provider,
    model,
    profile,
  }: { readonly provider: string; readonly model: string; readonly profile: ProviderProfile },
  schema: JsonSchema,
): true | string {
  if (profile.outputForm === undefined) return `not every model of ${provider} supports structured output`;
  if (profile.outputForm.except?.test(model) === true) return `${model} does not support structured output`;
  return schema.type === "object" ? true : "it does not describe an object";
}

/** The `response_format` of a request. */
export function encodeOutput({ name, schema }: OutputSpec, profile: ProviderProfile): object {
  const fitted = profile.outputForm?.strict === true ? fitSchema(schema, STRICT_SCHEMAS) : undefined;
  const isStrict = fitted !== undefined && "schema" in fitted;
  return {
    type: "json_schema",
    json_schema: { name, strict: isStrict, schema: isStrict ? fitted.schema : schema },
  };
}

/** The token thresholds of each effort; above the last one the effort is high. */
const LOW_TOKENS = 2048;
const MEDIUM_TOKENS = 8192;

type Effort = "low" | "medium" | "high";

/** The effort for a number of thinking tokens, if this model accepts one. */
function effortOf(model: string, thinkingTokens: number | undefined, profile: ProviderProfile) {
  if (thinkingTokens === undefined || profile.thinking?.kind !== "effort") return undefined;
  if (!profile.thinking.models.test(model)) return undefined;
  return toEffort(thinkingTokens);
}

function toEffort(tokens: number): Effort {
  if (tokens <= LOW_TOKENS) return "low";
  return tokens <= MEDIUM_TOKENS ? "medium" : "high";
}

/** Whether the amount of thinking can be set for a model. */
export function mayThink(model: string, { thinking }: ProviderProfile): boolean {
  return thinking !== undefined && (thinking.kind === "tokens" || thinking.models.test(model));
}

/** The part of a request that sets the amount of thinking. */
function encodeThinking(model: string, { thinkingTokens }: ModelRequest, profile: ProviderProfile): object {
  if (thinkingTokens === undefined) return {};
  if (profile.thinking?.kind === "tokens") return { reasoning: { max_tokens: thinkingTokens } };
  const effort = effortOf(model, thinkingTokens, profile);
  return effort === undefined ? {} : { reasoning_effort: effort };
}

/**
 * The notice that a number of thinking tokens was sent as an effort. Emitted once per question: a request with tool
 * results continues one for which the notice was emitted already.
 */
export function thinkingNotice(model: string, request: ModelRequest, profile: ProviderProfile) {
  const effort = effortOf(model, request.thinkingTokens, profile);
  if (effort === undefined) return undefined;
  if (request.messages.at(-1)?.blocks.some((block) => block.type === "tool-result") === true) return undefined;
  return noticeItem("thinking-effort", { thinkingTokens: request.thinkingTokens, effort });
}
