// The benchmark: what Millrace costs beyond the least code that does the same work.
//
//   npm run bench                                  everything
//   npm run bench -- --only W1,W8 --rounds 3       some of it; a name includes all that begin with it and a dash
//   npm run bench -- --out /tmp/figures            leaves bench/results alone
//   npm run bench -- --built                       takes dist as it is
//
// Every sample is a separate process, measured by its CPU time (user and system), or by wall time only where a person
// waits. In every round each workload runs on its floor, on ours, and on its floor again; a ratio is that of one round,
// and the table shows the median over the rounds. Only ratios are meaningful: the milliseconds are those of one machine
// on one day.
//
// The floor is minimal hand-written code, on fetch or child_process with JSON.parse and nothing else. Both sides must
// reproduce the same answer, and one that loses or duplicates anything fails. Ours is used through its public
// interface.
//
//   workloads.mjs   what is measured, and the targets        bodies.mjs     what is sent, and what must be seen
//   kinds.mjs       regular, real and hostile bodies; "W1" names the regular one, "W1-real" and "W1-hostile" the others
//   samples.mjs     how a sample of each kind is taken       child*.mjs     the processes under test
//   contenders/     floor and ours                           server.mjs     the model host; sse-readers.mjs, the readers
//
// Prints a table; writes latest.json (with every sample) and latest.md. Ends with 1 when a target is missed.
import { execFileSync, fork } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { readGrowth, readRows, writeTable } from "./report.mjs";
import { takeSample } from "./samples.mjs";
import { WORKLOADS } from "./workloads.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const flag = (name, fallback) => {
  const index = process.argv.indexOf(`--${name}`);
  return index === -1 ? fallback : process.argv[index + 1];
};
const rounds = Number(flag("rounds", 5));
const out = resolve(flag("out", join(here, "results")));
const only = flag("only")?.split(",");
const names = Object.keys(WORKLOADS).filter(
  (name) => only === undefined || only.some((wanted) => name === wanted || name.startsWith(`${wanted}-`)),
);
if (names.length === 0) throw new Error(`--only ${only}: known are ${Object.keys(WORKLOADS).join(", ")}.`);

if (!process.argv.includes("--built"))
  execFileSync(process.execPath, [join(here, "../scripts/build.mjs")], { stdio: "inherit" });

const server = fork(join(here, "server.mjs"), { stdio: ["ignore", "pipe", "inherit", "ipc"] });
const port = await new Promise((resolve) => server.stdout.once("data", (text) => resolve(Number(text))));
const base = `http://127.0.0.1:${port}`;

/** Ours between two samples of the floor, so that a ratio has a steady base on a noisy machine. */
async function takeRound(name) {
  const workload = WORKLOADS[name];
  if (workload.kind === "explain") return { ours: await takeSample(name, workload, "ours", base) };
  const first = await takeSample(name, workload, "floor", base);
  const ours = await takeSample(name, workload, "ours", base);
  const second = await takeSample(name, workload, "floor", base);
  const middle = (field) => (first[field] === undefined ? undefined : (first[field] + second[field]) / 2);
  return { ours, floor: { cpuMs: middle("cpuMs"), wallMs: middle("wallMs"), rssMb: middle("rssMb") } };
}

const samples = Object.fromEntries(names.map((name) => [name, []]));
try {
  for (let round = 1; round <= rounds; round += 1) {
    for (const name of names) {
      const { ours, floor } = await takeRound(name);
      samples[name].push({ ours, floor });
      const tell = (sample) =>
        sample === undefined
          ? "none"
          : `${sample.cpuMs.toFixed(1)} ms CPU, ${sample.wallMs?.toFixed(1) ?? "–"} ms wall`;
      process.stderr.write(`round ${round}/${rounds} ${name}: floor ${tell(floor)}; ours ${tell(ours)}\n`);
    }
  }
} finally {
  server.disconnect();
}

const rows = readRows(WORKLOADS, samples);
const growth = readGrowth(WORKLOADS, rows);
const table = writeTable(WORKLOADS, rows, growth);
const heading = `Node ${process.version}, ${rounds} rounds, medians. Ratios to the floor of the same round.`;
console.log(`\n${heading}\n\n${table}\n`);
mkdirSync(out, { recursive: true });
writeFileSync(
  join(out, "latest.json"),
  `${JSON.stringify({ node: process.version, rounds, rows, growth, samples }, null, 2)}\n`,
);
writeFileSync(join(out, "latest.md"), `${heading}\n\n${table}\n`);
process.exitCode = [...rows, ...growth].some(({ verdict }) => verdict === "MISSED" || verdict === "GROWS") ? 1 : 0;
