import type { AgentBackend, AgentConversation, Backend, ModelBackend, Resume, ToolChoice } from "#backends";
import type { Clock, Message, Random, Usage } from "#domain";
import type { PermissionRules, PolicySettings, RunPolicy } from "#policy";
import type { Schema, Tool } from "#tools";
import type { Budget } from "./budget.ts";
import type { RetryOptions } from "./retry.ts";
import type { RunWriter } from "./run.ts";
import type { UniqueIds } from "./unique-ids.ts";

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

/** One agent, ready to work: everything about it that does not change while it works. */
export interface Leg<Kind extends Backend = Backend> {
  readonly backend: Kind;
  readonly fallback: readonly ModelBackend[];
  readonly agent?: string | undefined;
  readonly instructions?: string | undefined;
  readonly tools: readonly Tool[];
  /** The agents it may hand over to. */
  readonly handoffs?: readonly string[] | undefined;
  readonly policy?: PolicySettings | undefined;
  /** The shape its final answer is to have. */
  readonly output?: Schema | undefined;
  /** How often an answer that does not fit is sent back. Default 2. */
  readonly outputRepairs?: number | undefined;
  readonly toolChoice?: ToolChoice | undefined;
  readonly toolConcurrency?: number | undefined;
  /**
   * How a turn with several calls is written into the transcript: as one message with all of them and one with all
   * results (default), or, when `false`, as pairs of one call and its result. They run the same way (S2-21).
   */
  readonly parallelToolCalls?: boolean | undefined;
  readonly limits: LegLimits;
  readonly retry?: RetryOptions | false | undefined;
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly thinkingTokens?: number | undefined;
  /** Events keep the frames they were read from. */
  readonly keepRaw?: boolean | undefined;
  /** For agent backends: the names of models to fall back to. */
  readonly fallbackModels?: readonly string[] | undefined;
  /** Options that were given and do not hold on its backend, with why. Readers are warned when the leg begins. */
  readonly ignored?: readonly { readonly option: string; readonly reason: string }[] | undefined;
  /** For agent backends: where it works, and which conversation it goes on with. */
  readonly place?: AgentPlace | undefined;
}

/** Where an agent backend works. */
export interface AgentPlace {
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly strict: boolean;
  readonly resume: Resume | undefined;
}

export type ModelLeg = Leg<ModelBackend>;
export type AgentLeg = Leg<AgentBackend>;

/** What a usage costs, in dollars; `undefined` when nobody knows. */
export type Price = (usage: Usage, backend: ModelBackend) => Promise<number | undefined>;

/** One leg at work. */
export interface LegWork {
  /** The run's writer; its signal fires when the leg is to end, for whatever reason. */
  readonly writer: RunWriter;
  /** The transcript; its last message is the one to answer. */
  readonly messages: readonly Message[];
  readonly context: unknown;
  readonly clock: Clock;
  readonly random: Random;
  readonly price: Price;
  readonly policy: RunPolicy;
  readonly budget: Budget;
  /** No id of the run comes twice, over all its legs. */
  readonly ids: UniqueIds;
  /** How deep this leg stands within tool calls of other agents. */
  readonly depth?: number | undefined;
  /** What agents before it were denied, along handoffs and tool calls. */
  readonly inherited?: PermissionRules | undefined;
  /** Agents at work within tool calls of this leg: the run waits until they are gone. */
  readonly nested?: Set<Promise<void>> | undefined;
  /** Plans an agent that is to be carried out within a tool call: gives a `RunPlan`. */
  readonly planNested?: ((agent: unknown) => unknown) | undefined;
}

/** The run a tool call stands in, for a tool that carries out an agent of its own. */
export interface OuterRun {
  readonly leg: Leg;
  readonly work: LegWork;
}

/** Keeps the conversations of agent legs: for one leg, or for a whole session. */
export interface Conversations {
  /** Gives the conversation an agent leg speaks in; `release` says that the leg is done with it. */
  open(leg: AgentLeg): Promise<AgentConversation>;
  release(leg: AgentLeg): Promise<void>;
}

/** How a leg ended. */
export type LegEnd =
  /** Aborted, or a terminal error was written: nothing more to say. */
  | { readonly kind: "over" /** What the last message had said by then. */; readonly text?: string | undefined }
  | {
      readonly kind: "verdict";
      readonly subtype: string;
      readonly text: string;
      /** Why it is no success. */
      readonly message?: string | undefined;
      readonly turns: number;
      readonly structured?: unknown;
    }
  /** The backend wrote the verdict itself. */
  | { readonly kind: "judged" }
  | {
      readonly kind: "handoff";
      readonly to: string;
      readonly message: string;
      readonly text: string;
      readonly turns: number;
      /** Everything up to the handoff, each call answered. */
      readonly transcript: readonly Message[];
    };
