import type { Context } from "hono";
import { describeThrown, isId } from "#domain";
import type { AuditEntry, EventLog, Store, StoredRun, StoredThread } from "#sessions";
import { ApiError } from "./api-error.ts";
import type { StreamSetting } from "./event-stream.ts";
import type { LiveRuns } from "./live-runs.ts";
import type { Metrics } from "./metrics.ts";
import type { Settings } from "./options.ts";
import type { Readiness } from "./readiness.ts";
import type { WriteLog } from "./server-log.ts";
import type { StorageQuota } from "./storage-quota.ts";
import type { WarmThreads } from "./warm-threads.ts";

/** What the routes of one server share. */
export interface ServerParts {
  readonly store: Store;
  readonly log: EventLog;
  readonly runs: LiveRuns;
  readonly warm: WarmThreads;
  readonly settings: Settings;
  readonly metrics: Metrics;
  readonly quota: StorageQuota;
  readonly readiness: Readiness;
  readonly write: WriteLog;
  readonly streams: StreamSetting;
  /** Open event streams, by source. */
  readonly openStreams: Map<string, number>;
  readonly isClosing: () => boolean;
}

/** hono's words for our request. The guard sets the variables. */
export interface ServerEnv {
  readonly Variables: {
    /** Whose token the request carries; empty when it is nobody's. */
    tenant: string;
    address: string;
    /** Who limits are counted for: the address and its tenant, so that tenants behind one proxy do not share them. */
    source: string;
  };
  readonly Bindings: {
    readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
  };
}

export type ServerContext = Context<ServerEnv>;

/** An id in the path. @throws ApiError 400: what is no id is not even looked for. */
export function readId(context: ServerContext, name: string): string {
  const id = context.req.param(name);
  if (isId(id)) return id;
  throw new ApiError("invalid-id", `The ${name} in the path must be 1 to 64 letters, digits, "-" or "_".`);
}

/** The thread a request is about. @throws ApiError 404 also for another tenant's. */
export async function requireThread(context: ServerContext, { store }: ServerParts): Promise<StoredThread> {
  const id = readId(context, "threadId");
  const thread = await store.findThread(context.get("tenant"), id);
  if (thread === undefined) throw new ApiError("not-found", `There is no thread ${id}.`);
  return thread;
}

/** The run a request is about. @throws ApiError 404 also for another tenant's. */
export async function requireRun(context: ServerContext, { store }: ServerParts): Promise<StoredRun> {
  const id = readId(context, "runId");
  const run = await store.findRun(context.get("tenant"), id);
  if (run === undefined) throw new ApiError("not-found", `There is no run ${id}.`);
  return run;
}

/** Notes a deed that is done. It stays done when this fails; then the server's own log has it. */
export async function noteDeed({ store, write, metrics }: ServerParts, entry: AuditEntry): Promise<void> {
  try {
    await store.addAudit(entry);
  } catch (error) {
    metrics.failures.add("store");
    write("error", "audit-not-stored", { ...entry, message: describeThrown(error) });
  }
}

/** A thread as it is told: without its tenant, who is whoever asks. */
export function showThread({ tenant: _, ...thread }: StoredThread): Omit<StoredThread, "tenant"> {
  return thread;
}
