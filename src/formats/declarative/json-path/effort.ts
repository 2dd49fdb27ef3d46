import { MAX_PATH_EFFORT } from "../limits.ts";

/**
 * What one reading of a path may still cost: about one for each node looked at, whatever the path is. A path such as
 * `$..*..*` or a filter in a filter can cost a power of the frame's size; this ends it.
 */
export interface Effort {
  left: number;
}

export function createEffort(): Effort {
  return { left: MAX_PATH_EFFORT };
}

/** Takes `cost` off. False when there is not so much left: then the reading is over and has found nothing. */
export function spend(effort: Effort, cost: number): boolean {
  effort.left -= cost;
  return effort.left >= 0;
}

export function isSpent(effort: Effort): boolean {
  return effort.left < 0;
}
