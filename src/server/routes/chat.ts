import type { RunOptions } from "#runtime";
import { isRecord, type JsonRecord, ownNumber, ownRecord, ownValue } from "#wire";
import { ApiError } from "../api-error.ts";
import { requireThread, type ServerContext, type ServerParts } from "../parts.ts";
import { readBody, readInputField, requireFields } from "../request-body.ts";
import { FROM_THE_START } from "../sse-vocabulary.ts";
import { openStream, readVocabulary, takePlace } from "../open-stream.ts";

const LIMIT_NAMES = ["turns", "costUsd", "tokens", "timeoutMs", "idleMs", "toolMs", "replyBytes"] as const;

/**
 * Asks the thread's target. The response is a stream of events; disconnecting does not end the run, and `GET
 * /api/runs/:id/events` continues the stream.
 */
export async function chat(context: ServerContext, parts: ServerParts): Promise<Response> {
  const vocabulary = readVocabulary(context);
  const thread = await requireThread(context, parts);
  const body = await readBody(context.req.raw, parts.settings.limits);
  requireFields(body, ["input", "options"]);
  const input = readInputField(body, parts.settings.world.random.id());
  const limits = readLimits(body);
  // First: a run whose answer is refused would go on all the same.
  const release = takePlace(context, parts);
  try {
    const runId = await parts.runs.start(thread, input, limits);
    return openStream(parts, { runId, cursor: FROM_THE_START, vocabulary }, release);
  } catch (error) {
    release();
    throw error;
  }
}

function readLimits(body: JsonRecord): RunOptions["limits"] {
  const options = ownValue(body, "options");
  if (options === undefined) return {};
  if (!isRecord(options)) throw new ApiError("invalid-request", "options must be an object.");
  requireFields(options, ["limits"]);
  const given = ownRecord(options, "limits");
  if (given === undefined) return {};
  requireFields(given, LIMIT_NAMES);
  const limits: { -readonly [Name in (typeof LIMIT_NAMES)[number]]?: number } = {};
  for (const name of LIMIT_NAMES) {
    if (ownValue(given, name) === undefined) continue;
    const value = ownNumber(given, name);
    if (value === undefined || !(value > 0)) {
      throw new ApiError("invalid-request", `options.limits.${name} must be a number above 0.`);
    }
    limits[name] = value;
  }
  return limits;
}
