import { adviceFor } from "../../../src/domain/advice.ts";
import { storageKey } from "./storage.ts";

/** A request that the server refused, or that never reached it. */
export class ApiFailure extends Error {
  readonly code: string;
  /** 0: there was no answer. */
  readonly status: number;

  constructor(code: string, status: number, message: string) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** Whether a retry may succeed. */
export function isPassing(error: unknown): boolean {
  return error instanceof ApiFailure && (error.status === 0 || error.status === 429 || error.status >= 500);
}

const TOKEN = "token";

export const readToken = (): string | null => sessionStorage.getItem(storageKey(TOKEN));
/** Kept as long as this tab is open, and sent only to this server. */
export const keepToken = (token: string): void => sessionStorage.setItem(storageKey(TOKEN), token);

/** Sends a request and reads the answer as JSON. */
export async function ask<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await send(method, path, body);
  return (response.status === 204 ? undefined : await response.json()) as Answer;
}

/** Sends a request. @throws ApiFailure for everything except success. */
export async function send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  // Relative to the page, which may be below a prefix.
  const response = await fetch(`.${path}`, {
    method,
    headers: headersOf(body),
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  }).catch(() => {
    throw new ApiFailure("unreachable", 0, "The server cannot be reached. Is it still running?");
  });
  if (response.ok) return response;
  const told = (await response.json().catch(() => ({}))) as { error?: { code?: string; message?: string } };
  const { status } = response;
  throw new ApiFailure(
    told.error?.code ?? `http-${status}`,
    status,
    adviceFor("page", told.error?.message ?? `The server said ${status}.`),
  );
}

function headersOf(body: unknown): Record<string, string> {
  const token = readToken();
  return {
    ...(body !== undefined && { "content-type": "application/json" }),
    ...(token !== null && { authorization: `Bearer ${token}` }),
  };
}
