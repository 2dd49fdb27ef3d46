// The floor of W8: each event is encoded once, the events of one turn of the event loop are one write per reader, and
// readers that lag are awaited.
import http from "node:http";
import { word } from "../bodies.mjs";

export async function open() {
  let session;
  const server = http.createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    session.push(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", 1024, resolve));
  return {
    port: server.address().port,
    async begin(count) {
      session = [];
      const readers = session;
      return { path: "/", go: () => broadcast(readers, count) };
    },
    async close() {
      server.close();
    },
  };
}

async function broadcast(readers, count) {
  let waiting = "";
  let isScheduled = false;
  const flush = () => {
    isScheduled = false;
    const bytes = Buffer.from(waiting);
    waiting = "";
    for (const reader of readers) reader.write(bytes);
  };
  for (let index = 0; index < count; index += 1) {
    if (index % 64 === 0) await new Promise(setImmediate);
    waiting += `data: {"type":"text-delta","id":"t1","text":${JSON.stringify(word(index))}}\n\n`;
    if (!isScheduled) {
      isScheduled = true;
      setImmediate(flush);
    }
    if (index % 1024 === 1023) await room(readers);
  }
  flush();
  for (const reader of readers) reader.end("data: [DONE]\n\n");
}

async function room(readers) {
  for (const reader of readers) {
    if (reader.writableNeedDrain) await new Promise((resolve) => reader.once("drain", resolve));
  }
}
