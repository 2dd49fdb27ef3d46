import type { Message, Usage } from "../../../src/domain/index.ts";
import { ask, send } from "./http.ts";

export interface Thread {
  readonly id: string;
  readonly title: string;
  readonly target: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly usage?: Usage;
  readonly costUsd?: number;
  /** The active run. */
  readonly runId?: string;
}

export interface RunSummary {
  readonly id: string;
  /** `running`, or how it ended. */
  readonly status: string;
  readonly lastSeq: number;
}

export interface StoredConversation {
  readonly thread: Thread;
  readonly messages: readonly Message[];
  /** The latest first. */
  readonly runs: readonly RunSummary[];
}

/** A backend or an agent that can answer. */
export interface Target {
  readonly target: string;
  readonly kind: "agent" | "backend";
  readonly available: boolean;
  readonly reason?: string;
}

export interface Targets {
  readonly default: string;
  readonly backends: readonly Target[];
}

export interface ThreadPage {
  readonly threads: readonly Thread[];
  readonly next?: string;
}

export type ExportFormat = "markdown" | "jsonl";

/** The part of the server's API that this page uses. */
export const api = {
  backends: () => ask<Targets>("GET", "/api/backends"),
  threads: (search: string, limit: number, before?: string) =>
    ask<ThreadPage>("GET", `/api/threads?${queryOf({ q: search, limit: String(limit), before })}`),
  createThread: (target: string) => ask<Thread>("POST", "/api/threads", { target }),
  conversation: (id: string) => ask<StoredConversation>("GET", `/api/threads/${id}`),
  rename: (id: string, title: string) => ask<Thread>("PATCH", `/api/threads/${id}`, { title }),
  remove: (id: string) => ask<undefined>("DELETE", `/api/threads/${id}`),
  /** `node`: the server that works on the run, if several share the work. */
  run: (runId: string) => ask<{ readonly node?: string }>("GET", `/api/runs/${runId}`),
  abort: (runId: string) => ask<{ accepted: boolean }>("POST", `/api/runs/${runId}/abort`, {}),
  answer: (runId: string, callId: string, decision: { allow: boolean; reason?: string }) =>
    ask<{ accepted: boolean }>("POST", `/api/runs/${runId}/permissions/${encodeURIComponent(callId)}`, decision),
  async exported(id: string, format: ExportFormat): Promise<Blob> {
    return (await send("GET", `/api/threads/${id}/export?format=${format}`)).blob();
  },
  /** Asks a question. Resolves as soon as the run has begun; the run is then followed by its id, as after a reload. */
  async chat(id: string, input: string): Promise<void> {
    const response = await send("POST", `/api/threads/${id}/chat`, { input });
    await response.body?.cancel();
  },
};

export type Api = typeof api;

function queryOf(fields: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(fields).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return new URLSearchParams(given).toString();
}
