// Turns samples into rows, and rows into a table.
import { median } from "./measure.mjs";

/** How far the cost per unit may grow over a series before it counts as growth. Less is noise. */
const LEVEL = 1.25;

export function readRows(workloads, samples) {
  return Object.entries(samples).map(([name, taken]) => {
    const { title, must, goal, unit, judge = "ratio", by = "cpu" } = workloads[name];
    const cpu = summarise(taken, "cpuMs");
    const wall = taken.some(({ ours }) => ours.wallMs === undefined) ? undefined : summarise(taken, "wallMs");
    const judged = (by === "wall" ? wall : cpu)[judge === "ms" ? "ours" : judge];
    return {
      name,
      title,
      cpu,
      wall,
      by,
      judge,
      judged,
      must,
      goal,
      verdict: verdictOf(judged, must, goal),
      perUnitUs: (cpu.ours * 1000) / unit,
      rssMb: median(taken.map(({ ours }) => ours.rssMb)),
    };
  });
}

/** Ratios and differences are computed within a round, and then the median over the rounds. */
function summarise(taken, field) {
  const ours = median(taken.map((round) => round.ours[field]));
  if (taken.some(({ floor }) => floor === undefined)) return { ours };
  return {
    ours,
    floor: median(taken.map((round) => round.floor[field])),
    ratio: median(taken.map((round) => round.ours[field] / round.floor[field])),
    over: median(taken.map((round) => round.ours[field] - round.floor[field])),
  };
}

function verdictOf(value, must, goal) {
  if (must === undefined && goal === undefined) return "";
  if (value <= goal) return "goal met";
  if (must === undefined) return "goal missed";
  return value <= must ? "target met" : "MISSED";
}

/**
 * Series whose cost per unit must stay level, from their smallest to their largest. If a unit of a longer one has more
 * bytes, the floor pays for them too, and the result is how much more ours has grown than the floor.
 */
export function readGrowth(workloads, rows) {
  const names = new Set(rows.flatMap((row) => workloads[row.name].growth ?? []));
  return [...names].flatMap((name) => {
    const members = rows.filter((row) => workloads[row.name].growth === name);
    if (members.length < 2) return [];
    const [from, to] = [members[0], members.at(-1)];
    const times = workloads[to.name].unit / workloads[from.name].unit;
    const floor = to.cpu.floor / from.cpu.floor / times;
    const ours = to.cpu.ours / from.cpu.ours / times;
    const judged = workloads[to.name].growsWithBytes === true ? ours / floor : ours;
    return [{ name, from: from.name, to: to.name, floor, ours, judged, verdict: judged <= LEVEL ? "level" : "GROWS" }];
  });
}

export function writeTable(workloads, rows, growth) {
  const notes = [...new Set(rows.flatMap(({ name }) => workloads[name].note ?? []))];
  return [
    "| workload | CPU ms: floor | ours | × floor | wall ms: floor | ours | × floor | must | goal | | CPU µs per unit | RSS MB |",
    "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|---:|---:|",
    ...rows.map((row) => writeRow(workloads, row)),
    ...(growth.length === 0
      ? []
      : ["", "| cost per unit | from | to | floor grows × | ours grows × | |", "|---|---|---|---:|---:|---|"]),
    ...growth.map((one) => writeGrowth(one)),
    ...(notes.length === 0 ? [] : ["", ...notes.map((note) => `- ${note}`)]),
  ].join("\n");
}

function writeGrowth({ name, from, to, floor, ours, verdict }) {
  return `| ${[name, from, to, floor.toFixed(2), `**${ours.toFixed(2)}**`, verdict].join(" | ")} |`;
}

function writeRow(workloads, row) {
  const { name, title, cpu, wall, by, judge, must, goal, verdict, perUnitUs, rssMb } = row;
  const cells = [
    `${name} ${title}`,
    ...writeFigures(cpu, by === "cpu" ? judge : undefined),
    ...writeFigures(wall, by === "wall" ? judge : undefined),
    writeTarget(must, judge),
    writeTarget(goal, judge),
    verdict,
    workloads[name].unit === 1 ? "" : perUnitUs.toFixed(2),
    rssMb.toFixed(0),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** Floor, ours and their relation. The judged figure is bold. */
function writeFigures(figures, judge) {
  if (figures === undefined) return ["", "", ""];
  const { floor, ours, ratio, over } = figures;
  const strong = (text, isJudged) => (isJudged ? `**${text}**` : text);
  const relation = judge === "over" ? `+${over.toFixed(1)} ms` : ratio === undefined ? "" : ratio.toFixed(2);
  return [
    floor === undefined ? "" : writeMs(floor),
    strong(writeMs(ours), judge === "ms"),
    strong(relation, judge === "ratio" || judge === "over"),
  ];
}

const writeMs = (ms) => (ms < 1 ? ms.toFixed(3) : ms < 20 ? ms.toFixed(1) : ms.toFixed(0));

function writeTarget(target, judge) {
  if (target === undefined) return "";
  if (judge === "ratio") return target.toFixed(2);
  return judge === "over" ? `+${target} ms` : `${target} ms`;
}
