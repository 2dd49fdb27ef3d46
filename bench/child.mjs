// One sample: one contender on one workload in this process, warmed up once. Prints its CPU time as JSON.
const job = JSON.parse(process.argv[2]);
const { tasks } = await import(`./contenders/${job.contender}.mjs`);
const task = tasks[job.task];

function createCounter() {
  const got = { deltas: 0, characters: 0, fragments: 0, fragmentCharacters: 0, calls: 0, rows: 0 };
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
      got.rows += input.rows.length;
    },
  };
}

await task(createCounter(), job.warm);
globalThis.gc?.();
const seen = createCounter();
const before = process.cpuUsage();
await task(seen, job.target);
const { user, system } = process.cpuUsage(before);
for (const [name, value] of Object.entries(job.expect)) {
  if (seen.got[name] !== value)
    throw new Error(`${job.contender} on ${job.name}: ${name} is ${seen.got[name]}, not ${value}`);
}
console.log(JSON.stringify({ cpuMs: (user + system) / 1000, rssMb: process.resourceUsage().maxRSS / 1024 }));
process.exit(0);
