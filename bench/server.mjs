// Loopback model host: the body is made beforehand and sent in 64 KiB pieces, which cut events and characters anywhere.
import http from "node:http";
import { bodies } from "./bodies.mjs";

const PIECE = 65_536;
const made = new Map();

/** The body of a path; an agent loop answers by how many tool results the request shows. */
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

const server = http.createServer((request, response) => {
  const received = [];
  request.on("data", (bytes) => received.push(bytes));
  request.on("end", () => {
    // The workload is the first three parts of the path; what an API appends behind them is ignored.
    const pieces = bodyFor(request.url.split("/").slice(0, 4).join("/"), Buffer.concat(received).toString());
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of pieces) response.write(piece);
    response.end();
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.on("disconnect", () => process.exit());
