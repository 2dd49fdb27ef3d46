import { describeMs } from "#domain";
import type { ComparisonReport, TargetReport } from "./report.ts";

/**
 * A report as text for a terminal.
 *
 * @example
 * process.stdout.write(describeReport(await compare({ prompts, targets })))
 */
export function describeReport(report: ComparisonReport, columns = Infinity): string {
  const { targets, dimensions, decision } = report;
  const head = ["", ...targets.map(({ name }) => name)];
  const rows = [
    [
      "answers",
      ...targets.map(({ answers, failed }) => (failed === 0 ? `${answers}` : `${answers} (${failed} failed)`)),
    ],
    ["quality", ...targets.map(({ quality }) => percent(quality))],
    ...dimensions.map((dimension) => [
      `  ${dimension}`,
      ...targets.map(({ scores }) => percent(scores[dimension]?.mean)),
    ]),
    ["cost per answer", ...targets.map(costOf)],
    ["time per answer", ...targets.map(({ ms }) => (ms === undefined ? "–" : describeMs(ms.median)))],
    ["tokens in / out", ...targets.map(tokensOf)],
  ];
  const lines = [
    ...writeTable([head, ...rows], columns),
    "",
    `Decision: ${DECISIONS[decision.verdict]}${decision.target === undefined ? "" : ` ${decision.target}`}`,
    ...decision.reasons.map((reason) => `  ${reason}`),
    ...describeJudge(report).map((failure) => `  ${failure}`),
  ];
  return `${lines.join("\n")}\n`;
}

/** Why the judge failed: each reason once, with the number of questions. */
export function describeJudge({ judge, samples }: ComparisonReport): readonly string[] {
  const failures = judge?.failures ?? [];
  const asked = new Set(
    samples.map(({ prompt, document, repetition }) => JSON.stringify([prompt, document, repetition])),
  );
  return [...new Set(failures)].map((reason) => {
    const times = failures.filter((one) => one === reason).length;
    return `The judge failed on ${times} of ${asked.size} questions: ${reason}`;
  });
}

const DECISIONS = { adopt: "adopt", stay: "stay with", undecided: "none" } as const;

type Row = readonly string[];

/** The rows as a table, or one target after the other where a table would be too wide. */
function writeTable(rows: readonly Row[], columns: number): readonly string[] {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
  return lines.every((line) => line.length <= columns) ? lines : writeLists(rows);
}

function writeLists([head = [], ...rows]: readonly Row[]): readonly string[] {
  return head.slice(1).flatMap((name, at) => [
    ...(at === 0 ? [] : [""]),
    name,
    ...rows.map(([label = "", ...cells]) => {
      const [indent = ""] = /^ */.exec(label) ?? [];
      return `${indent}  ${label.trimStart()}: ${cells[at] ?? ""}`;
    }),
  ]);
}

function percent(value: number | undefined): string {
  return value === undefined ? "–" : `${(value * 100).toFixed(1)} %`;
}

export function costOf({ costUsd, answers }: TargetReport): string {
  if (costUsd === undefined) return "unknown";
  return `$${costUsd.mean.toPrecision(3)}${costUsd.count < answers ? ` (of ${costUsd.count})` : ""}`;
}

export function tokensOf({ inputTokens, outputTokens }: TargetReport): string {
  const text = (value: number | undefined) => (value === undefined ? "?" : String(Math.round(value)));
  return `${text(inputTokens?.mean)} / ${text(outputTokens?.mean)}`;
}
