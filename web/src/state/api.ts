import type { AgentEvent, Message, Usage } from "../../../src/domain/index.ts";
import { createSseReader } from "./sse.ts";

export interface Thread {
  readonly id: string;
  readonly title: string;
  readonly target: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly usage?: Usage;
  readonly costUsd?: number;
  readonly runId?: string;
}

export interface RunSummary {
  readonly id: string;
  readonly status: string;
  readonly lastSeq: number;
}

export interface Conversation {
  readonly thread: Thread;
  readonly messages: readonly Message[];
  readonly runs: readonly RunSummary[];
}

export interface BackendChoice {
  readonly target: string;
  readonly kind: string;
  readonly available: boolean;
  readonly reason?: string;
}

/** A request the server refused, or that never reached it. */
export class ApiFailure extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const TOKEN = "millrace-token";

export const readToken = (): string | null => sessionStorage.getItem(TOKEN);
export const keepToken = (token: string): void => sessionStorage.setItem(TOKEN, token);

/** The server's API as this page uses it. */
export const api = {
  backends: () => ask<{ default: string; backends: BackendChoice[] }>("GET", "/api/backends"),
  threads: (search: string, before?: string) =>
    ask<{ threads: Thread[]; next?: string }>("GET", `/api/threads?${query({ q: search, limit: "50", before })}`),
  createThread: (target: string) => ask<Thread>("POST", "/api/threads", { target }),
  conversation: (id: string) => ask<Conversation>("GET", `/api/threads/${id}`),
  rename: (id: string, title: string) => ask<Thread>("PATCH", `/api/threads/${id}`, { title }),
  remove: (id: string) => ask<unknown>("DELETE", `/api/threads/${id}`),
  abort: (runId: string) => ask<unknown>("POST", `/api/runs/${runId}/abort`, {}),
  answer: (runId: string, callId: string, decision: { allow: boolean; reason?: string }) =>
    ask<{ accepted: boolean }>("POST", `/api/runs/${runId}/permissions/${encodeURIComponent(callId)}`, decision),
  exported: async (id: string): Promise<Blob> => (await send("GET", `/api/threads/${id}/export?format=markdown`)).blob(),
  /** Asks a question. The answer's events come through `follow`; this resolves as soon as the run has begun. */
  async chat(id: string, input: string): Promise<string> {
    const response = await send("POST", `/api/threads/${id}/chat`, { input });
    // The run goes on without this reader: what it does is followed by its id, the same way as after a reload.
    await response.body?.cancel();
    return response.headers.get("x-run-id") ?? "";
  },
};

/**
 * Reads a run's events from a cursor on, and comes back after every break until the run is over. Every event is given
 * once and in order, as far as the caller's cursor says what it has seen.
 */
export async function follow(
  runId: string,
  cursor: () => number,
  onEvents: (events: readonly AgentEvent[]) => void,
  onState: (state: "live" | "lost") => void,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    try {
      const isOver = await readOnce(runId, cursor(), onEvents, () => {
        failures = 0;
        onState("live");
      }, signal);
      if (isOver) return;
      failures += 1;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiFailure && error.code !== "unreachable" && error.code !== "shutting-down") throw error;
      failures += 1;
    }
    onState("lost");
    await pause(Math.min(10_000, 300 * 2 ** Math.min(failures, 6)) * (0.5 + Math.random() / 2), signal);
  }
}

async function readOnce(
  runId: string,
  after: number,
  onEvents: (events: readonly AgentEvent[]) => void,
  onLive: () => void,
  signal: AbortSignal,
): Promise<boolean> {
  const response = await send("GET", `/api/runs/${runId}/events?after=${after}`, undefined, signal);
  if (response.status === 204) return true;
  if (response.body === null) return false;
  onLive();
  const read = createSseReader();
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return false;
    const events = read(decoder.decode(value, { stream: true })).map((frame) => JSON.parse(frame.data) as AgentEvent);
    if (events.length > 0) onEvents(events);
    if (events.some((event) => event.type === "done")) return true;
  }
}

async function ask<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await send(method, path, body);
  return (response.status === 204 ? undefined : await response.json()) as Answer;
}

async function send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const token = readToken();
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers: {
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(token !== null && { authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
  } catch {
    throw new ApiFailure("unreachable", "The server cannot be reached.");
  }
  if (response.ok) return response;
  const told = (await response.json().catch(() => ({}))) as { error?: { code?: string; message?: string } };
  throw new ApiFailure(told.error?.code ?? `http-${response.status}`, told.error?.message ?? `The server said ${response.status}.`);
}

function query(fields: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== "");
  return new URLSearchParams(given).toString();
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}
