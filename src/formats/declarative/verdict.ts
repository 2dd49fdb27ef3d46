import { mergeUsage, type ResultItem, readCount, type Usage } from "#domain";
import { ownString } from "#wire";
import { readFailure, readId, readMessageText, readReason, readUsage } from "./fields.ts";
import type { Fields } from "./frame-reader.ts";

type Verdict = Omit<ResultItem, "type" | "seq" | "firstSeq" | "ts" | "runId">;

/**
 * The verdict of an end signal. Without a word on failure it is a success, unless its `subtype` says otherwise. Token
 * counts it does not give are those of the messages before it.
 */
export function readVerdict(fields: Fields, seen: Usage): Verdict {
  const subtype = ownString(fields, "subtype");
  const isError = readFailure(fields) ?? subtype?.startsWith("error") ?? false;
  const text = readMessageText(fields) ?? (isError ? readReason(fields) : undefined);
  const costUsd = readCount(fields.costUsd);
  const turns = readCount(fields.turns);
  const ms = readCount(fields.ms);
  const sessionId = readId(fields, "sessionId");
  return {
    subtype: subtype ?? (isError ? "error" : "success"),
    isError,
    ...(text !== undefined && { text }),
    ...(Object.hasOwn(fields, "structured") && { structured: fields.structured }),
    usage: mergeUsage(seen, readUsage(fields) ?? {}),
    ...(costUsd !== undefined && { costUsd }),
    ...(turns !== undefined && { turns }),
    ...(ms !== undefined && { ms }),
    ...(sessionId !== undefined && { sessionId }),
  };
}
