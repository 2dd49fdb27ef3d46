import { type AgentEvent, isDelta, isRecord } from "#domain";
import type { AnyMap, EventMap, NormalisedMap } from "./event-map.ts";
import { createEventMaps } from "./event-maps.ts";
import { applyView, type EventSource, isAgentEvent, NOTHING, type Source, type View } from "./view.ts";

/** The maps for a source of our events, of maps, or of both: the operators accept any of them. */
export type MapOf<Entry> = Entry extends AgentEvent ? EventMap : Entry;

/** An entry of a mixed stream, tagged with its side. */
export type Tagged = { readonly event: EventMap } | { readonly message: AgentEvent };

/** The output of `toEvents` for an entry: maps unchanged, other entries translated. */
export type Normalised<Entry> =
  | (Entry extends AgentEvent
      ? never
      : Entry extends { readonly event: infer Map }
        ? Map
        : Entry extends AnyMap
          ? Entry
          : never)
  | NormalisedMap;

/** Types for text that is being written. */
const TEXT_TYPES: ReadonlySet<string> = new Set(["text_delta", "text_block_start"]);

/** Types for tools at work. A result is `tool_complete` in `toEventMaps` and `tool_result` after `toEvents`. */
const TOOL_TYPES: ReadonlySet<string> = new Set(["tool_use_start", "tool_input_delta", "tool_result", "tool_complete"]);

/**
 * Only the maps for text that is being written.
 *
 * @example
 * for await (const map of textOnly(run("offline", "Hello"))) if (map.type === "text_delta") process.stdout.write(map.text)
 */
export function textOnly<Entry extends AgentEvent | AnyMap>(
  source: Source<Entry>,
): AsyncIterableIterator<Extract<MapOf<Entry>, { type: "text_delta" | "text_block_start" }>> {
  return selectMaps(source, (type) => TEXT_TYPES.has(type));
}

/**
 * Only the maps for tools: calls, their arguments, their results.
 *
 * @example
 * for await (const map of toolsOnly(run("offline", "Hello"))) console.log(map.type)
 */
export function toolsOnly<Entry extends AgentEvent | AnyMap>(
  source: Source<Entry>,
): AsyncIterableIterator<
  Extract<MapOf<Entry>, { type: "tool_use_start" | "tool_input_delta" | "tool_result" | "tool_complete" }>
> {
  return selectMaps(source, (type) => TOOL_TYPES.has(type));
}

/**
 * Collects all maps of one type; resolves when the source ends.
 *
 * @example
 * const tools = await collectType(run("offline", "Hello"), "tool_complete")
 */
export async function collectType<Entry extends AgentEvent | AnyMap, Type extends MapOf<Entry>["type"]>(
  source: Source<Entry>,
  type: Type,
): Promise<Extract<MapOf<Entry>, { type: Type }>[]> {
  const maps: Extract<MapOf<Entry>, { type: Type }>[] = [];
  const found = selectMaps<Entry, Extract<MapOf<Entry>, { type: Type }>>(source, (candidate) => candidate === type);
  for await (const map of found) maps.push(map);
  return maps;
}

/**
 * The growing text: one value each time it changes; the last one is the whole text of all messages. It shrinks only if
 * a retry made text void.
 *
 * @example
 * for await (const text of accumulateText(run("offline", "Hello"))) console.log(text)
 */
export function accumulateText<Entry extends AgentEvent | AnyMap>(
  source: Source<Entry>,
): AsyncIterableIterator<string> {
  const maps = createMapReader();
  const growth = createGrowth();
  const grow = (entry: Entry): readonly string[] => maps.next(entry).flatMap((map) => growth.next(map));
  return applyView(source, { next: grow, end: () => NOTHING });
}

/**
 * Normalises a mixed stream: maps pass unchanged, a tool result becomes `tool_result`, an assistant's message becomes
 * `message` with its content, tagged entries lose their tag, and anything else is kept as `unknown`.
 *
 * @example
 * for await (const map of toEvents(toTagged(run("offline", "Hello")))) console.log(map.type)
 */
export function toEvents<Entry extends AgentEvent | AnyMap | Tagged>(
  source: Source<Entry>,
): AsyncIterableIterator<Normalised<Entry>> {
  return applyView(source, {
    next: (entry) => [normalise(untag(entry)) as Normalised<Entry>],
    end: () => NOTHING,
  });
}

/**
 * A mixed stream with tagged entries: `{ event }` for what is being written, `{ message }` for finished facts
 * (messages, tool results and the rest), each as our own item.
 *
 * @example
 * for await (const entry of toTagged(run("offline", "Hello"))) if ("message" in entry) console.log(entry.message.type)
 */
export function toTagged(events: EventSource): AsyncIterableIterator<Tagged> {
  return applyView(events, createTagged());
}

/**
 * The synchronous form of `toTagged`.
 *
 * @example
 * const view = createTagged()
 * for await (const event of run("offline", "Hello")) for (const entry of view.next(event)) console.log(Object.keys(entry))
 */
export function createTagged(): View<Tagged> {
  const maps = createEventMaps();
  return {
    next(event) {
      const tagged: Tagged[] = [];
      for (const map of maps.next(event)) {
        if (map.type !== "message" && map.type !== "tool_complete") tagged.push({ event: map });
      }
      if (!isDelta(event) && event.type !== "error" && event.type !== "done") tagged.push({ message: event });
      return tagged;
    },
    end: () => NOTHING,
  };
}

function selectMaps<Entry extends AgentEvent | AnyMap, Out>(
  source: Source<Entry>,
  accepts: (type: string) => boolean,
): AsyncIterableIterator<Out> {
  const maps = createMapReader();
  const select = (entry: Entry): readonly Out[] => maps.next(entry).filter(({ type }) => accepts(type)) as Out[];
  return applyView(source, { next: select, end: () => NOTHING });
}

/** Passes maps through and translates our events. */
function createMapReader(): { next(entry: AgentEvent | AnyMap): readonly AnyMap[] } {
  const maps = createEventMaps();
  return { next: (entry) => (isAgentEvent(entry) ? maps.next(entry) : [entry]) };
}

/** Joins the texts of messages; the `accumulated` of each message starts empty. */
function createGrowth(): { next(map: AnyMap): readonly string[] } {
  let before = "";
  let current = "";

  const append = (text: string, accumulated: unknown): void => {
    current += text;
    // Comparing lengths is enough; comparing the texts for every delta would be quadratic.
    if (typeof accumulated !== "string" || accumulated.length === current.length) return;
    // Another message began without a start map, or reading began in the middle of one.
    if (accumulated.length === text.length) before += current.slice(0, current.length - text.length);
    current = accumulated;
  };

  const grow = ({ type, text, accumulated }: Readonly<Record<string, unknown>>): boolean => {
    if (type === "message_start" || type === "message_stop") {
      before += current;
      current = "";
      return false;
    }
    if (type === "text_delta" && typeof text === "string") {
      append(text, accumulated);
      return text !== "";
    }
    if (typeof accumulated !== "string") return false;
    if (type === "retract") return takeBack(typeof text === "string" ? text : "", accumulated);
    // Between messages such maps repeat the text of the last one, which is already counted.
    if (before !== "" || accumulated.length <= current.length) return false;
    current = accumulated;
    return true;
  };

  const takeBack = (text: string, accumulated: string): boolean => {
    if (text === "") return false;
    if (current.length - text.length === accumulated.length) {
      current = accumulated;
      return true;
    }
    // The void text belongs to an earlier message.
    const at = before.lastIndexOf(text);
    if (at === -1) return false;
    before = before.slice(0, at) + before.slice(at + text.length);
    return true;
  };

  return { next: (map) => (isRecord(map) && grow(map) ? [before + current] : NOTHING) };
}

function untag(entry: unknown): unknown {
  if (!isRecord(entry) || "type" in entry) return entry;
  return "event" in entry ? entry["event"] : "message" in entry ? entry["message"] : entry;
}

function normalise(entry: unknown): unknown {
  if (isAgentEvent(entry)) {
    if (entry.type === "tool-result") {
      return { type: "tool_result", tool_name: entry.name, result: entry.output, timestamp: entry.ts };
    }
    if (entry.type === "message" && entry.role === "assistant") {
      return { type: "message", content: entry.blocks, timestamp: entry.ts };
    }
    return { type: "unknown", data: entry };
  }
  return isRecord(entry) && typeof entry["type"] === "string" ? entry : { type: "unknown", data: entry };
}
