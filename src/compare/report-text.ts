import { describeMs } from "#domain";
import type { ComparisonReport, TargetReport } from "./report.ts";

/**
 * A report as text for a terminal.
 *
 * @example
 * process.stdout.write(describeReport(await compare({ prompts, targets })))
 */
export function describeReport(report: ComparisonReport): string {
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
    ...writeTable([head, ...rows]),
    "",
    `Decision: ${DECISIONS[decision.verdict]}${decision.target === undefined ? "" : ` ${decision.target}`}`,
    ...decision.reasons.map((reason) => `  ${reason}`),
    ...(report.judge?.failures ?? []).slice(0, 3).map((failure) => `  The judge failed: ${failure}`),
  ];
  return `${lines.join("\n")}\n`;
}

const DECISIONS = { adopt: "adopt", stay: "stay with", undecided: "none" } as const;

function writeTable(rows: readonly (readonly string[])[]): readonly string[] {
  const columns = rows[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
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
