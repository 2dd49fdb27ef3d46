import type { StoredRun, StoredThread } from "../stores/store.ts";
import { type CopyableStore, listContents, listQuestions, mergeAudit } from "./copyable-store.ts";
import {
  answersOf,
  type Digest,
  digestLog,
  digestOf,
  headOf,
  jsonOf,
  questionsOf,
  titlesOf,
  usageOf,
} from "./digests.ts";

/** What the target lacks or has otherwise, in words: every thread, run, file and audit of the source is read anew from both. */
export async function checkCopy(
  from: CopyableStore,
  to: CopyableStore,
  step: (total: number) => void,
): Promise<readonly string[]> {
  const [source, target] = [await listContents(from), await listContents(to)];
  const total = source.threads.size + source.runs.size + source.files.length;
  const faults: string[] = [];
  for (const thread of source.threads.values()) {
    step(total);
    const there = target.threads.get(thread.id);
    if (there === undefined) faults.push(`thread ${thread.id} is missing`);
    else faults.push(...(await checkThread(from, to, thread, there)));
  }
  const questions = [await listQuestions(from, source.tenants), await listQuestions(to, source.tenants)] as const;
  for (const run of source.runs.values()) {
    step(total);
    const there = target.runs.get(run.id);
    if (there === undefined) {
      faults.push(`run ${run.id} is missing`);
      continue;
    }
    faults.push(...(await checkRun(from, to, run, there)));
    const [asked, askedThere] = questions.map((all) => digestOf(questionsOf(all.get(run.id) ?? []))) as [
      Digest,
      Digest,
    ];
    faults.push(...compare(`run ${run.id}`, "open questions", asked, askedThere));
  }
  const files = new Set(target.files);
  for (const name of source.files) {
    step(total);
    if (!files.has(name)) faults.push(`file ${name} is missing`);
    else if (!isSameFile(await from.findFile(name), await to.findFile(name))) faults.push(`file ${name} differs`);
  }
  for (const tenant of source.tenants) {
    const there = await to.listAudit(tenant);
    const merged = mergeAudit(await from.listAudit(tenant), there);
    if (jsonOf(merged) !== jsonOf(there)) {
      faults.push(
        `the audit of tenant ${tenant} has ${there.length} entries instead of ${merged.length}, or other ones`,
      );
    }
  }
  return faults;
}

async function checkThread(
  from: CopyableStore,
  to: CopyableStore,
  thread: StoredThread,
  there: StoredThread,
): Promise<readonly string[]> {
  const { id, tenant } = thread;
  const name = `thread ${id}`;
  const [messages, messagesThere] = await both(from, to, async (store) =>
    digestOf((await store.listMessages(tenant, id)).map(jsonOf)),
  );
  const [usage, usageThere] = await both(from, to, async (store) =>
    digestOf(usageOf(await store.listUsage(tenant, id))),
  );
  return [
    ...(titlesOf(thread) === titlesOf(there) ? [] : [`${name} has another title, target or time`]),
    ...compare(name, "messages", messages, messagesThere),
    ...compare(name, "lines of usage", usage, usageThere),
  ];
}

async function checkRun(
  from: CopyableStore,
  to: CopyableStore,
  run: StoredRun,
  there: StoredRun,
): Promise<readonly string[]> {
  const { id, lastSeq } = run;
  const name = `run ${id}`;
  const [events, eventsThere] = await both(from, to, (store) => digestLog(store, id, Math.max(lastSeq, there.lastSeq)));
  const [answers, answersThere] = await both(from, to, async (store) =>
    digestOf(answersOf(await store.listAnswers(id))),
  );
  const faults = [
    ...compare(name, "events", events, eventsThere),
    ...compare(name, "stored answers", answers, answersThere),
  ];
  return faults.length === 0 && headOf(run) !== headOf(there)
    ? [`${name} has other settings, or another state`]
    : faults;
}

async function both(
  from: CopyableStore,
  to: CopyableStore,
  digest: (store: CopyableStore) => Promise<Digest>,
): Promise<readonly [Digest, Digest]> {
  return await Promise.all([digest(from), digest(to)]);
}

function compare(name: string, what: string, here: Digest, there: Digest): readonly string[] {
  if (here.count !== there.count) return [`${name} has ${there.count} ${what} instead of ${here.count}`];
  return here.digest === there.digest ? [] : [`${name} has ${here.count} ${what} as it should, but other ones`];
}

function isSameFile(here: Uint8Array | undefined, there: Uint8Array | undefined): boolean {
  return here?.length === there?.length && (here ?? []).every((byte, at) => byte === there?.[at]);
}
