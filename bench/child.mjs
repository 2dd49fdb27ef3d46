// One sample of a throughput workload: one contender in this process, warmed up once. Prints its CPU time as JSON.
import { createCounter } from "./counter.mjs";
import { cpuSince, finish } from "./measure.mjs";

const job = JSON.parse(process.argv[2]);
const { tasks } = await import(`./contenders/${job.contender}.mjs`);
const task = tasks[job.task];

await task(createCounter(), job.warm);
globalThis.gc?.();
const seen = createCounter();
const before = process.cpuUsage();
const startedAt = performance.now();
await Promise.all(Array.from({ length: job.times }, () => task(seen, job.target)));
const sample = { cpuMs: cpuSince(before), wallMs: performance.now() - startedAt };
for (const [name, value] of Object.entries(job.expect)) {
  if (seen.got[name] !== value * job.times)
    throw new Error(`${job.contender} on ${job.name}: ${name} is ${seen.got[name]}, not ${value * job.times}`);
}
finish(sample);
