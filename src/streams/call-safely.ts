/**
 * Calls a foreign function and passes any failure to `onError`, whether it throws or returns a promise that rejects:
 * neither reaches the caller, and no rejection stays unhandled.
 *
 * @example
 * callSafely(() => listener(event), (error) => console.error(error))
 */
export function callSafely(call: () => unknown, onError: (error: unknown) => void): void {
  try {
    const returned = call();
    if (isPromise(returned)) returned.then(undefined, onError);
  } catch (error) {
    onError(error);
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
