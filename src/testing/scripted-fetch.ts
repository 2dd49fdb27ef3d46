import { checkNames, type Fetch, type HttpRequest } from "#domain";
import { followSignal } from "#streams";
import type { Bytes } from "./scripted-steps.ts";

/** One step in the body of a scripted response. */
export type BodyStep =
  /** The next piece, as it would arrive from the socket. */
  | Bytes
  /** The connection breaks here. */
  | { readonly break: Error }
  /** Nothing more arrives until the request is aborted. */
  | { readonly stall: true };

/** The response to one request, or the failure instead of it. */
export type FetchReply =
  | {
      /** Default 200. */
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: readonly BodyStep[];
    }
  | { readonly fail: Error }
  /** No response until the request is aborted. */
  | { readonly stall: true };

/** A received request, with its body as text. */
export interface RecordedRequest extends Omit<HttpRequest, "body" | "signal"> {
  readonly body: string;
}

/** Replies, one per request, or a function that creates one. */
export type FetchScript = readonly FetchReply[] | ((request: RecordedRequest, call: number) => FetchReply);

/** A `Fetch` that opens no connection and records its requests. */
export interface ScriptedFetch extends Fetch {
  readonly requests: readonly RecordedRequest[];
}

/**
 * Creates a `Fetch` that answers from a script. Aborting works at every point, as with the real one.
 *
 * @example
 * const fetch = createScriptedFetch([{ body: ["data: {}\n\n", { break: new Error("reset") }] }])
 */
export function createScriptedFetch(script: FetchScript): ScriptedFetch {
  if (typeof script !== "function") for (const [index, reply] of script.entries()) checkReply(reply, index);
  const requests: RecordedRequest[] = [];
  const fetch: Fetch = async (request) => {
    request.signal?.throwIfAborted();
    const recorded = record(request);
    const call = requests.push(recorded) - 1;
    const reply = typeof script === "function" ? script(recorded, call) : script[call];
    if (reply === undefined) throw new Error(`The script has no reply for request ${call + 1} to ${request.url}.`);
    checkReply(reply, call);
    if ("fail" in reply) throw reply.fail;
    if ("stall" in reply) return await untilAborted(request.signal);
    return {
      status: reply.status ?? 200,
      headers: { ...reply.headers },
      body: play(reply.body ?? [], request.signal),
    };
  };
  return Object.assign(fetch, { requests });
}

/** A misspelt name would have no effect, and the test would pass for the wrong reason. */
function checkReply(reply: FetchReply, index: number): void {
  checkNames(reply, ["status", "headers", "body", "fail", "stall"], `script[${index}].`);
  for (const [at, step] of ("body" in reply ? (reply.body ?? []) : []).entries()) {
    if (typeof step === "string" || step instanceof Uint8Array) continue;
    checkNames(step, ["break", "stall"], `script[${index}].body[${at}].`);
  }
}

async function* play(steps: readonly BodyStep[], signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  for (const step of steps) {
    signal?.throwIfAborted();
    if (typeof step === "string") yield new TextEncoder().encode(step);
    else if (step instanceof Uint8Array) yield step;
    else if ("break" in step) throw step.break;
    else await untilAborted(signal);
  }
}

function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal !== undefined) followSignal(signal, reject);
  });
}

function record({ method, url, headers, body }: HttpRequest): RecordedRequest {
  const text = body === undefined ? "" : typeof body === "string" ? body : new TextDecoder().decode(body);
  return { method, url, headers: { ...headers }, body: text };
}
