// Millrace through its public handle: typed events from `for await (const event of run)`, all guarantees on.
import { spawn } from "node:child_process";
import { run, tool } from "millrace";

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

const HOSTS = {
  openai: (url) => ["openai/bench", { openai: { apiKey: "bench", baseUrl: url } }],
  anthropic: (url) => ["anthropic/bench", { anthropic: { apiKey: "bench", baseUrl: url } }],
  gemini: (url) => ["google/bench", { google: { apiKey: "bench", baseUrl: url } }],
};

/** One reply is the workload; the limit keeps the loop from asking for a second one after the tool calls. */
const once = (api) => (seen, url) => {
  const [backend, options] = HOSTS[api](url);
  return consume(seen, run(backend, "go", { ...options, limits: { turns: 1 } }));
};

const loop = (api) => (seen, url) => {
  const [backend, options] = HOSTS[api](url);
  const add = tool("add", "Add two numbers", { a: "number", b: "number" }, (input) => seen.add(input));
  return consume(seen, run(backend, "go", { ...options, tools: [add], limits: { turns: 1000 } }));
};

const cli = async (seen, file) => {
  const { decodeStream, formatRegistry } = await import("../../dist/runtime/index.js");
  const child = spawn("cat", [file], { stdio: ["ignore", "pipe", "inherit"] });
  return consume(seen, decodeStream(formatRegistry().require("claude-code"), child.stdout));
};

export const tasks = {
  "openai-text": once("openai"),
  "openai-calls": once("openai"),
  "openai-loop": loop("openai"),
  "anthropic-text": once("anthropic"),
  "anthropic-calls": once("anthropic"),
  "anthropic-loop": loop("anthropic"),
  "gemini-text": once("gemini"),
  "cli-text": cli,
  "cli-huge": cli,
};
