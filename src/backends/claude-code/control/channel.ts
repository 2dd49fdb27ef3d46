import { type Clock, describeThrown, RunError } from "#domain";
import { createDeferred, type Deferred, handled } from "#streams";
import { type JsonRecord, ownString } from "#wire";
import { type ControlFrame, refusalLine, requestLine, responseLine } from "./control-frame.ts";

/** How long the CLI may take to answer a request. Old versions never answer an unknown request. */
export const CONTROL_REQUEST_MS = 60_000;

/** The maximum number of pending requests of the CLI: more than any model causes, but bounded. */
const MAX_INCOMING = 1000;

/**
 * Answers a request of the CLI. `undefined`: it needs no answer. The signal is aborted when the request is cancelled.
 */
export type IncomingAnswer = (request: JsonRecord, signal: AbortSignal) => Promise<JsonRecord | undefined>;

export interface ChannelOptions {
  readonly clock: Clock;
  /** Writes whole lines to the CLI. Never throws: a CLI that no longer reads is noticed by its exit. */
  readonly write: (lines: string) => void;
  readonly answer: IncomingAnswer;
  /** The answer to a request that is pending when the channel closes: the CLI might treat an open question as a yes. */
  readonly denialOf?: (request: JsonRecord) => JsonRecord | undefined;
  /** Called when we begin to owe the CLI answers, and when none is left: meanwhile its silence is our doing. */
  readonly onBusy?: (isBusy: boolean) => void;
  readonly timeoutMs?: number;
}

/** A prepared request: the line to write, and the answer to await. */
export interface PreparedRequest {
  readonly line: string;
  /** Rejects with `RunError` (`control-failed`): refused, timed out, or the process is gone. Rejections are handled. */
  readonly answer: Promise<JsonRecord>;
}

/**
 * Matches requests with responses, in both directions, over one process. Answers may come in any order; a late, unknown
 * or second answer is ignored. A refused request affects no other.
 */
export interface ControlChannel {
  request(request: JsonRecord): Promise<JsonRecord>;
  /** Prepares a request that is written together with something else; its time-out starts now. */
  prepare(request: JsonRecord): PreparedRequest;
  receive(frame: ControlFrame): void;
  /** The process is gone: rejects pending requests, and answers nothing any more. Idempotent. */
  close(why: string): void;
  readonly isBusy: boolean;
}

export function createControlChannel(options: ChannelOptions): ControlChannel {
  const timeoutMs = options.timeoutMs ?? CONTROL_REQUEST_MS;
  const outgoing = new Map<string, { readonly answer: Deferred<JsonRecord>; readonly stopClock: () => void }>();
  const incoming = new Map<string, { readonly controller: AbortController; readonly request: JsonRecord }>();
  let lastId = 0;
  let closedBecause: string | undefined;

  const settle = (requestId: string, result: JsonRecord | RunError): void => {
    const waiting = outgoing.get(requestId);
    if (waiting === undefined) return;
    outgoing.delete(requestId);
    waiting.stopClock();
    if (result instanceof RunError) waiting.answer.reject(result);
    else waiting.answer.resolve(result);
  };

  const prepare = (request: JsonRecord): PreparedRequest => {
    lastId += 1;
    const requestId = `millrace-${lastId}`;
    const answer = createDeferred<JsonRecord>();
    const subtype = ownString(request, "subtype") ?? "request";
    if (closedBecause !== undefined) {
      answer.reject(failed(`${subtype} could not be sent: ${closedBecause}`));
      return { line: "", answer: handled(answer.promise) };
    }
    const stopClock = options.clock.after(timeoutMs, () => {
      settle(requestId, failed(`Claude Code did not answer ${subtype} within ${timeoutMs} ms.`));
    });
    outgoing.set(requestId, { answer, stopClock });
    return { line: requestLine(requestId, request), answer: handled(answer.promise) };
  };

  const finish = (requestId: string, controller: AbortController, line: string | undefined): void => {
    if (incoming.get(requestId)?.controller !== controller) return;
    incoming.delete(requestId);
    if (line !== undefined && closedBecause === undefined) options.write(line);
    if (incoming.size === 0) options.onBusy?.(false);
  };

  const answerRequest = async (requestId: string, request: JsonRecord): Promise<void> => {
    // An id in use, or too many requests: the CLI gets a refusal, and a tool that depends on it does not run.
    if (incoming.has(requestId)) return;
    if (incoming.size >= MAX_INCOMING) {
      options.write(refusalLine(requestId, "Too many requests at once"));
      return;
    }
    const controller = new AbortController();
    incoming.set(requestId, { controller, request });
    if (incoming.size === 1) options.onBusy?.(true);
    try {
      const response = await options.answer(request, controller.signal);
      finish(requestId, controller, response === undefined ? undefined : responseLine(requestId, response));
    } catch (thrown) {
      finish(requestId, controller, refusalLine(requestId, describeThrown(thrown)));
    }
  };

  const withdraw = (requestId: string): void => {
    const waiting = incoming.get(requestId);
    if (waiting === undefined) return;
    finish(requestId, waiting.controller, undefined);
    waiting.controller.abort();
  };

  return {
    prepare,
    request(request) {
      const { line, answer } = prepare(request);
      if (line !== "") options.write(line);
      return answer;
    },
    receive(frame) {
      if (closedBecause !== undefined) return;
      switch (frame.kind) {
        case "request":
          answerRequest(frame.requestId, frame.request).catch(() => undefined);
          return;
        case "response":
          settle(frame.requestId, frame.response);
          return;
        case "refusal":
          settle(frame.requestId, failed(`Claude Code refused: ${frame.error}`));
          return;
        case "cancel":
          withdraw(frame.requestId);
          return;
        default:
          return;
      }
    },
    close(why) {
      if (closedBecause !== undefined) return;
      for (const [requestId, { request }] of incoming) {
        const denial = options.denialOf?.(request);
        if (denial !== undefined) options.write(responseLine(requestId, denial));
      }
      closedBecause = why;
      for (const requestId of [...outgoing.keys()]) settle(requestId, failed(why));
      for (const requestId of [...incoming.keys()]) withdraw(requestId);
    },
    get isBusy() {
      return incoming.size > 0;
    },
  };
}

function failed(message: string): RunError {
  return new RunError("control-failed", message);
}
