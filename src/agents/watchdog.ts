import type { Clock } from "#domain";

export interface WatchdogOptions {
  readonly clock: Clock;
  /** Silence that is allowed before the first sign of life. */
  readonly firstMs: number;
  /** Silence that is allowed afterwards. */
  readonly betweenMs: number;
  /** Silence after which readers are told, once per silence; the run goes on. */
  readonly noticeMs: number;
  readonly onNotice: (silentMs: number) => void;
  /** The silence has lasted too long. Called at most once. */
  readonly onExpire: (silentMs: number, phase: "first" | "between") => void;
}

/** Notices silence. Only the wait for the other side counts: it is paused while we are the slow ones. */
export interface Watchdog {
  /** A sign of life. Costs one look at the clock. */
  alive(): void;
  pause(): void;
  resume(): void;
  /** Ends the watch. Idempotent. */
  stop(): void;
}

/** Starts watching at once. */
export function startWatchdog(options: WatchdogOptions): Watchdog {
  const { clock } = options;
  let phase: "first" | "between" = "first";
  let since = clock.now();
  let noticed = false;
  let takeBack: (() => void) | undefined;

  const limit = (): number => (phase === "first" ? options.firstMs : options.betweenMs);

  // One timer that looks again when it fires, instead of one per sign of life: streams bring thousands a second.
  const look = (): void => {
    const silent = clock.now() - since;
    if (silent >= limit()) {
      takeBack = undefined;
      options.onExpire(silent, phase);
      return;
    }
    if (!noticed && silent >= options.noticeMs) {
      noticed = true;
      options.onNotice(silent);
    }
    arm();
  };

  const arm = (): void => {
    const silent = clock.now() - since;
    const next = noticed ? limit() : Math.min(limit(), options.noticeMs);
    takeBack = clock.after(Math.max(1, next - silent), look);
  };

  const stop = (): void => {
    takeBack?.();
    takeBack = undefined;
  };

  arm();
  return {
    alive() {
      phase = "between";
      noticed = false;
      since = clock.now();
    },
    pause: stop,
    resume() {
      since = clock.now();
      noticed = false;
      if (takeBack === undefined) arm();
    },
    stop,
  };
}
