import type { ServerResponse } from "node:http";
import type { EventStream } from "./event-stream.ts";

export const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  // `no-transform`: a proxy that packs the stream would hold it back.
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
} as const;

/** Bodies that nobody has begun to read, and the streams behind them. */
const streams = new WeakMap<ReadableStream, EventStream>();

/** An answer whose body is an event stream. */
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
  streams.set(body, stream);
  return new Response(body, { headers: { ...STREAM_HEADERS, ...headers } });
}

/**
 * Sends an answer straight over its socket, if its body is an event stream of ours; otherwise does nothing and returns
 * `false`.
 *
 * A web stream in between costs time and garbage for every event, and the adapter would hold a promise for every piece
 * until the stream ends.
 */
export function sendStream(response: Response, outgoing: ServerResponse): boolean {
  const stream = response.body === null ? undefined : streams.get(response.body);
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
