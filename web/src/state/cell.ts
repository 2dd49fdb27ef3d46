import { useEffect, useState } from "preact/hooks";

/** An observable value. */
export interface Cell<Value> {
  get(): Value;
  set(next: Value): void;
  /** Calls the listener after changes, until the returned function is called. */
  watch(listener: () => void): () => void;
}

export function createCell<Value>(first: Value): Cell<Value> {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The value of a cell, rendered at most once per frame however often it changes. */
export function useCell<Value>(cell: Cell<Value>): Value {
  const [, redraw] = useState({});
  useEffect(() => {
    let cancel: (() => void) | undefined;
    const draw = (): void => {
      cancel = undefined;
      redraw({});
    };
    const stop = cell.watch(() => {
      cancel ??= onNextFrame(draw);
    });
    draw();
    return () => {
      stop();
      cancel?.();
    };
  }, [cell]);
  return cell.get();
}

/** Background tabs get no frames; a timer keeps them up to date. */
function onNextFrame(draw: () => void): () => void {
  const over = (): void => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
  const run = (): void => {
    over();
    draw();
  };
  const frame = requestAnimationFrame(run);
  const timer = setTimeout(run, 250);
  return over;
}
