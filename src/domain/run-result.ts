import type { ErrorDetail } from "./error-detail.ts";
import type { Message } from "./message.ts";
import type { Usage } from "./usage.ts";
import type { WarningDetail } from "./warning.ts";

/**
 * How a run ended. `interrupted`: its process died, and another one closed its log. `waiting`: it has not ended; it was
 * parked, and `resumeRun` continues it.
 */
export type RunStatus = "success" | "error" | "aborted" | "interrupted" | "waiting";

/** A tool call of a run and, once available, its result. */
export interface ToolCallRecord {
  readonly callId: string;
  readonly name: string;
  /** The arguments it ran with. */
  readonly input: unknown;
  /** The arguments in the model's call, if a hook, a guard or a person changed them. */
  readonly requestedInput?: unknown;
  readonly output?: unknown;
  readonly isError?: boolean;
  /** How long the tool itself took, and how long the call waited before that. */
  readonly ms?: number;
  readonly waitedMs?: number;
}

/**
 * The final value of a run. It contains everything the run produced, even if the run failed.
 *
 * `text` is the text of the assistant's final message, as far as it came if the run failed or was aborted. Earlier
 * messages, of this agent or another one, are in `messages`; retracted text is nowhere.
 */
export interface RunResult {
  readonly status: RunStatus;
  /** `success`, or why not: the subtype of the last `result`, or the code of the terminal error. */
  readonly subtype: string;
  readonly text: string;
  /** The thinking of the whole run, with a blank line between messages. */
  readonly thinking?: string;
  readonly structured?: unknown;
  readonly toolCalls: readonly ToolCallRecord[];
  readonly messages: readonly Message[];
  readonly usage: Usage;
  readonly costUsd?: number;
  readonly turns: number;
  readonly ms: number;
  readonly model?: string;
  readonly sessionId?: string;
  readonly agent?: string;
  /** Why the run did not succeed. */
  readonly error?: ErrorDetail;
  readonly errors: readonly ErrorDetail[];
  readonly warnings: readonly WarningDetail[];
}
