import { addUsage, type Usage } from "#domain";

/** What a whole run may use, over all its legs. */
export interface RunLimits {
  readonly handoffs?: number | undefined;
  readonly costUsd?: number | undefined;
  /** Input and output tokens together. */
  readonly tokens?: number | undefined;
  readonly timeoutMs?: number | undefined;
}

export const RUN_BUDGET = {
  /** Handoffs of one run (S2-32). */
  handoffs: 10,
} as const;

/** The subtype of a run that reached a limit. */
export type LimitReached =
  | "error_max_turns"
  | "error_max_handoffs"
  | "error_max_budget_usd"
  | "error_max_total_tokens"
  | "error_timeout";

/**
 * Counts what a run uses against its limits. Reaching one ends the run after the step that reached it: everything
 * produced stays, and the result's subtype says which limit it was.
 */
export interface Budget {
  readonly limits: RunLimits;
  addHandoff(): LimitReached | undefined;
  /** What was used; `costUsd` `undefined` when nobody knows its price. */
  addSpent(usage: Usage, costUsd: number | undefined): void;
  /** The first limit that is reached. */
  readonly reached: LimitReached | undefined;
  /** The cost is limited, and something was used whose price is unknown: the limit cannot be kept. */
  readonly isCostUnknown: boolean;
}

/** Creates the budget of one run. */
export function createBudget(limits: RunLimits): Budget {
  let handoffs = 0;
  let usage: Usage = {};
  let costUsd = 0;
  let isCostUnknown = false;
  const tokens = (): number => (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
  return {
    limits,
    addHandoff() {
      handoffs += 1;
      return handoffs > (limits.handoffs ?? RUN_BUDGET.handoffs) ? "error_max_handoffs" : undefined;
    },
    addSpent(used, cost) {
      usage = addUsage(usage, used);
      if (cost === undefined) isCostUnknown = true;
      else costUsd += cost;
    },
    get reached() {
      if (limits.costUsd !== undefined && costUsd >= limits.costUsd) return "error_max_budget_usd";
      if (limits.tokens !== undefined && tokens() >= limits.tokens) return "error_max_total_tokens";
      return undefined;
    },
    get isCostUnknown() {
      return isCostUnknown && limits.costUsd !== undefined;
    },
  };
}
