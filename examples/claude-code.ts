// Claude Code with our own tool and a hook: the same tool and the same hook as on a model's API. The real CLI runs on
// this machine; the offline model answers it, so no key is needed.
//
// Prints:
//   claude-code speaks control
//   before add {"a":25,"b":17}
//   add = 42, run by millrace
//   before add {"a":1000,"b":1}
//   add failed: Not more than 100.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Hooks, run, tool } from "millrace";
import { claudeCode } from "millrace/claude-code";
import { createEmulator } from "millrace/emulator";

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);
const hooks: Hooks = {
  "before-tool": [
    ({ name, input }) => {
      console.log(`before ${name} ${JSON.stringify(input)}`);
      return (input as { a: number }).a > 100 ? { block: "Not more than 100." } : undefined;
    },
  ],
};

const executable = findCli();
if (executable !== undefined) await ask(executable);
// Where there is no CLI there is nothing to show; CI has one.
else if (process.env["CI"] !== undefined) throw new Error("The Claude Code CLI is not installed.");
else console.log("skipped: the Claude Code CLI is not installed (npm install -g @anthropic-ai/claude-code)");

async function ask(cli: string): Promise<void> {
  const emulator = createEmulator();
  const { url } = await emulator.listen();
  const home = mkdtempSync(join(tmpdir(), "millrace-claude-"));
  const backend = claudeCode({ executable: cli });
  const env = { HOME: home, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "any" };
  try {
    for (const [index, question] of ["What is 25 + 17?", "What is 1000 + 1?"].entries()) {
      const asked = run(backend, question, { tools: [add], hooks, cwd: home, env });
      for await (const event of asked) {
        if (event.type === "start" && index === 0) console.log(`${event.backend} speaks ${event.mode}`);
        if (event.type === "tool-call") assert.equal(event.executedBy, "millrace");
        if (event.type === "tool-result") {
          const output = String(event.output).split(": ").at(-1);
          console.log(event.isError ? `${event.name} failed: ${output}` : `${event.name} = ${output}, run by millrace`);
        }
      }
      assert.equal((await asked.result()).status, "success");
    }
  } finally {
    await emulator.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** The program of the npm package, or the one in MILLRACE_CLAUDE. */
function findCli(): string | undefined {
  const named = process.env["MILLRACE_CLAUDE"];
  if (named !== undefined) return named;
  try {
    const cli = createRequire(import.meta.url).resolve("@anthropic-ai/claude-code/package.json");
    const path = createRequire(cli).resolve(
      `@anthropic-ai/claude-code-${process.platform}-${process.arch}/package.json`,
    );
    return join(dirname(path), "claude");
  } catch {
    return undefined;
  }
}
