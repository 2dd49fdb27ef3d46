import { bytesOf, rebuildFailure } from "./tape-line.ts";
import type { TapeDelivery } from "./tape.ts";

/**
 * The recorded bytes of a body or of a process's output, as an iterator. `next` returns the entries in order; the first
 * one without bytes is the end, or the failure it carries. `leave` is called when the reader leaves early.
 */
export function readRecorded(
  next: () => Promise<TapeDelivery>,
  leave: () => void = () => undefined,
): AsyncIterable<Uint8Array> {
  let isOver = false;
  const over = { done: true, value: undefined } as const;
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        if (isOver) return over;
        try {
          const entry = await next();
          if (entry.type === "body" || entry.type === "stdout" || entry.type === "stderr") {
            return { done: false, value: bytesOf(entry) };
          }
          isOver = true;
          if ("failure" in entry && entry.failure !== undefined) throw rebuildFailure(entry.failure);
          return over;
        } catch (thrown) {
          isOver = true;
          throw thrown;
        }
      },
      async return() {
        isOver = true;
        leave();
        return over;
      },
    }),
  };
}

/** No prototype, as in real responses: the host chooses the names. */
export function copyHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.assign(Object.create(null) as Record<string, string>, headers);
}

/** A request for a message, without its query and truncated. */
export function showRequest({ method, url }: { readonly method: string; readonly url: string }): string {
  const text = url.replace(/\?.*$/s, "?…");
  return `${method} ${text.length <= 120 ? text : `${text.slice(0, 119)}…`}`;
}

export function textOfBody(body: string | Uint8Array): string {
  return typeof body === "string" ? body : new TextDecoder().decode(body);
}

/** A turn of the event loop: everything that waits in promises runs first, as between two reads of a socket. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
