import type { Block } from "./block.ts";
import type { Usage } from "./usage.ts";

/** One entry of a transcript. */
export interface Message {
  readonly id: string;
  readonly role: "assistant" | "user";
  readonly blocks: readonly Block[];
  /** Written by Millrace itself: a repair, a hook's feedback or note, a handoff. */
  readonly source?: "millrace";
  readonly stopReason?: StopReason;
  /** The vendor's own word for why it stopped, where `stopReason` is less specific: unknown, filtered, malformed. */
  readonly vendorStopReason?: string;
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
  /** The model wrote a tool call that its host could not parse or may not have finished. None of the reply's calls is run. */
  | "malformed-call"
  /** An unknown word. A run that ends with it has a warning that contains the word. */
  | "unknown";
