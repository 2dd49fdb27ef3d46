import type { ModelPrompt, PromptTool } from "../prompt.ts";
import type { Reply } from "../reply.ts";
import { isAddedTool, isCodingAgent, planCommand } from "./commands.ts";
import { findSums } from "./find-sums.ts";
import { buildInstance, type Source } from "./instance.ts";
import { isFinal, isHandoff, pickTool, planCall, planCalls, planHandoff } from "./other-tools.ts";
import { findQuestion, type Question, type ToolAnswer } from "./question.ts";
import { introduce, sayCalls, sayFailure, saySettled, sayTitle, summarise } from "./say.ts";
import { type Settled, settleSum } from "./settle-sum.ts";
import { readSubject, type Subject } from "./subject.ts";
import type { Sum } from "./sum.ts";
import { type PlannedCall, workOut } from "./sum-tools.ts";

/** Decides what to answer. */
export type Brain = (prompt: ModelPrompt) => Reply;

/** Longer questions are read at both ends: what is asked stands there, what it is asked about between. */
const READ_CHARS = 8_192;

/**
 * The offline model: no network, no chance, the same answer to the same prompt.
 *
 * It works out sums, through tools where fitting ones are offered; calls tools whose name has a word in common with
 * the question; reports what tools returned; fills schemas; and otherwise says what it is.
 */
export const think: Brain = (prompt) => {
  const asked = findQuestion(prompt);
  const text =
    asked.text.length > READ_CHARS
      ? `${asked.text.slice(0, READ_CHARS / 2)}\n${asked.text.slice(-READ_CHARS / 2)}`
      : asked.text;
  const mind = openMind(prompt, { ...asked, text });
  const reply = decide(mind);
  const thought = prompt.thinking ? describe(mind, reply) : undefined;
  return thought === undefined ? reply : { thinking: thought, ...reply };
};

/** What the model has before it. */
interface Mind {
  readonly prompt: ModelPrompt;
  readonly question: Question;
  readonly subject: Subject;
  /** The tools it may call on its own account. */
  readonly tools: readonly PromptTool[];
  readonly sums: readonly { readonly sum: Sum; readonly settled: Settled }[];
  /** What tools returned, without hand-offs and final answers, which return nothing of interest. */
  readonly answers: readonly ToolAnswer[];
  readonly source: Source;
}

function openMind(prompt: ModelPrompt, question: Question): Mind {
  const offered = isCodingAgent(prompt.tools) ? prompt.tools.filter(isAddedTool) : prompt.tools;
  const tools = prompt.toolChoice.type === "none" ? [] : offered.filter(({ name }) => !isFinal(name));
  const answers = question.answers.filter(({ name }) => !isHandoff(name) && !isFinal(name));
  const sums = findSums(question.text).map((sum) => ({ sum, settled: settleSum(sum, { tools, answers }) }));
  const subject = readSubject(question.text);
  const isSettled = sums.length > 0 && sums.every(({ settled }) => settled.kind !== "calls");
  const first = sums[0]?.settled;
  const source: Source = {
    question: question.text,
    texts: subject.quoted.length > 0 ? subject.quoted : subject.names.length > 0 ? [subject.names.join(" and ")] : [],
    numbers: subject.numbers,
    answer: isSettled ? saySettled(sums) : answers.length > 0 ? summarise(answers) : undefined,
    answerNumber: first?.kind === "value" ? first.value : undefined,
  };
  return { prompt, question, subject, tools, sums, answers, source };
}

function decide(mind: Mind): Reply {
  const { prompt, answers } = mind;
  const forced = planForced(mind);
  if (forced !== undefined) return forced;
  const failed = answers.findLast((answer) => answer.isError);
  if (failed !== undefined) return { text: sayFailure(failed) };
  const calls = planNext(mind);
  if (calls.length > 0) return sayCalls(prompt.parallelCalls ? calls : calls.slice(0, 1));
  const final = planFinal(mind);
  if (final !== undefined) return { toolCalls: [final] };
  if (prompt.outputSchema !== undefined) return { text: JSON.stringify(buildAnswer(mind, prompt.outputSchema)) };
  return { text: sayAnswer(mind) };
}

/** The call that gives the answer where a tool is there for that; again, if the answer was not taken. */
function planFinal(mind: Mind): PlannedCall | undefined {
  const { prompt, question, source } = mind;
  const tool = prompt.tools.find(({ name }) => isFinal(name));
  if (tool === undefined || prompt.toolChoice.type === "none") return undefined;
  if (question.answers.some(({ name, isError }) => name === tool.name && !isError)) return undefined;
  const sum = mind.sums[0]?.sum;
  // Forced to answer before its tools have, it works the sum out itself.
  const answerNumber = source.answerNumber ?? (sum === undefined ? undefined : workOut(sum));
  return planCall(tool, { ...source, answer: source.answer ?? sayAnswer(mind), answerNumber, isAnswer: true });
}

/** A call the request insists on. */
function planForced(mind: Mind): Reply | undefined {
  const { prompt, source } = mind;
  const { toolChoice } = prompt;
  if (toolChoice.type === "tool") {
    const tool = prompt.tools.find(({ name }) => name === toolChoice.name);
    const final = planFinal(mind);
    if (final !== undefined && final.name === tool?.name) return { toolCalls: [final] };
    return tool && { toolCalls: [planNext(mind).find(({ name }) => name === tool.name) ?? planCall(tool, source)] };
  }
  if (toolChoice.type !== "required") return undefined;
  const calls = planNext(mind);
  if (calls.length > 0) return { toolCalls: prompt.parallelCalls ? calls : calls.slice(0, 1) };
  const final = planFinal(mind);
  if (final !== undefined) return { toolCalls: [final] };
  const tool = pickTool(prompt.tools, source.question) ?? prompt.tools[0];
  return tool && { toolCalls: [planCall(tool, source)] };
}

/** The calls that are still to be made. Nothing is called twice with the same arguments for one question. */
function planNext(mind: Mind): PlannedCall[] {
  const { prompt, question, tools, sums, answers, source, subject } = mind;
  if (prompt.toolChoice.type === "none") return [];
  if (sums.length > 0) {
    const calls = sums.flatMap(({ settled }) => (settled.kind === "calls" ? settled.calls : []));
    if (calls.length > 0) return removeDoubles(calls);
    if (sums.every(({ settled }) => settled.kind === "value")) return [];
  }
  if (answers.length > 0) return [];
  const unused = tools.filter((tool) => !question.answers.some((answer) => answer.name === tool.name));
  const handoff = planHandoff(unused, source);
  if (handoff !== undefined) return [handoff];
  const command = planCommand(prompt, source.question);
  if (command !== undefined) return [command];
  const tool = pickTool(tools, source.question);
  return tool === undefined ? [] : planCalls(tool, source, subject);
}

function removeDoubles(calls: readonly PlannedCall[]): PlannedCall[] {
  return [...new Map(calls.map((call) => [JSON.stringify(call), call])).values()];
}

/** A value for the schema the answer has to have. */
function buildAnswer(mind: Mind, schema: NonNullable<ModelPrompt["outputSchema"]>): unknown {
  if (Object.keys(schema).length === 0) return { answer: sayAnswer(mind) };
  return buildInstance(schema, { ...mind.source, answer: mind.source.answer ?? sayAnswer(mind), isAnswer: true });
}

function sayAnswer(mind: Mind): string {
  const { prompt, answers, sums, question } = mind;
  if (sums.length > 0) return saySettled(sums);
  if (answers.length > 0) return summarise(answers);
  // Agents ask for a title of a conversation beside their work.
  if (prompt.tools.length === 0 && /\btitle\b/i.test(prompt.instructions)) return sayTitle(question.text);
  return introduce(prompt.tools.map((tool) => tool.name));
}

function describe(mind: Mind, reply: Reply): string {
  const calls = reply.toolCalls ?? [];
  if (calls.length > 0) return `The tools that fit are offered: ${calls.map((call) => call.name).join(", ")}.`;
  if (mind.answers.length > 0) return "The tools have answered. I report what they returned.";
  if (mind.sums.length > 0) return "This is a sum, and no tool for it is offered. I work it out myself.";
  return "No tool fits, and I know nothing beyond sums. I say so.";
}
