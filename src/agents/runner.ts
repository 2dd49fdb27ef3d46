import type { ModelBackend, ToolChoice } from "#backends";
import {
  addUsage,
  type Clock,
  errorItem,
  type Message,
  type MessageItem,
  messageItem,
  type Random,
  resultItem,
  textOf,
  type Usage,
} from "#domain";
import type { Tool } from "#tools";
import type { RetryOptions } from "./retry.ts";
import type { RunSource, RunWriter } from "./run.ts";
import { runBatch } from "./tool-batch.ts";
import { writeTurn } from "./transcript.ts";
import { createUniqueIds } from "./unique-ids.ts";
import { announce, askModel, type Reply, type TurnSettings } from "./turn.ts";

/** The limits of one leg. What is left out has the default of `LEG_LIMITS`. */
export interface LegLimits {
  readonly turns?: number | undefined;
  /** Silence of a model in the middle of its answer that ends the turn. */
  readonly idleMs?: number | undefined;
  readonly toolMs?: number | undefined;
}

export const LEG_LIMITS = {
  /** Replies of the model (S2-32). */
  turns: 50,
  idleMs: 300_000,
  /** Silence after which readers get a notice. */
  noticeMs: 60_000,
} as const;

/** Everything one leg needs. */
export interface Leg {
  readonly backend: ModelBackend;
  readonly fallback: readonly ModelBackend[];
  readonly agent?: string | undefined;
  readonly instructions?: string | undefined;
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice | undefined;
  readonly toolConcurrency?: number | undefined;
  /**
   * How a turn with several calls is written into the transcript: as one message with all of them and one with all
   * results (default), or, when `false`, as pairs of one call and its result. They run the same way (S2-21).
   */
  readonly parallelToolCalls?: boolean | undefined;
  /** The transcript; its last message is the one to answer. */
  readonly messages: readonly Message[];
  readonly context: unknown;
  readonly limits: LegLimits;
  readonly retry?: RetryOptions | false | undefined;
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly thinkingTokens?: number | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** What a usage costs, in dollars; `undefined` when nobody knows. */
  readonly price: (usage: Usage, backend: ModelBackend) => Promise<number | undefined>;
}

/** Carries out one leg on a model backend: ask, run the tools, ask again, until the model has nothing more to ask. */
export function createRunner(leg: Leg): RunSource {
  return async (writer) => {
    const startedAt = leg.clock.now();
    const ledger = createLedger(leg);
    const transcript = [...leg.messages];
    const settings = turnSettings(leg, ledger);
    await announce(leg.backend, leg, writer, settings);
    const input = transcript.at(-1);
    if (input !== undefined)
      await writer.write([messageItem({ id: input.id, role: "user", blocks: input.blocks })], leg.agent);
    const verdict = await loop(leg, writer, transcript, settings, ledger);
    if (verdict === undefined || writer.signal.aborted) return;
    const { usage, costUsd } = await ledger.total();
    await writer.write(
      [
        resultItem({
          subtype: verdict.subtype,
          isError: verdict.subtype !== "success",
          text: verdict.text,
          usage,
          ...(costUsd !== undefined && { costUsd }),
          turns: verdict.turns,
          ms: leg.clock.now() - startedAt,
        }),
      ],
      leg.agent,
    );
  };
}

interface Verdict {
  readonly subtype: string;
  readonly text: string;
  readonly turns: number;
}

async function loop(
  leg: Leg,
  writer: RunWriter,
  transcript: Message[],
  settings: TurnSettings,
  ledger: Ledger,
): Promise<Verdict | undefined> {
  const tools = new Map(leg.tools.map((tool) => [tool.name, tool]));
  const maxTurns = leg.limits.turns ?? LEG_LIMITS.turns;
  let text = "";
  for (let turns = 1; turns <= maxTurns; turns += 1) {
    const reply = await askModel(leg.backend, requestFor(leg, transcript, turns), writer, settings);
    if (reply.kind === "failed") await writer.write([reply.error], leg.agent);
    if (reply.kind !== "replied") return undefined;
    ledger.add(reply.message.usage ?? {}, reply.backend);
    text = textOf(reply.message.blocks);
    const ended = endOf(reply);
    if (ended === "error") {
      await writer.write([refusal(reply)], leg.agent);
      return undefined;
    }
    if (ended !== "continue") return { subtype: ended, text, turns };
    const results = await runBatch(reply.calls, writer, {
      tools,
      clock: leg.clock,
      agent: leg.agent,
      context: leg.context,
      toolMs: leg.limits.toolMs,
      concurrency: leg.toolConcurrency ?? 1,
    });
    if (writer.signal.aborted) return undefined;
    const answers = [...reply.answers, ...results];
    transcript.push(...writeTurn(asMessage(reply.message), answers, leg.parallelToolCalls !== false));
  }
  return { subtype: "error_max_turns", text, turns: maxTurns };
}

/** What the model's stop reason means for the leg. */
function endOf(reply: Extract<Reply, { kind: "replied" }>): "continue" | "error" | "success" | "error_max_tokens" {
  const asked = reply.message.blocks.some((block) => block.type === "tool-call");
  switch (reply.message.stopReason) {
    case "refusal":
    case "content-filter":
      return "error";
    case "pause":
      return "continue";
    case "max-tokens":
      return asked ? "continue" : "error_max_tokens";
    default:
      return asked ? "continue" : "success";
  }
}

function refusal(reply: Extract<Reply, { kind: "replied" }>) {
  const refused = reply.message.stopReason === "refusal";
  return errorItem({
    code: refused ? "refused" : "content-filtered",
    message: refused
      ? `${reply.backend.name} refused to answer.`
      : `${reply.backend.name}'s filter stopped the answer.`,
    terminal: true,
    diagnostic: {
      hint: "The provider's safety rules ended this answer; asking the same again will most likely end the same way.",
      troubleshooting: "Change the wording of the prompt, or ask another backend.",
    },
  });
}

function requestFor(leg: Leg, transcript: readonly Message[], turn: number) {
  // A forced tool is forced once; forced in every turn, the model could never come to an end.
  const forced = leg.toolChoice === "required" || typeof leg.toolChoice === "object";
  return {
    messages: transcript,
    instructions: leg.instructions,
    tools: leg.tools,
    toolChoice: forced && turn > 1 ? undefined : leg.toolChoice,
    parallelToolCalls: leg.parallelToolCalls,
    maxTokens: leg.maxTokens,
    temperature: leg.temperature,
    thinkingTokens: leg.thinkingTokens,
  };
}

function turnSettings(leg: Leg, ledger: Ledger): TurnSettings {
  const idleMs = leg.limits.idleMs ?? LEG_LIMITS.idleMs;
  return {
    clock: leg.clock,
    random: leg.random,
    retry: leg.retry,
    fallback: leg.fallback,
    idle: { firstMs: idleMs, betweenMs: idleMs, noticeMs: Math.min(LEG_LIMITS.noticeMs, idleMs) },
    agent: leg.agent,
    started: new Set(),
    ids: createUniqueIds(),
    onSpent: ledger.add,
  };
}

interface Ledger {
  /** Books what a reply used, finished or not. */
  readonly add: (usage: Usage, backend: ModelBackend) => void;
  total(): Promise<{ readonly usage: Usage; readonly costUsd: number | undefined }>;
}

/**
 * Adds up what the replies used, those that came to nothing included. Each is priced on its own, because some prices
 * rise with the length of a single request. The cost is known only if it is known for every one of them.
 */
function createLedger(leg: Leg): Ledger {
  const entries: { readonly usage: Usage; readonly backend: ModelBackend }[] = [];
  return {
    add: (usage, backend) => void entries.push({ usage, backend }),
    async total() {
      let usage: Usage = {};
      let costUsd: number | undefined = 0;
      for (const entry of entries) {
        usage = addUsage(usage, entry.usage);
        const cost = await leg.price(entry.usage, entry.backend);
        costUsd = cost === undefined || costUsd === undefined ? undefined : costUsd + cost;
      }
      return { usage, costUsd };
    },
  };
}

function asMessage(message: MessageItem): Message {
  const { id, role, blocks, model } = message;
  return { id, role, blocks, ...(model !== undefined && { model }) };
}
