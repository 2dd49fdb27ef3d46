import { type Block, type Message, unreachable } from "#domain";
import type { JsonSchema } from "#tools";
import type { ModelRequest, ToolChoice } from "../shared/model-request.ts";
import { contentBlocks, inputObject, objectSchema, outputText } from "../shared/content.ts";
import { type Encoded, encoded, EncodedTranscript } from "../shared/encoded-transcript.ts";
import { encodeMessagesMedia, noteOf, type Part, TEXT_REPLIES } from "../shared/media.ts";
import { fitSchema, type SchemaDialect } from "../shared/output-schema.ts";
import { joinText, json, type RequestText, writeBody } from "../shared/request-text.ts";
import { BEGINNING, fitCalls, resultsFirst } from "../shared/transcript.ts";

/** The Messages API requires a limit; this one is used for models that are not in the list of models. */
export const DEFAULT_MAX_TOKENS = 8192;

interface AskedModel {
  readonly model: string;
  /** The longest reply, thinking included, if known. */
  readonly maxOutputTokens?: number | undefined;
}

const CALL_ID = /^[a-zA-Z0-9_-]{1,128}$/;

/**
 * An encoded transcript: neighbouring messages of one role form one turn, and the last turn is still open. It also
 * keeps what decides whether thinking can be requested.
 */
export interface Written {
  /** The turns before the last one. */
  readonly closed: RequestText;
  readonly role: Message["role"];
  readonly open: RequestText;
  /** Whether the last turn contains tool results. */
  readonly isAnswer: boolean;
  /** The types of the first parts of the last turn and of the one before it. */
  readonly begun: string | undefined;
  readonly begunBefore: string | undefined;
}

/** The body of `POST /v1/messages` for one request. `known` holds what earlier requests have encoded. */
export function encodeAnthropicRequest(
  model: AskedModel,
  request: ModelRequest,
  known = new EncodedTranscript<Written | undefined>(),
): RequestText {
  const written = writeMessages(fitCalls(request.messages, CALL_ID, known.checked), known);
  const text = written === undefined ? "" : joinText(written.closed, writeTurn(written));
  return writeBody(encodeFields(model, request, written), "messages", json`[${text}]`);
}

function writeMessages(
  messages: readonly Message[],
  known: EncodedTranscript<Written | undefined>,
): Written | undefined {
  const begun = known.written.take(messages);
  let written = begun?.value;
  for (let at = begun?.count ?? 0; at < messages.length; at += 1) {
    const message = messages[at] as Message;
    written = addMessage(written, message.role, known.encode(message, encodeMessage));
  }
  known.written.keep(messages, written);
  return written;
}

/**
 * Turns alternate and begin with the user. Messages without any part left are skipped, so that their neighbours merge.
 */
function addMessage(
  before: Written | undefined,
  role: Message["role"],
  { parts, json: text }: Encoded<Part>,
): Written | undefined {
  const [first] = parts;
  if (first === undefined) return before;
  const isAnswer = parts.some(({ type }) => type === "tool_result");
  if (before === undefined) {
    if (role === "assistant") return addMessage(beginWithUser(), role, { parts, json: text });
    return { closed: "", role, open: text, isAnswer, begun: first.type, begunBefore: undefined };
  }
  if (before.role === role) {
    return { ...before, open: joinText(before.open, text), isAnswer: before.isAnswer || isAnswer };
  }
  const closed = joinText(before.closed, writeTurn(before));
  return { closed, role, open: text, isAnswer, begun: first.type, begunBefore: before.begun };
}

function beginWithUser(): Written | undefined {
  return addMessage(undefined, "user", encoded<Part>([{ type: "text", text: BEGINNING }]));
}

function writeTurn({ role, open }: Written): RequestText {
  return json`{"role":"${role}","content":[${open}]}`;
}

/** Thinking counts towards the vendor's limit, so it is added to the limit of the answer. */
function limitOf({ maxOutputTokens }: AskedModel, { maxTokens }: ModelRequest, thinkingTokens = 0): number {
  const answer = maxTokens ?? (maxOutputTokens === undefined ? DEFAULT_MAX_TOKENS : maxOutputTokens - thinkingTokens);
  // The vendor refuses a limit that leaves no room for the answer.
  return Math.max(Math.min(answer + thinkingTokens, maxOutputTokens ?? Number.POSITIVE_INFINITY), thinkingTokens + 1);
}

function encodeFields(asked: AskedModel, request: ModelRequest, written: Written | undefined): Record<string, unknown> {
  const { instructions, tools, temperature } = request;
  const thinkingTokens = mayThink(request, written) ? request.thinkingTokens : undefined;
  return {
    model: asked.model,
    max_tokens: limitOf(asked, request, thinkingTokens),
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
    // A model that thinks uses its own temperature; the vendor refuses any other.
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
 * Whether thinking can be requested in this turn. The vendor refuses it while a tool is forced, and in the middle of a
 * turn that began without thinking, even if another vendor's model began it.
 */
function mayThink({ tools, toolChoice }: ModelRequest, written: Written | undefined): boolean {
  if (tools.length > 0 && (toolChoice === "required" || typeof toolChoice === "object")) return false;
  if (written?.isAnswer !== true) return true;
  const { begunBefore } = written;
  return begunBefore === "thinking" || begunBefore === "redacted_thinking";
}

function encodeMessage({ role, blocks }: Message): Part[] {
  return role === "assistant" ? blocks.flatMap(encodeReplyBlock) : resultsFirst(blocks).flatMap(encodeUserBlock);
}

function encodeReplyBlock(block: Block): Part[] {
  switch (block.type) {
    case "text":
      return encodeText(block.text);
    case "thinking":
      // The vendor accepts thinking only with its own signature.
      if (block.signature === undefined || block.vendor !== "anthropic") return [];
      return [{ type: "thinking", thinking: block.text, signature: block.signature }];
    case "tool-call":
      return [{ type: "tool_use", id: block.callId, name: block.name, input: inputObject(block.input) }];
    case "unknown":
      return isRedactedThinking(block.raw) ? [block.raw] : [];
    // Another vendor's model may have drawn a picture; replies in this API cannot contain one.
    case "image":
    case "document":
    case "audio":
      return [{ type: "text", text: noteOf(block, TEXT_REPLIES) }];
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
    case "audio":
      return [encodeMessagesMedia(block)];
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

/** The API refuses text that is only white space. */
function encodeText(text: string): Part[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function encodeOutput(output: unknown, isError: boolean): string | Part[] {
  const content = contentBlocks(output)?.flatMap(encodeUserBlock) ?? outputText(output);
  // The API refuses a failed result without content.
  return isError && content.length === 0 ? "The tool failed." : content;
}

/** Redacted thinking must be sent back unchanged, or the vendor refuses the turn. */
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

/** The JSON Schema features that `output_config.format` of the Messages API accepts. */
export const ANTHROPIC_SCHEMAS: SchemaDialect = {
  constraints: new Set(["minItems"]),
  formats: new Set("date-time time date duration email hostname uri ipv4 ipv6 uuid".split(" ")),
  mostMinItems: 1,
  hasConst: true,
  isRecursive: false,
  allRequired: false,
  maxDepth: 32,
  maxOptional: 24,
  maxUnions: 16,
};

/** Finds the model's own name in the name that a host uses: `anthropic/claude-sonnet-4.5`. */
const CLAUDE = /(?:^|[/.])((?:claude|offline)[^/]*)$/;

/** The models before 4.5, by name: `claude-3-7-sonnet-…`, `claude-opus-4-1-…`, `claude-sonnet-4-20250514`. */
const OLDER =
  /^claude-(?:instant|v?[1-3](?:[-.]|$)|(?:opus|sonnet|haiku)-(?:[1-3](?:[-.]|$)|4(?:[-.][01])?(?:-\d{8})?$))/;

/** Whether a model supports structured output for this schema. Most hosts that imitate the API ignore the field. */
export function checkAnthropicOutput(model: string, schema: JsonSchema): true | string {
  const name = CLAUDE.exec(model)?.[1];
  if (name === undefined) return `${model} is not a Claude model, and other models may ignore the schema`;
  if (OLDER.test(name)) return `${model} is older than Claude 4.5 and has no structured output`;
  const fitted = fitSchema(schema, ANTHROPIC_SCHEMAS);
  return "why" in fitted ? fitted.why : true;
}
