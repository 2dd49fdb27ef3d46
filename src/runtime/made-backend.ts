import type { Backend } from "#backends";
import type { World } from "./world.ts";

/** Where a backend that was made by hand says how it is made. Nobody's but ours. */
const MADE: unique symbol = Symbol("millrace.made") as never;

/** How a backend was made by hand. */
export interface Making {
  /** Makes the same backend with other seams: those of a run that is recorded, or answered from a tape. */
  remake(world: World): Backend;
  /** What it was made from, as data for a tape. */
  readonly program: unknown;
}

/** Adds to a backend how it was made. */
export function madeBy<Made extends Backend>(backend: Made, making: Making): Made {
  // Behind a function: it holds keys, and whoever prints the backend must not see them.
  return Object.assign(backend, { [MADE]: () => making });
}

/** How a backend was made; `undefined` when nobody has said so. */
export function makingOf(backend: unknown): Making | undefined {
  return (backend as { readonly [MADE]?: () => Making })[MADE]?.();
}

/** The backend in the seams of this run. Without a tap its own are as good. */
export function inWorld(backend: Backend, world: World): Backend {
  return world.tap === undefined ? backend : (makingOf(backend)?.remake(world) ?? backend);
}
