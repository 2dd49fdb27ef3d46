// One sample of W8: this process is the server under test; the readers are in another one. A first, small session warms
// it up.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { cpuSince, finish } from "./measure.mjs";

const job = JSON.parse(process.argv[2]);
const { open } = await import(`./contenders/${job.contender}.mjs`);
const server = await open();
const readersFile = fileURLToPath(new URL("sse-readers.mjs", import.meta.url));

async function session(count, clients) {
  const { path, go } = await server.begin(count);
  const where = JSON.stringify({ port: server.port, path, clients, count });
  const readers = spawn(process.execPath, [readersFile, where], { stdio: ["ignore", "pipe", "inherit"] });
  const left = new Promise((resolve) => readers.once("exit", resolve));
  let said = "";
  readers.stdout.setEncoding("utf8").on("data", (text) => {
    said += text;
  });
  const heard = (word) =>
    Promise.race([
      left,
      new Promise((resolve) => {
        const look = () => said.includes(word) && resolve();
        readers.stdout.on("data", look);
        look();
      }),
    ]);
  await heard("attached");
  globalThis.gc?.();
  const before = process.cpuUsage();
  const startedAt = performance.now();
  await go();
  await heard("over");
  const sample = { cpuMs: cpuSince(before), wallMs: performance.now() - startedAt };
  // The readers check what they received after the time was taken.
  if ((await left) !== 0) throw new Error(`${job.contender}: a reader did not get everything`);
  return sample;
}

await session(1000, Math.min(job.clients, 5));
const sample = await session(job.count, job.clients);
await server.close();
finish(sample);
