import {
  type ChunkOf,
  addUsage,
  present,
  readCount,
  type ResultItem,
  resultItem,
  subtractUsage,
  type Usage,
} from "#domain";
import { isRecord, type JsonRecord, ownArray, ownNumber, ownRecord, ownString, ownValue } from "#wire";
import { asUsage, readUsage } from "../shared/message-fields.ts";

/**
 * How the CLI ends a turn whose replies reached their limit of output tokens: as any failed request, with this sentence.
 * Newer versions also name the error in the message before.
 */
const OUT_OF_TOKENS = /^API Error: Claude's response exceeded the \d+ output token maximum/;

/** Usage and cost since some moment. */
interface Spent {
  readonly usage: Usage;
  readonly costUsd: number | undefined;
}

/** Reads `result` frames. Keeps the running totals of the process, because a result item reports only its own share. */
export interface VerdictReader {
  /** The result item; `undefined` if the frame has no subtype. */
  read(frame: JsonRecord): ChunkOf<ResultItem> | undefined;
}

/** Creates the reader for one process. */
export function createVerdictReader(): VerdictReader {
  let total: Spent = { usage: {}, costUsd: undefined };

  /** A process may report several results with cumulative `modelUsage` and cost; the share of one is the difference. */
  const readSpent = (frame: JsonRecord): Spent => {
    const models = ownRecord(frame, "modelUsage");
    const before = total;
    const now: Spent = {
      usage: models === undefined ? before.usage : sumModels(models).usage,
      costUsd: readCount(frame.total_cost_usd) ?? before.costUsd,
    };
    total = now;
    const since = ownRecord(frame, "model_usage_since_last_result");
    if (since !== undefined) {
      const share = sumModels(since);
      // No model was used since the last result: the cost is 0, if cost is counted at all.
      return share.costUsd === undefined && now.costUsd !== undefined ? { ...share, costUsd: 0 } : share;
    }
    const isMetered = models !== undefined && Object.keys(models).length > 0;
    return {
      usage: isMetered ? subtractUsage(now.usage, before.usage) : readUsage(frame.usage),
      costUsd: now.costUsd === undefined ? undefined : costSince(now.costUsd, before.costUsd ?? 0),
    };
  };

  return {
    read(frame) {
      const subtype = ownString(frame, "subtype");
      if (subtype === undefined) return undefined;
      const { usage, costUsd } = readSpent(frame);
      const text = ownString(frame, "result") ?? joinErrors(frame);
      const structured = ownValue(frame, "structured_output");
      const turns = ownNumber(frame, "num_turns");
      const ms = ownNumber(frame, "duration_ms");
      const sessionId = ownString(frame, "session_id");
      return resultItem({
        subtype: isFailedResult(frame) && OUT_OF_TOKENS.test(text ?? "") ? "error_max_tokens" : subtype,
        isError: isFailedResult(frame),
        ...(text !== undefined && { text }),
        ...(text !== undefined && text !== "" && isFailedResult(frame) && { message: text }),
        ...(structured !== undefined && { structured }),
        usage,
        ...present({ costUsd, turns, ms, sessionId }),
      });
    },
  };
}

/** A failed model request is a "success" with `is_error` set; versions before 2.1 name an error and do not set it. */
function isFailedResult(frame: JsonRecord): boolean {
  return frame.is_error === true || (ownString(frame, "subtype") ?? "").startsWith("error_");
}

function sumModels(models: JsonRecord): Spent {
  let usage: Usage = {};
  let costUsd: number | undefined;
  for (const model of Object.values(models)) {
    if (!isRecord(model)) continue;
    const cost = readCount(model.costUSD);
    if (cost !== undefined) costUsd = (costUsd ?? 0) + cost;
    usage = addUsage(
      usage,
      asUsage({
        inputTokens: model.inputTokens,
        outputTokens: model.outputTokens,
        cacheReadTokens: model.cacheReadInputTokens,
        cacheWriteTokens: model.cacheCreationInputTokens,
        reasoningTokens: model.thinkingTokens,
      }),
    );
  }
  return { usage, costUsd };
}

/** A total that decreases has been restarted. */
function costSince(now: number, before: number): number {
  return now >= before ? now - before : now;
}

function joinErrors(frame: JsonRecord): string | undefined {
  const errors = ownArray(frame, "errors")?.filter((error) => typeof error === "string");
  return errors === undefined || errors.length === 0 ? undefined : errors.join("\n");
}
