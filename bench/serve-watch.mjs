// Loaded into a server with `--import`: answers "begin" with a message, and "end" with the longest block of the event
// loop and the peak memory since then. Both kinds of time are told: `wallMs` includes what other programs took.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { watch } from "./reply-watch.mjs";

const RESOLUTION_MS = 2;
let stop;
let delay;

process.on("message", (message) => {
  if (message === "begin") {
    delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    delay.enable();
    stop = watch();
    process.send("begun");
  } else if (message === "end") {
    const { longestMs, moreBytes } = stop();
    process.send({
      cpuMs: longestMs,
      wallMs: delay.max / 1e6 - RESOLUTION_MS,
      moreBytes,
      rss: process.memoryUsage.rss(),
    });
    delay.disable();
  }
});
process.channel?.unref();
