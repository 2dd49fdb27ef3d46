// The floor: minimal hand-written code on fetch and child_process, JSON.parse, a direct call per delta, nothing else.
import { spawn } from "node:child_process";

async function post(url, onData) {
  const response = await fetch(url, { method: "POST", body: "{}" });
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of response.body) {
    rest += decoder.decode(piece, { stream: true });
    let start = 0;
    for (let end = rest.indexOf("\n", start); end !== -1; end = rest.indexOf("\n", start)) {
      if (rest.startsWith("data: ", start))
        onData(rest.slice(start + 6, rest.charCodeAt(end - 1) === 13 ? end - 1 : end));
      start = end + 1;
    }
    rest = rest.slice(start);
  }
}

async function openai(seen, url) {
  const calls = [];
  await post(`${url}/chat/completions`, (data) => {
    if (data === "[DONE]") return;
    const delta = JSON.parse(data).choices[0]?.delta;
    if (delta?.content) seen.text(delta.content);
    for (const call of delta?.tool_calls ?? []) {
      const text = call.function.arguments;
      calls[call.index] = (calls[call.index] ?? "") + text;
      if (text !== "") seen.fragment(text);
    }
  });
  for (const call of calls) seen.call(JSON.parse(call));
}

async function anthropic(seen, url) {
  const calls = [];
  await post(`${url}/v1/messages`, (data) => {
    const event = JSON.parse(data);
    if (event.type === "content_block_start" && event.content_block.type === "tool_use") calls[event.index] = "";
    if (event.type !== "content_block_delta") return;
    if (event.delta.type === "text_delta") seen.text(event.delta.text);
    else {
      calls[event.index] += event.delta.partial_json;
      seen.fragment(event.delta.partial_json);
    }
  });
  for (const call of calls) seen.call(JSON.parse(call));
}

const gemini = (seen, url) =>
  post(`${url}/v1beta`, (data) => {
    for (const part of JSON.parse(data).candidates[0].content.parts) if (part.text) seen.text(part.text);
  });

/** Spawn, split bytes at newlines, JSON.parse. */
function cli(file, onFrame) {
  return new Promise((resolve, reject) => {
    const child = spawn("cat", [file], { stdio: ["ignore", "pipe", "inherit"] });
    let parts = [];
    child.stdout.on("data", (bytes) => {
      let start = 0;
      for (let end = bytes.indexOf(10, start); end !== -1; end = bytes.indexOf(10, start)) {
        if (parts.length === 0) onFrame(JSON.parse(bytes.toString("utf8", start, end)));
        else {
          parts.push(bytes.subarray(start, end));
          onFrame(JSON.parse(Buffer.concat(parts).toString()));
          parts = [];
        }
        start = end + 1;
      }
      if (start < bytes.length) parts.push(bytes.subarray(start));
    });
    child.on("error", reject);
    child.on("close", resolve);
  });
}

export const tasks = {
  "openai-text": openai,
  "openai-calls": openai,
  "anthropic-text": anthropic,
  "anthropic-calls": anthropic,
  "gemini-text": gemini,
  "cli-text": (seen, file) =>
    cli(file, (frame) => {
      if (frame.type === "stream_event" && frame.event.type === "content_block_delta")
        seen.text(frame.event.delta.text);
    }),
  "cli-huge": (seen, file) =>
    cli(file, (frame) => {
      if (frame.type === "assistant") seen.text(frame.message.content[0].text);
    }),
};
