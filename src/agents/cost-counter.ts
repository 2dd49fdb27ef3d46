import type { ModelBackend } from "#backends";
import { addUsage, type Usage } from "#domain";
import type { Budget } from "./budget.ts";
import type { Price } from "./leg.ts";

/**
 * The bookkeeping of one leg: adds up what the replies used, those that came to nothing included. Each is priced on its
 * own, because some prices rise with the length of a single request. The cost is known only if it is known for every one
 * of them.
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

  /** Books what a reply used, finished or not. */
  add(usage: Usage, backend: ModelBackend): void {
    this._unsettled = [...this._unsettled, { usage, backend }];
  }

  /** Prices what was booked since the last call, and tells the budget. */
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
