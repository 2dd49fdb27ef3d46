import type { Fetch, HttpRequest } from "#domain";
import type { RecorderContext } from "./recorder-context.ts";
import type { StreamMask } from "#secrets";
import { TAPE_LIMITS, type TapeBytes, type TapeDigest } from "./tape.ts";
import { digestOf, keepBytes, keepFailure } from "./tape-line.ts";

/** Records every exchange of a `Fetch`: the request, the head, the body as it is pulled, and how it ends. */
export function recordFetch(seam: Fetch, context: RecorderContext): Fetch {
  const { log, redactor } = context;
  return async (request) => {
    const id = context.nextId();
    // The headers first: the keys in them are masked from now on.
    const headers = redactor.headers(request.headers);
    const { method, signal } = request;
    const body = keepBody(request.body, context);
    const url = redactor.text(request.url);
    log.add({ type: "request", id, method, url, headers, ...(body !== undefined && { body }) }, context.place());
    try {
      const response = await seam(request);
      const { status } = response;
      log.add({ type: "head", id, status, headers: redactor.headers(response.headers) }, context.place());
      return { ...response, body: recordBody(response.body, { id, signal, context, mask: redactor.stream() }) };
    } catch (thrown) {
      // An abort is already on the tape as an entry of its own.
      if (signal?.aborted !== true) {
        log.add({ type: "no-answer", id, failure: keepFailure(thrown, redactor.text) }, context.place());
      }
      throw thrown;
    }
  };
}

interface BodyRecording {
  readonly id: number;
  readonly signal: AbortSignal | undefined;
  readonly context: RecorderContext;
  readonly mask: StreamMask;
}

function recordBody(body: AsyncIterable<Uint8Array>, recording: BodyRecording): AsyncIterable<Uint8Array> {
  const { id, signal, context, mask } = recording;
  const settle = (): void => {
    mask.settle(true);
    context.log.flush();
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
              context.log.add({ type: "body-end", id }, context.place());
            } else {
              context.log.addPiece({ type: "body", id }, context.place(), pulled.value, mask);
            }
            return pulled;
          } catch (thrown) {
            settle();
            if (signal?.aborted !== true) {
              const failure = keepFailure(thrown, context.redactor.text);
              context.log.add({ type: "body-break", id, failure }, context.place());
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
  return digestOf(kept.text);
}

function coverBytes(bytes: Uint8Array, redactor: RecorderContext["redactor"]): Uint8Array {
  const mask = redactor.stream();
  const piece = mask.push(bytes);
  mask.settle(true);
  return piece.bytes;
}
