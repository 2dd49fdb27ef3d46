/**
 * The part of one tool call inside a chunk of a model's reply.
 *
 * `index` says which call of the reply it belongs to; hosts that leave it out give an `id` instead, or neither.
 */
export interface ToolCallFragment {
  readonly index?: number;
  readonly id?: string;
  readonly name?: string;
  readonly argumentsDelta?: string;
}

/** A tool call as a model wrote it: `arguments` stays text until somebody runs it. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}
