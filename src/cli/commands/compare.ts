import { join, resolve } from "node:path";
import type { Command } from "commander";
import {
  type CompareDocument,
  compareIn,
  type CompareOptions,
  type CompareProgress,
  type CompareTarget,
  type ComparisonReport,
  describeReport,
  documentScorers,
  writeHtmlReport,
} from "#compare";
import { describeThrown } from "#domain";
import { applyConfig, type RunOptions } from "#runtime";
import { plainText } from "#sinks";
import type { AskFlags } from "../flags/ask-flags.ts";
import { runOptions } from "../flags/run-options.ts";
import { addText, parseCount, parseDollars, parseDuration, requireText } from "../flags/values.ts";
import { type CommandIo, EXIT, type Outcome } from "../io.ts";
import { loadScorers } from "../load-scorers.ts";
import { createProgressBar } from "../progress-bar.ts";
import { readConfig } from "../read-config.ts";
import { readPromptFile } from "../read-prompt-file.ts";
import { requireBackendName } from "../require-backend.ts";
import { foldText, say } from "../say.ts";
import { usageError } from "../usage-error.ts";

interface CompareFlags extends Omit<AskFlags, "backend"> {
  readonly backend?: readonly string[];
  readonly repeat?: number;
  readonly documents?: string;
  readonly scorer?: readonly string[];
  readonly judge?: string;
  readonly baseline?: string;
  readonly concurrency?: number;
  readonly seed?: number;
  readonly out: string;
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  millrace compare prompts.json -b anthropic/claude-sonnet-4-6 -b claude-code
  millrace compare prompts.json -b api=anthropic/claude-sonnet-4-6 -b cli=claude-code,mode=plain -b claude-code,mode=control
  millrace compare prompts.json -b offline -b openai/gpt-5.6-sol --judge anthropic/claude-sonnet-4-6 --repeat 3
  millrace compare prompts.json -b offline -b openai/gpt-5.6-sol --scorer consistency --scorer ./my-scorer.mjs

prompts.json: ["a prompt", { "id": "library", "prompt": "another" }], or { "prompts": [...], "sections": ["Scope", ...] }.

Every finished answer is kept in the folder of --out: after Ctrl-C or a crash the same command goes on. The folder then holds
report.json and report.html.`;

export function addCompareCommand(program: Command, io: CommandIo, outcome: Outcome): void {
  program
    .command("compare")
    .description("ask several backends the same, score the answers, say which is better")
    .argument("<prompts>", "a JSON file with the prompts")
    .requiredOption(
      "-b, --backend <backend>",
      "one to compare; the first is the baseline; [name=]backend[,mode=plain]",
      addText,
    )
    .option("--repeat <n>", "how often each prompt is asked (default: for five answers per backend)", parseCount)
    .option("--documents <folder>", "ask each prompt about each file of this folder", requireText)
    .option("--scorer <scorer>", "a built-in scorer or a module that exports some; may be repeated", addText)
    .option("--judge <backend>", "a model that rates the answers without knowing whose they are", requireText)
    .option("--baseline <name>", "the one the others are measured against", requireText)
    .option("--concurrency <n>", "runs at the same time (default 2)", parseCount)
    .option("--seed <n>", "decides the order of the runs (default 1)", parseCount)
    .option("--out <folder>", "where answers and reports are kept", requireText, "comparison")
    .option("-i, --instructions <text>", "what every agent is told before everything else; @file reads a file")
    .option("-t, --tools <file>", "a module that exports tools", requireText)
    .option("--max-turns <n>", "replies of the model in one run", parseCount)
    .option("--max-tokens <n>", "length of one reply", parseCount)
    .option("--max-cost <dollars>", "what one run may cost", parseDollars)
    .option("--timeout <time>", "how long one run may take: 30s, 5m", parseDuration)
    .option("--claude-executable <path>", "the Claude Code CLI to use", requireText)
    .option("--config <file>", "configuration to use instead of the one that is found", requireText)
    .option("--no-config", "use none")
    .option("--json", "print the report as JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (file: string, flags: CompareFlags) => {
      outcome.code = await runComparison(file, flags, io);
    });
}

async function runComparison(file: string, flags: CompareFlags, io: CommandIo): Promise<number> {
  const folder = resolve(io.cwd, flags.out);
  const abort = new AbortController();
  const bar = createProgressBar(io.err);
  const planned = await planCompare(file, flags, io);
  const release = io.onInterrupt(() => {
    release();
    bar.clear();
    say("stopping; finished answers are kept …", io);
    abort.abort("interrupted");
  });
  try {
    const report = await compareIn(
      { ...planned, folder, signal: abort.signal, onProgress: (progress) => showProgress(progress, bar, io) },
      io.world,
    );
    bar.clear();
    await writeReports(report, folder, io);
    if (flags.json === true) io.out.write(`${JSON.stringify(report, undefined, 2)}\n`);
    else io.out.write(foldText(plainText(describeReport(report)), io.out));
    say(plainText(describeFiles(report, folder)), io);
    if (abort.signal.aborted) return EXIT.aborted;
    return report.targets.every(({ answers }) => answers === 0) ? EXIT.failed : EXIT.success;
  } finally {
    release();
    bar.clear();
  }
}

async function planCompare(file: string, flags: CompareFlags, io: CommandIo): Promise<CompareOptions> {
  const { prompts, sections } = await readPromptFile(file, io);
  const backends = flags.backend ?? [];
  if (backends.length < 2) throw usageError("--backend: give at least two backends to compare.");
  if (flags.judge !== undefined) requireBackendName(flags.judge);
  const { config } = await readConfig({ file: flags.config, asks: true }, io);
  const { backend: _backend, ...askFlags } = flags;
  const { options } = applyConfig(config, { options: await runOptions(askFlags, io) });
  return {
    prompts,
    targets: backends.map((text) => readTarget(text, options.claudeCode, io)),
    options,
    scorers:
      flags.scorer === undefined
        ? documentScorers(sections === undefined ? {} : { sections })
        : await loadScorers(flags.scorer, { cwd: io.cwd, sections }),
    ...(flags.documents !== undefined && { documents: await readDocuments(flags.documents, io) }),
    ...(flags.repeat !== undefined && { repeat: flags.repeat }),
    ...(flags.judge !== undefined && { judge: flags.judge }),
    ...(flags.baseline !== undefined && { baseline: flags.baseline }),
    ...(flags.concurrency !== undefined && { concurrency: flags.concurrency }),
    ...(flags.seed !== undefined && { seed: flags.seed }),
  };
}

/** `[name=]backend[,mode=plain|control|auto]`, with what all runs of Claude Code are given. */
function readTarget(text: string, claudeCode: RunOptions["claudeCode"], io: CommandIo): CompareTarget {
  const [, name, rest = ""] = /^(?:([\w.-]+)=)?([^]*)$/.exec(text) ?? [];
  const [backend = "", ...settings] = rest.split(",");
  const target = { name: name ?? rest, target: backend };
  if (requireBackendName(backend) !== "claude-code" && settings.length === 0) return target;
  const modes = settings.map((setting) => /^mode=(auto|plain|control)$/.exec(setting)?.[1]);
  if (modes.includes(undefined) || modes.length > 1 || !backend.startsWith("claude-code")) {
    throw usageError(
      `--backend ${text}: after the comma stands mode=plain, mode=control or mode=auto, once, and for claude-code only.`,
    );
  }
  const mode = modes[0] as "auto" | "plain" | "control" | undefined;
  return { ...target, options: { cwd: io.cwd, claudeCode: { ...claudeCode, ...(mode !== undefined && { mode }) } } };
}

async function readDocuments(folder: string, io: CommandIo): Promise<readonly CompareDocument[]> {
  const path = resolve(io.cwd, folder);
  const names = (await io.world.files.list(path)).filter((name) => !name.startsWith("."));
  if (names.length === 0) throw usageError(`--documents ${folder}: there is no file in this folder (${path}).`);
  return await Promise.all(
    names.map(async (name) => {
      try {
        return {
          name,
          text: new TextDecoder("utf-8", { fatal: true }).decode(await io.world.files.read(join(path, name))),
        };
      } catch (error) {
        throw usageError(`--documents ${folder}: ${name} is no text file: ${describeThrown(error)}.`, error);
      }
    }),
  );
}

function showProgress(
  { phase, finished, total, kept, failed, costUsd, latest }: CompareProgress,
  bar: ReturnType<typeof createProgressBar>,
  io: CommandIo,
): void {
  if (latest === undefined && kept > 0 && phase === "runs") {
    say(`Going on: ${kept} of ${total} answers are there already.`, io);
  }
  const about = [
    phase === "judge" ? "judged" : "answers",
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(costUsd > 0 ? [`$${costUsd.toPrecision(3)}`] : []),
    ...(latest === undefined ? [] : [latest]),
  ];
  bar.show(finished, total, about.join(" · "));
}

async function writeReports(report: ComparisonReport, folder: string, io: CommandIo): Promise<void> {
  const encoder = new TextEncoder();
  await io.world.files.write(join(folder, "report.json"), encoder.encode(`${JSON.stringify(report, undefined, 2)}\n`));
  await io.world.files.write(join(folder, "report.html"), encoder.encode(writeHtmlReport(report)));
}

function describeFiles({ isComplete, missing }: ComparisonReport, folder: string): string {
  const where = `Report: ${join(folder, "report.html")}`;
  if (isComplete) return where;
  return `Interrupted: ${missing} answers are missing. Run the same command again to go on.\n${where}`;
}
