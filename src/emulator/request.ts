import { isRecord, type JsonRecord, parseJson } from "#wire";
import { Refusal } from "./refusal.ts";

/** The largest body that a vendor accepts. */
export const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** A request received by a socket or in process. */
export interface ApiRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** With names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Aborted when the other side has gone. */
  readonly signal: AbortSignal;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Throws `ConnectionBroken` where a fault breaks the connection. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** A fault broke the connection in the middle of a body. */
export class ConnectionBroken extends Error {
  override readonly name = "ConnectionBroken";
  readonly code = "ECONNRESET";

  constructor() {
    super("The connection was broken by the fault that was asked for (resetAfterBytes or resetAfterEvents).");
  }
}

/** The body of a request as a JSON object. Throws a `Refusal` for anything else. */
export function readJsonBody(request: ApiRequest, strict: boolean): JsonRecord {
  if (request.body.length > MAX_BODY_BYTES) {
    throw new Refusal("too-large", `The body has ${request.body.length} bytes; the limit is ${MAX_BODY_BYTES}.`);
  }
  const type = request.headers["content-type"] ?? "";
  if (strict && type.split(";")[0]?.trim().toLowerCase() !== "application/json") {
    throw new Refusal("invalid", `The content-type is "${type}". Send the body as application/json.`);
  }
  const parsed = parseJson(decodeText(request.body));
  if (parsed.fault !== undefined) {
    throw new Refusal("invalid", `The body is not JSON (${parsed.fault}). Send one JSON object.`);
  }
  if (!isRecord(parsed.value)) throw new Refusal("invalid", "The body is JSON, but no object. Send one JSON object.");
  return parsed.value;
}

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal("invalid", "The body is not UTF-8. Send one JSON object in UTF-8.");
  }
}
