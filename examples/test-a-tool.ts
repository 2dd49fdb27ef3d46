// Tests your own tool against a recorded model: recorded once, with any backend, and from then on run in CI without a
// key, a network or a model. The tool really runs; what the run sends is compared with what was sent.
//
// Prints:
//   ok: the tool was called with a=25 b=17, and the run says 25 + 17 = 42.
//   found: body.messages[2].content[0].content: the tape has "42", and now there is "8"

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentEvent, run, tool } from "millrace";
import { assertRunLog } from "millrace/testing";

const calls: string[] = [];
const add = (work: (a: number, b: number) => number) =>
  tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => {
    calls.push(`a=${a} b=${b}`);
    return work(a, b);
  });

const folder = mkdtempSync(join(tmpdir(), "millrace-test-a-tool-"));
const tape = join(folder, "sum.tape");
try {
  // Once, by hand: the tape is then kept beside the test.
  await run("offline", "What is 25 + 17?", { tools: [add((a, b) => a + b)], record: tape }).result();

  // In every test: the tool of today, the model of then.
  calls.length = 0;
  const tested = run("offline", "What is 25 + 17?", { tools: [add((a, b) => a + b)], replay: tape });
  const events: AgentEvent[] = [];
  for await (const event of tested) events.push(event);
  assertRunLog(events);
  const { status, text } = await tested.result();
  assert.equal(status, "success");
  assert.deepEqual(calls, ["a=25 b=17"]);
  console.log(`ok: the tool was called with ${calls[0]}, and the run says ${text}`);

  // A tool that has changed: the run ends, and says where.
  const { error } = await run("offline", "What is 25 + 17?", { tools: [add((a, b) => a - b)], replay: tape }).result();
  assert.equal(error?.code, "tape-difference");
  console.log(`found: ${error.message.replace(/^.*\): /, "").replace(/\.$/, "")}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
