import type { Message } from "#domain";
import type { JsonRecord } from "#wire";

export type ProtocolName = "anthropic" | "openai-chat" | "openai-responses" | "gemini";

/** A tool as it was offered. */
export interface PromptTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments; `{}` when there is none. */
  readonly schema: JsonRecord;
}

export type ToolChoice =
  | { readonly type: "auto" | "none" | "required" }
  | { readonly type: "tool"; readonly name: string };

/** What a model is asked, whichever vendor's words it came in. */
export interface ModelPrompt {
  readonly protocol: ProtocolName;
  readonly model: string;
  readonly instructions: string;
  readonly messages: readonly Message[];
  readonly tools: readonly PromptTool[];
  readonly toolChoice: ToolChoice;
  /** Whether several calls may stand in one reply. */
  readonly parallelCalls: boolean;
  readonly maxTokens: number | undefined;
  readonly stopSequences: readonly string[];
  readonly stream: boolean;
  readonly thinking: boolean;
  /** The schema the answer has to have; `{}` is any JSON object. */
  readonly outputSchema: JsonRecord | undefined;
  /** Whether the vendor would report part of the prompt as cached. */
  readonly caches: boolean;
}
