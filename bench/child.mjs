// One sample: one contender on one workload in this process, warmed up once. Prints its CPU time as JSON.
import { readFileSync } from "node:fs";

const job = JSON.parse(process.argv[2]);
const { tasks } = await import(`./contenders/${job.contender}.mjs`);
const task = tasks[job.task];

/** The peak since exec; what getrusage says may be the parent's. */
const peakRss = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "latin1"))?.[1] ?? 0) / 1024;

function createCounter() {
  const got = { deltas: 0, characters: 0, fragments: 0, fragmentCharacters: 0, calls: 0, rows: 0, toolRuns: 0, sum: 0 };
  return {
    got,
    text(text) {
      got.deltas += 1;
      got.characters += text.length;
    },
    fragment(text) {
      got.fragments += 1;
      got.fragmentCharacters += text.length;
    },
    call(input) {
      got.calls += 1;
      got.rows += input.rows?.length ?? 0;
    },
    add({ a, b }) {
      got.toolRuns += 1;
      got.sum += a + b;
      return a + b;
    },
  };
}

await task(createCounter(), job.warm);
globalThis.gc?.();
const seen = createCounter();
const before = process.cpuUsage();
await Promise.all(Array.from({ length: job.times }, () => task(seen, job.target)));
const { user, system } = process.cpuUsage(before);
for (const [name, value] of Object.entries(job.expect)) {
  if (seen.got[name] !== value * job.times)
    throw new Error(`${job.contender} on ${job.name}: ${name} is ${seen.got[name]}, not ${value * job.times}`);
}
console.log(JSON.stringify({ cpuMs: (user + system) / 1000, rssMb: peakRss() }));
process.exit(0);
