// `Symbol.for`: two loaded copies of this package must recognise each other's callbacks.
const ASKS_PERSON: unique symbol = Symbol.for("millrace.asksPerson") as never;

const WATCHES_ONLY: unique symbol = Symbol.for("millrace.watchesOnly") as never;

/**
 * Marks a permission callback as one that asks a person. Code has a time limit for its answer (`limits.permissionMs`,
 * 60 seconds unless set); a person has none. `askInTerminal` is marked already.
 *
 * @example
 * const permission: PermissionCallback = waitForPerson(async ({ name }) => ({ allow: (await ask(`Run ${name}? `)) === "yes" }))
 */
export function waitForPerson<Ask extends (...given: never[]) => unknown>(ask: Ask): Ask {
  // A function of its own: the caller's stays as it is.
  const marked = (...given: never[]): unknown => ask(...given);
  return Object.assign(marked, { [ASKS_PERSON]: true }) as unknown as Ask;
}

/** Marks a listener that only watches: it sees a question and can answer none. */
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
