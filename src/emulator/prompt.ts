import type { Message } from "#domain";
import type { JsonRecord } from "#wire";

export type ProtocolName = "anthropic" | "openai-chat" | "openai-responses" | "gemini";

/** An offered tool. */
export interface PromptTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments; `{}` if there is none. */
  readonly schema: JsonRecord;
}

export type ToolChoice =
  | { readonly type: "auto" | "none" | "required" }
  | { readonly type: "tool"; readonly name: string };

/** A request to a model, independent of the vendor's protocol. */
export interface ModelPrompt {
  readonly protocol: ProtocolName;
  readonly model: string;
  readonly instructions: string;
  readonly messages: readonly Message[];
  readonly tools: readonly PromptTool[];
  readonly toolChoice: ToolChoice;
  /** Whether one reply may contain several calls. */
  readonly parallelCalls: boolean;
  readonly maxTokens: number | undefined;
  readonly stopSequences: readonly string[];
  readonly stream: boolean;
  readonly thinking: boolean;
  /** The schema for the answer; `{}` is any JSON object. */
  readonly outputSchema: JsonRecord | undefined;
  /** Whether the vendor would report part of the prompt as cached. */
  readonly caches: boolean;
}
