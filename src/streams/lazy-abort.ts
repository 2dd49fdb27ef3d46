import { setMaxListeners } from "node:events";

/**
 * An abort that may come, once. What an `AbortController` is, but its signal is made when somebody asks for it: most runs
 * are never aborted, most of those who look only want to know whether, and a signal costs more than all the rest of a
 * run's bookkeeping.
 *
 * @example
 * const latch = new LazyAbort()
 * const unfollow = latch.follow((reason) => socket.destroy())
 */
export class LazyAbort {
  private _fired: { readonly reason: unknown } | undefined;
  private _controller: AbortController | undefined;
  private readonly _followers: { readonly follower: (reason: unknown) => void }[] = [];

  get aborted(): boolean {
    return this._fired !== undefined;
  }

  /** The same as a signal, for those who need one. */
  get signal(): AbortSignal {
    if (this._controller === undefined) {
      this._controller = new AbortController();
      // As many tools as a model asks for may listen at once; that is no leak.
      setMaxListeners(0, this._controller.signal);
      if (this._fired !== undefined) this._controller.abort(this._fired.reason);
    }
    return this._controller.signal;
  }

  /** Fires. A second time changes nothing. */
  abort(reason: unknown): void {
    if (this._fired !== undefined) return;
    this._fired = { reason };
    this._controller?.abort(reason);
    for (const { follower } of this._followers.splice(0)) follower(reason);
  }

  /** Another latch, which fires with this one and may fire before it. */
  branch(): LazyAbort {
    const branch = new LazyAbort();
    this.follow((reason) => branch.abort(reason));
    return branch;
  }

  /** Calls `follower` when it fires, at once if it has. Returns a function that ends it. */
  follow(follower: (reason: unknown) => void): () => void {
    if (this._fired !== undefined) {
      follower(this._fired.reason);
      return () => undefined;
    }
    // An object of its own: the same function may follow twice.
    const entry = { follower };
    this._followers.push(entry);
    return () => {
      const at = this._followers.indexOf(entry);
      if (at !== -1) this._followers.splice(at, 1);
    };
  }
}
