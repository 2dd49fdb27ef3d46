// Approval: a person decides about tool calls. Here a script plays the person; in a program of yours the line comes
// from the terminal: `permission: askInTerminal` is all it takes.
//
// Prints:
//   ? The agent wants to use refund {"order":17}
//   refund {"order":17}: done
//   refund {"order":18}: denied. The user said no.

import assert from "node:assert/strict";
import { run, tool } from "millrace";
import { anthropic } from "millrace/anthropic";
import { createEmulator } from "millrace/emulator";
import { createTerminalAsk } from "millrace/sinks";

const refunded: number[] = [];
const refund = tool("refund", "Give the money for an order back", { order: "number" }, ({ order }) => {
  refunded.push(order);
  return "done";
});

// A model that wants to refund two orders.
const calls = [17, 18].map((order) => ({ name: "refund", input: { order } }));
const emulator = createEmulator({
  script: {
    rules: [{ match: { turn: 0 }, reply: { toolCalls: calls } }, { reply: { text: "That is all I could do." } }],
  },
});
const { url } = await emulator.listen();
const backend = anthropic({ model: "any", apiKey: "any", baseUrl: url });

const answers = ["y", "n"];
const shown: string[] = [];
const permission = createTerminalAsk({
  ask: async (question) => {
    shown.push(question);
    return answers.shift();
  },
  color: false,
  width: 80,
});

try {
  const { status, toolCalls } = await run(backend, "Refund orders 17 and 18", { tools: [refund], permission }).result();
  assert.equal(status, "success");
  // The question as a terminal shows it, without its last line: "Allow? [y]es, [N]o, …"
  for (const line of shown[0]?.split("\n").slice(0, -1) ?? []) console.log(line.replace(/^ {2}(?= )/, ""));
  for (const { input, output, isError } of toolCalls) {
    console.log(`refund ${JSON.stringify(input)}: ${isError === true ? "denied. " : ""}${String(output)}`);
  }
  assert.deepEqual(refunded, [17]);
} finally {
  await emulator.close();
}
