import type { ModelBackend, ModelRequest } from "#backends";
import {
  type ChunkOf,
  type Chunk,
  type Clock,
  type ErrorItem,
  errorItem,
  type MessageItem,
  type NextTurn,
  noticeItem,
  type Random,
  retractNotice,
  startItem,
  type ToolCallItem,
  type ToolResultBlock,
  type Usage,
  warningItem,
} from "#domain";
import type { OutputGate } from "#policy";
import { followSignal, type SilenceWatch, watchSilence } from "#streams";
import { ReplyObserver } from "./reply-observer.ts";
import { createRetryPlan, isPassing, type RetryOptions, type RetryPlan, wait } from "./retry.ts";
import { type RunWriter, writeInTurns } from "#run";
import type { UniqueIds } from "./unique-ids.ts";

/** The outcome of asking a model for one reply. */
export type Reply =
  | {
      readonly kind: "replied";
      readonly message: ChunkOf<MessageItem>;
      readonly calls: readonly ChunkOf<ToolCallItem>[];
      /** Answers to calls whose arguments could not be parsed. The model receives the error, and nothing runs. */
      readonly answers: readonly ToolResultBlock[];
      readonly backend: ModelBackend;
    }
  | { readonly kind: "failed"; readonly error: ChunkOf<ErrorItem> }
  | { readonly kind: "aborted" };

export interface TurnSettings {
  readonly clock: Clock;
  readonly random: Random;
  readonly retry?: RetryOptions | false | undefined;
  readonly fallback: readonly ModelBackend[];
  readonly idle: { readonly firstMs: number; readonly betweenMs: number; readonly noticeMs: number };
  readonly agent?: string | undefined;
  /** Backends whose `start` item was already written in this leg. */
  readonly started: Set<ModelBackend>;
  readonly ids: UniqueIds;
  readonly nextTurn?: NextTurn | undefined;
  /** Receives the usage of an attempt that was discarded. */
  readonly onSpent: (usage: Usage, backend: ModelBackend) => void;
  /** Creates the gate that holds back output until the guards have passed it. Omitted if there are no guards. */
  readonly gate?: (() => OutputGate) | undefined;
}

/**
 * Asks a model for one reply and passes it on as it arrives. Retries while nothing was shown, watches for silence, and
 * uses a fallback if the first choice fails.
 */
export async function askModel(
  backend: ModelBackend,
  request: ModelRequest,
  writer: RunWriter,
  settings: TurnSettings,
): Promise<Reply> {
  const candidates = [backend, ...settings.fallback.filter((other) => other !== backend)];
  for (const [index, candidate] of candidates.entries()) {
    if (!settings.started.has(candidate)) await announce(candidate, request, writer, settings);
    const { reply, shown } = await askWithRetries(candidate, request, writer, settings);
    const next = candidates[index + 1];
    if (reply.kind !== "failed" || next === undefined || !mayFallBack(reply.error)) return reply;
    const notice = noticeItem("fallback", {
      from: `${candidate.name}/${candidate.model}`,
      to: `${next.name}/${next.model}`,
      code: reply.error.code,
      message: reply.error.message,
    });
    await writer.write([...takeBack(shown), notice], settings.agent);
  }
  return { kind: "aborted" };
}

/**
 * Writes the `start` item of a backend and a warning for each option of the request that it ignores. Call it once per
 * leg. The format cannot do this, because it does not know the provider's name.
 */
export async function announce(
  backend: ModelBackend,
  request: Omit<ModelRequest, "messages">,
  writer: RunWriter,
  settings: TurnSettings,
): Promise<void> {
  settings.started.add(backend);
  const tools = request.tools.map((tool) => tool.name);
  const chunks: Chunk[] = [startItem({ backend: backend.name, mode: "http", model: backend.model, tools })];
  for (const option of backend.ignores ?? []) {
    // Models make parallel calls by default, so ignoring `true` changes nothing.
    if (request[option] === undefined || (option === "parallelToolCalls" && request[option] === true)) continue;
    const message = `${backend.name} does not support ${option}; the option was ignored.`;
    chunks.push(warningItem({ code: "option-ignored", message, context: { option, value: request[option] } }));
  }
  await writer.write(chunks, settings.agent);
}

/** Whether another host may succeed: always, except if the request itself is invalid. */
function mayFallBack(error: ChunkOf<ErrorItem>): boolean {
  return isPassing(error) || error.code === "provider-error" || error.code === "provider-auth";
}

async function askWithRetries(
  backend: ModelBackend,
  request: ModelRequest,
  writer: RunWriter,
  settings: TurnSettings,
): Promise<Attempt> {
  let plan: RetryPlan | undefined;
  const mayRetract = settings.retry !== false && settings.retry?.afterFirstToken === true;
  for (;;) {
    const attempt = await askOnce(backend, request, writer, settings);
    if (attempt.reply.kind !== "failed") return attempt;
    const { error } = attempt.reply;
    plan ??= createRetryPlan(settings.retry, settings.random);
    const delayMs = attempt.shown.size === 0 || mayRetract ? plan.nextDelay(error) : undefined;
    if (delayMs === undefined) return { ...attempt, reply: { kind: "failed", error: plan.lastError(error) } };
    const { attempts } = plan;
    const notice = noticeItem("retry", {
      attempt: plan.attempt,
      attempts,
      delayMs,
      code: error.code,
      message: error.message,
    });
    await writer.write([...takeBack(attempt.shown), notice], settings.agent);
    await wait(settings.clock, delayMs, writer.signal);
    if (writer.signal.aborted) return { reply: { kind: "aborted" }, shown: new Set() };
  }
}

/** Retracts what was shown of a broken-off answer, before the model is asked again. */
function takeBack(shown: ReadonlySet<string>): Chunk[] {
  return [...shown].map((messageId) => retractNotice({ messageId }));
}

interface Attempt {
  readonly reply: Reply;
  /** Messages that deltas were shown of and that were never finished. */
  readonly shown: ReadonlySet<string>;
}

async function askOnce(
  backend: ModelBackend,
  request: ModelRequest,
  writer: RunWriter,
  settings: TurnSettings,
): Promise<Attempt> {
  const controller = new AbortController();
  const unfollow = followSignal(writer.signal, (reason) => controller.abort(reason));
  const observer = new ReplyObserver(settings.ids.forReply(), (usage) => settings.onSpent(usage, backend));
  const gate = settings.gate?.();
  let silence: ChunkOf<ErrorItem> | undefined;
  const watchdog = watchSilence({
    clock: settings.clock,
    ...settings.idle,
    onNotice: (silentMs) => void writer.write([noticeItem("stall", { silentMs })], settings.agent),
    onExpire: (silentMs, phase) => {
      silence = stalled(backend, silentMs, phase);
      controller.abort();
    },
  });
  try {
    const write = (chunks: readonly Chunk[]) => writeInTurns(writer, observer.pass(chunks), settings);
    await passOn(backend.stream(request, controller.signal), write, watchdog, gate);
  } finally {
    watchdog.stop();
    unfollow();
  }
  const { shown } = observer;
  if (writer.signal.aborted) return { reply: { kind: "aborted" }, shown };
  const error = guardDenial(gate) ?? silence ?? observer.error ?? whyNoReply(observer, backend);
  if (error !== undefined) return { reply: { kind: "failed", error }, shown };
  return {
    reply: {
      kind: "replied",
      message: observer.message as ChunkOf<MessageItem>,
      calls: observer.openCalls(),
      answers: observer.answers(),
      backend,
    },
    shown,
  };
}

/**
 * Passes on a reply as it arrives, until its end or until a guard denies it. Kept small, because it resumes once per
 * read of every stream.
 */
async function passOn(
  batches: AsyncIterable<readonly Chunk[]>,
  write: (chunks: readonly Chunk[]) => Promise<void> | undefined,
  watchdog: SilenceWatch,
  gate: OutputGate | undefined,
): Promise<void> {
  for await (const batch of batches) {
    watchdog.alive();
    const room = write(gate === undefined ? batch : await passGate(gate, batch, watchdog));
    if (room !== undefined) {
      watchdog.pause();
      await room;
      watchdog.resume();
    }
    if (gate?.denial !== undefined) return;
  }
}

/** Pauses the watchdog while the guards run, because that delay is ours and not the model's silence. */
async function passGate(gate: OutputGate, batch: readonly Chunk[], watchdog: SilenceWatch): Promise<readonly Chunk[]> {
  watchdog.pause();
  const passed = await gate.pass(batch);
  watchdog.resume();
  return passed;
}

function guardDenial(gate: OutputGate | undefined): ChunkOf<ErrorItem> | undefined {
  if (gate?.denial === undefined) return undefined;
  const { guard, reason } = gate.denial;
  return errorItem({
    code: "guard-denied",
    message: `The guard "${guard}" denied the output: ${reason}`,
    terminal: true,
  });
}

function stalled(backend: ModelBackend, silentMs: number, phase: "first" | "between"): ChunkOf<ErrorItem> {
  const when = phase === "first" ? "before its first byte" : "in the middle of its answer";
  return errorItem({
    code: "stalled",
    message: `${backend.name} reached limits.idleMs: it was silent for ${silentMs} ms ${when}. Try again, or raise it if answers may take this long.`,
    terminal: true,
    diagnostic: {
      hint: "The connection is open, but no data arrives.",
      troubleshooting: "Try again, ask another backend (fallback), or allow more time (limits.idleMs).",
    },
  });
}

/** An empty reply is no answer if what it consisted of was lost. */
function whyNoReply({ message, isLost }: ReplyObserver, { name }: ModelBackend): ChunkOf<ErrorItem> | undefined {
  if (message === undefined)
    return errorItem({ code: "stream-cut", message: `${name}'s reply ended without a message.`, terminal: true });
  if (!isLost) return undefined;
  return errorItem({
    code: "json-decode",
    message: `Nothing of ${name}'s reply could be read: the frames with its content are not JSON, or nested too deeply.`,
    terminal: true,
  });
}
