import type { Framing } from "#wire";

/** What an event of a declarative format can be. The list is closed: formats map frames to these kinds and add none. */
export const EVENT_KINDS = ["message", "thinking", "tool-use", "tool-result", "error", "metadata", "unknown"] as const;

/** The kind of an event of a declarative format. */
export type EventKind = (typeof EVENT_KINDS)[number];

/** Whether an event is shown: always, on request, or never. */
export const VISIBILITIES = ["always", "optional", "hidden"] as const;

/** Whether an event of a declarative format is shown. */
export type Visibility = (typeof VISIBILITIES)[number];

export const FRAMINGS = ["ndjson", "sse", "text"] as const satisfies readonly Framing[];

/** A value that a path can be compared with. */
export type Scalar = string | number | boolean | null;

/**
 * Paths and their required values. All of them must match; a list of values means any of them. If a path collects
 * (`content[].type`), one of the collected values must match.
 */
export type Match = Readonly<Record<string, Scalar | readonly Scalar[]>>;

/**
 * Fields and the paths they are read from. In a list of paths the first one that finds a value wins; `null` is a value.
 */
export type Extract = Readonly<Record<string, string | readonly string[]>>;

/** How an event is rendered. Without `ansi`, a terminal gets `text`. */
export interface EventTemplates {
  readonly text?: string;
  readonly ansi?: string;
  readonly json?: string;
}

/** How a frame is read that no schema matches. */
export interface DefaultSchema {
  readonly kind: EventKind;
  readonly extract: Extract;
  readonly templates?: EventTemplates;
  /** Default: `always` for messages and errors, `optional` for the rest. `hidden` metadata gives no event at all. */
  readonly visibility?: Visibility;
  /** For errors: the error ends the stream. */
  readonly terminal?: boolean;
}

/**
 * One kind of frame. The first schema that matches a frame decides.
 *
 * The fields of each kind (other names are kept for templates and notices):
 * - `message`: `text` (or `chunk`, `content`, `delta`), `id`, `role`, `stopReason` (closes the message)
 * - `thinking`: `text` (or `chunk`, `thinking`, `content`, `delta`), `id`
 * - `tool-use`: `id`, `name`, `input` (an object, or JSON text)
 * - `tool-result`: `id`, `output` (or `result`, `content`), `isError` or `success` or `status`, `name`, `ms`
 * - `error`: `message` (or `text`, `error`), `code`, `status`, `terminal`
 * - `metadata`: `sessionId`, `model`, `tools` make the `start` item
 * - all: `model` and the token counts `inputTokens`, `outputTokens`, `cacheReadTokens`, `cacheWriteTokens`,
 *   `reasoningTokens` belong to the message being written
 */
export interface EventSchema extends DefaultSchema {
  readonly match: Match;
}

/**
 * The frame that marks the end of the stream. Once declared, a stream without it is `stream-cut`.
 *
 * Fields: `isError` or `success` or `status`, `subtype`, `text`, `message` (why it failed), `structured`, `costUsd`,
 * `turns`, `ms`, `sessionId`, and the token counts.
 */
export interface EndSchema {
  readonly match: Match;
  readonly extract: Extract;
}

/**
 * A format made of data.
 *
 * Paths are those of `compilePath`. In addition, `@frame.event` and `@frame.id` are the name and id of an SSE event,
 * and `@frame.text` is the frame as text, for frames that are not JSON.
 *
 * @example
 * const config: DeclarativeFormatConfig = {
 *   name: "my-agent",
 *   framing: "ndjson",
 *   events: [{ kind: "message", match: { type: "text" }, extract: { text: ["text", "delta.text"] } }],
 *   end: { match: { type: "done" }, extract: {} },
 * };
 */
export interface DeclarativeFormatConfig {
  readonly name: string;
  readonly framing: Framing;
  readonly description?: string;
  readonly version?: string;
  readonly events: readonly EventSchema[];
  readonly defaultSchema?: DefaultSchema;
  readonly end?: EndSchema;
}
