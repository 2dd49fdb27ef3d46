import type { Fetch, HttpRequest } from "#domain";
import type { RecorderContext } from "./recorder-context.ts";
import type { StreamMask } from "#secrets";
import type { TapeBytes, TapeDigest } from "./tape.ts";
import { keepBytes, keepFailure, sumOf } from "./tape-line.ts";
import { TAPE_LIMITS } from "./tape-limits.ts";

/** Records every exchange of a `Fetch`: what is asked, the head, the body as it is pulled, and how it ends. */
export function recordFetch(seam: Fetch, desk: RecorderContext): Fetch {
  const { log, redactor } = desk;
  return async (request) => {
    const id = desk.nextId();
    // The headers first: their keys are secrets from now on.
    const headers = redactor.headers(request.headers);
    const { method, signal } = request;
    const body = keepBody(request.body, desk);
    const url = redactor.text(request.url);
    log.add({ type: "request", id, method, url, headers, ...(body !== undefined && { body }) }, desk.place());
    try {
      const response = await seam(request);
      const { status } = response;
      log.add({ type: "head", id, status, headers: redactor.headers(response.headers) }, desk.place());
      return { ...response, body: recordBody(response.body, { id, signal, desk, mask: redactor.stream() }) };
    } catch (thrown) {
      // An abort is on the tape already, as what it was.
      if (signal?.aborted !== true) {
        log.add({ type: "no-answer", id, failure: keepFailure(thrown, redactor.text) }, desk.place());
      }
      throw thrown;
    }
  };
}

interface BodyRecording {
  readonly id: number;
  readonly signal: AbortSignal | undefined;
  readonly desk: RecorderContext;
  readonly mask: StreamMask;
}

function recordBody(body: AsyncIterable<Uint8Array>, recording: BodyRecording): AsyncIterable<Uint8Array> {
  const { id, signal, desk, mask } = recording;
  const settle = (): void => {
    mask.settle(true);
    desk.log.flush();
  };
  return {
    [Symbol.asyncIterator]() {
      const pieces = body[Symbol.asyncIterator]();
      return {
        async next() {
          try {
            const pulled = await pieces.next();
            if (pulled.done === true) {
              settle();
              desk.log.add({ type: "body-end", id }, desk.place());
            } else {
              desk.log.addPiece({ type: "body", id }, desk.place(), pulled.value, mask);
            }
            return pulled;
          } catch (thrown) {
            settle();
            if (signal?.aborted !== true) {
              const failure = keepFailure(thrown, desk.redactor.text);
              desk.log.add({ type: "body-break", id, failure }, desk.place());
            }
            throw thrown;
          }
        },
        async return() {
          settle();
          await pieces.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

function keepBody(body: HttpRequest["body"], { redactor }: RecorderContext): TapeBytes | TapeDigest | undefined {
  if (body === undefined) return undefined;
  const kept = typeof body === "string" ? { text: redactor.text(body) } : keepBytes(coverBytes(body, redactor));
  if (!("text" in kept) || kept.text.length <= TAPE_LIMITS.keptCharacters) return kept;
  return { length: kept.text.length, sum: sumOf(kept.text) };
}

function coverBytes(bytes: Uint8Array, redactor: RecorderContext["redactor"]): Uint8Array {
  const mask = redactor.stream();
  const piece = mask.push(bytes);
  mask.settle(true);
  return piece.bytes;
}
