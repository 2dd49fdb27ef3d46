import { type Block, type MediaBlock, type Message, type ToolResultBlock, unreachable } from "#domain";
import type { JsonSchema } from "#tools";
import type { ModelRequest, ToolChoice } from "../shared/model-request.ts";
import { inputObject, mediaTypeOf, mediaTypeOfAddress, objectSchema, splitContent } from "../shared/content.ts";
import { noteOf, withResults } from "../shared/media.ts";
import { fitSchema, type SchemaDialect } from "../shared/output-schema.ts";
import { BEGINNING, fitCalls, joinTurns, resultsFirst } from "../shared/transcript.ts";

const CALL_ID = /^[\u0021-\u007e]{1,128}$/;

/** The signature for a call of another model: from Gemini 3 on, a call without a signature is refused. */
const FOREIGN_SIGNATURE = "skip_thought_signature_validator";

/** A part as the Gemini API defines it. */
type Part = { readonly functionCall?: unknown; readonly thoughtSignature?: string; readonly [field: string]: unknown };

/** The body of `:streamGenerateContent` for one request. */
export function encodeGeminiRequest(model: string, request: ModelRequest): Record<string, unknown> {
  const { instructions, tools, toolChoice } = request;
  const generationConfig = encodeGeneration(request);
  return {
    ...(instructions !== undefined &&
      instructions !== "" && { systemInstruction: { parts: [{ text: instructions }] } }),
    contents: encodeContents(model, request.messages),
    ...(tools.length > 0 && {
      tools: [
        {
          functionDeclarations: tools.map((tool) => ({
            name: tool.name,
            description: tool.description,
            parametersJsonSchema: objectSchema(tool.inputSchema),
          })),
        },
      ],
      ...(toolChoice !== undefined && { toolConfig: { functionCallingConfig: encodeToolChoice(toolChoice) } }),
    }),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
  };
}

function encodeGeneration({ maxTokens, temperature, thinkingTokens, output }: ModelRequest): Record<string, unknown> {
  return {
    ...(output !== undefined && {
      responseMimeType: "application/json",
      responseJsonSchema: encodeSchema(output.schema),
    }),
    // Thoughts count towards the limit, so they are added to the limit of the answer.
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens + (thinkingTokens ?? 0) }),
    ...(temperature !== undefined && { temperature }),
    ...(thinkingTokens !== undefined && { thinkingConfig: { thinkingBudget: thinkingTokens, includeThoughts: true } }),
  };
}

function encodeSchema(schema: JsonSchema): JsonSchema {
  const fitted = fitSchema(schema, GEMINI_SCHEMAS);
  return "why" in fitted ? schema : fitted.schema;
}

function encodeContents(model: string, given: readonly Message[]): unknown[] {
  const messages = fitCalls(given, CALL_ID);
  // A function response must name its function; our results contain only the call's id.
  const names = new Map<string, string>();
  for (const { blocks } of messages) {
    for (const block of blocks) if (block.type === "tool-call") names.set(block.callId, block.name);
  }
  const turns = joinTurns<Part>(
    messages,
    ({ role, blocks }) =>
      role === "assistant"
        ? blocks.flatMap((block, index) => encodeReplyBlock(block, signatureBefore(blocks, index)))
        : resultsFirst(blocks).flatMap((block) => encodeUserBlock(block, names)),
    { text: BEGINNING },
  );
  return turns.map(({ role, parts }) =>
    role === "assistant"
      ? { role: "model", parts: (modelGeneration(model) ?? 0) >= 3 ? sign(parts) : parts }
      : { role, parts },
  );
}

/** The first call of a reply must have a signature. */
function sign(parts: readonly Part[]): readonly Part[] {
  const first = parts.findIndex((part) => part.functionCall !== undefined);
  return parts.map((part, index) =>
    index === first && part.thoughtSignature === undefined ? { ...part, thoughtSignature: FOREIGN_SIGNATURE } : part,
  );
}

/**
 * The signature of a call or a picture. The format keeps it as an empty signed thought before the block; the vendor
 * expects it on the part itself.
 */
function signatureBefore(blocks: readonly Block[], index: number): { readonly thoughtSignature?: string } {
  const before = blocks[index - 1];
  if (before?.type !== "thinking" || before.text !== "" || before.vendor !== "google") return {};
  return before.signature === undefined ? {} : { thoughtSignature: before.signature };
}

function encodeReplyBlock(block: Block, signature: { readonly thoughtSignature?: string }): Part[] {
  switch (block.type) {
    case "text":
      return block.text === "" ? [] : [{ text: block.text }];
    case "thinking":
      if (block.signature === undefined || block.vendor !== "google" || block.text === "") return [];
      return [{ text: block.text, thought: true, thoughtSignature: block.signature }];
    case "tool-call":
      return [{ functionCall: { id: block.callId, name: block.name, args: inputObject(block.input) }, ...signature }];
    case "image":
    case "document":
    case "audio":
      return [{ ...encodeMedia(block), ...signature }];
    case "unknown":
      return isSignedEnd(block.raw) ? [block.raw] : [];
    case "tool-result":
      return [];
    default:
      return unreachable(block);
  }
}

/** The signature of a text follows it as a part without text. */
function isSignedEnd(raw: unknown): raw is Part {
  return typeof raw === "object" && raw !== null && "thoughtSignature" in raw && "text" in raw && raw.text === "";
}

function encodeUserBlock(block: Block, names: ReadonlyMap<string, string>): Part[] {
  switch (block.type) {
    case "text":
      return block.text === "" ? [] : [{ text: block.text }];
    case "image":
    case "document":
    case "audio":
      return [encodeMedia(block)];
    case "tool-result":
      return encodeResult(block, names);
    case "thinking":
    case "tool-call":
    case "unknown":
      return [];
    default:
      return unreachable(block);
  }
}

function encodeResult(block: ToolResultBlock, names: ReadonlyMap<string, string>): Part[] {
  const { value, media } = splitContent(block.output);
  return [
    {
      functionResponse: {
        id: block.callId,
        name: names.get(block.callId) ?? "unknown",
        response: block.isError ? { error: value } : { output: value },
      },
    },
    ...media.map(encodeMedia),
  ];
}

/** Gemini accepts any media, and URLs of the web and of Google's storage, but wants to be told what is there. */
export const cannotSendToGemini = withResults(
  (block) =>
    block.url !== undefined && block.mediaType === undefined && mediaTypeOfAddress(block.url) === undefined
      ? "its address does not say what it is. Give its mediaType."
      : undefined,
  ["gs:"],
);

function encodeMedia(block: MediaBlock): Part {
  const why = cannotSendToGemini(block);
  if (why !== undefined) return { text: noteOf(block, why) };
  const mimeType = mediaTypeOf(block);
  if (block.url !== undefined) return { fileData: { mimeType, fileUri: block.url } };
  return { inlineData: { mimeType, data: block.data ?? "" } };
}

function encodeToolChoice(choice: ToolChoice): unknown {
  if (typeof choice === "object") return { mode: "ANY", allowedFunctionNames: [choice.name] };
  return { mode: { auto: "AUTO", none: "NONE", required: "ANY" }[choice] };
}

/** The JSON Schema features that `responseJsonSchema` accepts. Gemini unrolls recursive schemas only a few levels. */
export const GEMINI_SCHEMAS: SchemaDialect = {
  constraints: new Set(["minimum", "maximum", "minItems", "maxItems"]),
  formats: new Set(["date-time", "date", "time"]),
  mostMinItems: Number.POSITIVE_INFINITY,
  hasConst: false,
  isRecursive: false,
  allRequired: false,
  maxDepth: 32,
  maxOptional: Number.POSITIVE_INFINITY,
  maxUnions: Number.POSITIVE_INFINITY,
};

/**
 * Whether a model supports structured output for this schema. Before Gemini 3, it cannot be combined with functions.
 */
export function checkGeminiOutput(model: string, schema: JsonSchema, hasTools: boolean): true | string {
  const generation = modelGeneration(model);
  if (generation !== undefined && generation < 2) return `${model} is older than Gemini 2 and accepts no JSON Schema`;
  if (hasTools && (generation ?? 0) < 3) return `${model} cannot combine structured output with tools; Gemini 3 can`;
  const fitted = fitSchema(schema, GEMINI_SCHEMAS);
  return "why" in fitted ? fitted.why : true;
}

/** The generation in a model's name: 2 for `gemini-2.5-pro`. `undefined` if the name has none. */
function modelGeneration(model: string): number | undefined {
  const digits = /^gemini-(\d{1,3})/.exec(model)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
