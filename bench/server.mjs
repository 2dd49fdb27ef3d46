// Loopback model host: the body is made beforehand and sent in 64 KiB pieces, which cut events and characters anywhere.
import http from "node:http";
import { bodies } from "./workloads.mjs";

const PIECE = 65_536;
const made = new Map();

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
  request.resume();
  request.on("end", () => {
    // The workload is the first three parts of the path; what an API appends behind them is ignored.
    const pieces = bodyOf(request.url.split("/").slice(0, 4).join("/"));
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of pieces) response.write(piece);
    response.end();
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.on("disconnect", () => process.exit());
