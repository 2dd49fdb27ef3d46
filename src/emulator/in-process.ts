import type { Fetch, HttpResponse } from "#domain";
import { followSignal } from "#streams";
import type { Answer } from "./answer.ts";
import type { Exchanges } from "./exchanges.ts";
import type { ApiRequest } from "./request.ts";

/**
 * The server as a `fetch`: the same answers and faults, without a socket.
 *
 * The URL may have any host. An abort rejects with the signal's reason, before the status or in the body; leaving the
 * body ends the exchange. A body that is never read holds no resources.
 */
export function createInProcessFetch(answer: Answer, exchanges: Exchanges): Fetch {
  return async ({ method, url, headers, body, signal }) => {
    const controller = new AbortController();
    const { pathname, searchParams } = new URL(url);
    const request: ApiRequest = {
      method,
      path: pathname,
      query: searchParams,
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
      body: typeof body === "string" ? new TextEncoder().encode(body) : (body ?? new Uint8Array()),
      signal: controller.signal,
    };
    exchanges.log(request);
    /** While an exchange is open, the caller's signal and closing the server can end it. */
    const attach = (): (() => void) => {
      const unfollow =
        signal === undefined ? () => undefined : followSignal(signal, (reason) => controller.abort(reason));
      const untrack = exchanges.track(controller);
      return () => {
        unfollow();
        untrack();
      };
    };
    const detach = attach();
    try {
      controller.signal.throwIfAborted();
      const response = await answer(request);
      return { status: response.status, headers: response.headers, body: guard(response.body, controller, attach) };
    } finally {
      detach();
    }
  };
}

/** A body that can be left while it stalls: a generator alone would finish its wait first. */
function guard(
  body: AsyncIterable<Uint8Array>,
  controller: AbortController,
  attach: () => () => void,
): HttpResponse["body"] {
  return {
    [Symbol.asyncIterator]() {
      const bytes = body[Symbol.asyncIterator]();
      let detach: (() => void) | undefined;
      return {
        async next() {
          detach ??= attach();
          try {
            const result = await bytes.next();
            if (result.done === true) detach();
            return result;
          } catch (thrown) {
            detach();
            throw thrown;
          }
        },
        async return() {
          detach?.();
          controller.abort(new Error("The body was left before its end."));
          try {
            await bytes.return?.();
          } catch {
            // The abort above ends a stall; its error is of no use to a reader that leaves.
          }
          return { done: true, value: undefined };
        },
      };
    },
  };
}
