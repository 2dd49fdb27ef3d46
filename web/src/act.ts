/**
 * Makes a callback of an async function. Its rejections are reported like any other uncaught error: they are mistakes
 * in this page.
 */
export function act<Given extends readonly unknown[]>(
  work: (...given: Given) => Promise<unknown>,
): (...given: Given) => void {
  return (...given) => {
    work(...given).catch((error: unknown) => reportError(error));
  };
}
