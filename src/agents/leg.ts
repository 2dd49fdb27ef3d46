import type { AgentBackend, AgentConversation, Backend, ModelBackend, Resume, ToolChoice } from "#backends";
import type { Clock, Message, NextTurn, Random, Usage } from "#domain";
import type { PermissionRules, PolicySettings, RunPolicy } from "#policy";
import type { Schema, Tool } from "#tools";
import type { Budget } from "./budget.ts";
import type { PastLeg } from "./past-run.ts";
import type { RetryOptions } from "./retry.ts";
import type { RunWriter } from "#run";
import type { UniqueIds } from "./unique-ids.ts";

/** The limits of one leg. Omitted ones default to `LEG_LIMITS`. */
export interface LegLimits {
  readonly turns?: number | undefined;
  /** Silence of a model that ends the turn, before its first byte or in the middle of its answer. */
  readonly idleMs?: number | undefined;
  readonly toolMs?: number | undefined;
  /** The most bytes of one reply. */
  readonly replyBytes?: number | undefined;
}

export const LEG_LIMITS = {
  /** Replies of the model (S2-32). */
  turns: 50,
  idleMs: 300_000,
  /** Silence after which a notice is written. */
  noticeMs: 60_000,
} as const;

/** An agent that is ready to run: everything about it that does not change during its leg. */
export interface Leg<Kind extends Backend = Backend> {
  readonly backend: Kind;
  readonly fallback: readonly ModelBackend[];
  readonly agent?: string | undefined;
  readonly instructions?: string | undefined;
  readonly tools: readonly Tool[];
  /** The agents it may hand over to. */
  readonly handoffs?: readonly string[] | undefined;
  readonly policy?: PolicySettings | undefined;
  /** The schema of its final answer. */
  readonly output?: Schema | undefined;
  /** How many times an answer that does not fit is sent back. Default 2. */
  readonly outputRepairs?: number | undefined;
  readonly toolChoice?: ToolChoice | undefined;
  readonly toolConcurrency?: number | undefined;
  /**
   * How a turn with several calls is written into the transcript: as one message with all calls and one with all
   * results (default), or, if `false`, as pairs of one call and its result. The calls run the same way in both cases
   * (S2-21).
   */
  readonly parallelToolCalls?: boolean | undefined;
  readonly limits: LegLimits;
  readonly retry?: RetryOptions | false | undefined;
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly thinkingTokens?: number | undefined;
  /** Whether events keep the frames they were decoded from. */
  readonly keepRaw?: boolean | undefined;
  /** For agent backends: the names of the models to fall back to. */
  readonly fallbackModels?: readonly string[] | undefined;
  /**
   * Options that were given but have no effect on this backend, with the reasons. A warning is written when the leg
   * begins.
   */
  readonly ignored?: readonly { readonly option: string; readonly reason: string }[] | undefined;
  /** For agent backends: where the agent works, and which conversation it resumes. */
  readonly place?: AgentEnvironment | undefined;
}

/** Where an agent backend works. */
export interface AgentEnvironment {
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly strict: boolean;
  readonly resume: Resume | undefined;
}

export type ModelLeg = Leg<ModelBackend>;
export type AgentLeg = Leg<AgentBackend>;

/** Returns the cost of a usage in US dollars, or `undefined` if it is unknown. */
export type Price = (
  usage: Usage,
  backend: Pick<ModelBackend, "name" | "model" | "hasKnownPrices">,
) => Promise<number | undefined>;

/** Keeps files beside the log of a run. */
export interface KeptFiles {
  keep(name: string, data: Uint8Array): Promise<void>;
  find(name: string): Promise<Uint8Array | undefined>;
  remove(name: string): Promise<unknown>;
}

/** What a leg needs while it runs. */
export interface LegWork {
  /** The writer of the run. Its `signal` fires when the leg has to end, for whatever reason. */
  readonly writer: RunWriter;
  /** The transcript. Its last message is the one to answer. */
  readonly messages: readonly Message[];
  readonly context: unknown;
  readonly clock: Clock;
  readonly nextTurn?: NextTurn | undefined;
  readonly random: Random;
  readonly price: Price;
  readonly policy: RunPolicy;
  readonly budget: Budget;
  /** Keeps ids unique within the run, over all of its legs. */
  readonly ids: UniqueIds;
  /** Where files of agents are kept while the run waits. Absent if the run is not stored. */
  readonly files?: KeptFiles | undefined;
  /** How far an earlier process came with this leg. */
  readonly past?: PastLeg | undefined;
  /** How many agents' tool calls this leg is nested in. */
  readonly depth?: number | undefined;
  /** The restrictions of earlier agents, inherited through handoffs and tool calls. */
  readonly inherited?: PermissionRules | undefined;
  /** Agents that run within tool calls of this leg. The run waits until they are gone. */
  readonly nested?: Set<Promise<void>> | undefined;
  /** Returns the `RunPlan` of an agent that a tool call runs. */
  readonly planNested?: ((agent: unknown) => unknown) | undefined;
}

/** The run that a tool call belongs to, for tools that run an agent themselves. */
export interface OuterRun {
  readonly leg: Leg;
  readonly work: LegWork;
}

/** Manages the conversations of agent legs: for one leg, or for a whole session. */
export interface Conversations {
  /** Returns the conversation of an agent leg. Call `release` when the leg no longer needs it. */
  open(leg: AgentLeg): Promise<AgentConversation>;
  release(leg: AgentLeg): Promise<void>;
}

/** How a leg ended. */
export type LegEnd =
  /** The leg was aborted, or a terminal error was already written. */
  | { readonly kind: "over" /** The text of the last message so far. */; readonly text?: string | undefined }
  | {
      readonly kind: "verdict";
      readonly subtype: string;
      readonly text: string;
      /** Why it is not a success. */
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
      /** Everything up to the handoff, with every call answered. */
      readonly transcript: readonly Message[];
    };
