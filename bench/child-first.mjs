// One sample of "to the first delta". Without calls: from the start of this process. With calls: for one call in a
// process that has made others before.
import { createCounter } from "./counter.mjs";
import { cpuSince, finish, median } from "./measure.mjs";

const job = JSON.parse(process.argv[2]);
const { tasks } = await import(`./contenders/${job.contender}.mjs`);

async function callOnce() {
  const before = process.cpuUsage();
  const startedAt = performance.now();
  let first;
  await tasks[job.task](
    createCounter(() => {
      first = { at: performance.now(), total: cpuSince(), cpuMs: cpuSince(before) };
    }),
    job.target,
  );
  return { sinceStart: { cpuMs: first.total, wallMs: first.at }, cpuMs: first.cpuMs, wallMs: first.at - startedAt };
}

const cold = await callOnce();
if (job.calls === 0) finish(cold.sinceStart);
const warm = [];
for (let call = 0; call < job.calls; call += 1) warm.push(await callOnce());
const late = warm.slice(warm.length >> 1);
finish({ cpuMs: median(late.map((one) => one.cpuMs)), wallMs: median(late.map((one) => one.wallMs)) });
