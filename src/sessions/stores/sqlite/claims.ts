import { claimLost, requireClaimant, requireHeld, requireSeen, runOver } from "../sequence.ts";
import type { ClaimWanted, HeldClaim, RunClaim } from "../store.ts";
import type { CommitQueue } from "./commit-queue.ts";
import type { OpenRun, OpenRuns } from "./open-runs.ts";
import { writeBody } from "./rows.ts";

export interface ClaimsParts {
  readonly queue: CommitQueue;
  readonly open: OpenRuns;
  /** Finds a run; an unfinished one is remembered from then on. */
  find(runId: string): Promise<OpenRun>;
}

/**
 * Which worker holds which run. The memory of this program decides, because no other one has the folder open; a claim is
 * stored so that the next program continues with greater epochs.
 */
export class Claims {
  private readonly _parts: ClaimsParts;

  constructor(parts: ClaimsParts) {
    this._parts = parts;
  }

  async claim(runId: string, wanted: ClaimWanted): Promise<number> {
    const { worker, at, seen } = wanted;
    return await this._atOnce(runId, async (run) => {
      requireClaimant(wanted);
      if (run.run.isOver) throw runOver(runId);
      requireSeen(runId, run.run.claim, seen);
      const epoch = run.epoch + 1;
      await this._hold(run, { epoch, worker, at });
      return epoch;
    });
  }

  async extend({ runId, epoch, at }: HeldClaim): Promise<void> {
    await this._atOnce(runId, async (run) => {
      const { claim } = run.run;
      if (claim?.epoch !== epoch) throw claimLost(runId, epoch, claim);
      await this._hold(run, { ...claim, at });
    });
  }

  async release({ runId, epoch }: Pick<HeldClaim, "runId" | "epoch">): Promise<boolean> {
    return await this._atOnce(runId, async (run) => {
      if (run.run.claim?.epoch !== epoch) return false;
      await this._hold(run, undefined);
      return true;
    });
  }

  /** Calls `write` if this claim is held, otherwise rejects with `claim-lost`. */
  async whileHeld<Value>(
    { runId, epoch }: Pick<HeldClaim, "runId" | "epoch">,
    write: () => Promise<Value>,
  ): Promise<Value> {
    return await this._atOnce(runId, async ({ run }) => {
      requireHeld(runId, run.claim, epoch);
      return await write();
    });
  }

  /** Calls `act` with the run as it is at this moment: it may have changed since it was found. */
  private async _atOnce<Value>(runId: string, act: (run: OpenRun) => Promise<Value>): Promise<Value> {
    for (;;) {
      const found = await this._parts.find(runId);
      const run = this._parts.open.get(runId) ?? (found.run.isOver ? found : undefined);
      if (run !== undefined) return await act(run);
    }
  }

  /** Counts at once, so that nothing a former holder appends afterwards gets into the queue before it. */
  private async _hold(run: OpenRun, claim: RunClaim | undefined): Promise<void> {
    const { queue, open } = this._parts;
    open.hold(run, claim);
    const { epoch = run.epoch, worker, at } = claim ?? {};
    await queue.add({
      work: [["run", "setClaim", epoch, worker === undefined ? null : writeBody(worker), at ?? null, run.key]],
      onFailure: () => open.forget(run.run.id),
    });
  }
}
