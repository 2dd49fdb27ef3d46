// The offline model server: real HTTP in the vendors' own formats, from a script, with the failures one wants to test.
// Here it is overloaded once, and the run tries again; then it breaks off, which is an error and never a success.
//
// Prints:
//   anthropic: trying again after provider-overloaded
//   anthropic: It is sunny.
//   llama: It is sunny.
//   llama: error stream-cut
//   the server was asked 4 times

import assert from "node:assert/strict";
import { run } from "millrace";
import { anthropic } from "millrace/anthropic";
import { createEmulator } from "millrace/emulator";
import { openai } from "millrace/openai";

const emulator = createEmulator({
  script: {
    rules: [
      { match: { user: "cut" }, reply: { text: "It is cloudy today." }, fault: { cutAfterEvents: 2 } },
      { match: { user: "weather" }, reply: { text: "It is sunny." }, fault: { status: 529, times: 1 } },
    ],
  },
});
const { url } = await emulator.listen();

const backends = [
  anthropic({ model: "any", apiKey: "any", baseUrl: url }),
  openai.compatible({ name: "llama", model: "any", baseUrl: `${url}/v1`, apiKey: "any" }),
];
try {
  for (const backend of backends) {
    const asked = run(backend, "How is the weather?");
    asked.on("notice", ({ kind, data }) => {
      if (kind === "retry") console.log(`${backend.name}: trying again after ${(data as { code: string }).code}`);
    });
    console.log(`${backend.name}: ${await asked.output()}`);
  }
  const cut = await run(backends[1] ?? "offline", "Please cut this short", { retry: false }).result();
  assert.equal(cut.status, "error");
  console.log(`llama: ${cut.status} ${cut.subtype}`);
  console.log(`the server was asked ${emulator.requests.length} times`);
} finally {
  await emulator.close();
}
