// Every event of a run, in order: deltas while something is written, items when it is finished, one done at the end.
// The same events may be read again, by listeners and by readers that come late, and every run can be aborted.
//
// Prints:
//   start offline
//   message user
//   text-delta
//   tool-input-delta
//   message assistant
//   tool-call add
//   tool-result 42
//   text-delta
//   message assistant
//   result success
//   done success
//   aborted after the first delta

import assert from "node:assert/strict";
import { type AgentEvent, run, tool } from "millrace";

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);

const answer = run("offline", "What is 25 + 17?", { tools: [add] });
let last = "";
for await (const event of answer) {
  const line = describe(event);
  if (line !== last) console.log(line);
  last = line;
}

// Late readers get the same story.
const again: AgentEvent[] = [];
for await (const event of answer) again.push(event);
assert.equal(again.filter((event) => event.type === "done").length, 1);
assert.equal(again.at(-1)?.type, "done");

const long = run("offline", "What is 1 + 1?", { tools: [add] });
long.once("text-delta", () => void long.abort("seen enough"));
const { status, error } = await long.result();
assert.equal(error?.message, "seen enough");
console.log(`${status} after the first delta`);

function describe(event: AgentEvent): string {
  switch (event.type) {
    case "start":
      return `start ${event.backend}`;
    case "message":
      return `message ${event.role}`;
    case "tool-call":
      return `tool-call ${event.name}`;
    case "tool-result":
      return `tool-result ${String(event.output)}`;
    case "result":
      return `result ${event.subtype}`;
    case "done":
      return `done ${event.result.status}`;
    default:
      return event.type;
  }
}
