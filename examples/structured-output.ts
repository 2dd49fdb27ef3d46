// Structured output: the answer is a value that fits a schema, on every backend. What does not fit is sent back to the
// model, twice at most; `output()` gives a value that fits, or rejects.
//
// Prints:
//   {"city":"Paris","degrees":21}
//   the model was asked 2 times
//   degrees as a number: 21

import assert from "node:assert/strict";
import { run } from "millrace";
import { anthropic } from "millrace/anthropic";
import { createEmulator } from "millrace/emulator";

// A model that gets it wrong first: a text where a number is wanted.
const wrong = { text: JSON.stringify({ city: "Paris", degrees: "warm" }) };
const right = { text: JSON.stringify({ city: "Paris", degrees: 21 }) };
const emulator = createEmulator({ script: { rules: [{ match: { times: 1 }, reply: wrong }, { reply: right }] } });
const { url } = await emulator.listen();
const backend = anthropic({ model: "claude-sonnet-4-6", apiKey: "any", baseUrl: url });

try {
  const weather = await run(backend, "How is the weather in Paris?", {
    output: { city: "string", degrees: "number" },
  }).output();
  console.log(JSON.stringify(weather));
  console.log(`the model was asked ${emulator.requests.length} times`);
  // The type came from the schema.
  const { degrees } = weather;
  assert.equal(degrees + 1, 22);
  console.log(`degrees as a number: ${degrees}`);
} finally {
  await emulator.close();
}
