import { isAbsolute } from "node:path";
import { checkInput, checkNames, describeThrown, describeValue, expects, shape, StartError, zeroOrMore } from "#domain";
import { checkTarget, secretsAround, systemWorld, withSecrets, type World } from "#runtime";
import { type DecisionRule, DEFAULT_RULE } from "./decision.ts";
import { createMemoryJournal, type Journal, openJournal } from "./journal.ts";
import { DEFAULT_RUBRIC, judgeGroup, type JudgeOptions, type Judgement, type RubricItem, scoreOf } from "./judge.ts";
import { createDraw } from "./chance.ts";
import { type Plan, planComparison, type Task } from "./plan.ts";
import { type ComparisonReport, writeReport } from "./report.ts";
import { questionOf, runSamples } from "./run-samples.ts";
import { documentScorers } from "./scorers/built-in.ts";
import type { CompareOptions, Sample, Score, ScoredSample, Scorer } from "./types.ts";

const JUDGE_DIMENSION = "judge";

/**
 * Asks several targets the same prompts, scores the answers and decides whether one target is better.
 *
 * With a `folder`, every finished answer is stored there, and the same call continues after an interruption; failed
 * answers are requested again. Also resolves if the signal ends it early: the report then covers what was finished.
 *
 * @example
 * const { decision } = await compare({ prompts: ["Write a requirements document for a library."], targets: ["offline", "claude-code"] })
 * console.log(decision.verdict, decision.reasons)
 *
 * @throws StartError if an option is wrong, a backend is unknown or a key is missing.
 */
export async function compare(options: CompareOptions): Promise<ComparisonReport> {
  return await compareIn(options, systemWorld());
}

/**
 * `compare` with its seams passed in.
 *
 * @internal
 */
export async function compareIn(options: CompareOptions, world: World): Promise<ComparisonReport> {
  const plan = planComparison(options);
  const rule = readRule(options.rule ?? {});
  const scorers = readScorers(options.scorers ?? documentScorers());
  const judge = typeof options.judge === "string" ? { target: options.judge } : options.judge;
  for (const { target, options: own } of plan.targets) checkTarget(target, { ...options.options, ...own }, world);
  if (judge !== undefined) checkJudge(judge);
  if (judge !== undefined) checkTarget(judge.target, judge.options ?? {}, world);
  const journal = await openFolder(options, plan, world);
  const covered = withSecrets(world, secretsOf(options, plan, judge, world));

  const answers = await collectAnswers({ options, plan, scorers, journal, world: covered });
  const judgements =
    judge === undefined ? [] : await collectJudgements({ options, plan, judge, answers, journal, world: covered });
  const report = writeReport({
    plan,
    samples: plan.tasks.flatMap((task) => {
      const answer = answers.get(task.id);
      return answer === undefined ? [] : [reportSample(answer, task, judgements)];
    }),
    rule,
    dimensions: [...scorers.map(({ name }) => name), ...(judge === undefined ? [] : [JUDGE_DIMENSION])],
    ...(judge !== undefined && { judge: reportJudge(judgements) }),
  });
  return covered.maskOf?.([])?.value(report) ?? report;
}

/** Answers and reports are kept and shown to others, so they have no secret of any target, nor of the environment. */
function secretsOf(options: CompareOptions, plan: Plan, judge: JudgeOptions | undefined, world: World) {
  const ofTargets = plan.targets.flatMap(({ target, options: own }) =>
    secretsAround([target], { ...options.options, ...own }, world),
  );
  return judge === undefined ? ofTargets : [...ofTargets, ...secretsAround([judge.target], judge.options ?? {}, world)];
}

async function openFolder(options: CompareOptions, plan: Plan, world: World): Promise<Journal> {
  const { folder } = options;
  if (folder === undefined) return createMemoryJournal();
  checkInput(
    expects((value) => typeof value === "string" && isAbsolute(value), "an absolute path"),
    folder,
    "folder",
  );
  const { instructions, maxTokens, temperature, thinkingTokens, limits } = options.options ?? {};
  const asked = [plan.prompts, plan.documents, { instructions, maxTokens, temperature, thinkingTokens, limits }];
  return await openJournal(folder, asked, world.files);
}

interface Answer {
  readonly sample: Sample;
  readonly scores: Readonly<Record<string, Score>>;
}

interface AnswerWork {
  readonly options: CompareOptions;
  readonly plan: Plan;
  readonly scorers: readonly Scorer[];
  readonly journal: Journal;
  readonly world: World;
}

/**
 * The finished samples by id: successful ones from an earlier start, and new ones. Each is scored at once, so that a
 * scorer with a mistake ends the comparison at the first answer and not after all of them have been paid for.
 */
async function collectAnswers(work: AnswerWork): Promise<ReadonlyMap<string, Answer>> {
  const { options, plan, scorers, journal, world } = work;
  const tasks = new Map(plan.tasks.map((task) => [task.id, task]));
  const answers = new Map<string, Answer>();
  const add = async (sample: Sample): Promise<void> => {
    answers.set(sample.id, { sample, scores: await scoreSample(sample, tasks.get(sample.id) as Task, scorers) });
  };
  for (const sample of journal.samples) {
    if (tasks.has(sample.id) && sample.result.status === "success") await add(sample);
  }
  const kept = answers.size;
  const report = (latest?: string): void => {
    const results = [...answers.values()].map(({ sample }) => sample.result);
    options.onProgress?.({
      phase: "runs",
      finished: results.length,
      total: plan.tasks.length,
      kept,
      failed: results.filter(({ status }) => status !== "success").length,
      costUsd: results.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0),
      ...(latest !== undefined && { latest }),
    });
  };
  report();
  await runSamples({
    tasks: plan.tasks.filter(({ id }) => !answers.has(id)),
    concurrency: plan.concurrency,
    options: options.options ?? {},
    world,
    signal: options.signal,
    onSample: async (sample) => {
      await journal.addSample(sample);
      await add(sample);
      report(`${sample.target}, prompt ${sample.prompt}`);
    },
  });
  return answers;
}

interface JudgeWork {
  readonly options: CompareOptions;
  readonly plan: Plan;
  readonly judge: JudgeOptions;
  readonly answers: ReadonlyMap<string, Answer>;
  readonly journal: Journal;
  readonly world: World;
}

/**
 * The judgements of all groups, including those of an earlier start. One after the other: the order is random already.
 */
async function collectJudgements(work: JudgeWork): Promise<readonly Judgement[]> {
  const { options, plan, judge, journal, world } = work;
  const groups = [...new Set(plan.tasks.map(({ group }) => group))];
  const draw = createDraw(plan.seed + 1);
  const judgements: Judgement[] = [];
  let kept = 0;
  const report = (latest?: string): void =>
    options.onProgress?.({
      phase: "judge",
      finished: judgements.length,
      total: groups.length,
      kept,
      failed: judgements.filter(({ error }) => error !== undefined).length,
      costUsd: judgements.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0),
      ...(latest !== undefined && { latest }),
    });
  report();
  for (const group of groups) {
    const tasks = plan.tasks.filter((task) => task.group === group);
    const answers = tasks.flatMap((task) => {
      const sample = work.answers.get(task.id)?.sample;
      return sample?.result.status === "success" ? [{ id: task.id, text: sample.result.text }] : [];
    });
    if (answers.length === 0) continue;
    const earlier = journal.judgements.findLast((one) => one.group === group && covers(one, answers, judge));
    if (earlier !== undefined) kept += 1;
    if (earlier === undefined && options.signal?.aborted === true) break;
    const question = questionOf(tasks[0] as Task);
    const judgement =
      earlier ?? (await judgeGroup(judge, { group, question, answers }, { world, draw, signal: options.signal }));
    if (options.signal?.aborted === true && judgement.error !== undefined) break;
    if (earlier === undefined) await journal.addJudgement(judgement);
    judgements.push(judgement);
    report(`prompt ${(tasks[0] as Task).prompt.id}`);
  }
  return judgements;
}

/** Whether an earlier judgement has points for exactly these answers. */
function covers({ points }: Judgement, answers: readonly { readonly id: string }[], judge: JudgeOptions): boolean {
  const size = (judge.rubric ?? DEFAULT_RUBRIC).length;
  return (
    points !== undefined &&
    Object.keys(points).length === answers.length &&
    answers.every(({ id }) => points[id]?.length === size)
  );
}

function reportJudge(judgements: readonly Judgement[]): NonNullable<ComparisonReport["judge"]> {
  const costs = judgements.flatMap(({ costUsd }) => costUsd ?? []);
  return {
    ...(costs.length > 0 && { costUsd: costs.reduce((sum, cost) => sum + cost, 0) }),
    failures: judgements.flatMap(({ error }) => error ?? []),
  };
}

async function scoreSample(
  { result }: Sample,
  { prompt, document }: Task,
  scorers: readonly Scorer[],
): Promise<Readonly<Record<string, Score>>> {
  if (result.status !== "success") return {};
  const answer = { text: result.text, result, prompt: prompt.text, ...(document !== undefined && { document }) };
  const scores: Record<string, Score> = {};
  for (const scorer of scorers) scores[scorer.name] = await scoreAnswer(scorer, answer);
  return scores;
}

function reportSample({ sample, scores }: Answer, task: Task, judgements: readonly Judgement[]): ScoredSample {
  const { result, ...place } = sample;
  const points = judgements.find(({ group }) => group === task.group)?.points?.[sample.id];
  const judged = points !== undefined && {
    [JUDGE_DIMENSION]: { value: scoreOf(points), detail: `points: ${points.join(", ")} of 4` },
  };
  return {
    ...place,
    status: result.status,
    text: result.text,
    ...(result.model !== undefined && { model: result.model }),
    ...(result.status !== "success" && { error: result.error?.message ?? result.subtype }),
    ...(result.costUsd !== undefined && { costUsd: result.costUsd }),
    ms: result.ms,
    usage: result.usage,
    scores: { ...scores, ...judged },
  };
}

/** A scorer is the caller's code: the error names it if it throws or returns something that is not a score. */
async function scoreAnswer(scorer: Scorer, answer: Parameters<Scorer["score"]>[0]): Promise<Score> {
  let given: number | Score;
  try {
    given = await scorer.score(answer);
  } catch (error) {
    throw new StartError("invalid-option", `The scorer "${scorer.name}" failed: ${describeThrown(error)}`, {
      cause: error,
    });
  }
  const score = typeof given === "number" ? { value: given } : given;
  if (typeof score?.value === "number" && score.value >= 0 && score.value <= 1) return score;
  throw new StartError(
    "invalid-option",
    `The scorer "${scorer.name}" gave ${describeValue(given)}. A score is a number from 0 to 1, or { value, detail }.`,
  );
}

function readScorers(scorers: readonly Scorer[]): readonly Scorer[] {
  if (!Array.isArray(scorers) || scorers.length === 0) {
    throw new StartError(
      "invalid-option",
      "scorers is empty. Give at least one, or leave it out for the built-in ones.",
    );
  }
  for (const [index, scorer] of scorers.entries()) {
    const isScorer =
      typeof scorer?.name === "string" && scorer.name.trim() !== "" && typeof scorer.score === "function";
    if (!isScorer) {
      throw new StartError("invalid-option", `scorers[${index}] is ${describeValue(scorer)}. Give { name, score }.`);
    }
    const isTaken =
      scorer.name === JUDGE_DIMENSION || scorers.some((one, at) => at < index && one.name === scorer.name);
    if (isTaken) throw new StartError("invalid-option", `scorers has "${scorer.name}" twice. Give each its own name.`);
  }
  return scorers;
}

function checkJudge({ rubric = [], ...judge }: JudgeOptions): void {
  checkNames(judge, ["target", "options", "rubric"] satisfies (keyof JudgeOptions)[], "judge.");
  for (const [index, item] of rubric.entries()) {
    checkNames(item, ["name", "description"] satisfies (keyof RubricItem)[], `judge.rubric[${index}].`);
  }
}

function readRule(given: Partial<DecisionRule>): DecisionRule {
  checkInput(shape(Object.fromEntries(Object.keys(DEFAULT_RULE).map((name) => [name, zeroOrMore]))), given, "rule");
  return { ...DEFAULT_RULE, ...given };
}
