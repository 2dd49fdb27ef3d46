import type { Fetch, HttpRequest } from "#domain";
import { findHeaderDifference, findTextDifference } from "./difference.ts";
import { bytesOf, isDigestOf, rebuildFailure } from "./tape-line.ts";
import { receive } from "./receive.ts";
import { copyHeaders, readRecorded, showRequest, textOfBody } from "./recorded-answer.ts";
import type { ReplayOrder } from "./replay-order.ts";
import type { TapeBytes, TapeEntry } from "./tape.ts";

type RequestEntry = Extract<TapeEntry, { readonly type: "request" }>;

/** A `Fetch` that answers from a tape. `check`: requests must equal the recorded ones. */
export function playFetch(order: ReplayOrder, check: boolean): Fetch {
  const left = order.tape.entries.flatMap((entry, index) => (entry.type === "request" ? [{ entry, index }] : []));
  return async (request) => {
    request.signal?.throwIfAborted();
    // Simultaneous exchanges may come in another order; if none matches, the next one is taken.
    const fitting = left.findIndex(({ entry }) => findDifference(entry, request) === undefined);
    const [taken] = left.splice(Math.max(0, fitting), 1);
    if (taken === undefined) {
      const error = order.mismatch(
        order.tape.entries.length,
        `it asks for ${showRequest(request)}, which is not on the tape`,
      );
      order.fail(error);
      throw error;
    }
    const { entry, index } = taken;
    const difference = findDifference(entry, request);
    if (check && difference !== undefined) {
      const error = order.mismatch(index, `${showRequest(request)} is not what was recorded: ${difference}`);
      order.fail(error);
      throw error;
    }
    order.perform(entry);
    const { signal } = request;
    const head = await receive(order, `head:${entry.id}`, {
      waitsFor: `the answer to ${showRequest(request)}`,
      signal,
    });
    if (head.type === "no-answer") throw rebuildFailure(head.failure);
    if (head.type !== "head") throw new TypeError(`A head was due, not ${head.type}.`);
    const body = readRecorded(() => {
      signal?.throwIfAborted();
      return receive(order, `body:${entry.id}`, { waitsFor: `the body of the answer from ${entry.url}`, signal });
    });
    return { status: head.status, headers: copyHeaders(head.headers), body };
  };
}

function findDifference(entry: RequestEntry, request: HttpRequest): string | undefined {
  if (entry.method !== request.method) return `the method was ${entry.method}`;
  const url = findTextDifference(entry.url, request.url);
  if (url !== undefined) return `in the address, ${url}`;
  return findHeaderDifference(entry.headers, request.headers) ?? findBodyDifference(entry.body, request.body);
}

function findBodyDifference(recorded: RequestEntry["body"], sent: HttpRequest["body"]): string | undefined {
  if (recorded === undefined || sent === undefined) {
    return recorded === sent ? undefined : `there was ${recorded === undefined ? "no" : "a"} body`;
  }
  if ("sum" in recorded) return isDigestOf(recorded, textOfBody(sent)) ? undefined : "the long body is another one";
  const difference =
    typeof sent === "string" && "text" in recorded
      ? findTextDifference(recorded.text, sent)
      : findTextDifference(byteText(recorded), asBytes(sent));
  return difference === undefined ? undefined : `in the body, ${difference}`;
}

function asBytes(body: string | Uint8Array): string {
  return typeof body === "string"
    ? new TextDecoder("latin1").decode(new TextEncoder().encode(body))
    : new TextDecoder("latin1").decode(body);
}

function byteText(kept: TapeBytes): string {
  return new TextDecoder("latin1").decode(bytesOf(kept));
}
