import { run } from "millrace";
import {
  checkAgentBackend,
  checkFormat,
  checkModelBackend,
  checkQueue,
  checkStore,
  createVirtualClock,
} from "millrace/testing";
import { createAgent } from "./agent-backend.ts";
import { words } from "./format.ts";
import { createModel } from "./model-backend.ts";
import { JobTable, TableQueue } from "./queue.ts";
import { ListStore } from "./store.ts";

const bytes = new TextEncoder().encode('"Hello "\n"there."\n{"odd":1}\ntrue\n');
const failures = {
  store: await checkStore(() => new ListStore()),
  format: await checkFormat(words, { bytes }),
  model: await checkModelBackend(createModel),
  agent: await checkAgentBackend(createAgent),
  queue: await checkQueue(() => {
    const clock = createVirtualClock(1_000_000);
    const table = new JobTable(clock);
    return { open: () => new TableQueue(table), clock, lockMs: 5000 };
  }),
};
const answers = [
  await run(createModel("answer"), "Hello").output(),
  await run(createAgent("answer"), "Hello").output(),
];
process.stdout.write(JSON.stringify({ failures, answers }));
