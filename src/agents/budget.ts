import { addUsage, type ChunkOf, type Usage, warningItem, type WarningItem } from "#domain";

/** The limits of a whole run, over all of its legs. */
export interface RunLimits {
  readonly handoffs?: number | undefined;
  readonly costUsd?: number | undefined;
  /** Input and output tokens together. */
  readonly tokens?: number | undefined;
  readonly timeoutMs?: number | undefined;
  /** Bytes of one reply. Counted by the run itself, for every kind of backend. */
  readonly replyBytes?: number | undefined;
  /** Enforced by the run handle. */
  readonly parkMs?: number | undefined;
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
 * Counts what a run uses against its limits. Reaching a limit ends the run after the current step: everything produced
 * so far is kept, and the subtype of the result names the limit.
 */
export class Budget {
  readonly limits: RunLimits;
  private readonly _outer: Budget | undefined;
  private _handoffs = 0;
  private _usage: Usage = {};
  private _costUsd = 0;
  /** What a limit counts and a backend did not report. */
  private readonly _uncounted = new Set<"costUsd" | "tokens">();
  private readonly _warned = new Set<"costUsd" | "tokens">();

  /** `outer` is the budget of the run that this run is a tool call of. What is used here counts there as well. */
  constructor(limits: RunLimits, outer?: Budget) {
    this.limits = limits;
    this._outer = outer;
  }

  /** The first limit that was reached, here or in the run around. */
  get reached(): LimitReached | undefined {
    return this._ownReached ?? this._outer?.reached;
  }

  /** The limits to name in the sentence about the end: those of the run around, if one of them was reached. */
  get decisiveLimits(): RunLimits {
    const isOuter = this._ownReached === undefined && this._outer?.reached !== undefined;
    return isOuter ? (this._outer?.decisiveLimits ?? this.limits) : this.limits;
  }

  private get _ownReached(): LimitReached | undefined {
    const { costUsd, tokens } = this.limits;
    if (costUsd !== undefined && this._costUsd >= costUsd) return "error_max_budget_usd";
    if (tokens !== undefined && this._tokens() >= tokens) return "error_max_total_tokens";
    return undefined;
  }

  /** The dollars that may still be spent, here and in the run around; `undefined` without a limit. */
  get costLeft(): number | undefined {
    const around = this._outer?.costLeft ?? Infinity;
    const left = Math.min((this.limits.costUsd ?? Infinity) - this._costUsd, around);
    return left === Infinity ? undefined : left;
  }

  /** Whether what is used has to be counted as it is used, for a limit here or around. */
  get isLimited(): boolean {
    const { costUsd, tokens } = this.limits;
    return costUsd !== undefined || tokens !== undefined || this._outer?.isLimited === true;
  }

  /** Returns a warning for each limit that cannot be enforced, because `backend` does not say what it used. Each once. */
  takeWarnings(backend: string): readonly ChunkOf<WarningItem>[] {
    const fresh = [...this._uncounted].filter((name) => this.limits[name] !== undefined && !this._warned.has(name));
    for (const name of fresh) this._warned.add(name);
    const warnings = fresh.map((name) => {
      const what = name === "costUsd" ? `The price of ${backend} is unknown` : `${backend} does not report its tokens`;
      const message = `${what}, so limits.${name} cannot be enforced.`;
      return warningItem({ code: "option-ignored", message, context: { option: `limits.${name}` } });
    });
    return [...warnings, ...(this._outer?.takeWarnings(backend) ?? [])];
  }

  addHandoff(): LimitReached | undefined {
    this._handoffs += 1;
    return this._handoffs > (this.limits.handoffs ?? RUN_BUDGET.handoffs) ? "error_max_handoffs" : undefined;
  }

  /** Adds what was used. `costUsd` is `undefined` if the price is unknown. */
  addSpent(usage: Usage, costUsd: number | undefined): void {
    this._outer?.addSpent(usage, costUsd);
    this._usage = addUsage(this._usage, usage);
    if (costUsd === undefined) this._uncounted.add("costUsd");
    else this._costUsd += costUsd;
  }

  /** Records that a reply, or a whole turn of an agent, came without its number of tokens. */
  addWithoutTokens(): void {
    this._outer?.addWithoutTokens();
    this._uncounted.add("tokens");
  }

  private _tokens(): number {
    return (this._usage.inputTokens ?? 0) + (this._usage.outputTokens ?? 0);
  }
}

export function hasTokens({ inputTokens, outputTokens }: Usage): boolean {
  return inputTokens !== undefined || outputTokens !== undefined;
}
