// Which of two agents answers better? The same prompts for both, your own scorer, and a decision with its reasons.
//
// Prints:
//   guessing 0 %, counting 100 %
//   adopt counting
//   Adopt counting: its quality is any number of times higher than that of guessing.

import assert from "node:assert/strict";
import { agent, tool } from "millrace";
import { compare, type Scorer } from "millrace/compare";

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);

const usesItsTools: Scorer = { name: "uses its tools", score: ({ result }) => (result.toolCalls.length > 0 ? 1 : 0) };

const { targets, decision } = await compare({
  prompts: ["What is 25 + 17?", "What is 3 + 4?", "What is 100 + 1?", "What is 8 + 8?", "What is 12 + 30?"],
  targets: [
    { name: "guessing", target: agent({ name: "guessing", backend: "offline" }) },
    { name: "counting", target: agent({ name: "counting", backend: "offline", tools: [add] }) },
  ],
  scorers: [usesItsTools],
});

console.log(targets.map(({ name, quality = 0 }) => `${name} ${quality * 100} %`).join(", "));
console.log(decision.verdict, decision.target);
console.log(decision.reasons[0]);
assert.equal(decision.sampleSize["counting"], 5);
