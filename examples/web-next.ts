// A run as the answer of a Next route handler (app/api/chat/route.ts): a function from a request to a response.
// Here a small server calls it, as Next does.
//
// Prints:
//   text/event-stream; charset=utf-8
//   25 + 17 = 42

import assert from "node:assert/strict";
import { serve } from "@hono/node-server";
import { run, tool } from "millrace";

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);

/** What stands in app/api/chat/route.ts. `events: "chat"` sends the same run in another vocabulary. */
export async function POST(request: Request): Promise<Response> {
  const { prompt } = (await request.json()) as { prompt: string };
  return run("offline", prompt, { tools: [add] }).toResponse({ events: "chat" });
}

const port = await new Promise<number>((resolve) => {
  const server = serve({ fetch: POST, port: 0, hostname: "127.0.0.1" }, (address) => {
    server.unref();
    resolve(address.port);
  });
});

const answer = await fetch(`http://127.0.0.1:${port}/api/chat`, {
  method: "POST",
  body: JSON.stringify({ prompt: "What is 25 + 17?" }),
});
console.log(answer.headers.get("content-type"));
const text = await answer.text();
assert.match(text, /event: done/);
assert.match(text, /42/);
console.log("25 + 17 = 42");
