// One run of the built package whose agent leaves a daemon. Prints its result, and ends by itself, when nothing of the run is left.
// node run-child.mjs <dist> <JSON of the scene>

import { spawn } from "node:child_process";
import { once } from "node:events";

const [dist, scene] = process.argv.slice(2);
const { agent, script, cli, home, url, limits } = JSON.parse(scene ?? "");
const { command, openSession, run, tool } = await import(`${dist}/index.js`);

const env = { HOME: home, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "sk-ant-offline", CLAUDE_CODE_MAX_RETRIES: "0" };
const claudeCode = { executable: cli, cwd: home, env, skipVersionCheck: true };

/** @param {unknown} _input @param {{ signal: AbortSignal }} context */
async function runScript(_input, { signal }) {
  await once(spawn("/bin/sh", ["-c", script], { signal, stdio: "ignore" }), "exit");
  return "done";
}
const shell = tool("shell", "Run a command", { command: "string" }, runScript);

/** @type {Record<string, () => [unknown, object]>} */
const AGENTS = {
  "the CLI, plain": () => ["claude-code", { claudeCode: { ...claudeCode, allowedTools: ["Bash"] } }],
  "the CLI, control": () => ["claude-code", { claudeCode, permissions: { allow: ["Bash"] } }],
  "a tool server of the CLI": () => {
    const mcpConfig = { own: { command: "/bin/sh", args: ["-c", script] } };
    return ["claude-code", { claudeCode: { ...claudeCode, mcpConfig } }];
  },
  "a command": () => [command(["/bin/sh", "-c", script], { format: "text" }), {}],
  "our own tool": () => ["offline", { tools: [shell], toolChoice: { name: "shell" } }],
};

const [target, options] = AGENTS[agent]?.() ?? [];
const session = limits === undefined ? openSession(target, options) : undefined;
const started = session?.send("Please run `go`") ?? run(target, "Please run `go`", { ...options, limits });
process.stdin.once("data", () => void (session?.close() ?? started.abort("enough")));
const { status, error } = await started.result();
await started.closed;
await session?.close();
process.stdout.write(`${JSON.stringify({ status, code: error?.code })}\n`);
process.stdin.destroy();
