import type { ModelBackend, ModelRequest } from "#backends";
import {
  type Chunk,
  type Clock,
  type ErrorItem,
  errorItem,
  type MessageItem,
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
import { type SilenceWatch, watchSilence } from "#streams";
import { ReplyObserver } from "./reply-observer.ts";
import { createRetryPlan, isPassing, type RetryOptions, type RetryPlan, wait } from "./retry.ts";
import type { RunWriter } from "./run.ts";
import type { UniqueIds } from "./unique-ids.ts";

/** What one reply of a model came to. */
export type Reply =
  | {
      readonly kind: "replied";
      readonly message: MessageItem;
      readonly calls: readonly ToolCallItem[];
      /** Calls that are answered already, because their arguments cannot be read: the model is told, nothing is run. */
      readonly answers: readonly ToolResultBlock[];
      readonly backend: ModelBackend;
    }
  | { readonly kind: "failed"; readonly error: ErrorItem }
  | { readonly kind: "aborted" };

export interface TurnSettings {
  readonly clock: Clock;
  readonly random: Random;
  readonly retry?: RetryOptions | false | undefined;
  readonly fallback: readonly ModelBackend[];
  readonly idle: { readonly firstMs: number; readonly betweenMs: number; readonly noticeMs: number };
  readonly agent?: string | undefined;
  /** Backends whose `start` was already given in this leg. */
  readonly started: Set<ModelBackend>;
  readonly ids: UniqueIds;
  /** Hears what an attempt has used that came to nothing. */
  readonly onSpent: (usage: Usage, backend: ModelBackend) => void;
  /** Makes what holds output back until its guards have passed it; nothing when there are none. */
  readonly gate?: (() => OutputGate) | undefined;
}

/**
 * Asks a model for one reply and passes it on as it comes: retried while nothing was shown, watched for silence,
 * taken to a fallback when the first choice is down.
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
 * Says that a backend is at work, and what of the request it cannot do; to be called once per leg. It is ours to say: a
 * format does not know the provider's name.
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
    // Several calls at once are what a model does by itself.
    if (request[option] === undefined || (option === "parallelToolCalls" && request[option] === true)) continue;
    const message = `${backend.name} knows no ${option}; the option was ignored.`;
    chunks.push(warningItem({ code: "option-ignored", message, context: { option, value: request[option] } }));
  }
  await writer.write(chunks, settings.agent);
}

/** Another host may do better with everything but a request that is wrong in itself. */
function mayFallBack(error: ErrorItem): boolean {
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
    await wait(settings.clock, delayMs, writer.latch.signal);
    if (writer.latch.aborted) return { reply: { kind: "aborted" }, shown: new Set() };
  }
}

/** Whoever asks again first takes back what was shown of the answer that broke off. */
function takeBack(shown: ReadonlySet<string>): Chunk[] {
  return [...shown].map((messageId) => retractNotice({ messageId }));
}

interface Attempt {
  readonly reply: Reply;
  /** Messages of which deltas were shown and which never finished. */
  readonly shown: ReadonlySet<string>;
}

async function askOnce(
  backend: ModelBackend,
  request: ModelRequest,
  writer: RunWriter,
  settings: TurnSettings,
): Promise<Attempt> {
  const controller = new AbortController();
  const unfollow = writer.latch.follow((reason) => controller.abort(reason));
  const sieve = new ReplyObserver(settings.ids.forReply(), (usage) => settings.onSpent(usage, backend));
  const gate = settings.gate?.();
  let silence: ErrorItem | undefined;
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
    const write = (chunks: readonly Chunk[]) => writer.write(sieve.pass(chunks), settings.agent);
    await passOn(backend.stream(request, controller.signal), write, watchdog, gate);
  } finally {
    watchdog.stop();
    unfollow();
  }
  const { shown } = sieve;
  if (writer.latch.aborted) return { reply: { kind: "aborted" }, shown };
  const error =
    guardDenial(gate) ?? silence ?? sieve.error ?? (sieve.message === undefined ? noMessage(backend) : undefined);
  if (error !== undefined) return { reply: { kind: "failed", error }, shown };
  return {
    reply: {
      kind: "replied",
      message: sieve.message as MessageItem,
      calls: sieve.openCalls(),
      answers: sieve.answers(),
      backend,
    },
    shown,
  };
}

/** Passes a reply on as it comes, to its end or until a guard denies it. Small: it goes on once per read of every stream. */
async function passOn(
  batches: AsyncIterable<readonly Chunk[]>,
  write: (chunks: readonly Chunk[]) => Promise<void> | undefined,
  watchdog: SilenceWatch,
  gate: OutputGate | undefined,
): Promise<void> {
  for await (const batch of batches) {
    watchdog.alive();
    const room = write(gate === undefined ? batch : await passGate(gate, batch, watchdog));
    if (gate?.denial !== undefined) return;
    if (room === undefined) continue;
    watchdog.pause();
    await room;
    watchdog.resume();
  }
}

/** While guards look, we are the slow ones. */
async function passGate(gate: OutputGate, batch: readonly Chunk[], watchdog: SilenceWatch): Promise<readonly Chunk[]> {
  watchdog.pause();
  const passed = await gate.pass(batch);
  watchdog.resume();
  return passed;
}

function guardDenial(gate: OutputGate | undefined): ErrorItem | undefined {
  if (gate?.denial === undefined) return undefined;
  const { guard, reason } = gate.denial;
  return errorItem({
    code: "guard-denied",
    message: `The guard "${guard}" did not let the output pass: ${reason}`,
    terminal: true,
  });
}

function stalled(backend: ModelBackend, silentMs: number, phase: "first" | "between"): ErrorItem {
  const when = phase === "first" ? "before its first byte" : "in the middle of its answer";
  return errorItem({
    code: "stalled",
    message: `${backend.name} reached limits.idleMs: it was silent for ${Math.round(silentMs / 1000)} s ${when}. Try again, or raise it if answers may take this long.`,
    terminal: true,
    diagnostic: {
      hint: "The connection is open, but nothing comes.",
      troubleshooting: "Try again, ask another backend (fallback), or allow more time (limits.idleMs).",
    },
  });
}

function noMessage(backend: ModelBackend): ErrorItem {
  return errorItem({ code: "stream-cut", message: `${backend.name}'s reply ended without a message.`, terminal: true });
}
