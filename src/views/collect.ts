import type { AgentEvent } from "#domain";
import type { ItemError, ItemWarning, MessageEnvelope, StreamItem } from "./item.ts";
import { isTerminal } from "./item-errors.ts";
import { createItems, type ItemOptions } from "./items.ts";
import { applyView, isAgentEvent, type Source } from "./view.ts";

/** The items of a whole stream, sorted by kind. Nothing is dropped. */
export interface CollectResult {
  readonly items: readonly MessageEnvelope[];
  readonly warnings: readonly ItemWarning[];
  /** Errors after which the stream continued. */
  readonly nonTerminalErrors: readonly ItemError[];
  /** The error that ended the stream; absent if it ended properly. */
  readonly terminalError?: ItemError;
}

/**
 * Reads a stream to its end and sorts its items. Accepts a run's events, or the output of `toItems`.
 *
 * @example
 * const { items, warnings, terminalError } = await collect(run("offline", "Hello"))
 */
export async function collect(
  source: Source<AgentEvent | StreamItem>,
  options: ItemOptions = {},
): Promise<CollectResult> {
  const items: MessageEnvelope[] = [];
  const warnings: ItemWarning[] = [];
  const nonTerminalErrors: ItemError[] = [];
  let terminalError: ItemError | undefined;
  const view = createItems(options);
  const all = applyView<AgentEvent | StreamItem, StreamItem>(source, {
    next: (entry) => (isAgentEvent(entry) ? view.next(entry) : [entry]),
    end: () => view.end(),
  });
  for await (const item of all) {
    if (item.type === "EndOfStream") break;
    if (terminalError !== undefined) continue;
    if (item.type === "Message") items.push(item);
    else if (item.type === "WarningEvent") warnings.push(item.warning);
    else if (isTerminal(item)) terminalError = item;
    else nonTerminalErrors.push(item);
  }
  return { items, warnings, nonTerminalErrors, ...(terminalError !== undefined && { terminalError }) };
}
