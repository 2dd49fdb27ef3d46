import type { AgentEvent, Message } from "#domain";
import { measureJson } from "#wire";
import { requireCursor, requireNext, requireRun, requireWanted } from "../sequence.ts";
import type {
  AuditEntry,
  ModelUsage,
  NewRun,
  NewThread,
  Question,
  Settlement,
  Store,
  StoredRun,
  StoredThread,
} from "../store.ts";
import { StoreError } from "../store-error.ts";
import {
  addModelUsage,
  foldCase,
  LOCAL_TENANT,
  permissionSteps,
  placeBehind,
  requirePage,
  requireThread,
  requireTitle,
  searchText,
  statusAfter,
  totalUsage,
} from "../thread-rules.ts";

interface Log {
  readonly run: NewRun;
  readonly events: AgentEvent[];
  readonly questions: Map<string, Question>;
  bytes: number;
  end: Pick<StoredRun, "lastSeq" | "isOver" | "status">;
}

interface StoredLog {
  thread: NewThread;
  updatedAt: number;
  readonly messages: Message[];
  readonly usage: Map<string, ModelUsage>;
  bytes: number;
}

/**
 * Creates a store that lives as long as the process: what is appended survives the run, not the machine's next start.
 * It keeps the event objects themselves, which never change.
 *
 * @example
 * const server = createServer({ store: createMemoryStore() })
 */
export function createMemoryStore(): Store {
  const logs = new Map<string, Log>();
  const shelves = new Map<string, StoredLog>();
  const audit: AuditEntry[] = [];
  /** Of messages and events, by tenant. */
  const bytes = new Map<string, number>();
  let closed = false;

  const requireOpen = (): void => {
    if (closed) throw new StoreError("store-closed", "The store is closed. Open another one.");
  };
  const grow = (holder: { bytes: number }, tenant: string, more: number): void => {
    holder.bytes += more;
    bytes.set(tenant, (bytes.get(tenant) ?? 0) + more);
  };
  const findLog = (runId: string): Log => {
    requireOpen();
    const log = logs.get(runId);
    if (log === undefined)
      throw new StoreError("unknown-run", `There is no run ${JSON.stringify(runId)} in this store.`);
    return log;
  };
  const findShelf = (tenant: string, id: string): StoredLog | undefined => {
    requireOpen();
    const shelf = shelves.get(id);
    return shelf?.thread.tenant === tenant ? shelf : undefined;
  };
  const runsOf = (threadId: string): Log[] => [...logs.values()].filter(({ run }) => run.threadId === threadId);
  const activeRun = (threadId: string): Log | undefined => runsOf(threadId).find(({ end }) => !end.isOver);

  const show = ({ thread, updatedAt, usage }: StoredLog): StoredThread => {
    const active = activeRun(thread.id);
    return { ...thread, updatedAt, ...totalUsage(usage.values()), ...(active && { runId: active.run.id }) };
  };

  const noteSteps = (log: Log, events: readonly AgentEvent[]): void => {
    const { threadId, tenant = LOCAL_TENANT } = log.run;
    const place = { tenant, ...(threadId !== undefined && { threadId }) };
    for (const step of permissionSteps(events)) {
      if (step.kind === "asked") log.questions.set(step.question.callId, { ...step.question, ...place });
      else {
        log.questions.delete(step.callId);
        audit.push({ ...step.entry, ...place });
      }
    }
    if (log.end.isOver) log.questions.clear();
  };

  const settle = ({ run }: Log, settlement: Settlement): void => {
    const shelf = run.threadId === undefined ? undefined : shelves.get(run.threadId);
    if (shelf === undefined) return;
    shelf.messages.push(...settlement.messages);
    grow(shelf, shelf.thread.tenant, measureJson(settlement.messages));
    shelf.updatedAt = Math.max(shelf.updatedAt, settlement.at);
    for (const line of settlement.usage) shelf.usage.set(line.model, addModelUsage(shelf.usage.get(line.model), line));
  };

  // `async`, so that what is refused is a rejection; the bodies never wait, so each call is one step.
  return {
    async createRun(run, messages = []) {
      requireOpen();
      requireRun(run);
      if (logs.has(run.id)) throw new StoreError("run-exists", `There is a run ${run.id} already.`);
      const { threadId, tenant = LOCAL_TENANT } = run;
      if (threadId !== undefined) {
        const shelf = findShelf(tenant, threadId);
        if (shelf === undefined) throw new StoreError("unknown-thread", `There is no thread ${threadId}.`);
        requireIdle(threadId, activeRun(threadId)?.run.id);
        shelf.messages.push(...messages);
        grow(shelf, tenant, measureJson(messages));
        shelf.updatedAt = Math.max(shelf.updatedAt, run.createdAt);
      }
      logs.set(run.id, {
        run: { ...run },
        events: [],
        questions: new Map(),
        bytes: 0,
        end: { lastSeq: -1, isOver: false },
      });
    },
    async append(runId, events, settlement) {
      const log = findLog(runId);
      const status = statusAfter(events);
      const end = requireNext(runId, log.end, events);
      log.end = { ...end, ...(status !== undefined && { status }) };
      for (const event of events) {
        log.events.push(event);
        grow(log, log.run.tenant ?? LOCAL_TENANT, measureJson(event));
      }
      noteSteps(log, events);
      if (settlement !== undefined) settle(log, settlement);
    },
    async read(runId, options) {
      const { after, limit, maxCharacters } = requireCursor(options);
      const { events } = findLog(runId);
      const first = firstBehind(events, after);
      const wanted = events.slice(first, Math.min(events.length, first + limit));
      return maxCharacters === Number.MAX_SAFE_INTEGER ? wanted : cutAt(wanted, maxCharacters);
    },
    async listRuns(wanted) {
      requireOpen();
      const { threadId, isOver } = requireWanted(wanted);
      return [...logs.values()]
        .filter(({ run }) => threadId === undefined || run.threadId === threadId)
        .filter(({ end }) => isOver === undefined || end.isOver === isOver)
        .map(({ run, end }): StoredRun => ({ ...run, ...end }))
        .sort((left, right) => right.createdAt - left.createdAt || (left.id < right.id ? -1 : 1));
    },
    async findRun(tenant, id) {
      requireOpen();
      const log = logs.get(id);
      return log === undefined || (log.run.tenant ?? LOCAL_TENANT) !== tenant ? undefined : { ...log.run, ...log.end };
    },
    async createThread(thread) {
      requireOpen();
      requireThread(thread);
      if (shelves.has(thread.id)) throw new StoreError("thread-exists", `There is a thread ${thread.id} already.`);
      shelves.set(thread.id, {
        thread: { ...thread },
        updatedAt: thread.createdAt,
        messages: [],
        usage: new Map(),
        bytes: 0,
      });
    },
    async findThread(tenant, id) {
      const shelf = findShelf(tenant, id);
      return shelf === undefined ? undefined : show(shelf);
    },
    async listThreads(wanted) {
      requireOpen();
      const { tenant, search, limit, before } = requirePage(wanted);
      const found = [...shelves.values()]
        .filter((shelf) => shelf.thread.tenant === tenant && holds(shelf, search))
        .filter(
          ({ thread, updatedAt }) =>
            before === undefined ||
            updatedAt < before.updatedAt ||
            (updatedAt === before.updatedAt && thread.id > before.id),
        )
        .sort((left, right) => right.updatedAt - left.updatedAt || (left.thread.id < right.thread.id ? -1 : 1));
      const threads = found.slice(0, limit).map(show);
      const last = threads.at(-1);
      return { threads, ...(found.length > limit && last !== undefined && { next: placeBehind(last) }) };
    },
    async countThreads(tenant) {
      requireOpen();
      return [...shelves.values()].filter(({ thread }) => thread.tenant === tenant).length;
    },
    async countBytes(tenant) {
      requireOpen();
      return bytes.get(tenant) ?? 0;
    },
    async renameThread(tenant, id, { title, at }) {
      const shelf = findShelf(tenant, id);
      requireTitle(title);
      if (shelf === undefined) return false;
      shelf.thread = { ...shelf.thread, title };
      shelf.updatedAt = Math.max(shelf.updatedAt, at);
      return true;
    },
    async removeThread(tenant, id) {
      const shelf = findShelf(tenant, id);
      if (shelf === undefined) return false;
      requireIdle(id, activeRun(id)?.run.id);
      for (const log of runsOf(id)) {
        grow(log, tenant, -log.bytes);
        logs.delete(log.run.id);
      }
      grow(shelf, tenant, -shelf.bytes);
      return shelves.delete(id);
    },
    async listMessages(tenant, threadId) {
      return [...(findShelf(tenant, threadId)?.messages ?? [])];
    },
    async listUsage(tenant, threadId) {
      const lines = [...(findShelf(tenant, threadId)?.usage.values() ?? [])];
      return lines.sort((left, right) => (left.model < right.model ? -1 : 1));
    },
    async listQuestions(tenant) {
      requireOpen();
      return [...logs.values()]
        .flatMap(({ questions }) => [...questions.values()])
        .filter((question) => question.tenant === tenant)
        .sort((left, right) => left.askedAt - right.askedAt);
    },
    async addAudit(entry) {
      requireOpen();
      audit.push({ ...entry });
    },
    async listAudit(tenant) {
      requireOpen();
      return audit.filter((entry) => entry.tenant === tenant);
    },
    async close() {
      closed = true;
      logs.clear();
      shelves.clear();
    },
  };
}

function requireIdle(threadId: string, runId: string | undefined): void {
  if (runId === undefined) return;
  throw new StoreError("thread-busy", `Run ${runId} of thread ${threadId} is not over. Wait for it, or abort it.`);
}

function holds({ thread, messages }: StoredLog, search: string): boolean {
  if (search === "" || foldCase(thread.title).includes(search)) return true;
  return messages.some((message) => searchText(message).includes(search));
}

/** The events up to the one with which so many characters are reached; at least one. */
function cutAt(events: readonly AgentEvent[], maxCharacters: number): readonly AgentEvent[] {
  let characters = 0;
  for (const [index, event] of events.entries()) {
    characters += JSON.stringify(event).length;
    if (characters >= maxCharacters) return events.slice(0, index + 1);
  }
  return events;
}

/** The position of the first event whose `seq` is greater than the cursor; merged deltas make it differ from the cursor. */
function firstBehind(events: readonly AgentEvent[], after: number): number {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((events[middle] as AgentEvent).seq > after) high = middle;
    else low = middle + 1;
  }
  return low;
}
