import { type AgentEvent, checkNames, checkOptionNames, type Clock, StartError } from "#domain";
import type { ResponseOptions, TextResponseOptions } from "./run.ts";
import { createTextReader, failureOf } from "./text.ts";

/** The part of a run that a response needs. */
interface RunEvents extends AsyncIterable<AgentEvent> {
  readonly id: string;
}

const COMMON_HEADERS = {
  // `no-transform`, and `x-accel-buffering` for nginx: a proxy that compresses or buffers the stream would delay it.
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
  "x-content-type-options": "nosniff",
} as const;

/** After this much silence a comment is sent, because proxies close idle connections. */
const HEARTBEAT_MS = 15_000;
const HEARTBEAT = ": ping\n\n";

// Repeated here, because `#views` is loaded only when a stream needs it.
const REPORT_NAMES = ["artifactOf", "documentsOf"] satisfies (keyof NonNullable<ResponseOptions["reports"]>)[];
const VOCABULARIES = ["millrace", "runner", "chat"] as const;

/** Encodes an event as text. Throws to end the response with an error. */
type FrameEncoder = (event: AgentEvent) => string;

/** Returns a run's events as server-sent events. */
export function eventResponse(run: RunEvents, clock: Clock, options: ResponseOptions = {}): Response {
  checkOptionNames(options, ["events", "reports", "headers"] satisfies (keyof ResponseOptions)[], "toResponse");
  checkNames(options.reports ?? {}, REPORT_NAMES, "reports.");
  const vocabulary = options.events ?? "millrace";
  if (!VOCABULARIES.includes(vocabulary)) {
    throw new StartError(
      "invalid-option",
      `events is ${JSON.stringify(vocabulary)}. Give one of: ${VOCABULARIES.join(", ")}.`,
    );
  }
  const body = streamOf(run, {
    clock,
    heartbeat: HEARTBEAT,
    // Loaded with the first response: a run that is not sent anywhere does not need it.
    openEncoder: async () => {
      const frames = (await import("#views")).createSseFrames(vocabulary, options.reports);
      return (event) => frames.next(event).join("");
    },
  });
  return respond(run, body, "text/event-stream; charset=utf-8", options);
}

/**
 * Returns a run's text. If the run fails, the body ends with an error: half an answer must not look like a whole one.
 */
export function textResponse(run: RunEvents, clock: Clock, options: TextResponseOptions = {}): Response {
  checkOptionNames(options, ["headers"] satisfies (keyof TextResponseOptions)[], "toTextResponse");
  const body = streamOf(run, {
    clock,
    heartbeat: undefined,
    openEncoder: async () => {
      const reader = createTextReader();
      return (event) => {
        const failure = event.type === "done" ? failureOf(event.result) : undefined;
        if (failure !== undefined) throw failure;
        return reader.next(event);
      };
    },
  });
  return respond(run, body, "text/plain; charset=utf-8", options);
}

function respond(
  run: RunEvents,
  body: ReadableStream<Uint8Array>,
  type: string,
  { headers = {} }: TextResponseOptions,
): Response {
  const all = new Headers({ "content-type": type, ...COMMON_HEADERS, "x-run-id": run.id });
  for (const [name, value] of Object.entries(headers)) all.set(name, value);
  return new Response(body, { headers: all });
}

interface StreamOptions {
  readonly clock: Clock;
  /** Sent during silence. `undefined` if the format has no place for it. */
  readonly heartbeat: string | undefined;
  readonly openEncoder: () => Promise<FrameEncoder>;
}

/**
 * A stream that reads the run only as fast as it is read itself: a slow client slows down the model. A client that
 * disconnects aborts the run, unless the run is detached.
 */
function streamOf(run: RunEvents, { clock, heartbeat, openEncoder }: StreamOptions): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder();
  const events = run[Symbol.asyncIterator]();
  let encoder: FrameEncoder | undefined;
  /** A read that has not settled yet. A heartbeat may be sent before it does. */
  let pending: Promise<IteratorResult<AgentEvent, unknown>> | undefined;

  const nextText = async (): Promise<string | undefined> => {
    for (;;) {
      pending ??= events.next();
      const step = heartbeat === undefined ? await pending : await beforeSilence(pending, clock);
      if (step === "silent") return heartbeat;
      pending = undefined;
      if (step.done === true) return undefined;
      encoder ??= await openEncoder();
      const text = encoder(step.value);
      if (text !== "") return text;
    }
  };

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const text = await nextText();
        if (text === undefined) controller.close();
        else controller.enqueue(utf8.encode(text));
      },
      async cancel() {
        await events.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Resolves with the value, or with `"silent"` if it does not arrive within `HEARTBEAT_MS`. */
function beforeSilence<Value>(value: Promise<Value>, clock: Clock): Promise<Value | "silent"> {
  return new Promise((resolve, reject) => {
    const takeBack = clock.after(HEARTBEAT_MS, () => resolve("silent"));
    value.then((given) => {
      takeBack();
      resolve(given);
    }, reject);
  });
}
