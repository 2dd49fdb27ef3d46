// What tools make and use, for the people who follow a run: over HTTP, in the words of a chat service.
//
// Prints:
//   artifact_created {"name":"25 + 17","type":"text/plain","url":"https://sums.example/25+17"}
//   documents_used [{"id":"arithmetic","title":"How to add"}]

import assert from "node:assert/strict";
import { agent, tool } from "millrace";
import { createServer } from "millrace/server";
import { createMemoryStore } from "millrace/stores/memory";

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }, { artifact, documents }) => {
  documents([{ id: "arithmetic", title: "How to add" }]);
  artifact({ name: `${a} + ${b}`, type: "text/plain", url: `https://sums.example/${a}+${b}` });
  return a + b;
});

const server = createServer({
  store: createMemoryStore(),
  agents: [agent({ name: "clerk", backend: "offline", tools: [add] })],
  // Results of tools that are not yours can be mapped instead.
  reports: { documentsOf: ({ name }) => (name === "search" ? [{ id: "search" }] : []) },
  page: false,
});
const { url } = await server.listen({ port: 0 });

const post = (path: string, body: object) =>
  fetch(new URL(path, url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

const { id } = (await (await post("/api/threads", { target: "clerk" })).json()) as { id: string };
const answer = await post(`/api/threads/${id}/chat?events=chat`, { input: "What is 25 + 17?" });
let made = 0;
for (const frame of (await answer.text()).split("\n\n")) {
  const data = /^data: (.*)$/m.exec(frame)?.[1] ?? "";
  if (frame.includes("event: artifact_created")) {
    made += 1;
    console.log("artifact_created", data);
  }
  if (frame.includes("event: message_complete")) {
    console.log("documents_used", JSON.stringify((JSON.parse(data) as { documents_used: unknown }).documents_used));
  }
}
await server.close();
assert.equal(made, 1);
