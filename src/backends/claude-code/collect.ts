import { type ErrorDetail, RunError, type WarningDetail } from "#domain";
import type { ClaudeCodeMessage } from "./messages/message.ts";
import type { Query, QueryItem } from "./query.ts";

/** The items of a whole query, sorted by kind. Nothing is dropped. */
export interface CollectedItems {
  readonly items: readonly Extract<QueryItem, { kind: "message" }>[];
  readonly warnings: readonly WarningDetail[];
  /** Errors after which the stream continued. */
  readonly nonTerminalErrors: readonly ErrorDetail[];
  /** The error that ended the query; absent if it ended properly. */
  readonly terminalError?: ErrorDetail;
}

/**
 * Reads a query to its end and sorts its items.
 *
 * @example
 * const { items, warnings, terminalError } = await collectItems(await query("What is 25 + 17?"))
 */
export async function collectItems(query: Query): Promise<CollectedItems> {
  const items: Extract<QueryItem, { kind: "message" }>[] = [];
  const warnings: WarningDetail[] = [];
  const nonTerminalErrors: ErrorDetail[] = [];
  let terminalError: ErrorDetail | undefined;
  for await (const item of query) {
    if (item.kind === "message") items.push(item);
    else if (item.kind === "warning") warnings.push(item.warning);
    else if (item.kind === "error") {
      if (item.error.terminal) terminalError = item.error;
      else nonTerminalErrors.push(item.error);
    }
  }
  return { items, warnings, nonTerminalErrors, ...(terminalError !== undefined && { terminalError }) };
}

/**
 * The messages of a query. Rejects with `RunError` if an error ended it; warnings and non-terminal errors are left out.
 *
 * @example
 * for (const message of await collectMessages(await query("What is 25 + 17?"))) console.log(message.type)
 */
export async function collectMessages(query: Query): Promise<readonly ClaudeCodeMessage[]> {
  const { items, terminalError } = await collectItems(query);
  if (terminalError === undefined) return items.map((item) => item.message);
  const { code, message, diagnostic } = terminalError;
  throw new RunError(code, message, { diagnostic });
}

/**
 * Reduces all items of a query, in order: messages, warnings and errors. If `step` throws, the query is closed.
 *
 * @example
 * const messages = await fold(await query("Hello"), 0, (count, item) => (item.kind === "message" ? count + 1 : count))
 */
export async function fold<Value>(
  query: Query,
  start: Value,
  step: (value: Value, item: QueryItem) => Value | Promise<Value>,
): Promise<Value> {
  let value = start;
  for await (const item of query) value = await step(value, item);
  return value;
}

/** Opens a query, uses it, and always closes it. Rejects if opening it does. */
export async function withOpenQuery<Value>(
  open: () => Promise<Query>,
  use: (query: Query) => Value | Promise<Value>,
): Promise<Value> {
  const query = await open();
  try {
    return await use(query);
  } finally {
    await query.close();
  }
}
