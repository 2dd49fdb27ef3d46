import { type Block, type Message, unreachable } from "#domain";
import type { JsonSchema } from "#tools";
import type { ModelRequest, ToolChoice } from "../shared/model-request.ts";
import { contentBlocks, inputObject, objectSchema, outputText } from "../shared/content.ts";
import { type Encoded, encoded, EncodedTranscript } from "../shared/encoded-transcript.ts";
import { encodeMessagesMedia, type Part } from "../shared/media.ts";
import { fitSchema, type SchemaDialect } from "../shared/output-schema.ts";
import { behind, json, type RequestText, writeBody } from "../shared/request-text.ts";
import { BEGINNING, fitCalls, resultsFirst } from "../shared/transcript.ts";

/** The Messages API insists on a limit; this is what a model that nobody knows is trusted with. */
export const DEFAULT_MAX_TOKENS = 8192;

/** The model that is asked. */
interface AskedModel {
  readonly model: string;
  /** The longest reply, thinking included, where it is known. */
  readonly maxOutputTokens?: number | undefined;
}

const CALL_ID = /^[a-zA-Z0-9_-]{1,128}$/;

/**
 * A transcript as it is written: neighbours of one role are one turn, and the last turn is open. Beside the text it
 * knows what decides about thinking.
 */
export interface Written {
  /** The turns before the last one. */
  readonly closed: RequestText;
  readonly role: Message["role"];
  readonly open: RequestText;
  /** Whether the last turn answers calls. */
  readonly isAnswer: boolean;
  /** What the last turn and the one before it begin with. */
  readonly begun: string | undefined;
  readonly begunBefore: string | undefined;
}

/** The body of `POST /v1/messages` for one request. `known` is what was encoded for requests before. */
export function encodeAnthropicRequest(
  model: AskedModel,
  request: ModelRequest,
  known = new EncodedTranscript<Written | undefined>(),
): RequestText {
  const written = writeMessages(fitCalls(request.messages, CALL_ID), known);
  const text = written === undefined ? "" : behind(written.closed, writeTurn(written));
  return writeBody(encodeFields(model, request, written), "messages", json`[${text}]`);
}

/** A loop of its own: it alone runs once per message, so that optimising it takes next to no time. */
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

/** Turns alternate and begin with the user; messages of which nothing is left are left out, so that their neighbours meet. */
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
    return { ...before, open: behind(before.open, text), isAnswer: before.isAnswer || isAnswer };
  }
  const closed = behind(before.closed, writeTurn(before));
  return { closed, role, open: text, isAnswer, begun: first.type, begunBefore: before.begun };
}

function beginWithUser(): Written | undefined {
  return addMessage(undefined, "user", encoded<Part>([{ type: "text", text: BEGINNING }]));
}

function writeTurn({ role, open }: Written): RequestText {
  return json`{"role":"${role}","content":[${open}]}`;
}

/** Thinking counts against the vendor's limit, so it comes on top of what the answer may have. */
function limitOf({ maxOutputTokens }: AskedModel, { maxTokens }: ModelRequest, thinkingTokens = 0): number {
  const answer = maxTokens ?? (maxOutputTokens === undefined ? DEFAULT_MAX_TOKENS : maxOutputTokens - thinkingTokens);
  // A limit that leaves no room for the answer is refused.
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
    case "audio":
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

/** Text of blanks alone is refused. */
function encodeText(text: string): Part[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function encodeOutput(output: unknown, isError: boolean): string | Part[] {
  const content = contentBlocks(output)?.flatMap(encodeUserBlock) ?? outputText(output);
  // A failure has to say something.
  return isError && content.length === 0 ? "The tool failed." : content;
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

/** What the Messages API takes as `output_config.format`. */
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

/** The model's own name in what a host calls it: `anthropic/claude-sonnet-4.5`. */
const CLAUDE = /(?:^|[/.])((?:claude|offline)[^/]*)$/;

/** The models before 4.5, by their names: `claude-3-7-sonnet-…`, `claude-opus-4-1-…`, `claude-sonnet-4-20250514`. */
const OLDER =
  /^claude-(?:instant|v?[1-3](?:[-.]|$)|(?:opus|sonnet|haiku)-(?:[1-3](?:[-.]|$)|4(?:[-.][01])?(?:-\d{8})?$))/;

/** Whether a model can be asked for answers of a form. Hosts that imitate the API mostly ignore the field. */
export function checkAnthropicOutput(model: string, schema: JsonSchema): true | string {
  const name = CLAUDE.exec(model)?.[1];
  if (name === undefined) return `${model} is no Claude model, and other models may ignore the form`;
  if (OLDER.test(name)) return `${model} came before Claude 4.5 and cannot be asked for a form`;
  const fitted = fitSchema(schema, ANTHROPIC_SCHEMAS);
  return "why" in fitted ? fitted.why : true;
}
