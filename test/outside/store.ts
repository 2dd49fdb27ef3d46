import type { AgentEvent, Message, Usage } from "millrace";
import {
  type AuditEntry,
  type ModelUsage,
  type NewRun,
  type NewThread,
  type Question,
  type ReadOptions,
  type RunsWanted,
  type Settlement,
  type Store,
  StoreError,
  type StoredAnswer,
  type StoredRun,
  type StoredThread,
  type ThreadPage,
  type ThreadsWanted,
} from "millrace/stores/memory";

interface RunRow {
  readonly run: NewRun;
  readonly tenant: string;
  readonly events: AgentEvent[];
  readonly questions: Map<string, Question>;
  readonly answers: Map<string, StoredAnswer>;
}

interface ThreadRow {
  thread: NewThread;
  updatedAt: number;
  readonly messages: Message[];
  readonly usage: Map<string, ModelUsage>;
}

const ID = /^[\w-]{1,64}$/;

/** Everything in lists. Methods are `async`, so that a refusal is a rejection, and never wait, so that each is one step. */
export class ListStore implements Store {
  private readonly runs = new Map<string, RunRow>();
  private readonly threads = new Map<string, ThreadRow>();
  private readonly audit: AuditEntry[] = [];
  private readonly files = new Map<string, Uint8Array>();
  private isClosed = false;

  async createRun(run: NewRun, messages: readonly Message[] = []): Promise<void> {
    this.requireOpen();
    const { id, threadId, tenant = "local", createdAt } = run;
    if (!ID.test(id) || !ID.test(tenant) || !Number.isFinite(createdAt) || !isJson(run.settings)) {
      throw new StoreError("invalid-run", `The run ${JSON.stringify(id)} is not valid.`);
    }
    if (this.runs.has(id)) throw new StoreError("run-exists", `Run ${id} already exists.`);
    if (threadId !== undefined) {
      const row = this.thread(tenant, threadId);
      if (row === undefined) throw new StoreError("unknown-thread", `There is no thread ${threadId}.`);
      this.requireIdle(threadId);
      row.messages.push(...messages);
      row.updatedAt = Math.max(row.updatedAt, createdAt);
    }
    this.runs.set(id, { run, tenant, events: [], questions: new Map(), answers: new Map() });
  }

  async append(runId: string, events: readonly AgentEvent[], settlement?: Settlement): Promise<void> {
    const row = this.run(runId);
    let last = row.events.at(-1);
    for (const event of events) {
      const first = event.firstSeq ?? event.seq;
      if (
        event.runId !== runId ||
        !Number.isSafeInteger(event.seq) ||
        !Number.isSafeInteger(first) ||
        first > event.seq
      ) {
        throw new StoreError("invalid-event", `An event does not belong to run ${runId}, or its numbers are wrong.`);
      }
      if (last?.type === "done") throw new StoreError("run-over", `Run ${runId} is over.`);
      if (first !== (last?.seq ?? -1) + 1)
        throw new StoreError("out-of-sequence", `Run ${runId} does not go on with ${first}.`);
      last = event;
    }
    row.events.push(...events);
    for (const event of events) this.note(row, event);
    if (last?.type === "done") {
      row.questions.clear();
      row.answers.clear();
    }
    if (settlement !== undefined) this.settle(row, settlement);
  }

  async read(runId: string, options: ReadOptions = {}): Promise<readonly AgentEvent[]> {
    const { after = -1, limit = Infinity, maxCharacters = Infinity } = options;
    const isLimit = limit === Infinity || (Number.isSafeInteger(limit) && limit >= 1);
    if (!Number.isSafeInteger(after) || after < -1 || !isLimit || !(maxCharacters >= 1)) {
      throw new StoreError(
        "invalid-cursor",
        "after is a whole number from -1 on, limit and maxCharacters are above 0.",
      );
    }
    const found: AgentEvent[] = [];
    let characters = 0;
    for (const event of this.run(runId).events) {
      if (event.seq <= after) continue;
      if (found.length >= limit || characters >= maxCharacters) break;
      found.push(event);
      characters += JSON.stringify(event).length;
    }
    return found;
  }

  async listRuns(wanted: RunsWanted = {}): Promise<readonly StoredRun[]> {
    this.requireOpen();
    return [...this.runs.values()]
      .map(show)
      .filter((run) => wanted.id === undefined || run.id === wanted.id)
      .filter((run) => wanted.threadId === undefined || run.threadId === wanted.threadId)
      .filter((run) => wanted.isOver === undefined || run.isOver === wanted.isOver)
      .filter((run) => wanted.isWaiting === undefined || (run.isWaiting ?? false) === wanted.isWaiting)
      .sort((left, right) => right.createdAt - left.createdAt || (left.id < right.id ? -1 : 1));
  }

  async findRun(tenant: string, id: string): Promise<StoredRun | undefined> {
    this.requireOpen();
    const row = this.runs.get(id);
    return row?.tenant === tenant ? show(row) : undefined;
  }

  async createThread(thread: NewThread): Promise<void> {
    this.requireOpen();
    const { id, tenant, title, target, createdAt } = thread;
    requireTitle(title);
    const isTarget = typeof target === "string" && target !== "" && target.length <= 200;
    if (!ID.test(id) || !ID.test(tenant) || !Number.isFinite(createdAt) || !isTarget) {
      throw new StoreError("invalid-thread", `The thread ${JSON.stringify(thread)} is not valid.`);
    }
    if (this.threads.has(id)) throw new StoreError("thread-exists", `Thread ${id} already exists.`);
    this.threads.set(id, { thread, updatedAt: createdAt, messages: [], usage: new Map() });
  }

  async findThread(tenant: string, id: string): Promise<StoredThread | undefined> {
    const row = this.thread(tenant, id);
    return row === undefined ? undefined : this.showThread(row);
  }

  async listThreads({ tenant, search = "", limit = 50, before }: ThreadsWanted): Promise<ThreadPage> {
    this.requireOpen();
    if (!Number.isSafeInteger(limit) || limit < 1 || limit > 1000)
      throw new StoreError("invalid-cursor", "limit is 1 to 1000.");
    const sorted = [...this.threads.values()]
      .filter((row) => row.thread.tenant === tenant)
      .sort((left, right) => right.updatedAt - left.updatedAt || (left.thread.id < right.thread.id ? -1 : 1));
    const cursor = before === undefined ? undefined : readCursor(before);
    const found = sorted.filter(
      (row) => (cursor === undefined || isAfter(row, cursor)) && holds(row, search.toLowerCase()),
    );
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const next = found.length > limit && last !== undefined ? { next: `${last.updatedAt}_${last.thread.id}` } : {};
    return { threads: page.map((row) => this.showThread(row)), ...next };
  }

  async renameThread(
    tenant: string,
    id: string,
    change: { readonly title: string; readonly at: number },
  ): Promise<boolean> {
    const row = this.thread(tenant, id);
    requireTitle(change.title);
    if (row === undefined) return false;
    row.thread = { ...row.thread, title: change.title };
    row.updatedAt = Math.max(row.updatedAt, change.at);
    return true;
  }

  async removeThread(tenant: string, id: string): Promise<boolean> {
    if (this.thread(tenant, id) === undefined) return false;
    this.requireIdle(id);
    for (const [runId, { run }] of this.runs) if (run.threadId === id) this.runs.delete(runId);
    return this.threads.delete(id);
  }

  async listMessages(tenant: string, threadId: string): Promise<readonly Message[]> {
    return [...(this.thread(tenant, threadId)?.messages ?? [])];
  }

  async listUsage(tenant: string, threadId: string): Promise<readonly ModelUsage[]> {
    const lines = [...(this.thread(tenant, threadId)?.usage.values() ?? [])];
    return lines.sort((left, right) => (left.model < right.model ? -1 : 1));
  }

  async listQuestions(tenant: string): Promise<readonly Question[]> {
    this.requireOpen();
    return [...this.runs.values()]
      .filter((row) => row.tenant === tenant)
      .flatMap((row) => [...row.questions.values()].filter(({ callId }) => !row.answers.has(callId)))
      .sort((left, right) => left.askedAt - right.askedAt);
  }

  async addAnswer(runId: string, answer: StoredAnswer): Promise<boolean> {
    this.requireOpen();
    const isValid = typeof answer.callId === "string" && answer.callId !== "" && Number.isFinite(answer.at);
    if (!isValid || !isJson(answer)) throw new StoreError("invalid-answer", "The answer is not valid.");
    const row = this.runs.get(runId);
    if (row === undefined || show(row).isOver || row.answers.has(answer.callId)) return false;
    row.answers.set(answer.callId, answer);
    return true;
  }

  async listAnswers(runId: string): Promise<readonly StoredAnswer[]> {
    this.requireOpen();
    return [...(this.runs.get(runId)?.answers.values() ?? [])].sort((left, right) => left.at - right.at);
  }

  async keepFile(name: string, data: Uint8Array): Promise<void> {
    this.requireFile(name);
    this.files.set(name, data.slice());
  }

  async findFile(name: string): Promise<Uint8Array | undefined> {
    this.requireFile(name);
    return this.files.get(name)?.slice();
  }

  async removeFile(name: string): Promise<boolean> {
    this.requireFile(name);
    return this.files.delete(name);
  }

  async addAudit(entry: AuditEntry): Promise<void> {
    this.requireOpen();
    this.audit.push(entry);
  }

  async listAudit(tenant: string): Promise<readonly AuditEntry[]> {
    this.requireOpen();
    return this.audit.filter((entry) => entry.tenant === tenant);
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  private requireOpen(): void {
    if (this.isClosed) throw new StoreError("store-closed", "The store is closed.");
  }

  private requireFile(name: string): void {
    this.requireOpen();
    const isName = typeof name === "string" && name.length <= 256;
    if (!isName || !name.split("/").every((part) => /^(?!\.\.?$)[\w.-]+$/.test(part)))
      throw new StoreError("invalid-file", "The name of the file is not valid.");
  }

  private run(id: string): RunRow {
    this.requireOpen();
    const row = this.runs.get(id);
    if (row === undefined) throw new StoreError("unknown-run", `There is no run ${JSON.stringify(id)}.`);
    return row;
  }

  private thread(tenant: string, id: string): ThreadRow | undefined {
    this.requireOpen();
    const row = this.threads.get(id);
    return row?.thread.tenant === tenant ? row : undefined;
  }

  private activeRun(threadId: string): string | undefined {
    return [...this.runs.values()].map(show).find((run) => run.threadId === threadId && !run.isOver)?.id;
  }

  private requireIdle(threadId: string): void {
    if (this.activeRun(threadId) !== undefined)
      throw new StoreError("thread-busy", `A run of thread ${threadId} is not over.`);
  }

  private showThread({ thread, updatedAt, usage }: ThreadRow): StoredThread {
    const runId = this.activeRun(thread.id);
    const lines = [...usage.values()];
    const costs = lines.flatMap(({ costUsd }) => (costUsd === undefined ? [] : [costUsd]));
    return {
      ...thread,
      updatedAt,
      usage: lines.reduce((sum: Usage, line) => addUsage(sum, line.usage), {}),
      ...(costs.length > 0 && { costUsd: costs.reduce((sum, cost) => sum + cost, 0) }),
      ...(runId !== undefined && { runId }),
    };
  }

  /** Questions and decisions are in the permission events. */
  private note({ run, tenant, questions }: RunRow, event: AgentEvent): void {
    if (event.type !== "permission") return;
    const { runId, callId, name, state, by, reason, input, ts } = event;
    const origin = { tenant, runId, callId, ...(run.threadId !== undefined && { threadId: run.threadId }) };
    if (state === "asked") {
      const more = { ...(input !== undefined && { input }), ...(reason !== undefined && { reason }) };
      questions.set(callId, { ...origin, name, askedAt: ts, ...more });
      return;
    }
    questions.delete(callId);
    const detail = reason === undefined ? name : `${name}: ${reason}`;
    this.audit.push({ ...origin, at: ts, action: `permission-${state}`, by, detail });
  }

  private settle({ run }: RunRow, { at, messages, usage }: Settlement): void {
    const row = run.threadId === undefined ? undefined : this.threads.get(run.threadId);
    if (row === undefined) return;
    row.messages.push(...messages);
    row.updatedAt = Math.max(row.updatedAt, at);
    for (const line of usage) {
      const before = row.usage.get(line.model);
      const costUsd = before?.costUsd === undefined ? line.costUsd : before.costUsd + (line.costUsd ?? 0);
      row.usage.set(line.model, {
        model: line.model,
        usage: addUsage(before?.usage ?? {}, line.usage),
        ...(costUsd !== undefined && { costUsd }),
        runs: (before?.runs ?? 0) + 1,
      });
    }
  }
}

function show({ run, events }: RunRow): StoredRun {
  const last = events.at(-1);
  const isOver = last?.type === "done";
  const parked = last?.type === "notice" && last.kind === "parked" ? (last.data as { until?: number }) : undefined;
  return {
    ...run,
    lastSeq: last?.seq ?? -1,
    isOver,
    ...(isOver && { status: last.result.status }),
    ...(parked !== undefined && { isWaiting: true }),
    ...(typeof parked?.until === "number" && { wakeAt: parked.until }),
  };
}

function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}

function requireTitle(title: unknown): void {
  if (typeof title !== "string" || title.length > 500)
    throw new StoreError("invalid-thread", "The title is not valid.");
}

function isAfter({ thread, updatedAt }: ThreadRow, { at, id }: { readonly at: number; readonly id: string }): boolean {
  return updatedAt < at || (updatedAt === at && thread.id > id);
}

function readCursor(before: string): { readonly at: number; readonly id: string } {
  const cut = before.indexOf("_");
  const at = Number(before.slice(0, cut));
  const id = before.slice(cut + 1);
  if (cut >= 1 && Number.isFinite(at) && ID.test(id)) return { at, id };
  throw new StoreError("invalid-cursor", "before is the next of an earlier page.");
}

function holds({ thread, messages }: ThreadRow, search: string): boolean {
  const texts = messages.flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])),
  );
  return [thread.title, ...texts].some((text) => text.toLowerCase().includes(search));
}

function addUsage(left: Usage, right: Usage): Usage {
  const sum = (a: number | undefined, b: number | undefined) => (a === undefined ? b : a + (b ?? 0));
  const inputTokens = sum(left.inputTokens, right.inputTokens);
  const outputTokens = sum(left.outputTokens, right.outputTokens);
  const cacheReadTokens = sum(left.cacheReadTokens, right.cacheReadTokens);
  const cacheWriteTokens = sum(left.cacheWriteTokens, right.cacheWriteTokens);
  const reasoningTokens = sum(left.reasoningTokens, right.reasoningTokens);
  return {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(cacheReadTokens !== undefined && { cacheReadTokens }),
    ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
  };
}
