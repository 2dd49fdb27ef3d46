import { type AgentEvent, describeThrown, type Message } from "#domain";
import { cutJson, measureJson } from "#wire";
import { NodeNotes } from "../node-notes.ts";
import {
  claimLost,
  isWanted,
  requireAnswer,
  requireClaimant,
  requireCursor,
  requireFileName,
  requireHeld,
  requireNext,
  requireRun,
  requireSeen,
  requireWanted,
  runOver,
  unknownRun,
} from "../sequence.ts";
import type {
  AuditEntry,
  KeptEnd,
  ModelUsage,
  NewRun,
  NewThread,
  Question,
  RunClaim,
  Settlement,
  Store,
  StoredAnswer,
  StoredRun,
  StoredThread,
} from "../store.ts";
import { StoreError, type StoreErrorCode } from "../store-error.ts";
import {
  addModelUsage,
  foldCase,
  LOCAL_TENANT,
  permissionSteps,
  cursorAfter,
  requirePage,
  requireThread,
  requireTitle,
  requireWholeThread,
  searchText,
  statusAfter,
  totalUsage,
  waitAfter,
} from "../thread-rules.ts";

interface Log {
  readonly run: NewRun;
  readonly events: AgentEvent[];
  readonly questions: Map<string, Question>;
  readonly answers: Map<string, StoredAnswer>;
  bytes: number;
  end: Pick<StoredRun, "lastSeq" | "isOver" | "status" | "isWaiting" | "wakeAt">;
  /** The epoch of its latest claim. */
  epoch: number;
  claim: RunClaim | undefined;
}

interface StoredLog {
  thread: NewThread;
  updatedAt: number;
  readonly messages: Message[];
  readonly usage: Map<string, ModelUsage>;
  bytes: number;
}

/**
 * Creates a store in memory: its content survives the run, but not the process. It keeps the event objects themselves,
 * which never change.
 *
 * @example
 * const server = createServer({ store: createMemoryStore() })
 */
export function createMemoryStore(): Store {
  const logs = new Map<string, Log>();
  const shelves = new Map<string, StoredLog>();
  const audit: AuditEntry[] = [];
  const files = new Map<string, Uint8Array>();
  const ends = new Map<string, KeptEnd>();
  const nodes = new NodeNotes();
  /** The bytes of messages and events, by tenant. */
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
    if (log === undefined) throw unknownRun(runId);
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
    if (!log.end.isOver) return;
    log.questions.clear();
    log.answers.clear();
    log.claim = undefined;
  };

  const settle = ({ run }: Log, settlement: Settlement): void => {
    const shelf = run.threadId === undefined ? undefined : shelves.get(run.threadId);
    if (shelf === undefined) return;
    shelf.messages.push(...settlement.messages);
    grow(shelf, shelf.thread.tenant, measureJson(settlement.messages));
    shelf.updatedAt = Math.max(shelf.updatedAt, settlement.at);
    for (const line of settlement.usage) shelf.usage.set(line.model, addModelUsage(shelf.usage.get(line.model), line));
  };

  // `async`, so that a refusal is a rejection; the bodies never await, so each call is atomic.
  return {
    async createRun(run, messages = []) {
      requireOpen();
      requireRun(run);
      requireJson(run.settings, "invalid-run", `The settings of run ${run.id}`);
      if (logs.has(run.id)) throw new StoreError("run-exists", `Run ${run.id} already exists.`);
      const { threadId, tenant = LOCAL_TENANT } = run;
      if (threadId !== undefined) {
        const shelf = findShelf(tenant, threadId);
        if (shelf === undefined) throw new StoreError("unknown-thread", `There is no thread ${threadId}.`);
        requireIdle(threadId, activeRun(threadId)?.run.id);
        shelf.messages.push(...messages);
        grow(shelf, tenant, measureJson(messages));
        shelf.updatedAt = Math.max(shelf.updatedAt, run.createdAt);
      }
      const log: Log = {
        run: { ...run },
        events: [],
        questions: new Map(),
        answers: new Map(),
        bytes: 0,
        end: { lastSeq: -1, isOver: false },
        epoch: 0,
        claim: undefined,
      };
      logs.set(run.id, log);
      if (run.settings !== undefined) grow(log, tenant, measureJson(run.settings));
    },
    async append(runId, events, settlement, epoch) {
      const log = findLog(runId);
      if (!log.end.isOver) requireHeld(runId, log.claim, epoch);
      const status = statusAfter(events);
      const end = requireNext(runId, log.end, events);
      // Without events, nothing changes.
      if (events.length > 0) log.end = { ...end, ...(status !== undefined && { status }), ...waitAfter(events) };
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
      const first = firstAfter(events, after);
      const wanted = events.slice(first, Math.min(events.length, first + limit));
      return maxCharacters === Number.MAX_SAFE_INTEGER ? wanted : cutAt(wanted, maxCharacters);
    },
    async listRuns(wanted) {
      requireOpen();
      const all = requireWanted(wanted);
      const one = all.id === undefined ? undefined : logs.get(all.id);
      return (all.id === undefined ? [...logs.values()] : one === undefined ? [] : [one])
        .map(showRun)
        .filter((run) => isWanted(run, all))
        .sort((left, right) => right.createdAt - left.createdAt || (left.id < right.id ? -1 : 1));
    },
    async findRun(tenant, id) {
      requireOpen();
      const log = logs.get(id);
      return log === undefined || (log.run.tenant ?? LOCAL_TENANT) !== tenant ? undefined : showRun(log);
    },
    async claim(runId, wanted) {
      const log = findLog(runId);
      requireClaimant(wanted);
      if (log.end.isOver) throw runOver(runId);
      requireSeen(runId, log.claim, wanted.seen);
      log.epoch += 1;
      log.claim = { epoch: log.epoch, worker: wanted.worker, at: wanted.at };
      return log.epoch;
    },
    async extendClaim({ runId, epoch, at }) {
      const log = findLog(runId);
      if (log.claim?.epoch !== epoch) throw claimLost(runId, epoch, log.claim);
      log.claim = { ...log.claim, at };
    },
    async releaseClaim({ runId, epoch }) {
      const log = findLog(runId);
      if (log.claim?.epoch !== epoch) return false;
      log.claim = undefined;
      return true;
    },
    async keepEnd(end) {
      requireOpen();
      ends.set(end.run.id, end);
    },
    async listEnds() {
      requireOpen();
      return [...ends.values()];
    },
    async removeEnd(runId) {
      requireOpen();
      ends.delete(runId);
    },
    async createThread(thread) {
      requireOpen();
      requireThread(thread);
      if (shelves.has(thread.id)) throw new StoreError("thread-exists", `Thread ${thread.id} already exists.`);
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
      return { threads, ...(found.length > limit && last !== undefined && { next: cursorAfter(last) }) };
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
        .flatMap(({ questions, answers }) => [...questions.values()].filter(({ callId }) => !answers.has(callId)))
        .filter((question) => question.tenant === tenant)
        .sort((left, right) => left.askedAt - right.askedAt);
    },
    async addAnswer(runId, answer) {
      requireOpen();
      requireAnswer(answer);
      requireJson(answer, "invalid-answer", `The answer to ${JSON.stringify(answer.callId)}`);
      const log = logs.get(runId);
      if (log === undefined || log.end.isOver || log.answers.has(answer.callId)) return false;
      log.answers.set(answer.callId, { ...answer });
      return true;
    },
    async listAnswers(runId) {
      requireOpen();
      return [...(logs.get(runId)?.answers.values() ?? [])].sort((left, right) => left.at - right.at);
    },
    async keepFile(name, data, claim) {
      requireOpen();
      requireFileName(name);
      if (claim !== undefined) requireHeld(claim.runId, findLog(claim.runId).claim, claim.epoch);
      files.set(name, Uint8Array.from(data));
    },
    async findFile(name) {
      requireOpen();
      requireFileName(name);
      const data = files.get(name);
      return data === undefined ? undefined : Uint8Array.from(data);
    },
    async removeFile(name) {
      requireOpen();
      requireFileName(name);
      return files.delete(name);
    },
    async addAudit(entry) {
      requireOpen();
      audit.push({ ...entry });
    },
    async listAudit(tenant) {
      requireOpen();
      return audit.filter((entry) => entry.tenant === tenant);
    },
    async noteNode(node, note) {
      requireOpen();
      return nodes.exchange(node, note);
    },
    async listTenants() {
      requireOpen();
      const runTenants = [...logs.values()].map(({ run }) => run.tenant ?? LOCAL_TENANT);
      const threadTenants = [...shelves.values()].map(({ thread }) => thread.tenant);
      return [...new Set([...threadTenants, ...runTenants, ...audit.map(({ tenant }) => tenant)])].toSorted();
    },
    async listFiles() {
      requireOpen();
      return [...files.keys()].toSorted();
    },
    async restoreThread({ messages, usage, updatedAt, ...thread }) {
      requireOpen();
      requireWholeThread({ messages, usage, updatedAt, ...thread });
      requireJson([messages, usage], "invalid-thread", `A message of thread ${thread.id}`);
      const { id, tenant } = thread;
      const before = shelves.get(id);
      if (before !== undefined && before.thread.tenant !== tenant) {
        throw new StoreError("thread-exists", `Thread ${id} already exists.`);
      }
      if (before !== undefined) grow(before, tenant, -before.bytes);
      const lines = new Map(usage.map((line) => [line.model, line]));
      const shelf: StoredLog = { thread, updatedAt, messages: [...messages], usage: lines, bytes: 0 };
      grow(shelf, tenant, measureJson(messages));
      shelves.set(id, shelf);
    },
    async replaceAudit(tenant, entries) {
      requireOpen();
      const others = audit.filter((entry) => entry.tenant !== tenant);
      audit.splice(0, audit.length, ...others, ...entries.map((entry) => ({ ...entry })));
    },
    async close() {
      closed = true;
      logs.clear();
      shelves.clear();
      files.clear();
      ends.clear();
    },
  };
}

function showRun({ run, end, claim }: Log): StoredRun {
  return { ...run, ...end, ...(claim !== undefined && { claim }) };
}

/** A driver that writes to a disk could not store the value. */
function requireJson(value: unknown, code: StoreErrorCode, what: string): void {
  const pieces = cutJson(value);
  try {
    while (pieces.next().done !== true);
  } catch (error) {
    throw new StoreError(code, `${what} cannot be written: ${describeThrown(error)}`, { cause: error });
  }
}

function requireIdle(threadId: string, runId: string | undefined): void {
  if (runId === undefined) return;
  throw new StoreError("thread-busy", `Run ${runId} of thread ${threadId} is not over. Wait for it, or abort it.`);
}

function holds({ thread, messages }: StoredLog, search: string): boolean {
  if (search === "" || foldCase(thread.title).includes(search)) return true;
  return messages.some((message) => searchText(message).includes(search));
}

/** The events up to the one with which this many characters are reached; at least one. */
function cutAt(events: readonly AgentEvent[], maxCharacters: number): readonly AgentEvent[] {
  let characters = 0;
  for (const [index, event] of events.entries()) {
    characters += JSON.stringify(event).length;
    if (characters >= maxCharacters) return events.slice(0, index + 1);
  }
  return events;
}

/**
 * The index of the first event whose `seq` is greater than the cursor; merged deltas make it differ from the cursor.
 */
function firstAfter(events: readonly AgentEvent[], after: number): number {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((events[middle] as AgentEvent).seq > after) high = middle;
    else low = middle + 1;
  }
  return low;
}
