// Handoffs: agents are data, and one may pass the conversation on to another. Each may use its own backend.
//
// Prints:
//   triage hands over to billing: charged twice, order 17
//   billing: refund {"order":17}
//   billing: Order 17 is refunded.

import assert from "node:assert/strict";
import { agent, run, swarm, tool } from "millrace";
import { anthropic } from "millrace/anthropic";
import { createEmulator } from "millrace/emulator";
import { openai } from "millrace/openai";

const emulator = createEmulator({
  script: {
    rules: [
      {
        match: { tool: "handoff" },
        reply: { toolCalls: [{ name: "handoff", input: { to: "billing", message: "charged twice, order 17" } }] },
      },
      { match: { tool: "refund", turn: 0 }, reply: { toolCalls: [{ name: "refund", input: { order: 17 } }] } },
      { reply: { text: "Order 17 is refunded." } },
    ],
  },
});
const { url } = await emulator.listen();

const refund = tool("refund", "Give the money for an order back", { order: "number" }, () => "done");
const triage = agent({
  name: "triage",
  backend: openai.compatible({ name: "local", model: "small", baseUrl: `${url}/v1`, apiKey: "any" }),
  instructions: "Find out who can help.",
  handoffs: ["billing"],
});
const billing = agent({
  name: "billing",
  backend: anthropic({ model: "large", apiKey: "any", baseUrl: url }),
  instructions: "Help with money.",
  tools: [refund],
});

try {
  const desk = run(swarm([triage, billing]), "I was charged twice for order 17");
  for await (const event of desk) {
    if (event.type === "handoff") console.log(`${event.from} hands over to ${event.to}: ${event.message}`);
    if (event.type === "tool-call" && event.name === "refund") {
      console.log(`${event.agent}: ${event.name} ${JSON.stringify(event.input)}`);
    }
  }
  const { status, agent: last, messages } = await desk.result();
  assert.equal(status, "success");
  const [block] = messages.at(-1)?.blocks ?? [];
  if (block?.type === "text") console.log(`${last}: ${block.text}`);
} finally {
  await emulator.close();
}
