import type { Clock } from "#domain";
import type { VirtualClock } from "#testing";

/** Whether the process of a node runs, stands still, or is gone; and what it can reach. */
export class Life {
  private readonly _clock: VirtualClock;
  private readonly _skewMs: number;
  private readonly _held: (() => void)[] = [];
  private readonly _ends = new Set<() => void>();
  private _state: "up" | "frozen" | "dead" = "up";
  private _cuts = 0;

  constructor(clock: VirtualClock, skewMs: number) {
    this._clock = clock;
    this._skewMs = skewMs;
  }

  get isUp(): boolean {
    return this._state === "up";
  }

  get isDead(): boolean {
    return this._state === "dead";
  }

  /** Neither the store nor the queue hears of it. */
  get isCut(): boolean {
    return this._cuts > 0;
  }

  /** The node's own clock: it differs from the others, and stands still with the process. */
  clock(): Clock {
    return {
      now: () => this._clock.now() + this._skewMs,
      after: (ms, fire) => {
        let isOff = false;
        const stop = this._clock.after(ms, () => {
          this.run(() => {
            if (!isOff) fire();
          });
        });
        return () => {
          isOff = true;
          stop();
        };
      },
    };
  }

  /** Carries something out in the process: now, when it goes on, or never. */
  run(act: () => void): void {
    if (this._state === "up") act();
    else if (this._state === "frozen") this._held.push(act);
  }

  /** A message reaches the process. */
  reach<Value>(value: Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      value.then(
        (one) => this.run(() => resolve(one)),
        (error: unknown) => this.run(() => reject(error as Error)),
      );
    });
  }

  /** Called when requests to it get no answer any more. */
  onEnd(listener: () => void): () => void {
    this._ends.add(listener);
    return () => void this._ends.delete(listener);
  }

  freeze(): void {
    if (this._state !== "up") return;
    this._state = "frozen";
    this._end();
  }

  thaw(): void {
    if (this._state !== "frozen") return;
    this._state = "up";
    for (const act of this._held.splice(0)) act();
  }

  kill(): void {
    this._state = "dead";
    this._held.length = 0;
    this._end();
  }

  cut(ms: number): void {
    this._cuts += 1;
    this._clock.after(ms, () => {
      this._cuts -= 1;
    });
  }

  private _end(): void {
    for (const listener of this._ends) listener();
    this._ends.clear();
  }
}
