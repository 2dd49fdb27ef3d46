import type { ModelBackend } from "#backends";
import { type AgentEvent, type Chunk, messageItem, textDelta, toolCallItem, toolInputDelta } from "#domain";
import { type RunOptions, startRun, systemWorld, type Target, type World } from "#runtime";
import { createEmulator, type ScriptRule } from "#emulator";
import { createSeededRandom, createVirtualClock } from "#testing";

/** One reply of a model, by its place in the conversation. */
export interface Step {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly input: unknown }[];
}

/**
 * A model whose reply depends on the conversation alone, as a real one's does, and not on how often it was asked: so a
 * run that continues in another process gets the reply it would have got. Message and call ids repeat in every process.
 */
export function modelOf(steps: readonly Step[], name = "scripted"): ModelBackend {
  return {
    kind: "model",
    name,
    model: "script",
    async *stream(request) {
      const turn = request.messages.filter(({ role }) => role === "assistant").length;
      const { text = "", calls = [] } = steps[turn] ?? { text: "That is all." };
      const id = `${name}-${turn}`;
      const named = calls.map((call, index) => ({ ...call, callId: `${id}-call-${index}` }));
      const first = text === "" ? 0 : 1;
      const half = Math.ceil(text.length / 2);
      if (text !== "") yield [textDelta(id, 0, text.slice(0, half))];
      if (text !== "") yield [textDelta(id, 0, text.slice(half))];
      for (const [index, call] of named.entries()) {
        yield [toolInputDelta(id, first + index, call, JSON.stringify(call.input))];
      }
      const blocks: Chunk[] = [
        messageItem({
          id,
          role: "assistant",
          blocks: [
            ...(text === "" ? [] : [{ type: "text" as const, text }]),
            ...named.map((call) => ({ type: "tool-call" as const, ...call })),
          ],
          stopReason: calls.length > 0 ? "tool-use" : "end-turn",
          usage: { inputTokens: 10, outputTokens: 2 },
        }),
        ...named.map((call) => toolCallItem({ ...call, executedBy: "millrace" })),
      ];
      yield blocks;
    },
  };
}

/** A world of its own for each process. Time passes only when a test says so. */
export function newWorld(): World {
  return { ...systemWorld(), clock: createVirtualClock(1_700_000_000_000), random: createSeededRandom(1) };
}

/** The model that a scenario runs on: the scripted backend, or a vendor's wire to the strict emulator. */
export const MODELS = ["scripted", "anthropic", "openai", "google"] as const;
export type Model = (typeof MODELS)[number];

const KEYS = { ANTHROPIC_API_KEY: "key-of-a-test", OPENAI_API_KEY: "key-of-a-test", GEMINI_API_KEY: "key-of-a-test" };

/**
 * A world whose hosts are one emulator with these replies. It is strict, as the vendors are: a conversation in which a
 * call has no result, two results, or one in the wrong place is refused.
 */
export function worldOf(steps: readonly Step[]): World {
  const rules: ScriptRule[] = [];
  let results = 0;
  for (const { text, calls = [] } of steps) {
    rules.push({ match: { turn: results }, reply: { ...(text !== undefined && { text }), toolCalls: [...calls] } });
    results += calls.length;
  }
  const emulator = createEmulator({ script: { rules, otherwise: { text: "That is all." } } });
  return { ...newWorld(), env: KEYS, fetch: emulator.fetch };
}

/** The tools that were started, in order, by their call id. */
export class Effects {
  readonly started: string[] = [];
}

/** A run that can be carried out from the beginning, and continued from any part of its log. */
export interface Scenario {
  readonly name: string;
  /** Its replies depend on more than the number of results, so that only the scripted model can give them. */
  readonly isScripted?: boolean;
  /** The replies of its model. */
  readonly steps: readonly Step[];
  /** Made anew for each process; tools note their start in `effects`. */
  readonly options?: (effects: Effects) => RunOptions;
  /** For several agents: the target, on scripted models. */
  readonly target?: (effects: Effects) => Target;
  /** Answers to questions. */
  readonly allow?: boolean;
  /** A continued run may make fewer or more calls than one that was never interrupted. */
  readonly doesLess?: boolean;
  /** Calls that may run again. */
  readonly idempotent?: readonly string[];
  readonly abortAt?: (event: AgentEvent) => boolean;
  /** The result of calls that come from elsewhere. */
  readonly gives?: unknown;
}

/** Carries a scenario out, or continues it after `past`, and returns all of its events. */
export async function play(
  scenario: Scenario & { readonly model: Model },
  effects: Effects,
  past?: readonly AgentEvent[],
): Promise<AgentEvent[]> {
  const { model, steps } = scenario;
  const target = scenario.target?.(effects) ?? (model === "scripted" ? modelOf(steps) : model);
  const options = scenario.options?.(effects) ?? {};
  const resumed = past === undefined ? undefined : { id: past[0]?.runId ?? "run-1", events: past };
  const run = startRun(target, "go", options, model === "scripted" ? newWorld() : worldOf(steps), { resumed });
  const log: AgentEvent[] = [];
  run.on("permission", (event) => {
    if (event.state === "asked") run.answer(event.callId, { allow: scenario.allow !== false });
  });
  run.on("notice", ({ kind, data }) => {
    if (kind !== "call-parked") return;
    const { callId } = data as { readonly callId: string };
    queueMicrotask(() => run.giveResult(callId, { output: scenario.gives, isError: false }));
  });
  for await (const event of run) {
    log.push(event);
    if (scenario.abortAt?.(event) === true) run.abort("enough").catch(() => undefined);
  }
  return log;
}
