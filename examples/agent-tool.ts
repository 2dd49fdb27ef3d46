// An agent as a tool: the outer agent asks it and goes on with its answer. Its events carry the call as their parent, and
// what it uses counts for the run.
//
// Prints:
//   researcher {"prompt":"find the oldest mill"}
//     search {"query":"mills"}
//   The oldest mill is from 1271.

import assert from "node:assert/strict";
import { agent, agentTool, run, tool } from "millrace";
import { anthropic } from "millrace/anthropic";
import { createEmulator } from "millrace/emulator";

const emulator = createEmulator({
  script: {
    rules: [
      {
        match: { tool: "researcher", turn: 0 },
        reply: { toolCalls: [{ name: "researcher", input: { prompt: "find the oldest mill" } }] },
      },
      { match: { tool: "researcher" }, reply: { text: "The oldest mill is from 1271." } },
      { match: { tool: "search", turn: 0 }, reply: { toolCalls: [{ name: "search", input: { query: "mills" } }] } },
      { reply: { text: "1271, says the archive." } },
    ],
  },
});
const { url } = await emulator.listen();
const backend = anthropic({ model: "any", apiKey: "any", baseUrl: url });

const search = tool("search", "Search the archive", { query: "string" }, () => "a mill of 1271");
const researcher = agent({ name: "researcher", backend, instructions: "Find sources.", tools: [search] });

const answer = run(backend, "How old is the oldest mill?", { tools: [agentTool(researcher)] });
for await (const event of answer) {
  if (event.type !== "tool-call") continue;
  console.log(`${event.parent === undefined ? "" : "  "}${event.name} ${JSON.stringify(event.input)}`);
}
const { text, toolCalls } = await answer.result();
console.log(text);
assert.equal(toolCalls[0]?.output, "1271, says the archive.");
await emulator.close();
