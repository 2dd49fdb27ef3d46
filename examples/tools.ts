// Tools: a name, a sentence, a schema, a function. What the function throws goes back to the model, which goes on.
//
// Prints:
//   add {"a":25,"b":17} = 42
//   The answer: 25 + 17 = 42.
//   get_weather {"city":"Atlantis"} failed: No weather for Atlantis. Known cities: Paris.

import assert from "node:assert/strict";
import { run, ToolFailure, tool } from "millrace";

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);

const weather = tool({
  name: "get_weather",
  description: "The weather of a city",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  run: ({ city }) => {
    if (city === "Paris") return { sky: "clear", degrees: 21 };
    throw new ToolFailure(`No weather for ${String(city)}. Known cities: Paris.`);
  },
  timeoutMs: 5000,
});

const tools = [add, weather];

const sum = await run("offline", "What is 25 + 17?", { tools }).result();
for (const call of sum.toolCalls) console.log(`${call.name} ${JSON.stringify(call.input)} = ${String(call.output)}`);
console.log(`The answer: ${sum.text}`);
assert.equal(sum.toolCalls[0]?.output, 42);

const asked = run("offline", "What is the weather in Atlantis?", { tools });
for await (const event of asked) {
  if (event.type === "tool-call") process.stdout.write(`${event.name} ${JSON.stringify(event.input)}`);
  if (event.type === "tool-result") console.log(` ${event.isError ? "failed" : "="}: ${String(event.output)}`);
}
assert.equal((await asked.result()).status, "success");
