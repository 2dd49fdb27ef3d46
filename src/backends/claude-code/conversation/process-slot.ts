import { createDeferred, followSignal } from "#streams";
import type { LiveProcess } from "./live-process.ts";

/** Holds the processes of a conversation: at most one that is in use, and those that are ending. */
export class ProcessSlot {
  private readonly _start: () => Promise<LiveProcess>;
  private readonly _leaving = new Set<Promise<void>>();
  private _live: LiveProcess | undefined;
  private _starting: Promise<LiveProcess> | undefined;
  private _onShellsOver: (() => void) | undefined;

  constructor(start: () => Promise<LiveProcess>) {
    this._start = start;
  }

  /** The process in use; `undefined` if there is none, or it is gone. */
  get live(): LiveProcess | undefined {
    return this._live?.isOver === true ? undefined : this._live;
  }

  /** The process is kept for its shells: it ends with them, or by an abort. */
  get isKept(): boolean {
    return this._onShellsOver !== undefined;
  }

  /**
   * The process in use, or a new one once the earlier ones are gone: they share a session. Rejects with `StartError`.
   */
  ensure(): Promise<LiveProcess> {
    if (this.live !== undefined) return Promise.resolve(this.live);
    this.drop({ immediate: true });
    this._starting ??= this._startNext().finally(() => {
      this._starting = undefined;
    });
    return this._starting;
  }

  private async _startNext(): Promise<LiveProcess> {
    if (this._leaving.size > 0) await this.gone();
    const live = await this._start();
    this._live = live;
    live.begin();
    return live;
  }

  /** Stops the process; `gone` resolves when it has ended. */
  drop(how: { readonly immediate: boolean }): void {
    const live = this._live;
    this._live = undefined;
    if (live === undefined) return;
    const leaving = live.stop(how);
    this._leaving.add(leaving);
    leaving.finally(() => this._leaving.delete(leaving)).catch(() => undefined);
  }

  /** Like `drop`, also for a process that is just being started. Resolves when nothing is left. */
  async dropAll(how: { readonly immediate: boolean }): Promise<void> {
    await this._starting?.catch(() => undefined);
    this.drop(how);
    await this.gone();
  }

  /** Keeps the process until its shells have ended; after that the CLI would begin a turn that was not requested. */
  async keepForShells(signal: AbortSignal): Promise<void> {
    const over = createDeferred<void>();
    this._onShellsOver = over.resolve;
    const unfollow = followSignal(signal, () => over.resolve());
    await over.promise;
    unfollow();
    this._onShellsOver = undefined;
    await this.dropAll({ immediate: true });
  }

  /** The last shell has ended, or the process. */
  noteShellsOver(): void {
    this._onShellsOver?.();
  }

  /** Resolves when every dropped process is gone. */
  async gone(): Promise<void> {
    await Promise.all(this._leaving);
  }
}
