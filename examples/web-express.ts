// A run as the answer of an Express route. Express has no web responses, so two lines carry one over; a client that
// leaves ends the pipe, which aborts the run.
//
// Prints:
//   text/event-stream; charset=utf-8
//   25 + 17 = 42

import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import express from "express";
import { run, tool } from "millrace";

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);

const app = express();
app.use(express.text());
app.post("/chat", async (request, response) => {
  const answer = run("offline", request.body as string, { tools: [add] }).toResponse();
  response.setHeaders(answer.headers);
  if (answer.body !== null) await pipeline(Readable.fromWeb(answer.body), response).catch(() => undefined);
});

const server = app.listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const { port } = server.address() as AddressInfo;

const answer = await fetch(`http://127.0.0.1:${port}/chat`, {
  method: "POST",
  headers: { "content-type": "text/plain" },
  body: "What is 25 + 17?",
});
console.log(answer.headers.get("content-type"));
const text = await answer.text();
assert.match(text, /event: done/);
assert.match(text, /42/);
console.log("25 + 17 = 42");
server.close();
