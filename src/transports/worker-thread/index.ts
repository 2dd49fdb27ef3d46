import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import type { WorkerProgram } from "#domain";

// The first file of every worker (worker.ts starts it). Nothing else imports it.

const { file, data } = workerData as { readonly file: string; readonly data: unknown };
const { start } = (await import(pathToFileURL(file).href)) as {
  start(data: unknown): WorkerProgram | Promise<WorkerProgram>;
};
const program = await start(data);

// The last question is `undefined`.
parentPort?.on("message", (question: unknown) => {
  if (question === undefined) {
    program.close();
    parentPort?.close();
  } else {
    parentPort?.postMessage(program.answer(question));
  }
});
