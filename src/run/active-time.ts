import type { AgentEvent } from "#domain";

/** The time that processes worked on a run, by its events: the time between one process and the next does not count. */
export class ActiveTime {
  private _ms = 0;
  private _lastTs: number | undefined;

  get ms(): number {
    return this._ms;
  }

  add(event: AgentEvent): void {
    const isResumed = event.type === "notice" && event.kind === "resumed";
    if (this._lastTs !== undefined && !isResumed) this._ms += Math.max(0, event.ts - this._lastTs);
    this._lastTs = event.ts;
  }
}
