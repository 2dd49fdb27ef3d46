// The readers of W8. The first one keeps its input and checks every frame; the others must have received the same
// bytes.
import { createHash } from "node:crypto";
import http from "node:http";
import { word } from "./bodies.mjs";

const { port, path, clients, count } = JSON.parse(process.argv[2]);
const kept = [];
const digests = new Set();
let attached = 0;
// A reader that is cut off never reaches the check.
process.exitCode = 1;
let open = clients;

for (let index = 0; index < clients; index += 1) {
  const digest = createHash("sha1");
  const request = http.get({ port, host: "127.0.0.1", path, agent: false }, (response) => {
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
    attached += 1;
    if (attached === clients) console.log("attached");
    response.on("data", (bytes) => {
      digest.update(bytes);
      if (index === 0) kept.push(bytes);
    });
    response.on("end", () => {
      digests.add(digest.digest("hex"));
      open -= 1;
      if (open === 0) check();
    });
  });
  request.on("error", (error) => {
    throw error;
  });
}

function check() {
  console.log("over");
  if (digests.size !== 1) throw new Error(`${digests.size} different streams for ${clients} readers`);
  let text = "";
  let isDone = false;
  for (const line of Buffer.concat(kept).toString().split("\n")) {
    if (!line.startsWith("data:")) continue;
    if (isDone) throw new Error("something came behind the end");
    const body = line.slice(5).trim();
    const event = body === "[DONE]" ? { type: "done" } : JSON.parse(body);
    if (event.type === "text-delta") text += event.text;
    isDone = event.type === "done" && (event.result === undefined || event.result.status === "success");
  }
  if (!isDone) throw new Error("no end, or no success");
  let expected = "";
  for (let index = 0; index < count; index += 1) expected += word(index);
  if (text !== expected) throw new Error(`the text has ${text.length} characters, ${expected.length} were sent`);
  process.exit(0);
}
