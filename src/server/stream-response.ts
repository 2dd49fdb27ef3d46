import type { ServerResponse } from "node:http";
import type { EventStream } from "./event-stream.ts";

export const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  // `no-transform`: a proxy that compresses the stream would delay it.
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
} as const;

/** Where a body keeps its event stream. */
const STREAM = Symbol("millrace.eventStream");

/** A response whose body is an event stream. */
export function streamResponse(stream: EventStream, headers: Readonly<Record<string, string>>): Response {
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        stream.connect({
          give: (bytes) => controller.enqueue(bytes),
          end: () => controller.close(),
          breakOff: (why) => controller.error(new Error(why)),
        });
      },
      pull: () => stream.ask(),
      cancel: () => stream.leave(),
    },
    { highWaterMark: 0 },
  );
  return new Response(Object.assign(body, { [STREAM]: stream }), { headers: { ...STREAM_HEADERS, ...headers } });
}

/**
 * Sends a response directly over its socket, if its body is one of our event streams; otherwise does nothing and
 * returns `false`.
 *
 * A web stream in between costs time for every event, and the adapter would hold a promise for every piece until the
 * stream ends.
 */
export function sendStream(response: Response, outgoing: ServerResponse): boolean {
  const stream = (response.body as { readonly [STREAM]?: EventStream } | null)?.[STREAM];
  if (stream === undefined) return false;
  const ask = (): void => stream.ask();
  stream.connect({
    give(bytes) {
      if (outgoing.write(bytes)) ask();
      else outgoing.once("drain", ask);
    },
    end: () => outgoing.end(),
    breakOff: () => outgoing.destroy(),
  });
  outgoing.once("close", () => stream.leave());
  if (outgoing.destroyed) {
    stream.leave();
  } else {
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    ask();
  }
  return true;
}
