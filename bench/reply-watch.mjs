// How long this thread blocks the others, and how much memory the process takes.
import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

/** The CPU time of this thread, in ms; `undefined` if the system does not report it. */
function threadCpuMs() {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ", 1)[0]) / 1e6;
  } catch {
    return undefined;
  }
}

/**
 * The longest block, and the most memory, from now on. With `--expose-gc`, `heldBytes` is the most memory that stays
 * reachable (heap and external memory of this thread, after a collection), measured every `lookMs`.
 */
export function watch({ lookMs = 0 } = {}) {
  const held = () => {
    globalThis.gc();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const isHeldWatched = lookMs > 0 && globalThis.gc !== undefined;
  const heldBefore = isHeldWatched ? held() : 0;
  const before = process.memoryUsage.rss();
  let mostHeld = heldBefore;
  let most = before;
  let longest = 0;
  let isOver = false;
  let last = threadCpuMs();
  const delay = monitorEventLoopDelay({ resolution: 5 });
  if (last === undefined) delay.enable();
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 50);
  const heldTimer = isHeldWatched
    ? setInterval(() => {
        mostHeld = Math.max(mostHeld, held());
        last = threadCpuMs();
      }, lookMs)
    : undefined;
  const look = () => {
    const now = threadCpuMs();
    longest = Math.max(longest, now - last);
    last = now;
    // A turn later: otherwise the loop of turns would occupy the whole machine.
    if (!isOver) setTimeout(look, 1);
  };
  if (last !== undefined) look();
  return () => {
    isOver = true;
    clearInterval(timer);
    clearInterval(heldTimer);
    if (isHeldWatched) mostHeld = Math.max(mostHeld, held());
    return {
      longestMs: last === undefined ? delay.max / 1e6 : longest,
      moreBytes: most - before,
      heldBytes: mostHeld - heldBefore,
    };
  };
}
