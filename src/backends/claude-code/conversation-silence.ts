import type { Clock } from "#domain";

export interface SilenceOptions {
  readonly clock: Clock;
  /** Silence after which readers are told, once per silence. */
  readonly noticeMs: number;
  /** Silence that is too long. */
  readonly limitMs: number;
  readonly onNotice: (silentMs: number) => void;
  /** Called at most once. */
  readonly onExpire: (silentMs: number) => void;
}

/** Watches for silence of the CLI. While we are the ones it waits for, time does not count. */
export interface SilenceWatch {
  /** A sign of life. Costs one look at the clock. */
  alive(): void;
  pause(): void;
  resume(): void;
  /** Idempotent. */
  stop(): void;
}

/** Starts watching at once. */
export function watchSilence(options: SilenceOptions): SilenceWatch {
  const { clock } = options;
  let since = clock.now();
  let isNoticed = false;
  let isOver = false;
  let takeBack: (() => void) | undefined;

  // One timer that looks again when it fires, instead of one per sign of life: a stream brings thousands a second.
  const look = (): void => {
    takeBack = undefined;
    const silentMs = clock.now() - since;
    if (silentMs >= options.limitMs) {
      isOver = true;
      options.onExpire(silentMs);
      return;
    }
    if (!isNoticed && silentMs >= options.noticeMs) {
      isNoticed = true;
      options.onNotice(silentMs);
    }
    arm();
  };

  const arm = (): void => {
    const next = isNoticed ? options.limitMs : Math.min(options.limitMs, options.noticeMs);
    takeBack = clock.after(Math.max(1, next - (clock.now() - since)), look);
  };

  const halt = (): void => {
    takeBack?.();
    takeBack = undefined;
  };

  arm();
  return {
    alive() {
      since = clock.now();
      isNoticed = false;
    },
    pause: halt,
    resume() {
      if (isOver || takeBack !== undefined) return;
      since = clock.now();
      isNoticed = false;
      arm();
    },
    stop() {
      isOver = true;
      halt();
    },
  };
}
