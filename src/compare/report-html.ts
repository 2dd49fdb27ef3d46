import { describeMs } from "#domain";
import type { DimensionTest, PairReport } from "./decision.ts";
import { drawPlot, escapeHtml } from "./plots.ts";
import type { ComparisonReport } from "./report.ts";
import { costOf, describeJudge, tokensOf } from "./report-text.ts";
import type { ScoredSample } from "./types.ts";

/**
 * A report as one self-contained page without scripts. Text of models is escaped.
 *
 * @example
 * await writeFile("report.html", writeHtmlReport(await compare({ prompts, targets })))
 */
export function writeHtmlReport(report: ComparisonReport): string {
  return [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    '<meta name="color-scheme" content="light dark">',
    `<title>${escapeHtml(headline(report))}</title>`,
    `<style>${STYLE}</style>`,
    "</head>",
    "<body><main>",
    writeHead(report),
    writeTargets(report),
    writePlots(report),
    writePairs(report),
    writeSamples(report),
    "</main></body></html>",
    "",
  ].join("\n");
}

function headline({ decision, baseline }: ComparisonReport): string {
  switch (decision.verdict) {
    case "adopt":
      return `Adopt ${decision.target ?? ""}`;
    case "stay":
      return `Stay with ${decision.target ?? baseline}`;
    case "undecided":
      return "No decision";
  }
}

function writeHead(report: ComparisonReport): string {
  const { decision, prompts, documents, repeat, targets, baseline } = report;
  const asked = [
    count(prompts.length, "prompt"),
    ...(documents.length > 0 ? [count(documents.length, "document")] : []),
    `${repeat} × each`,
    count(targets.length, "target"),
    `baseline ${baseline}`,
  ].join(" · ");
  const sizes = Object.entries(decision.sampleSize).map(([name, size]) => `${name}: ${count(size, "answer")}`);
  return [
    "<header>",
    `<h1>${escapeHtml(headline(report))}</h1>`,
    `<p class="quiet">${escapeHtml(asked)}</p>`,
    "<ul>",
    ...[...decision.reasons, ...describeJudge(report)].map((reason) => `<li>${escapeHtml(reason)}</li>`),
    "</ul>",
    `<p class="quiet">Sample size: ${escapeHtml(sizes.join(", "))}.</p>`,
    "</header>",
  ].join("\n");
}

function writeTargets({ targets, dimensions }: ComparisonReport): string {
  const head = ["target", "answers", "failed", "quality", ...dimensions, "cost", "time (median)", "tokens in / out"];
  const rows = targets.map((target) => [
    target.name === target.backend ? target.name : `${target.name} (${target.backend})`,
    String(target.answers),
    String(target.failed),
    percent(target.quality),
    ...dimensions.map((dimension) => percent(target.scores[dimension]?.mean)),
    costOf(target),
    target.ms === undefined ? "–" : describeMs(target.ms.median),
    tokensOf(target),
  ]);
  return ["<section><h2>Targets</h2>", writeTable(head, rows), "</section>"].join("\n");
}

function writePlots({ targets, dimensions, samples }: ComparisonReport): string {
  const answers = samples.filter(({ status }) => status === "success");
  const plot = (
    title: string,
    read: (sample: ScoredSample) => number | undefined,
    label: (value: number) => string,
    max?: number,
  ) => {
    const rows = targets.map(({ name }) => ({
      name,
      values: answers.filter(({ target }) => target === name).flatMap((sample) => read(sample) ?? []),
    }));
    if (rows.every(({ values }) => values.length === 0)) return "";
    const svg = drawPlot({ title, rows, label, ...(max !== undefined && { max }) });
    return `<figure><figcaption>${escapeHtml(title)}</figcaption>${svg}</figure>`;
  };
  return [
    '<section><h2>Every answer</h2><p class="quiet">A dot is an answer, the stroke is the mean.</p>',
    '<div class="plots">',
    ...dimensions.map((dimension) => plot(dimension, ({ scores }) => scores[dimension]?.value, wholePercent, 1)),
    plot(
      "cost in dollars",
      ({ costUsd }) => costUsd,
      (value) => `$${Number(value.toPrecision(2))}`,
    ),
    plot("time", ({ ms }) => ms, describeMs),
    plot(
      "output tokens",
      ({ usage }) => usage.outputTokens,
      (value) => String(Math.round(value)),
    ),
    "</div></section>",
  ].join("\n");
}

function writePairs({ pairs, rule }: ComparisonReport): string {
  if (pairs.length === 0) return "";
  return [
    "<section><h2>Who is better at what</h2>",
    `<p class="quiet">Mann-Whitney test, two-sided, corrected for the number of dimensions (Holm); significant at ${rule.alpha}.</p>`,
    ...pairs.map(writePair),
    "</section>",
  ].join("\n");
}

function writePair({ target, other, dimensions, reasons }: PairReport): string {
  const rows = dimensions.map(({ dimension, mean, otherMean, p, adjustedP, verdict }: DimensionTest) => [
    dimension,
    percent(mean),
    percent(otherMean),
    p.toPrecision(2),
    adjustedP.toPrecision(2),
    verdict,
  ]);
  return [
    `<h3>${escapeHtml(target)} against ${escapeHtml(other)}</h3>`,
    writeTable(["dimension", target, other, "p", "corrected p", "verdict"], rows),
    ...reasons.map((reason) => `<p class="quiet">${escapeHtml(reason)}</p>`),
  ].join("\n");
}

function writeSamples({ samples, prompts }: ComparisonReport): string {
  const groups = prompts.map(({ id, text }) => {
    const own = samples.filter(({ prompt }) => prompt === id);
    return [
      `<h3>Prompt ${escapeHtml(id)}</h3>`,
      `<p class="prompt">${escapeHtml(text)}</p>`,
      ...own.map(writeSample),
    ].join("\n");
  });
  return `<section><h2>Answers</h2>\n${groups.join("\n")}\n</section>`;
}

function writeSample(sample: ScoredSample): string {
  const { target, document, repetition, status, error, text, ms, costUsd, scores } = sample;
  const summary = [
    target,
    ...(document === undefined ? [] : [document]),
    `no. ${repetition}`,
    describeMs(ms),
    ...(costUsd === undefined ? [] : [`$${costUsd.toPrecision(3)}`]),
    ...Object.entries(scores).map(([name, { value }]) => `${name} ${percent(value)}`),
    ...(status === "success" ? [] : ["failed"]),
  ]
    .map(unbroken)
    .join(" · ");
  const details = Object.entries(scores).map(([name, { detail }]) =>
    detail === undefined ? "" : `<li>${escapeHtml(`${name}: ${detail}`)}</li>`,
  );
  return [
    `<details><summary>${escapeHtml(summary)}</summary>`,
    details.length === 0 ? "" : `<ul>${details.join("")}</ul>`,
    error === undefined ? "" : `<p class="bad">${escapeHtml(error)}</p>`,
    `<pre>${escapeHtml(text)}</pre></details>`,
  ].join("\n");
}

function writeTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (row: readonly string[], tag: "th" | "td") =>
    `<tr>${row.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join("")}</tr>`;
  return `<div class="wide"><table><thead>${cells(head, "th")}</thead><tbody>${rows.map((row) => cells(row, "td")).join("")}</tbody></table></div>`;
}

function percent(value: number | undefined): string {
  return value === undefined ? "–" : `${(value * 100).toFixed(1)} %`;
}

/** A number and its unit stay on one line. */
function unbroken(text: string): string {
  return text.replaceAll(" ", "\u00a0");
}

function wholePercent(value: number): string {
  return `${Math.round(value * 100)} %`;
}

function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}

const STYLE = `
:root { --paper: #fff; --ink: #1c1f23; --quiet: #5b636d; --line: #d9dde2; --bad: #a3271d; --c0: #2f6fb3; --c1: #b3622f; --c2: #3c8a4b; --c3: #8a4ba3; --c4: #8a7a1f; --c5: #a33b64 }
@media (prefers-color-scheme: dark) { :root { --paper: #16181b; --ink: #e6e8ea; --quiet: #a0a7b0; --line: #343a41; --bad: #f0897f; --c0: #7fb0e6; --c1: #e6a77f; --c2: #84c992; --c3: #c99be0; --c4: #d3c36a; --c5: #e68fb0 } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
main { max-width: 1080px; margin: 0 auto; padding: 24px 16px 64px }
h1 { font-size: 28px; margin: 16px 0 4px } h2 { font-size: 20px; margin: 40px 0 8px } h3 { font-size: 16px; margin: 24px 0 8px }
.quiet { color: var(--quiet); margin: 4px 0 } .bad { color: var(--bad) } .prompt { white-space: pre-wrap; border-left: 3px solid var(--line); padding-left: 12px }
.wide { overflow-x: auto } table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .875rem }
th, td { text-align: right; padding: 6px 8px; border-bottom: 1px solid var(--line); white-space: nowrap } th:first-child, td:first-child { text-align: left } th { color: var(--quiet); font-weight: 500; white-space: normal; overflow-wrap: normal; vertical-align: bottom }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 340px), 1fr)); gap: 16px 32px } figure { margin: 0 } figcaption { font-weight: 600; margin: 8px 0 4px }
svg { width: 100%; max-width: 460px; height: auto; font: 12px system-ui, sans-serif } .grid { stroke: var(--line) } .tick { fill: var(--quiet); text-anchor: middle } .name { fill: var(--ink) } .value { fill: var(--ink) } .none { fill: var(--quiet) } .mean { stroke: var(--ink); stroke-width: 2 } .dot { fill-opacity: .75 }
.c0 { fill: var(--c0) } .c1 { fill: var(--c1) } .c2 { fill: var(--c2) } .c3 { fill: var(--c3) } .c4 { fill: var(--c4) } .c5 { fill: var(--c5) }
@media print { :root { --paper: #fff; --ink: #1c1f23; --quiet: #5b636d; --line: #d9dde2 } .wide { overflow: visible } table { font-size: .6875rem } th, td { padding: 4px } td:first-child { white-space: normal } figure, tr { break-inside: avoid } }
details { border-bottom: 1px solid var(--line); padding: 6px 0 } summary { cursor: pointer } pre { white-space: pre-wrap; font: 13px/1.5 ui-monospace, monospace }
`;
