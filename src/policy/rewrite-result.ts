import { type ResultItem, resultItem } from "#domain";

type ResultFields = { readonly [Name in keyof ResultItem]: ResultItem[Name] | undefined };

/** A verdict with other words, and without the frame that holds the old ones. */
export function rewriteResult(fields: ResultFields): ResultItem {
  const { seq: _seq, ts: _ts, runId: _runId, type: _type, raw: _raw, ...kept } = fields;
  const present = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined));
  return resultItem(present as unknown as Parameters<typeof resultItem>[0]);
}

/** What JSON text says, or nothing when it says nothing. */
export function parseJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
