import type { Fetch, HttpRequest, HttpResponse } from "#domain";
import { findHeaderDifference, findTextDifference } from "./difference.ts";
import { rebuildFailure } from "./rebuild-failure.ts";
import { receive } from "./receive.ts";
import type { Stage } from "./stage.ts";
import type { TapeBytes, TapeEntry } from "./tape.ts";
import { bytesOf, sumOf } from "./tape-line.ts";

type RequestEntry = Extract<TapeEntry, { readonly type: "request" }>;

/** A `Fetch` that answers from a tape. `check`: what is asked must be what was asked. */
export function playFetch(stage: Stage, check: boolean): Fetch {
  const left = stage.tape.entries.flatMap((entry, index) => (entry.type === "request" ? [{ entry, index }] : []));
  return async (request) => {
    request.signal?.throwIfAborted();
    // Exchanges that go on at the same time may come in another order; without one that fits it is the next one.
    const fitting = left.findIndex(({ entry }) => findDifference(entry, request) === undefined);
    const [taken] = left.splice(Math.max(0, fitting), 1);
    if (taken === undefined) {
      const error = stage.mismatch(
        stage.tape.entries.length,
        `it asks for ${shown(request)}, which is not on the tape`,
      );
      stage.fail(error);
      throw error;
    }
    const { entry, index } = taken;
    const difference = findDifference(entry, request);
    if (check && difference !== undefined) {
      const error = stage.mismatch(index, `${shown(request)} is not what was recorded: ${difference}`);
      stage.fail(error);
      throw error;
    }
    stage.perform(entry);
    const { signal } = request;
    const head = await receive(stage, `head:${entry.id}`, { waitsFor: `the answer to ${shown(request)}`, signal });
    if (head.type === "no-answer") throw rebuildFailure(head.failure);
    if (head.type !== "head") throw new TypeError(`A head was due, not ${head.type}.`);
    return { status: head.status, headers: copyHeaders(head.headers), body: playBody(stage, entry, signal) };
  };
}

function playBody(stage: Stage, { id, url }: RequestEntry, signal: AbortSignal | undefined): HttpResponse["body"] {
  let isOver = false;
  const over = { done: true, value: undefined } as const;
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        if (isOver) return over;
        if (signal?.aborted === true) {
          isOver = true;
          throw signal.reason;
        }
        try {
          const entry = await receive(stage, `body:${id}`, { waitsFor: `the body of the answer from ${url}`, signal });
          if (entry.type === "body") return { done: false, value: bytesOf(entry) };
          isOver = true;
          if (entry.type === "body-break") throw rebuildFailure(entry.failure);
          return over;
        } catch (thrown) {
          isOver = true;
          throw thrown;
        }
      },
      async return() {
        isOver = true;
        return over;
      },
    }),
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
  if ("sum" in recorded) {
    const text = textOf(sent);
    return text.length === recorded.length && sumOf(text) === recorded.sum ? undefined : "the long body is another one";
  }
  const difference =
    typeof sent === "string" && "text" in recorded
      ? findTextDifference(recorded.text, sent)
      : findTextDifference(byteText(recorded), asBytes(sent));
  return difference === undefined ? undefined : `in the body, ${difference}`;
}

function textOf(body: string | Uint8Array): string {
  return typeof body === "string" ? body : new TextDecoder().decode(body);
}

function asBytes(body: string | Uint8Array): string {
  return typeof body === "string"
    ? new TextDecoder("latin1").decode(new TextEncoder().encode(body))
    : new TextDecoder("latin1").decode(body);
}

function byteText(kept: TapeBytes): string {
  return new TextDecoder("latin1").decode(bytesOf(kept));
}

/** Without a prototype, as the real ones: the names are somebody else's. */
function copyHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const copy = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(headers)) copy[name] = value;
  return copy;
}

function shown({ method, url }: HttpRequest): string {
  const text = url.replace(/\?.*$/s, "?…");
  return `${method} ${text.length <= 120 ? text : `${text.slice(0, 119)}…`}`;
}
