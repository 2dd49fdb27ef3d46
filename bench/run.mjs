// node bench/run.mjs [--rounds 5] [--only W1,W4]
// CPU time (user + system) per sample, each in a process of its own, contenders interleaved; ratios to the floor of the
// same round, median over rounds. Prints a table and writes bench/results/latest.json and .md. Only ratios mean anything.
import { execFileSync, fork, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { claudeCode, WORKLOADS } from "./workloads.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const flag = (name, fallback) => {
  const index = process.argv.indexOf(`--${name}`);
  return index === -1 ? fallback : process.argv[index + 1];
};
const rounds = Number(flag("rounds", 5));
const only = flag("only")?.split(",");
const names = Object.keys(WORKLOADS).filter(
  (name) => only === undefined || only.some((wanted) => name === wanted || name.startsWith(`${wanted}-`)),
);

execFileSync(process.execPath, [join(here, "../scripts/build.mjs")], { stdio: "inherit" });
const data = join(here, "data");
mkdirSync(data, { recursive: true });
const fileOf = (name, make) => {
  const file = join(data, `${name}.ndjson`);
  if (!existsSync(file)) writeFileSync(file, make().join(""));
  return file;
};
const warmFile = fileOf("text-1000", () => claudeCode.text(1000));

const server = fork(join(here, "server.mjs"), { stdio: ["ignore", "pipe", "inherit", "ipc"] });
const port = await new Promise((resolve) => server.stdout.once("data", (text) => resolve(Number(text))));
const base = `http://127.0.0.1:${port}`;

/** The CPU of a whole process that imports some modules. */
function sampleImport(modules) {
  const measure = "const { user, system } = process.cpuUsage();";
  const print =
    "console.log(JSON.stringify({ cpuMs: (user + system) / 1000, rssMb: process.memoryUsage.rss() / 1048576 }));";
  const code = [...modules.map((module) => `import ${JSON.stringify(module)};`), measure, print].join("\n");
  return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", code], { cwd: here }).toString());
}

function sample(contender, name) {
  const workload = WORKLOADS[name];
  if (workload.imports !== undefined) return sampleImport(workload.imports[contender]);
  const job = {
    contender,
    name,
    task: workload.task,
    expect: workload.expect,
    times: workload.times ?? 1,
    target: workload.path === undefined ? fileOf(workload.file, workload.make) : base + workload.path,
    warm: workload.path === undefined ? warmFile : base + workload.warm,
  };
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--expose-gc", join(here, "child.mjs"), JSON.stringify(job)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.on("data", (piece) => (text += piece));
    child.on("close", (code) =>
      code === 0 ? resolve(JSON.parse(text)) : reject(new Error(`${contender} failed on ${name}`)),
    );
  });
}

const median = (values) => {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

const samples = Object.fromEntries(names.map((name) => [name, []]));
for (let round = 1; round <= rounds; round += 1) {
  for (const name of names) {
    // The floor runs before and after, so that a ratio has a steady base on a noisy machine.
    const first = await sample("floor", name);
    const ours = await sample("ours", name);
    const second = await sample("floor", name);
    const floor = (first.cpuMs + second.cpuMs) / 2;
    samples[name].push({
      floorMs: floor,
      oursMs: ours.cpuMs,
      ratio: ours.cpuMs / floor,
      rssMb: ours.rssMb,
      floorRssMb: first.rssMb,
    });
    process.stderr.write(
      `round ${round}/${rounds} ${name}: floor ${floor.toFixed(0)} ms, ours ${ours.cpuMs.toFixed(0)} ms, ${(ours.cpuMs / floor).toFixed(2)} ×\n`,
    );
  }
}
server.disconnect();

const rows = names.map((name) => {
  const taken = samples[name];
  const of = (field) => median(taken.map((one) => one[field]));
  const { title, must, goal, unit } = WORKLOADS[name];
  const ratio = of("ratio");
  const verdict = must === undefined ? "" : ratio <= goal ? "goal met" : ratio <= must ? "target met" : "MISSED";
  return {
    name,
    title,
    floorMs: of("floorMs"),
    oursMs: of("oursMs"),
    ratio,
    perUnitUs: (of("oursMs") * 1000) / unit,
    rssMb: of("rssMb"),
    must,
    goal,
    verdict,
  };
});
const table = [
  "| workload | floor ms | ours ms | × floor | must | goal | | µs per unit | RSS MB |",
  "|---|---:|---:|---:|---:|---:|---|---:|---:|",
  ...rows.map(
    (row) =>
      `| ${row.name} ${row.title} | ${row.floorMs.toFixed(0)} | ${row.oursMs.toFixed(0)} | **${row.ratio.toFixed(2)}** | ${row.must ?? ""} | ${row.goal ?? ""} | ${row.verdict} | ${row.perUnitUs.toFixed(2)} | ${row.rssMb.toFixed(0)} |`,
  ),
].join("\n");
console.log(`\nNode ${process.version}, ${rounds} rounds, medians\n\n${table}\n`);
mkdirSync(join(here, "results"), { recursive: true });
writeFileSync(
  join(here, "results/latest.json"),
  `${JSON.stringify({ node: process.version, rounds, rows, samples }, null, 2)}\n`,
);
writeFileSync(
  join(here, "results/latest.md"),
  `Node ${process.version}, ${rounds} rounds, medians. CPU time; ratios to the floor of the same round.\n\n${table}\n`,
);
process.exitCode = rows.some((row) => row.verdict === "MISSED") ? 1 : 0;
