// Durable: a run waits for a person without a process, and continues from its log. Here one program plays both processes;
// in yours the second part runs days later, on another machine.
//
// Prints:
//   waits for add {"a":25,"b":17}
//   25 + 17 = 42.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tool } from "millrace";
import { resumeRun, runStored } from "millrace/durable";
import { openStore } from "millrace/stores/sqlite";

const folder = await mkdtemp(join(tmpdir(), "millrace-durable-"));
const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);
const options = { tools: [add], permissions: { ask: ["add"] } };

// The first process: a question that is not answered within 100 ms parks the run.
const first = await openStore(folder);
const run = runStored(first, "offline", "What is 25 + 17?", { ...options, limits: { parkMs: 100 } });
const parked = await run.parked();
await run.closed;
const [call] = parked?.calls ?? [];
const [question] = await first.listQuestions("local");
console.log(`waits for ${question?.name} ${JSON.stringify(question?.input)}`);
await first.close();

// Another process: the answer is stored first, and then continues the run.
const second = await openStore(folder);
await second.addAnswer(run.id, { callId: call?.callId ?? "", at: Date.now(), decision: { allow: true } });
const resumed = await resumeRun(second, run.id, { target: "offline", ...options });
console.log(await resumed.output());
await resumed.closed;
await second.close();
await rm(folder, { recursive: true });
