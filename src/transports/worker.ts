import type { StartWorker } from "#domain";
import { createDeferred, type Deferred } from "#streams";

/**
 * What every thread's program stands in. It defines `answer(question)`; what that throws ends the thread. The last
 * question, `undefined`, asks it to go.
 */
const FRAME = (program: string): string => `
"use strict";
const { parentPort, workerData: data } = require("node:worker_threads");
${program}
parentPort.on("message", (question) => {
  const reply = answer(question);
  if (question === undefined) parentPort.close();
  else parentPort.postMessage(reply);
});
`;

/**
 * Starts threads of this machine. The program is a script that defines a function `answer(question)`; its data is in
 * `data`, and `require` is at hand. A thread keeps the process alive only while it has something to answer.
 */
export const startWorker: StartWorker = (program, data) => {
  // Loaded when it is needed: most programs have no thread.
  const { Worker } = process.getBuiltinModule("node:worker_threads");
  // What a thread is asked is soon forgotten: a small nursery holds it, where the usual one takes 32 MB.
  const resourceLimits = { maxYoungGenerationSizeMb: 6 };
  const worker = new Worker(FRAME(program), { eval: true, workerData: data, stdin: false, resourceLimits });
  const asked: Deferred<unknown>[] = [];
  const gone = createDeferred<void>();
  let failure: unknown = new Error("The thread has ended.");
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
