import { addUsage, type Usage } from "#domain";

/** What a whole run may use, over all its legs. */
export interface RunLimits {
  readonly handoffs?: number | undefined;
  readonly costUsd?: number | undefined;
  /** Input and output tokens together. */
  readonly tokens?: number | undefined;
  readonly timeoutMs?: number | undefined;
  /** Bytes of one reply. Counted by the run itself, whoever carries it out. */
  readonly replyBytes?: number | undefined;
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
export class Budget {
  readonly limits: RunLimits;
  private readonly _outer: Budget | undefined;
  private _handoffs = 0;
  private _usage: Usage = {};
  private _costUsd = 0;
  private _hasUnknownCost = false;
  private _hasWarned = false;

  /** `outer` is the budget of the run this one stands in: what is used here counts there too. */
  constructor(limits: RunLimits, outer?: Budget) {
    this.limits = limits;
    this._outer = outer;
  }

  /** The first limit that is reached. */
  get reached(): LimitReached | undefined {
    const { costUsd, tokens } = this.limits;
    if (costUsd !== undefined && this._costUsd >= costUsd) return "error_max_budget_usd";
    if (tokens !== undefined && this._tokens() >= tokens) return "error_max_total_tokens";
    return this._outer?.reached;
  }

  /** `true` once: the cost is limited, and something was used whose price is unknown, so the limit cannot be kept. */
  takeCostWarning(): boolean {
    if (this._hasWarned || !this._hasUnknownCost || this.limits.costUsd === undefined) return false;
    this._hasWarned = true;
    return true;
  }

  addHandoff(): LimitReached | undefined {
    this._handoffs += 1;
    return this._handoffs > (this.limits.handoffs ?? RUN_BUDGET.handoffs) ? "error_max_handoffs" : undefined;
  }

  /** What was used; `costUsd` `undefined` when nobody knows its price. */
  addSpent(usage: Usage, costUsd: number | undefined): void {
    this._outer?.addSpent(usage, costUsd);
    this._usage = addUsage(this._usage, usage);
    if (costUsd === undefined) this._hasUnknownCost = true;
    else this._costUsd += costUsd;
  }

  private _tokens(): number {
    return (this._usage.inputTokens ?? 0) + (this._usage.outputTokens ?? 0);
  }
}
