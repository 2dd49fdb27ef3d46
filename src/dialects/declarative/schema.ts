import type { Framing } from "#wire";

/** What an event of a declarative format is. A closed list: a format says what a frame means, it invents no meanings. */
export const EVENT_KINDS = ["message", "thinking", "tool-use", "tool-result", "error", "metadata", "unknown"] as const;

/** What an event of a declarative format is. */
export type EventKind = (typeof EVENT_KINDS)[number];

/** Whether an event is shown: always, when asked for, or never. */
export const VISIBILITIES = ["always", "optional", "hidden"] as const;

/** Whether an event of a declarative format is shown. */
export type Visibility = (typeof VISIBILITIES)[number];

export const FRAMINGS = ["ndjson", "sse", "text"] as const satisfies readonly Framing[];

/** A value that a path can be compared with. */
export type Scalar = string | number | boolean | null;

/**
 * Paths and the values that must stand there, all of them; a list of values means any of them. When a path collects
 * (`content[].type`), one of the collected values has to fit.
 */
export type Match = Readonly<Record<string, Scalar | readonly Scalar[]>>;

/** Fields and the paths they are read from. Of a list of paths the first that finds something wins; `null` is something. */
export type Extract = Readonly<Record<string, string | readonly string[]>>;

/** How an event is written out. Without `ansi`, a terminal gets `text`. */
export interface EventTemplates {
  readonly text?: string;
  readonly ansi?: string;
  readonly json?: string;
}

/** What a frame that no schema matches is taken for. */
export interface DefaultSchema {
  readonly kind: EventKind;
  readonly extract: Extract;
  readonly templates?: EventTemplates;
  /** Left out: messages and errors `always`, the rest `optional`. `hidden` metadata leaves no trace among the events. */
  readonly visibility?: Visibility;
  /** On errors: the stream is over with it. */
  readonly terminal?: boolean;
}

/**
 * One kind of frame. The first schema that matches a frame decides.
 *
 * The fields each kind understands (names it does not know are kept for templates and notices):
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
 * The frame that says the stream came to its end. Once declared, a stream without it is `stream-cut`.
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
 * Paths are those of `compilePath`; besides, `@frame.event` and `@frame.id` are the name and id of an SSE event and
 * `@frame.text` is the frame as text, for frames that are not JSON.
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
