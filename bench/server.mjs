// A model host on loopback: the body is prepared beforehand and sent in pieces of 64 KiB, which cut events and
// characters anywhere. Bodies for many at once ("together") are held until all have asked, then sent to all of them
// slice by slice.
import http from "node:http";
import { bodies } from "./bodies.mjs";

const PIECE = 65_536;
const made = new Map();

/** The body of a path; an agent loop answers according to the number of tool results in the request. */
function bodyFor(path, request) {
  const [, api, kind, size] = path.split("/");
  if (kind !== "loop") return bodyOf(path);
  const [turns, calls] = size.split("x").map(Number);
  const turn = bodies[api].results(JSON.parse(request)) / calls;
  return bodyOf(turn < turns ? `/${api}/turn/${turn}x${calls}` : `/${api}/text/20`);
}

function bodyOf(path) {
  let pieces = made.get(path);
  if (pieces === undefined) {
    const [, api, kind, size] = path.split("/");
    const [first, second] = size.split("x").map(Number);
    const all = Buffer.from(bodies[api][kind](first, second).join(""));
    pieces = Array.from({ length: Math.ceil(all.length / PIECE) }, (_, index) =>
      all.subarray(index * PIECE, (index + 1) * PIECE),
    );
    made.set(path, pieces);
  }
  return pieces;
}

const SLICES = 10;
const SLICE_MS = 20;
const asking = new Map();

/** A piece in HTTP's chunked encoding: its length, then its bytes. */
const chunkOf = (bytes) => Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
const LAST_CHUNK = Buffer.from("0\r\n\r\n");

/** A body in slices of whole events, each event a separate chunk. */
function slicesOf(path) {
  let slices = made.get(path);
  if (slices === undefined) {
    const [, api, , size] = path.split("/");
    const chunks = bodies[api].text(Number.parseInt(size, 10)).map((event) => chunkOf(Buffer.from(event)));
    const each = Math.ceil(chunks.length / SLICES);
    slices = Array.from({ length: SLICES }, (_, at) => Buffer.concat(chunks.slice(at * each, (at + 1) * each)));
    made.set(path, slices);
  }
  return slices;
}

/** Answers when as many requests as the path names have arrived. */
function answerTogether(path, response) {
  // The written data is framed already.
  response.writeHead(200, { "content-type": "text/event-stream", "transfer-encoding": "chunked" });
  response.flushHeaders();
  response.chunkedEncoding = false;
  const all = [...(asking.get(path) ?? []), response];
  asking.set(path, all);
  if (all.length < Number(path.split("x")[1])) return;
  asking.delete(path);
  for (const [at, slice] of slicesOf(path).entries()) {
    setTimeout(() => all.forEach((one) => one.write(slice)), at * SLICE_MS);
  }
  setTimeout(() => all.forEach((one) => one.end(LAST_CHUNK)), (SLICES - 1) * SLICE_MS);
}

const server = http.createServer((request, response) => {
  const received = [];
  request.on("data", (bytes) => received.push(bytes));
  request.on("end", () => {
    // The workload is the first three parts of the path; what an API appends to them is ignored.
    const path = request.url.split("/").slice(0, 4).join("/");
    if (path.includes("/together/")) return answerTogether(path, response);
    const pieces = bodyFor(path, Buffer.concat(received).toString());
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of pieces) response.write(piece);
    response.end();
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.on("disconnect", () => process.exit());
