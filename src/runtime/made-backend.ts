import type { Backend } from "#backends";
import type { World } from "./world.ts";

/** The key under which a backend made by hand stores how it was made. Private to Millrace. */
const MADE: unique symbol = Symbol("millrace.made") as never;

/** How a backend was made by hand. */
export interface Making {
  /** Makes the same backend with other seams: those of a run that is recorded or answered from a tape. */
  remake(world: World): Backend;
  /** What it was made from, as data for a tape. */
  readonly program: unknown;
}

/** Records on a backend how it was made. */
export function madeBy<Made extends Backend>(backend: Made, making: Making): Made {
  // Wrapped in a function: it contains keys, which must not appear when the backend is printed.
  return Object.assign(backend, { [MADE]: () => making });
}

/** How a backend was made; `undefined` when this was not recorded. */
export function makingOf(backend: unknown): Making | undefined {
  return (backend as { readonly [MADE]?: () => Making })[MADE]?.();
}

/** The backend with the seams of this run. Without a tap, its own seams are equivalent. */
export function inWorld(backend: Backend, world: World): Backend {
  return world.tap === undefined ? backend : (makingOf(backend)?.remake(world) ?? backend);
}
