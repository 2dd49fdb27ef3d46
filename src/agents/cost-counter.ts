import type { ModelBackend } from "#backends";
import { addUsage, type Usage } from "#domain";
import type { Budget } from "./budget.ts";
import type { Price } from "./leg.ts";

/**
 * Adds up what the replies of one leg used, including discarded ones. Each reply is priced separately, because some
 * prices depend on the length of a single request. The total cost is known only if the cost of every reply is known.
 */
export class CostCounter {
  private readonly _price: Price;
  private readonly _budget: Budget;
  private _unsettled: readonly { readonly usage: Usage; readonly backend: ModelBackend }[] = [];
  private _usage: Usage = {};
  private _costUsd: number | undefined = 0;

  constructor(price: Price, budget: Budget) {
    this._price = price;
    this._budget = budget;
  }

  /** Adds what a reply used, whether or not it was finished. */
  add(usage: Usage, backend: ModelBackend): void {
    this._unsettled = [...this._unsettled, { usage, backend }];
  }

  /** Prices what was added since the last call, and adds it to the budget. */
  async settle(): Promise<void> {
    const entries = this._unsettled;
    this._unsettled = [];
    for (const { usage, backend } of entries) {
      const cost = await this._price(usage, backend);
      this._usage = addUsage(this._usage, usage);
      this._costUsd = cost === undefined || this._costUsd === undefined ? undefined : this._costUsd + cost;
      this._budget.addSpent(usage, cost);
    }
  }

  async total(): Promise<{ readonly usage: Usage; readonly costUsd: number | undefined }> {
    await this.settle();
    return { usage: this._usage, costUsd: this._costUsd };
  }
}
