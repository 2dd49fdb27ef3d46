// Guards look at what enters and leaves a run, hooks at what happens in it. The same ones hold on every backend.
//
// Prints:
//   a secret in the prompt: error, guard-denied
//   a number too large: The hook said no: Not more than 100.
//   the answer, checked before anybody saw it: 25 + 17 = **.

import assert from "node:assert/strict";
import { type Guard, type Hooks, run, tool } from "millrace";

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);

const noSecrets: Guard = {
  name: "no-secrets",
  place: "input",
  check: ({ text }) => (/sk-[a-z0-9]+/.test(text) ? { deny: "There is a key in the prompt." } : undefined),
};
const hideNumbers: Guard = {
  name: "hide-numbers",
  place: "output",
  check: ({ text }) => ({ replace: text.replaceAll("42", "**") }),
};
const smallNumbers: Hooks = {
  "before-tool": [
    {
      tool: "add",
      run: ({ input }) => ((input as { a: number }).a > 100 ? { block: "Not more than 100." } : undefined),
    },
  ],
};

const blocked = await run("offline", "My key is sk-abc123", { guards: [noSecrets] }).result();
console.log(`a secret in the prompt: ${blocked.status}, ${blocked.subtype}`);
assert.equal(blocked.text, "");

const hooked = await run("offline", "What is 1000 + 1?", { tools: [add], hooks: smallNumbers }).result();
assert.equal(hooked.toolCalls[0]?.isError, true);
console.log(`a number too large: The hook said no: ${String(hooked.toolCalls[0]?.output).split(": ").at(-1)}`);

// "buffer" holds the whole answer back until the guard has seen it: nothing leaks while it streams.
const seen: string[] = [];
const guarded = run("offline", "What is 25 + 17?", { tools: [add], guards: [hideNumbers], outputMode: "buffer" });
for await (const event of guarded) if (event.type === "text-delta") seen.push(event.text);
assert.ok(!seen.join("").includes("42"));
console.log(`the answer, checked before anybody saw it: ${seen.join("").split("add.").at(-1)?.trim()}`);
