import { StartError } from "#domain";
import type { AuditEntry, Question, Store, StoredRun, StoredThread } from "../stores/store.ts";

/** A store that has the optional methods for copying. */
export type CopyableStore = Store &
  Required<Pick<Store, "listTenants" | "listFiles" | "restoreThread" | "replaceAudit">>;

/** @throws StartError if it lacks one of the optional methods for copying. */
export function requireCopyable(store: Store, which: "source" | "target"): CopyableStore {
  const missing = (["listTenants", "listFiles", "restoreThread", "replaceAudit"] as const).filter(
    (name) => store[name] === undefined,
  );
  if (missing.length === 0) return store as CopyableStore;
  throw new StartError("invalid-config", `The ${which} cannot be copied: its driver has no ${missing.join(", ")}.`);
}

/** Everything that has an id in a store, without messages, events and the bytes of files. */
export interface StoreContents {
  readonly threads: ReadonlyMap<string, StoredThread>;
  readonly runs: ReadonlyMap<string, StoredRun>;
  readonly files: readonly string[];
  readonly tenants: readonly string[];
}

const PAGE = 500;

/** The file by which two names of one store are told from two stores. It is never copied. */
export const PROBE_FILE = "millrace-store-copy";

export async function listContents(store: CopyableStore): Promise<StoreContents> {
  const tenants = await store.listTenants();
  const threads = new Map<string, StoredThread>();
  for (const tenant of tenants) {
    for (let before: string | undefined, isLast = false; !isLast; ) {
      const page = await store.listThreads({ tenant, limit: PAGE, ...(before !== undefined && { before }) });
      for (const thread of page.threads) threads.set(thread.id, thread);
      before = page.next;
      isLast = before === undefined;
    }
  }
  const runs = new Map((await store.listRuns()).map((run) => [run.id, run]));
  const files = (await store.listFiles()).filter((name) => name !== PROBE_FILE);
  return { threads, runs, files, tenants };
}

/** The open questions of all runs, by run. */
export async function listQuestions(
  store: CopyableStore,
  tenants: readonly string[],
): Promise<ReadonlyMap<string, readonly Question[]>> {
  const found = new Map<string, Question[]>();
  for (const tenant of tenants) {
    for (const question of await store.listQuestions(tenant)) {
      const others = found.get(question.runId);
      if (others === undefined) found.set(question.runId, [question]);
      else others.push(question);
    }
  }
  return found;
}

/**
 * The audit that a tenant has after copying: that of the source, and what else the target has, by time. Appending events
 * in the target has recorded their decisions there already, so what is in both counts once.
 */
export function mergeAudit(source: readonly AuditEntry[], target: readonly AuditEntry[]): readonly AuditEntry[] {
  const known = new Map<string, number>();
  for (const entry of source) {
    const text = keyOf(entry);
    known.set(text, (known.get(text) ?? 0) + 1);
  }
  const others = target.filter((entry) => {
    const text = keyOf(entry);
    const left = known.get(text) ?? 0;
    if (left > 0) known.set(text, left - 1);
    return left === 0;
  });
  const merged: AuditEntry[] = [];
  let at = 0;
  for (const entry of source) {
    while (at < others.length && (others[at] as AuditEntry).at < entry.at) {
      merged.push(others[at] as AuditEntry);
      at += 1;
    }
    merged.push(entry);
  }
  return [...merged, ...others.slice(at)];
}

/** The same for equal entries, in whatever order their fields are. */
function keyOf(entry: AuditEntry): string {
  return JSON.stringify(Object.entries(entry).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}
