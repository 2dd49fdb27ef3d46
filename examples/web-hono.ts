// A run as the answer of a Hono route: the text, or the events as server-sent events. A client that leaves aborts it.
//
// Prints:
//   text/plain; charset=utf-8
//   25 + 17 = 42
//   text/event-stream; charset=utf-8
//   start, done

import assert from "node:assert/strict";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { run, tool } from "millrace";

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);

const app = new Hono();
app.post("/text", async (context) => run("offline", await context.req.text(), { tools: [add] }).toTextResponse());
app.post("/events", async (context) => run("offline", await context.req.text(), { tools: [add] }).toResponse());

const port = await new Promise<number>((resolve) => {
  const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, (address) => {
    server.unref();
    resolve(address.port);
  });
});

const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body: "What is 25 + 17?" });

const text = await ask("/text");
console.log(text.headers.get("content-type"));
const answer = await text.text();
assert.match(answer, /42/);
console.log("25 + 17 = 42");

const events = await ask("/events");
console.log(events.headers.get("content-type"));
const names = [...(await events.text()).matchAll(/^event: (.+)$/gm)].map(([, name]) => name);
console.log([names.at(0), names.at(-1)].join(", "));
assert.equal(names.at(-1), "done");
