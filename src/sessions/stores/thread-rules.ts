import { addUsage, type AgentEvent, isId, type Message, present, type RunStatus, textOf } from "#domain";
import { show } from "./sequence.ts";
import type {
  AuditEntry,
  ModelUsage,
  NewThread,
  Question,
  StoredRun,
  StoredThread,
  ThreadsWanted,
  WholeThread,
} from "./store.ts";
import { StoreError } from "./store-error.ts";

// The rules for threads that every driver must enforce, written once. Pure: a driver calls them inside its own
// transaction.

/** The tenant of runs that name none. */
export const LOCAL_TENANT = "local";

/** The tenant of the conversations of `millrace chat`. No token of a server gives access to it. */
export const CHAT_TENANT = "millrace-chat";

/** Longer titles and targets are mistakes, or hostile. */
const LONGEST_TITLE = 500;
const LONGEST_TARGET = 200;

/** Rejects a thread that could not be found again. */
export function requireThread(thread: NewThread): void {
  const { id, tenant, createdAt } = thread;
  if (!isId(id)) throw invalid(`The thread id ${show(id)} must be 1 to 64 letters, digits, "-" or "_".`);
  if (!isId(tenant)) throw invalid(`The tenant ${show(tenant)} must be 1 to 64 letters, digits, "-" or "_".`);
  if (!Number.isFinite(createdAt)) {
    throw invalid(`createdAt of thread ${id} must be milliseconds since 1970, not ${show(createdAt)}.`);
  }
  requireTitle(thread.title);
  if (typeof thread.target !== "string" || thread.target === "" || thread.target.length > LONGEST_TARGET) {
    throw invalid(`The target of thread ${id} must be a string of 1 to ${LONGEST_TARGET} characters.`);
  }
}

/** Rejects a thread to be restored that could not be found again. */
export function requireWholeThread(thread: WholeThread): void {
  requireThread(thread);
  const { id, updatedAt } = thread;
  if (Number.isFinite(updatedAt)) return;
  throw invalid(`updatedAt of thread ${id} must be milliseconds since 1970, not ${show(updatedAt)}.`);
}

export function requireTitle(title: unknown): void {
  if (typeof title === "string" && title.length <= LONGEST_TITLE) return;
  throw invalid(`The title must be a string of at most ${LONGEST_TITLE} characters.`);
}

/** The start of a page of threads, checked and parsed. */
export interface PageRequest {
  readonly tenant: string;
  readonly search: string;
  readonly limit: number;
  readonly before: { readonly updatedAt: number; readonly id: string } | undefined;
}

export function requirePage(wanted: ThreadsWanted): PageRequest {
  const { tenant, search = "", limit = 50, before } = wanted;
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > 1000) {
    throw new StoreError("invalid-cursor", `limit must be a whole number from 1 to 1000, not ${show(limit)}.`);
  }
  return { tenant, search: foldCase(search), limit, before: before === undefined ? undefined : readCursor(before) };
}

/** The cursor after a thread. */
export function cursorAfter(thread: Pick<StoredThread, "id" | "updatedAt">): string {
  return `${thread.updatedAt}_${thread.id}`;
}

function readCursor(before: string): { readonly updatedAt: number; readonly id: string } {
  const cut = before.indexOf("_");
  const updatedAt = Number(before.slice(0, cut));
  const id = before.slice(cut + 1);
  if (cut > 0 && cut <= 20 && Number.isFinite(updatedAt) && isId(id)) return { updatedAt, id };
  throw new StoreError("invalid-cursor", `before must be the next of an earlier page, not ${show(before)}.`);
}

/** Text in the form in which it is searched. */
export function foldCase(text: string): string {
  return text.toLowerCase();
}

/** How much of a message can be found by a search. */
const SEARCHED_CHARACTERS = 1_048_576;

/** The searchable text of a message. */
export function searchText(message: Message): string {
  return foldCase(textOf(message.blocks).slice(0, SEARCHED_CHARACTERS));
}

/** One step of a permission: a question, or a decision that answers it. */
export type PermissionStep =
  | { readonly kind: "asked"; readonly question: Omit<Question, "tenant" | "threadId"> }
  | { readonly kind: "decided"; readonly callId: string; readonly entry: Omit<AuditEntry, "tenant" | "threadId"> };

/** The permission steps in a list of events, in order. */
export function permissionSteps(events: readonly AgentEvent[]): readonly PermissionStep[] {
  const steps: PermissionStep[] = [];
  for (const event of events) {
    if (event.type !== "permission") continue;
    const { runId, callId, name, reason, input, ts, state, by } = event;
    if (state === "asked") {
      const more = { ...present({ input, reason }) };
      steps.push({ kind: "asked", question: { runId, callId, name, askedAt: ts, ...more } });
    } else {
      const detail = reason === undefined ? name : `${name}: ${reason}`;
      steps.push({
        kind: "decided",
        callId,
        entry: { at: ts, action: `permission-${state}`, runId, callId, by, detail },
      });
    }
  }
  return steps;
}

/** The status of a log after these events, if the last of them is `done`. */
export function statusAfter(events: readonly AgentEvent[]): RunStatus | undefined {
  const last = events.at(-1);
  return last?.type === "done" ? last.result.status : undefined;
}

/** That a run is waiting after these events, if the last of them says so. */
export function waitAfter(events: readonly AgentEvent[]): Pick<StoredRun, "isWaiting" | "wakeAt"> | undefined {
  const last = events.at(-1);
  if (last?.type !== "notice" || last.kind !== "parked") return undefined;
  const until = (last.data as { readonly until?: unknown } | null | undefined)?.until;
  return { isWaiting: true, ...(typeof until === "number" && Number.isFinite(until) && { wakeAt: until }) };
}

/** The usage of a model in a thread, with another run added. */
export function addModelUsage(line: ModelUsage | undefined, more: Omit<ModelUsage, "runs">): ModelUsage {
  const costUsd = addCosts(line?.costUsd, more.costUsd);
  return {
    model: more.model,
    usage: addUsage(line?.usage ?? {}, more.usage),
    ...(costUsd !== undefined && { costUsd }),
    runs: (line?.runs ?? 0) + 1,
  };
}

/** The total usage of a thread. */
export function totalUsage(lines: Iterable<ModelUsage>): Pick<StoredThread, "usage" | "costUsd"> {
  let usage = {};
  let costUsd: number | undefined;
  for (const line of lines) {
    usage = addUsage(usage, line.usage);
    costUsd = addCosts(costUsd, line.costUsd);
  }
  return { usage, ...(costUsd !== undefined && { costUsd }) };
}

function addCosts(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined ? right : right === undefined ? left : left + right;
}

function invalid(message: string): StoreError {
  return new StoreError("invalid-thread", message);
}
