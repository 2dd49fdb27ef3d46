import { run } from "millrace";
import { checkAgentBackend, checkFormat, checkModelBackend, checkStore } from "millrace/testing";
import { createAgent } from "./agent-backend.ts";
import { words } from "./format.ts";
import { createModel } from "./model-backend.ts";
import { ListStore } from "./store.ts";

const bytes = new TextEncoder().encode('"Hello "\n"there."\n{"odd":1}\ntrue\n');
const failures = {
  store: await checkStore(() => new ListStore()),
  format: await checkFormat(words, { bytes }),
  model: await checkModelBackend(createModel),
  agent: await checkAgentBackend(createAgent),
};
const answers = [
  await run(createModel("answer"), "Hello").output(),
  await run(createAgent("answer"), "Hello").output(),
];
process.stdout.write(JSON.stringify({ failures, answers }));
