import type { AgentEvent } from "../../../src/domain/index.ts";
import { isPassing, send } from "./http.ts";
import { createSseReader } from "./sse.ts";

/** The server sends a heartbeat every 15 seconds; after three missing ones the connection is considered lost. */
const LONGEST_SILENCE_MS = 45_000;
const LONGEST_PAUSE_MS = 10_000;

export interface Following {
  readonly runId: string;
  /** The last event that the reader has. */
  readonly cursor: () => number;
  readonly onEvents: (events: readonly AgentEvent[]) => void;
  readonly onConnection: (isLost: boolean) => void;
  readonly signal: AbortSignal;
}

export type Follow = typeof follow;

/**
 * Reads a run's events from a cursor on until the run is over. After every break it reconnects at its cursor, with
 * increasing delays. @throws ApiFailure if the server's answer shows that reconnecting is useless.
 */
export async function follow(following: Following): Promise<void> {
  const { signal, onConnection } = following;
  let failures = 0;
  while (!signal.aborted) {
    const before = following.cursor();
    const isOver = await readOnce(following).catch((error: unknown) => {
      if (!signal.aborted && !isPassing(error) && !isBroken(error)) throw error;
      return false;
    });
    if (isOver || signal.aborted) return;
    failures = following.cursor() > before ? 1 : failures + 1;
    onConnection(true);
    await pause(pauseBefore(failures, Math.random()), signal);
  }
}

/** Doubles with every consecutive failure; randomly shortened, so that many readers do not reconnect at once. */
export function pauseBefore(failures: number, chance: number): number {
  return Math.min(LONGEST_PAUSE_MS, 250 * 2 ** Math.min(failures, 8)) * (0.5 + chance / 2);
}

/** A connection that broke while it was read is a TypeError of the browser, or our own abort after silence. */
function isBroken(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof DOMException && error.name === "AbortError");
}

/** Returns whether the run is over. */
async function readOnce({ runId, cursor, onEvents, onConnection, signal }: Following): Promise<boolean> {
  const silence = new AbortController();
  const either = AbortSignal.any([signal, silence.signal]);
  const response = await send("GET", `/api/runs/${runId}/events?after=${cursor()}`, undefined, either);
  if (response.status === 204) return true;
  if (response.body === null) return false;
  onConnection(false);
  const read = createSseReader();
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  for (;;) {
    const timer = setTimeout(() => silence.abort(), LONGEST_SILENCE_MS);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return false;
    const events = read(decoder.decode(value, { stream: true })).map(({ data }) => JSON.parse(data) as AgentEvent);
    if (events.length > 0) onEvents(events);
    if (events.at(-1)?.type === "done") return true;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", over);
      removeEventListener("online", over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    signal.addEventListener("abort", over);
    addEventListener("online", over);
  });
}
