// Millrace through its public handle: typed events from `for await (const event of run)`, all guarantees on.
import { spawn } from "node:child_process";
import { run, tool } from "millrace";
import { decodeStream, formatRegistry } from "../../dist/runtime/index.js";

const save = tool("save", "Save rows", { type: "object" }, () => "ok");

async function consume(seen, handle) {
  for await (const event of handle) {
    if (event.type === "text-delta") seen.text(event.text);
    else if (event.type === "tool-input-delta") seen.fragment(event.json);
    else if (event.type === "tool-call") seen.call(event.input);
    else if (event.type === "done" && event.result.status !== "success" && event.result.subtype !== "error_max_turns") {
      throw new Error(`${event.result.subtype}: ${event.result.error?.message}`);
    }
  }
}

// One reply is the workload; the limit keeps the loop from asking for a second one after the tool calls.
const ask = (backend, options) => (seen, url) =>
  consume(seen, run(backend, "go", { limits: { turns: 1 }, ...options(url) }));

const openai = ask("openai/bench", (url) => ({ openai: { apiKey: "bench", baseUrl: url } }));
const anthropic = ask("anthropic/bench", (url) => ({ anthropic: { apiKey: "bench", baseUrl: url } }));
const gemini = ask("google/bench", (url) => ({ google: { apiKey: "bench", baseUrl: url } }));
const withTool = (backend, options) => ask(backend, (url) => ({ ...options(url), tools: [save] }));

const cli = (seen, file) => {
  const child = spawn("cat", [file], { stdio: ["ignore", "pipe", "inherit"] });
  return consume(seen, decodeStream(formatRegistry().require("claude-code"), child.stdout));
};

export const tasks = {
  "openai-text": openai,
  "openai-calls": withTool("openai/bench", (url) => ({ openai: { apiKey: "bench", baseUrl: url } })),
  "anthropic-text": anthropic,
  "anthropic-calls": withTool("anthropic/bench", (url) => ({ anthropic: { apiKey: "bench", baseUrl: url } })),
  "gemini-text": gemini,
  "cli-text": cli,
  "cli-huge": cli,
};
