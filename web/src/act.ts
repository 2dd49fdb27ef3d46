/**
 * Makes a callback of something that takes time. What it does not catch itself is told like any other uncaught error:
 * it is a mistake in this page.
 */
export function act<Given extends readonly unknown[]>(
  work: (...given: Given) => Promise<unknown>,
): (...given: Given) => void {
  return (...given) => {
    work(...given).catch((error: unknown) => reportError(error));
  };
}
