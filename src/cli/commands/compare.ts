import { join, resolve } from "node:path";
import type { Command } from "commander";
import {
  type CompareDocument,
  compareIn,
  type CompareOptions,
  type CompareProgress,
  type ComparePrompt,
  type CompareTarget,
  type ComparisonReport,
  describeReport,
  documentScorers,
  type SectionName,
  writeHtmlReport,
} from "#compare";
import { adviceFor, describeThrown, describeValue, present } from "#domain";
import { applyConfig, type RunOptions } from "#runtime";
import { plainText } from "#sinks";
import type { AskFlags } from "../flags/ask-flags.ts";
import { runOptions } from "../flags/run-options.ts";
import { addText, parseCount, parseDollars, parseDuration, requireText } from "../flags/values.ts";
import { type CommandIo, EXIT, type Outcome } from "../io.ts";
import { loadScorers } from "../load-scorers.ts";
import { createProgressBar } from "../progress-bar.ts";
import { readConfig } from "../read-config.ts";
import { readJsonFile } from "../read-input.ts";
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
    .option(
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
    .option("-i, --instructions <text>", "instructions for every agent; @file reads a file")
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
  const bar = createProgressBar(io);
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
    const shown = rewordReport(report);
    await writeReports(report, writeHtmlReport(shown), folder, io);
    if (flags.json === true) io.out.write(`${JSON.stringify(report, undefined, 2)}\n`);
    else
      io.out.write(foldText(plainText(describeReport(shown, io.out.isTerminal ? io.out.columns : Infinity)), io.out));
    say(plainText(describeFiles(report, folder)), io);
    if (abort.signal.aborted) return EXIT.aborted;
    // One alone is not a comparison, whatever the others failed of.
    return report.targets.filter(({ answers }) => answers > 0).length < 2 ? EXIT.failed : EXIT.success;
  } finally {
    release();
    bar.clear();
  }
}

async function planCompare(file: string, flags: CompareFlags, io: CommandIo): Promise<CompareOptions> {
  const backends = flags.backend ?? [];
  if (backends.length < 2) {
    throw usageError(
      "--backend: give at least two, such as -b offline -b claude-code. millrace compare --help shows what there is.",
    );
  }
  const { prompts, sections } = await readPromptFile(file, io);
  if (flags.judge !== undefined) requireBackendName(flags.judge, "--judge");
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
    ...present({
      repeat: flags.repeat,
      judge: flags.judge,
      baseline: flags.baseline,
      concurrency: flags.concurrency,
      seed: flags.seed,
    }),
  };
}

/** Reads `[name=]backend[,mode=plain|control|auto]`, and adds the options for all runs of Claude Code. */
function readTarget(text: string, claudeCode: RunOptions["claudeCode"], io: CommandIo): CompareTarget {
  const [, name, rest = ""] = /^(?:([\w.-]+)=)?([^]*)$/.exec(text) ?? [];
  const [backend = "", ...settings] = rest.split(",");
  const target = { name: name ?? rest, target: backend };
  if (requireBackendName(backend) !== "claude-code" && settings.length === 0) return target;
  const modes = settings.map((setting) => /^mode=(auto|plain|control)$/.exec(setting)?.[1]);
  if (modes.includes(undefined) || modes.length > 1 || !backend.startsWith("claude-code")) {
    throw usageError(
      `--backend ${text}: after the comma, write mode=plain, mode=control or mode=auto, once, and for claude-code only.`,
    );
  }
  const mode = modes[0] as "auto" | "plain" | "control" | undefined;
  return { ...target, options: { cwd: io.cwd, claudeCode: { ...claudeCode, ...(mode !== undefined && { mode }) } } };
}

async function readDocuments(folder: string, io: CommandIo): Promise<readonly CompareDocument[]> {
  const path = resolve(io.cwd, folder);
  const names = (await io.world.files.list(path)).filter((name) => !name.startsWith("."));
  if (names.length === 0) throw usageError(`--documents ${folder}: there is no file in ${path}, or no such folder.`);
  return await Promise.all(
    names.map(async (name) => {
      let text: string;
      try {
        text = new TextDecoder("utf-8", { fatal: true }).decode(await io.world.files.read(join(path, name)));
      } catch (error) {
        throw usageError(`--documents ${folder}: ${name} is not a text file: ${describeThrown(error)}.`, error);
      }
      if (text.trim() === "")
        throw usageError(`--documents ${folder}: ${name} is empty. Write something into it, or remove it.`);
      return { name, text };
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
  bar.show(finished, total, { after: `${finished}/${total} ${about.join(" · ")}` });
}

/** The report with advice for a person at a shell. The texts of models stay as they are. */
function rewordReport(report: ComparisonReport): ComparisonReport {
  const reword = (text: string): string => adviceFor("shell", text);
  const { decision, judge, samples } = report;
  return {
    ...report,
    decision: { ...decision, reasons: decision.reasons.map(reword) },
    ...(judge !== undefined && { judge: { ...judge, failures: judge.failures.map(reword) } }),
    samples: samples.map((sample) =>
      sample.error === undefined ? sample : { ...sample, error: reword(sample.error) },
    ),
  };
}

async function writeReports(report: ComparisonReport, page: string, folder: string, io: CommandIo): Promise<void> {
  const encoder = new TextEncoder();
  await io.world.files.write(join(folder, "report.json"), encoder.encode(`${JSON.stringify(report, undefined, 2)}\n`));
  await io.world.files.write(join(folder, "report.html"), encoder.encode(page));
}

function describeFiles({ isComplete, missing }: ComparisonReport, folder: string): string {
  const where = `Report: ${join(folder, "report.html")}`;
  if (isComplete) return where;
  return `Interrupted: ${missing} answers are missing. Run the same command again to go on.\n${where}`;
}

/** The content of a file of prompts. */
interface PromptFile {
  readonly prompts: readonly (string | ComparePrompt)[];
  readonly sections?: readonly (string | SectionName)[];
}

const FIELDS = ["prompts", "sections"];

/** Reads a list of prompts, or an object with one. The prompts themselves are checked where they are used. */
async function readPromptFile(file: string, io: CommandIo): Promise<PromptFile> {
  const value = await readJsonFile("<prompts>", file, io, 'Write ["a prompt", "another"].');
  if (Array.isArray(value)) return { prompts: value as PromptFile["prompts"] };
  if (typeof value !== "object" || value === null || !Array.isArray((value as { prompts?: unknown }).prompts)) {
    throw usageError(`${file} holds ${describeValue(value)}. Write a list of prompts, or { "prompts": [...] }.`);
  }
  const unknown = Object.keys(value).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined)
    throw usageError(`${file}: the field "${unknown}" is not known. Known: ${FIELDS.join(", ")}.`);
  return value as PromptFile;
}
