import { createHash } from "node:crypto";
import type { AgentEvent } from "#domain";
import { encodeEvent } from "#wire";
import type { ModelUsage, Question, Store, StoredAnswer, StoredRun, StoredThread } from "../stores/store.ts";

/** How much is read at once. */
const PAGE = { limit: 1000, maxCharacters: 1_000_000 } as const;

/** A number of things, and a digest of what they are. */
export interface Digest {
  readonly count: number;
  readonly digest: string;
}

/** The events of a log up to a `seq`, page by page. */
export async function* readLog(
  store: Store,
  runId: string,
  after: number,
  lastSeq: number,
): AsyncGenerator<readonly AgentEvent[]> {
  for (let cursor = after; cursor < lastSeq; ) {
    const events = (await store.read(runId, { after: cursor, ...PAGE })).filter(({ seq }) => seq <= lastSeq);
    const last = events.at(-1);
    if (last === undefined) return;
    yield events;
    cursor = last.seq;
  }
}

/** The events of a run up to a `seq`. */
export async function digestLog(store: Store, runId: string, lastSeq: number): Promise<Digest> {
  const hash = createHash("sha256");
  let count = 0;
  for await (const events of readLog(store, runId, -1, lastSeq)) {
    count += events.length;
    for (const event of events) hash.update(encodeEvent(event)).update("\n");
  }
  return { count, digest: hash.digest("hex") };
}

/** What a run is, without its events and its claim: a claim belongs to the workers of its store. */
export function headOf(run: StoredRun): string {
  const { id, createdAt, threadId, tenant, settings, lastSeq, isOver, status, isWaiting, wakeAt } = run;
  return jsonOf({ id, createdAt, threadId, tenant, settings, lastSeq, isOver, status, isWaiting, wakeAt });
}

/** What of a run never changes. */
export function originOf({ id, createdAt, threadId, tenant, settings }: StoredRun): string {
  return jsonOf({ id, createdAt, threadId, tenant, settings });
}

/** What a thread is, without its messages and usage. */
export function titlesOf({ id, tenant, title, target, createdAt, updatedAt }: StoredThread): string {
  return jsonOf({ id, tenant, title, target, createdAt, updatedAt });
}

export function answersOf(answers: readonly StoredAnswer[]): readonly string[] {
  return answers.map((answer) => jsonOf(answer)).toSorted();
}

export function questionsOf(questions: readonly Question[]): readonly string[] {
  return questions.map((question) => jsonOf(question)).toSorted();
}

export function usageOf(usage: readonly ModelUsage[]): readonly string[] {
  return usage.map((line) => jsonOf(line)).toSorted();
}

export function jsonOf(value: unknown): string {
  return JSON.stringify(value);
}

export function digestOf(texts: readonly string[]): Digest {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(text).update("\n");
  return { count: texts.length, digest: hash.digest("hex") };
}
