import type { Context } from "hono";
import { describeThrown, isId } from "#domain";
import type { AuditEntry, EventLog, Store, StoredRun, StoredThread } from "#sessions";
import { ApiError } from "./api-error.ts";
import type { StreamSetting } from "./event-stream.ts";
import type { LiveRuns } from "./live-runs.ts";
import type { Metrics } from "./metrics.ts";
import type { OtherNodes } from "./other-nodes.ts";
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
  /** The other nodes of this queue. */
  readonly others: OtherNodes;
  /** Open event streams. */
  readonly openStreams: { readonly bySource: Map<string, number>; readonly byTenant: Map<string, number> };
  /** Whether the store answers now. */
  readonly storeAnswers: () => Promise<boolean>;
  readonly isClosing: () => boolean;
}

/** The types of a request in hono. The checks set the variables. */
export interface ServerEnv {
  readonly Variables: {
    /** The tenant of the request's token; empty without a valid one. */
    tenant: string;
    address: string;
    /**
     * The key under which limits are counted: the address and its tenant, so that tenants behind one proxy do not share
     * them.
     */
    source: string;
  };
  readonly Bindings: {
    readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
  };
}

export type ServerContext = Context<ServerEnv>;

/**
 * Reads an id from the path.
 * @throws ApiError 400 for an invalid id, without a lookup.
 */
export function readId(context: ServerContext, name: string): string {
  const id = context.req.param(name);
  if (isId(id)) return id;
  throw new ApiError("invalid-id", `The ${name} in the path must be 1 to 64 letters, digits, "-" or "_".`);
}

/**
 * The thread of a request.
 * @throws ApiError 404, also for another tenant's thread.
 */
export async function requireThread(context: ServerContext, { store }: ServerParts): Promise<StoredThread> {
  const id = readId(context, "threadId");
  const thread = await store.findThread(context.get("tenant"), id);
  if (thread === undefined) throw new ApiError("not-found", `There is no thread ${id}.`);
  return thread;
}

/**
 * The run of a request.
 * @throws ApiError 404, also for another tenant's run.
 */
export async function requireRun(context: ServerContext, { store }: ServerParts): Promise<StoredRun> {
  const id = readId(context, "runId");
  const run = await store.findRun(context.get("tenant"), id);
  if (run === undefined) throw new ApiError("not-found", `There is no run ${id}.`);
  return run;
}

/** Records an action in the audit. The action stands even if this fails; then it is in the server's own log. */
export async function noteAction({ store, write, metrics }: ServerParts, entry: AuditEntry): Promise<void> {
  try {
    await store.addAudit(entry);
  } catch (error) {
    metrics.failures.add("store");
    write("error", "audit-not-stored", { ...entry, message: describeThrown(error) });
  }
}

/** A thread as it is sent: without its tenant, which is the sender's own. */
export function showThread({ tenant: _, ...thread }: StoredThread): Omit<StoredThread, "tenant"> {
  return thread;
}
