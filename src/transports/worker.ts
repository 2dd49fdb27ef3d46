import type { StartWorker } from "#domain";
import { createDeferred, type Deferred } from "#streams";

/** Resolved by Node rather than written as a path: in the built package this file is in another folder. */
const THREAD_FILE = "#transports/worker-thread";

/** Starts worker threads. A worker keeps the process alive only while an answer is pending. */
export const startWorker: StartWorker = (file, data) => {
  // Loaded on demand: most programs have no worker.
  const { Worker } = process.getBuiltinModule("node:worker_threads");
  const { createRequire } = process.getBuiltinModule("node:module");
  // Questions are short-lived: a small young generation holds them, where the default takes 32 MB.
  const resourceLimits = { maxYoungGenerationSizeMb: 6 };
  const thread = createRequire(import.meta.url).resolve(THREAD_FILE);
  const worker = new Worker(thread, { workerData: { file, data }, stdin: false, resourceLimits });
  const asked: Deferred<unknown>[] = [];
  const gone = createDeferred<void>();
  let failure: unknown = new Error("The worker has ended.");
  let isAlive = true;
  let isClosing = false;

  const end = (): void => {
    isAlive = false;
    for (const waiting of asked.splice(0)) waiting.reject(failure);
    gone.resolve();
  };
  worker.unref();
  worker.on("message", (reply: unknown) => {
    asked.shift()?.resolve(reply);
    if (asked.length === 0 && !isClosing) worker.unref();
  });
  worker.on("error", (error) => {
    failure = error;
    end();
  });
  worker.on("exit", end);

  return {
    get isAlive() {
      return isAlive && !isClosing;
    },
    ask(question) {
      if (!isAlive || isClosing) return Promise.reject(failure);
      const waiting = createDeferred<unknown>();
      asked.push(waiting);
      worker.ref();
      worker.postMessage(question);
      return waiting.promise;
    },
    close() {
      if (isAlive && !isClosing) {
        isClosing = true;
        worker.ref();
        worker.postMessage(undefined);
      }
      return gone.promise;
    },
  };
};
