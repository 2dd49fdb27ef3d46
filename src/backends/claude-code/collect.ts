import { type ErrorDetail, RunError, type WarningDetail } from "#domain";
import type { ClaudeCodeMessage } from "./messages/message.ts";
import type { Query, QueryItem } from "./query.ts";

/** A whole query, sorted by kind. Nothing is swallowed. */
export interface CollectedItems {
  readonly items: readonly Extract<QueryItem, { kind: "message" }>[];
  readonly warnings: readonly WarningDetail[];
  /** Errors the stream went on after. */
  readonly nonTerminalErrors: readonly ErrorDetail[];
  /** The error that ended it; absent when it came to its end. */
  readonly terminalError?: ErrorDetail;
}

/**
 * Reads a query to its end and sorts what it gave.
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
 * The messages of a query. Rejects with `RunError` when an error ended it; warnings and lesser errors are left out.
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
 * Puts every item of a query together, in order: messages, warnings and errors. What `step` throws closes the query.
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

/** Opens a query, uses it, and closes it whatever happens. What opening it rejects with goes through. */
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
