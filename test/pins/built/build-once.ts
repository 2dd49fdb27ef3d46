import { build, ROOT } from "../../../scripts/set-up.mjs";

/** Builds `dist` before the pins that look at it; a matter of milliseconds when nothing changed. */
export function setup(): void {
  build(ROOT);
}
