// The shortest program: one prompt, one answer, no key.
// Write "anthropic/claude-sonnet-4-6" or "openai/gpt-5.6-sol" for "offline", and nothing else changes.
//
// Prints:
//   25 + 17 = 42.

import { run } from "millrace";

for await (const text of run("offline", "What is 25 + 17?").text()) process.stdout.write(text);
process.stdout.write("\n");
