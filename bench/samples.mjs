// How one sample of each kind of workload is taken: always in a separate process, which reports what it used.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { claudeCode } from "./bodies.mjs";
import { writeFakeClaude } from "./fake-claude.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const data = join(here, "data");
const millrace = join(here, "../bin/millrace.js");

/**
 * Only the variables that a program needs. Others cost start-up time, the same on both sides, which makes any ratio
 * look better than it is (`NODE_EXTRA_CA_CERTS` alone: 50 ms).
 */
const env = { PATH: process.env.PATH, HOME: process.env.HOME };

function fileOf(name, make) {
  const file = join(data, `${name}.ndjson`);
  if (!existsSync(file)) {
    mkdirSync(data, { recursive: true });
    writeFileSync(file, make().join(""));
  }
  return file;
}

/** Runs one of our files with a job, and returns its output. */
function inChild(file, job) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--expose-gc", join(here, file), JSON.stringify(job)], {
      cwd: here,
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.on("data", (piece) => (text += piece));
    child.on("close", (code) =>
      code === 0 ? resolve(JSON.parse(text)) : reject(new Error(`${job.contender} failed on ${job.name}`)),
    );
  });
}

/** The CPU time of a whole process that imports some modules. */
function sampleImport({ imports }, { side }) {
  const measure = "const { user, system } = process.cpuUsage();";
  const print =
    "console.log(JSON.stringify({ cpuMs: (user + system) / 1000, rssMb: process.memoryUsage.rss() / 1048576 }));";
  const code = [...imports[side].map((module) => `import ${JSON.stringify(module)};`), measure, print].join("\n");
  return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", code], { cwd: here, env }).toString());
}

/**
 * A whole program as a person starts it. It reports its own CPU time over a pipe when it ends; the wall time is
 * measured here.
 */
function sampleProgram({ args, until }, { side }) {
  const program = side === "floor" ? ["-e", "0"] : [millrace, ...args];
  const startedAt = performance.now();
  const child = spawn(process.execPath, ["--require", join(here, "tell-cpu.cjs"), ...program], {
    cwd: here,
    env,
    stdio: ["ignore", "pipe", "inherit", "pipe"],
  });
  let told = "";
  let lineAt;
  child.stdio[3].on("data", (piece) => (told += piece));
  child.stdout.on("data", (piece) => {
    if (piece.includes(10)) lineAt ??= performance.now();
  });
  return new Promise((resolve, reject) => {
    child.on("close", (code) => {
      const endedAt = until === "line" && side === "ours" ? lineAt : performance.now();
      if (code !== 0 || endedAt === undefined) reject(new Error(`${program.join(" ")} ended with ${code}`));
      else resolve({ ...JSON.parse(told), wallMs: endedAt - startedAt });
    });
  });
}

const KINDS = {
  import: sampleImport,
  program: sampleProgram,
  task(workload, { name, side, contender, base }) {
    return inChild("child.mjs", {
      contender,
      name,
      task: workload.tasks?.[side] ?? workload.task,
      expect: workload.expect,
      times: workload.times ?? 1,
      target: workload.path === undefined ? fileOf(workload.file, workload.make) : base + workload.path,
      warm: workload.path === undefined ? fileOf("text-1000", () => claudeCode.text(1000)) : base + workload.warm,
    });
  },
  first: ({ task, calls, path }, { name, contender, base }) =>
    inChild("child-first.mjs", { contender, name, task, calls, target: base + path }),
  sse: ({ count, clients }, { name, contender }) => inChild("child-sse.mjs", { contender, name, count, clients }),
  claude: ({ task }, { name, contender }) =>
    inChild("child-claude.mjs", { contender, name, task, program: writeFakeClaude(join(data, "claude")) }),
  explain: (_workload, { name, contender }) => inChild("child-explain.mjs", { contender, name }),
};

/**
 * One sample of one side of a workload: CPU and, where meaningful, wall time in ms, and the peak of memory. `base` is
 * the address of the benchmark's model host.
 */
export function takeSample(name, workload, side, base) {
  const contender = workload.sides?.[side] ?? side;
  return KINDS[workload.kind](workload, { name, side, contender, base });
}
