import { parseJson } from "#wire";
import type { ApiRequest } from "./request.ts";

/** A request that the server received, kept for inspection. */
export interface ReceivedRequest {
  readonly method: string;
  /** With the query; a key in it is hidden. */
  readonly path: string;
  /** With names in lower case; keys and cookies are hidden. */
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed body; the text itself if it is not JSON; `undefined` if there is none. */
  readonly body: unknown;
}

export interface RequestLog {
  add(request: ApiRequest): void;
  /** The newest requests, oldest first. */
  list(): readonly ReceivedRequest[];
}

const MAX_REQUESTS = 1000;
const MAX_BYTES = 64 * 1024 * 1024;
const HIDDEN = "[hidden]";
const SECRET_HEADERS: ReadonlySet<string> = new Set([
  "x-api-key",
  "authorization",
  "x-goog-api-key",
  "proxy-authorization",
  "cookie",
]);

/** Keeps the newest requests: at most 1000, and no more than 64 MB of bodies. */
export function createRequestLog(): RequestLog {
  let kept: { readonly request: ReceivedRequest; readonly bytes: number }[] = [];
  let total = 0;
  return {
    add(request) {
      const bytes = request.body.length;
      kept.push({ request: keep(request), bytes });
      total += bytes;
      let drop = Math.max(0, kept.length - MAX_REQUESTS);
      for (const entry of kept.slice(0, drop)) total -= entry.bytes;
      while (total > MAX_BYTES && drop < kept.length - 1) {
        total -= kept[drop]?.bytes ?? 0;
        drop += 1;
      }
      if (drop > 0) kept = kept.slice(drop);
    },
    list: () => kept.map((entry) => entry.request),
  };
}

function keep(request: ApiRequest): ReceivedRequest {
  const query = new URLSearchParams(request.query);
  if (query.has("key")) query.set("key", HIDDEN);
  const headers = Object.entries(request.headers).map(([name, value]) => [
    name,
    SECRET_HEADERS.has(name) ? HIDDEN : value,
  ]);
  return {
    method: request.method,
    path: query.size === 0 ? request.path : `${request.path}?${query.toString()}`,
    headers: Object.fromEntries(headers),
    body: request.body.length === 0 ? undefined : readBody(request.body),
  };
}

function readBody(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes);
  const parsed = parseJson(text);
  return parsed.fault === undefined ? parsed.value : text;
}
