import type { Ticker } from "./alarm.ts";

export interface SilenceOptions {
  readonly clock: Ticker;
  /** Silence that is allowed before the first sign of life. */
  readonly firstMs: number;
  /** Silence that is allowed afterwards. */
  readonly betweenMs: number;
  /** Silence after which somebody is told, once per silence; the watch goes on. */
  readonly noticeMs: number;
  readonly onNotice: (silentMs: number) => void;
  /** The silence has lasted too long. Called at most once. */
  readonly onExpire: (silentMs: number, phase: "first" | "between") => void;
}

/** Notices silence. Only the wait for the other side counts: it is paused while we are the slow ones. */
export interface SilenceWatch {
  /** A sign of life. Costs one look at the clock. */
  alive(): void;
  pause(): void;
  resume(): void;
  /** Ends the watch. Idempotent. */
  stop(): void;
}

/** Starts watching at once. */
export function watchSilence(options: SilenceOptions): SilenceWatch {
  const { clock } = options;
  let phase: "first" | "between" = "first";
  let since = clock.now();
  let isNoticed = false;
  let isOver = false;
  let takeBack: (() => void) | undefined;

  const limit = (): number => (phase === "first" ? options.firstMs : options.betweenMs);

  // One timer that looks again when it fires, instead of one per sign of life: streams bring thousands a second.
  const look = (): void => {
    takeBack = undefined;
    const silentMs = clock.now() - since;
    if (silentMs >= limit()) {
      isOver = true;
      options.onExpire(silentMs, phase);
      return;
    }
    if (!isNoticed && silentMs >= options.noticeMs) {
      isNoticed = true;
      options.onNotice(silentMs);
    }
    arm();
  };

  const arm = (): void => {
    const next = isNoticed ? limit() : Math.min(limit(), options.noticeMs);
    takeBack = clock.after(Math.max(1, next - (clock.now() - since)), look);
  };

  const halt = (): void => {
    takeBack?.();
    takeBack = undefined;
  };

  arm();
  return {
    alive() {
      phase = "between";
      isNoticed = false;
      since = clock.now();
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
