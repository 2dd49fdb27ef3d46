import { describeThrown, isStartError, type RunResult } from "#domain";
import { type RunOptions, startRun, type World } from "#runtime";
import type { Task } from "./plan.ts";
import type { Sample } from "./types.ts";

/** Errors for which a retry is useless: something on this machine or an account has to change first. */
const HOPELESS: ReadonlySet<string> = new Set([
  "missing-key",
  "unknown-backend",
  "invalid-option",
  "cli-not-found",
  "unsupported-cli-version",
  "unknown-version",
  "version-detection",
  "feature-unavailable",
  "provider-auth",
]);

export interface SampleWork {
  readonly tasks: readonly Task[];
  readonly concurrency: number;
  readonly options: RunOptions;
  readonly world: World;
  readonly signal?: AbortSignal | undefined;
  /** Resolves when the sample is stored. */
  readonly onSample: (sample: Sample) => Promise<void>;
}

/**
 * Runs the tasks, several at a time, until all are done or the signal is aborted. A target that cannot work on this
 * machine is tried once; its other samples fail with the same reason. Rejects if `onSample` does, when the other runs
 * have been aborted: nothing goes on and costs money afterwards.
 */
export async function runSamples(work: SampleWork): Promise<void> {
  const waiting = [...work.tasks];
  const hopeless = new Map<string, RunResult>();
  const failure = new AbortController();
  const signal = AbortSignal.any([failure.signal, ...(work.signal === undefined ? [] : [work.signal])]);
  const isOver = (): boolean => signal.aborted;
  const next = async (): Promise<void> => {
    for (let task = waiting.shift(); task !== undefined && !isOver(); task = waiting.shift()) {
      const { name } = task.target;
      const result = hopeless.get(name) ?? (await runTask(task, { ...work, signal }));
      // Aborted by our signal: this is no answer, and the task runs again when the comparison continues.
      if (isOver() && result.status === "aborted") return;
      if (HOPELESS.has(result.error?.code ?? "")) hopeless.set(name, result);
      await work.onSample(sampleOf(task, result));
    }
  };
  const stopOthers = (error: unknown): never => {
    failure.abort();
    throw error;
  };
  const workers = Array.from({ length: Math.min(work.concurrency, waiting.length) }, () => next().catch(stopOthers));
  await Promise.allSettled(workers);
  await Promise.all(workers);
}

/** The question for a target: the prompt, followed by the document. */
export function questionOf({ prompt, document }: Task): string {
  if (document === undefined) return prompt.text;
  return `${prompt.text}\n\n<document name=${JSON.stringify(document.name)}>\n${document.text}\n</document>`;
}

async function runTask(task: Task, { options, world, signal }: SampleWork): Promise<RunResult> {
  const begun = world.clock.now();
  try {
    const run = startRun(
      task.target.target,
      questionOf(task),
      { ...options, ...task.target.options, ...(signal !== undefined && { signal }) },
      world,
    );
    const result = await run.result();
    await run.closed;
    return result;
  } catch (error) {
    return failedResult(error, world.clock.now() - begun);
  }
}

/** The result of a run that could not be started. */
function failedResult(error: unknown, ms: number): RunResult {
  const code = isStartError(error) ? error.code : "source-failed";
  const detail = { code: code as "spawn", message: describeThrown(error), terminal: true };
  return {
    status: "error",
    subtype: code,
    text: "",
    toolCalls: [],
    messages: [],
    usage: {},
    turns: 0,
    ms,
    error: detail,
    errors: [detail],
    warnings: [],
  };
}

function sampleOf({ id, target, prompt, document, repetition }: Task, result: RunResult): Sample {
  return {
    id,
    target: target.name,
    prompt: prompt.id,
    repetition,
    ...(document !== undefined && { document: document.name }),
    result,
  };
}
