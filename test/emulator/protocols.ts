import type { Chunk } from "#domain";
import { anthropicMessages, createDecoder, type Format, gemini, openAiChat } from "#dialects";
import { ADD, HEADERS, MULTIPLY } from "./support.ts";

/** One way to ask for a streamed reply, and our own reader of the answer. */
export interface Asking {
  readonly name: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `undefined` where there is no format of ours yet. */
  readonly format: Format | undefined;
  body(question: string, options?: { readonly tools?: boolean; readonly stream?: boolean }): object;
}

export const ASKINGS: readonly Asking[] = [
  {
    name: "anthropic",
    path: "/v1/messages",
    headers: HEADERS.anthropic,
    format: anthropicMessages,
    body: (content, { tools = false, stream = true } = {}) => ({
      model: "m",
      max_tokens: 4000,
      stream,
      messages: [{ role: "user", content }],
      ...(tools && {
        tools: [ADD, MULTIPLY].map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
      }),
    }),
  },
  {
    name: "openai-chat",
    path: "/v1/chat/completions",
    headers: HEADERS.openai,
    format: openAiChat,
    body: (content, { tools = false, stream = true } = {}) => ({
      model: "m",
      stream,
      ...(stream && { stream_options: { include_usage: true } }),
      messages: [{ role: "user", content }],
      ...(tools && {
        tools: [ADD, MULTIPLY].map(({ name, description, schema }) => ({
          type: "function",
          function: { name, description, parameters: schema },
        })),
      }),
    }),
  },
  {
    name: "openai-responses",
    path: "/v1/responses",
    headers: HEADERS.openai,
    format: undefined,
    body: (input, { tools = false, stream = true } = {}) => ({
      model: "m",
      stream,
      input,
      ...(tools && {
        tools: [ADD, MULTIPLY].map(({ name, description, schema }) => ({
          type: "function",
          name,
          description,
          parameters: schema,
        })),
      }),
    }),
  },
  {
    name: "gemini",
    path: "/v1beta/models/m:streamGenerateContent?alt=sse",
    headers: HEADERS.google,
    format: gemini,
    body: (text, { tools = false } = {}) => ({
      contents: [{ role: "user", parts: [{ text }] }],
      ...(tools && {
        tools: [
          {
            functionDeclarations: [ADD, MULTIPLY].map(({ name, description, schema }) => ({
              name,
              description,
              parametersJsonSchema: schema,
            })),
          },
        ],
      }),
    }),
  },
];

/** Those whose streams we have a format for. */
export const DECODED: readonly (Asking & { readonly format: Format })[] = ASKINGS.flatMap((asking) =>
  asking.format === undefined ? [] : [{ ...asking, format: asking.format }],
);

/** Our own reading of a streamed answer. */
export function decode(format: Format, bytes: Uint8Array): Chunk[] {
  const decoder = createDecoder(format);
  return [...decoder.push(bytes), ...decoder.end()];
}

/** What a reader makes of chunks in the end. */
export function readOutcome(chunks: readonly Chunk[]) {
  const messages = chunks.filter((chunk) => chunk.type === "message");
  const blocks = messages.flatMap((message) => message.blocks);
  return {
    messages,
    text: blocks.map((block) => (block.type === "text" ? block.text : "")).join(""),
    thinking: blocks.map((block) => (block.type === "thinking" ? block.text : "")).join(""),
    calls: chunks.flatMap((chunk) => (chunk.type === "tool-call" ? [{ name: chunk.name, input: chunk.input }] : [])),
    callIds: chunks.flatMap((chunk) => (chunk.type === "tool-call" ? [chunk.callId] : [])),
    /** The names of the calls that were not made, because the reply is incomplete. */
    dropped: chunks.flatMap((chunk) =>
      chunk.type === "warning" && chunk.code === "tool-call-incomplete"
        ? [(chunk.context as { name: string }).name]
        : [],
    ),
    errors: chunks.filter((chunk) => chunk.type === "error"),
    failed: chunks.some((chunk) => chunk.type === "error" && chunk.terminal),
  };
}
