import type { ModelBackend } from "#backends";
import { addUsage, type Usage } from "#domain";
import type { Budget } from "./budget.ts";
import type { Price } from "./leg.ts";

/** The bookkeeping of one leg. */
export interface Ledger {
  /** Books what a reply used, finished or not. */
  readonly add: (usage: Usage, backend: ModelBackend) => void;
  /** Prices what was booked since the last call, and tells the budget. */
  settle(): Promise<void>;
  total(): Promise<{ readonly usage: Usage; readonly costUsd: number | undefined }>;
}

/**
 * Adds up what the replies used, those that came to nothing included. Each is priced on its own, because some prices
 * rise with the length of a single request. The cost is known only if it is known for every one of them.
 */
export function createLedger(price: Price, budget: Budget): Ledger {
  let unsettled: { readonly usage: Usage; readonly backend: ModelBackend }[] = [];
  let usage: Usage = {};
  let costUsd: number | undefined = 0;
  const settle = async (): Promise<void> => {
    const entries = unsettled;
    unsettled = [];
    for (const entry of entries) {
      const cost = await price(entry.usage, entry.backend);
      usage = addUsage(usage, entry.usage);
      costUsd = cost === undefined || costUsd === undefined ? undefined : costUsd + cost;
      budget.addSpent(entry.usage, cost);
    }
  };
  return {
    add: (used, backend) => void unsettled.push({ usage: used, backend }),
    settle,
    async total() {
      await settle();
      return { usage, costUsd };
    },
  };
}
