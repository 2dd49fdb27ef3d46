import { type AgentEvent, checkNames, checkOptionNames, type Clock, StartError } from "#domain";
import type { ResponseOptions, TextResponseOptions } from "./run.ts";
import { createTextReader, failureOf } from "./run-text.ts";

/** A run as far as an answer is concerned. */
interface RunEvents extends AsyncIterable<AgentEvent> {
  readonly id: string;
}

const COMMON_HEADERS = {
  // `no-transform`, and the other for nginx: a proxy that packs or buffers the stream would hold it back.
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
  "x-content-type-options": "nosniff",
} as const;

/** After so long a silence a comment is sent: proxies take a silent connection for a dead one. */
const HEARTBEAT_MS = 15_000;
const HEARTBEAT = ": ping\n\n";

// Named here too: the views are loaded with the first stream that is told in another vocabulary.
const REPORT_NAMES = ["artifactOf", "documentsOf"] satisfies (keyof NonNullable<ResponseOptions["reports"]>)[];
const VOCABULARIES = ["millrace", "runner", "chat"] as const;

/** Tells events as text, piece by piece. Throws to break the answer off. */
type FrameEncoder = (event: AgentEvent) => string;

/** A run's events as server-sent events. */
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
    // Loaded with the first answer: a run that nobody sends anywhere needs none of it.
    openTeller: async () => {
      const frames = (await import("#views")).createSseFrames(vocabulary, options.reports);
      return (event) => frames.next(event).join("");
    },
  });
  return respond(run, body, "text/event-stream; charset=utf-8", options);
}

/** A run's text. A run that fails breaks the body off: half an answer must not look like a whole one. */
export function textResponse(run: RunEvents, clock: Clock, options: TextResponseOptions = {}): Response {
  checkOptionNames(options, ["headers"] satisfies (keyof TextResponseOptions)[], "toTextResponse");
  const body = streamOf(run, {
    clock,
    heartbeat: undefined,
    openTeller: async () => {
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
  /** Sent in silence; nothing where the format has no place for it. */
  readonly heartbeat: string | undefined;
  readonly openTeller: () => Promise<FrameEncoder>;
}

/**
 * A stream that reads the run as fast as it is read itself: a slow client slows the model down. A client that leaves
 * aborts the run, unless it is detached.
 */
function streamOf(run: RunEvents, { clock, heartbeat, openTeller }: StreamOptions): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const events = run[Symbol.asyncIterator]();
  let teller: FrameEncoder | undefined;
  /** A read that was begun and has not been answered: a heartbeat may come before it. */
  let pending: Promise<IteratorResult<AgentEvent, unknown>> | undefined;

  const nextText = async (): Promise<string | undefined> => {
    for (;;) {
      pending ??= events.next();
      const step = heartbeat === undefined ? await pending : await beforeSilence(pending, clock);
      if (step === "silent") return heartbeat;
      pending = undefined;
      if (step.done === true) return undefined;
      teller ??= await openTeller();
      const text = teller(step.value);
      if (text !== "") return text;
    }
  };

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const text = await nextText();
        if (text === undefined) controller.close();
        else controller.enqueue(encoder.encode(text));
      },
      async cancel() {
        await events.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** The value, or that it took too long to wait for. */
function beforeSilence<Value>(value: Promise<Value>, clock: Clock): Promise<Value | "silent"> {
  return new Promise((resolve, reject) => {
    const takeBack = clock.after(HEARTBEAT_MS, () => resolve("silent"));
    value.then((given) => {
      takeBack();
      resolve(given);
    }, reject);
  });
}
