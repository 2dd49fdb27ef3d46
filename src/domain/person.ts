// `Symbol.for`, so that two loaded copies of this package recognise each other's callbacks.
const ASKS_PERSON: unique symbol = Symbol.for("millrace.asksPerson") as never;

const WATCHES_ONLY: unique symbol = Symbol.for("millrace.watchesOnly") as never;

/**
 * Marks a permission callback that asks a person. Without this mark, a callback has a time limit for its answer
 * (`limits.permissionMs`, default 60 seconds); a person has none. `askInTerminal` is already marked.
 *
 * @example
 * const permission: PermissionCallback = waitForPerson(async ({ name }) => ({ allow: (await ask(`Run ${name}? `)) === "yes" }))
 */
export function waitForPerson<Ask extends (...given: never[]) => unknown>(ask: Ask): Ask {
  // A new function, so that the caller's own stays unchanged.
  const marked = (...given: never[]): unknown => ask(...given);
  return Object.assign(marked, { [ASKS_PERSON]: true }) as unknown as Ask;
}

/** Marks a listener that only observes: it receives questions but cannot answer them. */
export function watchOnly<Listener extends (...given: never[]) => unknown>(listener: Listener): Listener {
  return Object.assign(listener, { [WATCHES_ONLY]: true });
}

/** Whether a listener was marked with `watchOnly`. */
export function watchesOnly(listener: object): boolean {
  return WATCHES_ONLY in listener;
}

/** Whether a callback was marked with `waitForPerson`. */
export function asksPerson(callback: unknown): boolean {
  return typeof callback === "function" && ASKS_PERSON in callback;
}
