// One sample of Claude Code: milliseconds from a call to its first text, the median of ten after a first one.
import { createCounter } from "./counter.mjs";
import { cpuSince, finish, median } from "./measure.mjs";

const CALLS = 10;
const TEXTS = 10;
const job = JSON.parse(process.argv[2]);
const { claude } = await import(`./contenders/${job.contender}.mjs`);
const { call, close } = await claude[job.task](job.program);

async function callOnce() {
  let firstAt;
  const seen = createCounter(() => {
    firstAt = performance.now();
  });
  const startedAt = performance.now();
  await call(seen);
  if (seen.got.deltas !== TEXTS)
    throw new Error(`${job.contender} ${job.task}: ${seen.got.deltas} texts, not ${TEXTS}`);
  return firstAt - startedAt;
}

await callOnce();
const before = process.cpuUsage();
const taken = [];
for (let index = 0; index < CALLS; index += 1) taken.push(await callOnce());
const sample = { cpuMs: cpuSince(before) / CALLS, wallMs: median(taken) };
await close();
finish(sample);
