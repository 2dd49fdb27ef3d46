import type { Live } from "./live-process.ts";

/** Keeps the process of a conversation: at most one at work, and those on their way out. */
export class ProcessSlot {
  private readonly _start: (onLive: (live: Live) => void) => Promise<Live>;
  private readonly _leaving = new Set<Promise<void>>();
  private _live: Live | undefined;
  private _starting: Promise<Live> | undefined;

  /** `start` calls back as soon as there is a process: it may speak before anybody hears that it was started. */
  constructor(start: (onLive: (live: Live) => void) => Promise<Live>) {
    this._start = start;
  }

  /** The process at work; `undefined` when there is none, or it is gone. */
  get live(): Live | undefined {
    return this._live?.connection.isOver === true ? undefined : this._live;
  }

  /** Whether this is the process whose word counts, also on its last breath. */
  isCurrent(live: Live): boolean {
    return live === this._live;
  }

  /** The process at work, or a new one when those before it are gone: they share a session. Rejects with `StartError`. */
  ensure(): Promise<Live> {
    if (this.live !== undefined) return Promise.resolve(this.live);
    this.drop({ immediate: true });
    this._starting ??= this._startNext().finally(() => {
      this._starting = undefined;
    });
    return this._starting;
  }

  private async _startNext(): Promise<Live> {
    if (this._leaving.size > 0) await this.gone();
    return this._start((live) => {
      this._live = live;
    });
  }

  /** Lets the process go; `gone` says when it is. */
  drop(how: { readonly immediate: boolean }): void {
    const live = this._live;
    this._live = undefined;
    if (live === undefined) return;
    const leaving = live.connection.stop(how);
    this._leaving.add(leaving);
    leaving.finally(() => this._leaving.delete(leaving)).catch(() => undefined);
  }

  /** As `drop`, also for a process that is just being started. Resolves when nothing is left. */
  async dropAll(how: { readonly immediate: boolean }): Promise<void> {
    await this._starting?.catch(() => undefined);
    this.drop(how);
    await this.gone();
  }

  /** Resolves when every process that was let go is gone. */
  async gone(): Promise<void> {
    await Promise.all(this._leaving);
  }
}
