import { ApiError } from "../api-error.ts";
import { answerJson } from "../json-response.ts";
import type { Decision } from "../live-runs.ts";
import { openStream, readPlace, readVocabulary, takePlace } from "../open-stream.ts";
import { noteAction, requireRun, type ServerContext, type ServerParts } from "../parts.ts";
import { readBody, readTextField, requireFields } from "../request-body.ts";
import { ownBoolean, ownValue } from "#wire";

export async function getRun(context: ServerContext, parts: ServerParts): Promise<Response> {
  const { tenant: _, isOver: __, settings: ___, claim, isWaiting, status, ...run } = await requireRun(context, parts);
  const [done] = status === undefined ? [] : await parts.store.read(run.id, { after: run.lastSeq - 1, limit: 1 });
  const result = done?.type === "done" ? done.result : undefined;
  return answerJson(context, parts, {
    ...run,
    status: status ?? (isWaiting === true ? "waiting" : "running"),
    ...(claim !== undefined && { node: claim.worker }),
    ...(result !== undefined && { result }),
  });
}

/** A run's events from a cursor on, both during the run and afterwards. */
export async function getEvents(context: ServerContext, parts: ServerParts): Promise<Response> {
  const run = await requireRun(context, parts);
  const vocabulary = readVocabulary(context);
  const cursor = readPlace(context);
  // The only response after which a browser's EventSource does not reconnect.
  if (run.isOver && cursor.seq >= run.lastSeq && cursor.frames === undefined) return context.body(null, 204);
  return openStream(parts, { runId: run.id, cursor, vocabulary }, takePlace(context, parts));
}

export async function abortRun(context: ServerContext, parts: ServerParts): Promise<Response> {
  const run = await requireRun(context, parts);
  requireFields(await readBody(context.req.raw, parts.settings.limits, true), []);
  const accepted = await parts.runs.abort(run, "A user aborted the run.");
  if (accepted) {
    await noteAction(parts, {
      at: parts.settings.world.clock.now(),
      tenant: context.get("tenant"),
      action: "run-aborted",
      runId: run.id,
      ...(run.threadId !== undefined && { threadId: run.threadId }),
      by: "user",
    });
  }
  return context.json({ accepted });
}

export async function listPermissions(context: ServerContext, parts: ServerParts): Promise<Response> {
  const questions = await parts.store.listQuestions(context.get("tenant"));
  return answerJson(context, parts, { permissions: questions.map(({ tenant: _, ...question }) => question) });
}

/** Answers a question. `accepted: false`: the question is no longer open; late answers have no effect. */
export async function answerPermission(context: ServerContext, parts: ServerParts): Promise<Response> {
  const run = await requireRun(context, parts);
  const callId = readCallId(context);
  const body = await readBody(context.req.raw, parts.settings.limits);
  requireFields(body, ["allow", "reason", "input"]);
  const allow = ownBoolean(body, "allow");
  if (allow === undefined) throw new ApiError("invalid-request", "allow must be true or false.");
  const reason = readTextField(body, "reason", 2000);
  const input = ownValue(body, "input");
  const decision: Decision = allow
    ? { allow, ...(input !== undefined && { input }) }
    : { allow, ...(reason !== undefined && { reason }) };
  return context.json({ accepted: await parts.runs.answer(run, { callId, decision }) });
}

/** Gives the result of a call whose tool returned `park()`. `accepted: false`: no such call waits for one. */
export async function giveResult(context: ServerContext, parts: ServerParts): Promise<Response> {
  const run = await requireRun(context, parts);
  const callId = readCallId(context);
  const body = await readBody(context.req.raw, parts.settings.limits);
  requireFields(body, ["output", "isError"]);
  const output = ownValue(body, "output");
  if (output === undefined) throw new ApiError("invalid-request", "output is missing. Give any JSON value.");
  const isError = ownBoolean(body, "isError") ?? false;
  return context.json({ accepted: await parts.runs.answer(run, { callId, result: { output, isError } }) });
}

/** A vendor's id rather than ours: any text of bounded length; it is only ever compared. */
function readCallId(context: ServerContext): string {
  const callId = context.req.param("callId") ?? "";
  if (callId !== "" && callId.length <= 256) return callId;
  throw new ApiError("invalid-id", "The callId in the path must have 1 to 256 characters.");
}
