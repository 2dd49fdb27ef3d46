// A tape holds a run: what went out, what came back, what tools and people answered. It is played without network, CLI
// or key, and gives the same events: a bug report that runs. Secrets are taken out before they reach the disk.
//
// Prints:
//   recorded: 25 + 17 = 42.
//   replayed: 25 + 17 = 42.
//   the same events: true
//   the tool was called once, the server is gone, the key is not on the tape: true

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentEvent, replay, run, tool } from "millrace";
import { createEmulator } from "millrace/emulator";

let calls = 0;
const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => {
  calls += 1;
  return a + b;
});
const emulator = createEmulator();
const { url } = await emulator.listen();
const folder = mkdtempSync(join(tmpdir(), "millrace-tape-"));
const record = join(folder, "sum.tape");

try {
  const recorded = run("anthropic/any", "What is 25 + 17?", {
    tools: [add],
    record,
    anthropic: { apiKey: "sk-ant-secret-0123456789", baseUrl: url },
  });
  const before = await collect(recorded);
  await emulator.close();
  console.log(`recorded: ${(await recorded.result()).text}`);

  const replayed = replay(record);
  const after = await collect(replayed);
  console.log(`replayed: ${(await replayed.result()).text}`);

  assert.deepEqual(after, before);
  console.log(`the same events: ${after.length === before.length}`);
  const isClean = !readFileSync(record, "utf8").includes("sk-ant-secret");
  console.log(`the tool was called once, the server is gone, the key is not on the tape: ${calls === 1 && isClean}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Everything but the times, and the mode, which is `tape` the second time. */
async function collect(events: AsyncIterable<AgentEvent>): Promise<object[]> {
  const all: object[] = [];
  for await (const { ts: _ts, ...event } of events) all.push(event.type === "start" ? { ...event, mode: "" } : event);
  return all;
}
