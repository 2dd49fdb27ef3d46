// The floor: minimal hand-written code on fetch and child_process, with JSON.parse and one direct call per delta.
import { spawn } from "node:child_process";

async function post(url, body, onData) {
  const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
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

/** One reply: its calls, with their arguments still as text. */
async function openaiTurn(seen, url, messages) {
  const calls = [];
  await post(`${url}/chat/completions`, { messages }, (data) => {
    if (data === "[DONE]") return;
    const delta = JSON.parse(data).choices[0]?.delta;
    if (delta?.content) seen.text(delta.content);
    for (const call of delta?.tool_calls ?? []) {
      const known = (calls[call.index] ??= { id: call.id, text: "" });
      known.text += call.function.arguments;
      if (call.function.arguments !== "") seen.fragment(call.function.arguments);
    }
  });
  return calls;
}

async function anthropicTurn(seen, url, messages) {
  const calls = [];
  await post(`${url}/v1/messages`, { messages }, (data) => {
    const event = JSON.parse(data);
    if (event.type === "content_block_start" && event.content_block.type === "tool_use")
      calls[event.index] = { id: event.content_block.id, text: "" };
    if (event.type !== "content_block_delta") return;
    if (event.delta.type === "text_delta") seen.text(event.delta.text);
    else {
      calls[event.index].text += event.delta.partial_json;
      seen.fragment(event.delta.partial_json);
    }
  });
  return calls;
}

const user = { role: "user", content: "go" };
const once = (turn) => async (seen, url) => {
  for (const call of await turn(seen, url, [user])) seen.call(JSON.parse(call.text));
};

async function openaiLoop(seen, url) {
  const messages = [user];
  for (;;) {
    const calls = await openaiTurn(seen, url, messages);
    if (calls.length === 0) return;
    messages.push({
      role: "assistant",
      content: null,
      tool_calls: calls.map((call) => ({
        id: call.id,
        type: "function",
        function: { name: "add", arguments: call.text },
      })),
    });
    for (const call of calls)
      messages.push({ role: "tool", tool_call_id: call.id, content: String(seen.add(JSON.parse(call.text))) });
  }
}

async function anthropicLoop(seen, url) {
  const messages = [user];
  for (;;) {
    const calls = await anthropicTurn(seen, url, messages);
    if (calls.length === 0) return;
    const inputs = calls.map((call) => JSON.parse(call.text));
    messages.push({
      role: "assistant",
      content: calls.map((call, index) => ({ type: "tool_use", id: call.id, name: "add", input: inputs[index] })),
    });
    messages.push({
      role: "user",
      content: calls.map((call, index) => ({
        type: "tool_result",
        tool_use_id: call.id,
        content: String(seen.add(inputs[index])),
      })),
    });
  }
}

const gemini = (seen, url) =>
  post(`${url}/v1beta`, {}, (data) => {
    for (const part of JSON.parse(data).candidates[0].content.parts) if (part.text) seen.text(part.text);
  });

/** Splits bytes at newlines and parses each line. */
function readFrames(stream, onFrame) {
  let parts = [];
  stream.on("data", (bytes) => {
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
}

function cli(file, onFrame) {
  return new Promise((resolve, reject) => {
    const child = spawn("cat", [file], { stdio: ["ignore", "pipe", "inherit"] });
    readFrames(child.stdout, onFrame);
    child.on("error", reject);
    child.on("close", resolve);
  });
}

const FLAGS = ["--print", "--output-format", "stream-json", "--verbose", "--include-partial-messages"];
const QUESTION = '{"type":"user","message":{"role":"user","content":"go"}}\n';
const GREETING = '{"type":"control_request","request_id":"1","request":{"subtype":"initialize"}}\n';

function onText(seen, frame) {
  if (frame.type === "stream_event" && frame.event.type === "content_block_delta") seen.text(frame.event.delta.text);
}

/** One question, one process, which ends after its answer. */
const claudePlain = (program) => ({
  call: (seen) =>
    new Promise((resolve, reject) => {
      const child = spawn(program, FLAGS, { stdio: ["pipe", "pipe", "inherit"] });
      readFrames(child.stdout, (frame) => onText(seen, frame));
      child.on("error", reject);
      child.on("close", resolve);
      child.stdin.on("error", () => undefined);
      child.stdin.end("go");
    }),
  close() {},
});

/** A process that is initialised once and then asked any number of times. */
async function openClaude(program) {
  const child = spawn(program, [...FLAGS, "--input-format", "stream-json"], { stdio: ["pipe", "pipe", "inherit"] });
  let onFrame;
  readFrames(child.stdout, (frame) => onFrame(frame));
  await new Promise((resolve) => {
    onFrame = (frame) => frame.type === "control_response" && resolve();
    child.stdin.write(GREETING);
  });
  return {
    call: (seen) =>
      new Promise((resolve) => {
        onFrame = (frame) => (frame.type === "result" ? resolve() : onText(seen, frame));
        child.stdin.write(QUESTION);
      }),
    close: () =>
      new Promise((resolve) => {
        child.on("close", resolve);
        child.stdin.end();
      }),
  };
}

const claudeControl = (program) => ({
  async call(seen) {
    const conversation = await openClaude(program);
    await conversation.call(seen);
    await conversation.close();
  },
  close() {},
});

export const claude = { plain: claudePlain, kept: claudePlain, control: claudeControl, turn: openClaude };

export const tasks = {
  "openai-text": once(openaiTurn),
  "openai-calls": once(openaiTurn),
  "openai-loop": openaiLoop,
  "anthropic-text": once(anthropicTurn),
  "anthropic-calls": once(anthropicTurn),
  "anthropic-loop": anthropicLoop,
  "gemini-text": gemini,
  "cli-text": (seen, file) => cli(file, (frame) => onText(seen, frame)),
  "cli-huge": (seen, file) =>
    cli(file, (frame) => {
      if (frame.type === "assistant") seen.text(frame.message.content[0].text);
    }),
};
