import type { Block } from "./block.ts";
import type { Usage } from "./usage.ts";

/** One entry of a transcript. */
export interface Message {
  readonly id: string;
  readonly role: "assistant" | "user";
  readonly blocks: readonly Block[];
  readonly stopReason?: StopReason;
  readonly usage?: Usage;
  readonly model?: string;
}

/** Why a model stopped writing, in our words. Vendors' words are translated where they are decoded. */
export type StopReason =
  | "end-turn"
  | "tool-use"
  | "max-tokens"
  | "stop-sequence"
  | "refusal"
  | "content-filter"
  | "pause"
  | "unknown";
