export { followSignal } from "./abort.ts";
export { Alarm } from "./alarm.ts";
export type { Broadcast, BroadcastOptions } from "./broadcast.ts";
export { createBroadcast } from "./broadcast.ts";
export type { Deferred } from "./deferred.ts";
export { createDeferred, handled } from "./deferred.ts";
export { mergeNeighbours } from "./merge-neighbours.ts";
export type { SilenceOptions, SilenceWatch } from "./silence-watch.ts";
export { watchSilence } from "./silence-watch.ts";
