/**
 * The part of one tool call inside a vendor's piece of a reply.
 *
 * `index` identifies the call within the reply; hosts that leave it out give an `id` instead, or neither.
 */
export interface ToolCallFragment {
  readonly index?: number;
  readonly id?: string;
  readonly name?: string;
  readonly argumentsDelta?: string;
}

/** A tool call as a model wrote it: `arguments` stays text until the call runs. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}
