import {
  type AgentEvent,
  addUsage,
  type DoneEvent,
  type Message,
  type RunResult,
  subtractUsage,
  textOf,
  USAGE_FIELDS,
  type Usage,
} from "#domain";
import type { Settlement } from "./stores/store.ts";

/** The longest generated title of a thread. */
const TITLE_LENGTH = 60;

/** A title for a thread without one: the beginning of its first message. */
export function titleOf(message: Message): string {
  const text = textOf(message.blocks).replaceAll(/\s+/g, " ").trim();
  const characters = Array.from(text.slice(0, 2 * TITLE_LENGTH));
  return characters.length <= TITLE_LENGTH ? characters.join("") : `${characters.slice(0, TITLE_LENGTH - 1).join("")}…`;
}

/** The usage per model, according to the events of one run. */
export interface UsageTotals {
  add(event: AgentEvent): void;
  /** The lines for the thread. Their sum is exactly the usage in the result. */
  lines(result: RunResult): Settlement["usage"];
}

/**
 * Creates the usage totals of one run. A message counts for the model that wrote it, which a fallback may have changed;
 * usage that only the result reports counts for the model that answered last, and so does the cost.
 */
export function createUsageCounter(): UsageTotals {
  const byModel = new Map<string, Usage>();
  const booked = new Set<string>();
  let model: string | undefined;

  return {
    add(event) {
      if (event.type === "start") model = event.model ?? model;
      if (event.type !== "message" || event.role !== "assistant" || event.parent !== undefined) return;
      model = event.model ?? model;
      if (event.usage === undefined || booked.has(event.id)) return;
      booked.add(event.id);
      const name = model ?? UNKNOWN_MODEL;
      byModel.set(name, addUsage(byModel.get(name) ?? {}, event.usage));
    },
    lines(result) {
      const last = result.model ?? model ?? UNKNOWN_MODEL;
      let known: Usage = {};
      for (const usage of byModel.values()) known = addUsage(known, usage);
      const covered = USAGE_FIELDS.every((field) => (known[field] ?? 0) <= (result.usage[field] ?? 0));
      // If the result reports less than its messages, it counts differently; then only the result is used.
      const lines = new Map<string, Usage>(covered ? byModel : []);
      const rest = covered ? withoutZeros(subtractUsage(result.usage, known)) : result.usage;
      const { costUsd } = result;
      if (Object.keys(rest).length > 0 || costUsd !== undefined || lines.size > 0) {
        lines.set(last, addUsage(lines.get(last) ?? {}, rest));
      }
      return [...lines].map(([name, usage]) => ({
        model: name,
        usage,
        ...(name === last && costUsd !== undefined && { costUsd }),
      }));
    },
  };
}

const UNKNOWN_MODEL = "unknown";

function withoutZeros(usage: Usage): Usage {
  return Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== 0));
}

/**
 * What a run adds to its thread. `input` is the message it answered, which the thread already has; everything after it
 * in the result's transcript is new.
 */
export function settlementOf(done: DoneEvent, input: Message, counter: UsageTotals): Settlement {
  const { messages } = done.result;
  const at = messages.findLastIndex(({ id }) => id === input.id);
  return {
    at: done.ts,
    messages: at === -1 ? [] : messages.slice(at + 1),
    usage: counter.lines(done.result),
  };
}
