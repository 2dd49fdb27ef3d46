import type { ModelPrompt, PromptTool } from "../prompt.ts";
import type { Reply } from "../reply.ts";
import { buildInstance, type Source } from "./instance.ts";
import { findQuestion, type Question, readSubject, type Subject, type ToolAnswer } from "./question.ts";
import { type PlannedCall, type Settled, settleSum, workOut } from "./sum-tools.ts";
import { findSums, type Sum, writeNumber, writeSum } from "./sums.ts";
import {
  isAddedTool,
  isCodingAgent,
  isFinal,
  isHandoff,
  pickTool,
  planCall,
  planCalls,
  planCommand,
  planHandoff,
} from "./tools.ts";

/** Of longer questions only both ends are read: they contain the request, the middle its material. */
const READ_CHARS = 8_192;

/**
 * The offline model: no network and no randomness, the same answer to the same prompt.
 *
 * It solves arithmetic, with tools if suitable ones are offered; calls tools whose name shares a word with the
 * question; reports what tools returned; fills schemas; and otherwise introduces itself.
 */
export function answerByRules(prompt: ModelPrompt): Reply {
  const asked = findQuestion(prompt);
  const text =
    asked.text.length > READ_CHARS
      ? `${asked.text.slice(0, READ_CHARS / 2)}\n${asked.text.slice(-READ_CHARS / 2)}`
      : asked.text;
  const situation = readSituation(prompt, { ...asked, text });
  const reply = decide(situation);
  const thought = prompt.thinking ? describe(situation, reply) : undefined;
  return thought === undefined ? reply : { thinking: thought, ...reply };
}

/** Everything that the model bases its reply on. */
interface Situation {
  readonly prompt: ModelPrompt;
  readonly question: Question;
  readonly subject: Subject;
  /** The tools that it may choose to call. */
  readonly tools: readonly PromptTool[];
  readonly sums: readonly { readonly sum: Sum; readonly settled: Settled }[];
  /** Tool results, without those of handoffs and final answers, which contain nothing of interest. */
  readonly answers: readonly ToolAnswer[];
  readonly source: Source;
}

function readSituation(prompt: ModelPrompt, question: Question): Situation {
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

function decide(situation: Situation): Reply {
  const { prompt, answers } = situation;
  const forced = planForced(situation);
  if (forced !== undefined) return forced;
  const failed = answers.findLast((answer) => answer.isError);
  if (failed !== undefined) return { text: sayFailure(failed) };
  const calls = planNext(situation);
  if (calls.length > 0) return sayCalls(prompt.parallelCalls ? calls : calls.slice(0, 1));
  const final = planFinal(situation);
  if (final !== undefined) return { toolCalls: [final] };
  if (prompt.outputSchema !== undefined) return { text: JSON.stringify(buildAnswer(situation, prompt.outputSchema)) };
  return { text: sayAnswer(situation) };
}

/** The call that gives the answer, if a tool exists for that; repeated if the answer was rejected. */
function planFinal(situation: Situation): PlannedCall | undefined {
  const { prompt, question, source } = situation;
  const tool = prompt.tools.find(({ name }) => isFinal(name));
  if (tool === undefined || prompt.toolChoice.type === "none") return undefined;
  if (question.answers.some(({ name, isError }) => name === tool.name && !isError)) return undefined;
  const sum = situation.sums[0]?.sum;
  // If it must answer before its tools have, it computes the result itself.
  const answerNumber = source.answerNumber ?? (sum === undefined ? undefined : workOut(sum));
  return planCall(tool, { ...source, answer: source.answer ?? sayAnswer(situation), answerNumber, isAnswer: true });
}

/** A call that the request forces. */
function planForced(situation: Situation): Reply | undefined {
  const { prompt, source } = situation;
  const { toolChoice } = prompt;
  if (toolChoice.type === "tool") {
    const tool = prompt.tools.find(({ name }) => name === toolChoice.name);
    const final = planFinal(situation);
    if (final !== undefined && final.name === tool?.name) return { toolCalls: [final] };
    return (
      tool && { toolCalls: [planNext(situation).find(({ name }) => name === tool.name) ?? planCall(tool, source)] }
    );
  }
  if (toolChoice.type !== "required") return undefined;
  const calls = planNext(situation);
  if (calls.length > 0) return { toolCalls: prompt.parallelCalls ? calls : calls.slice(0, 1) };
  const final = planFinal(situation);
  if (final !== undefined) return { toolCalls: [final] };
  const tool = pickTool(prompt.tools, source.question) ?? prompt.tools[0];
  return tool && { toolCalls: [planCall(tool, source)] };
}

/** The remaining calls. For one question, nothing is called twice with the same arguments. */
function planNext(situation: Situation): PlannedCall[] {
  const { prompt, question, tools, sums, answers, source, subject } = situation;
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

/** A value for the schema of the answer. */
function buildAnswer(situation: Situation, schema: NonNullable<ModelPrompt["outputSchema"]>): unknown {
  if (Object.keys(schema).length === 0) return { answer: sayAnswer(situation) };
  return buildInstance(schema, {
    ...situation.source,
    answer: situation.source.answer ?? sayAnswer(situation),
    isAnswer: true,
  });
}

function sayAnswer(situation: Situation): string {
  const { prompt, answers, sums, question } = situation;
  if (sums.length > 0) return saySettled(sums);
  if (answers.length > 0) return summarise(answers);
  // Coding agents also ask for a title of the conversation.
  if (prompt.tools.length === 0 && /\btitle\b/i.test(prompt.instructions)) return sayTitle(question.text);
  return introduce(prompt.tools.map((tool) => tool.name));
}

function describe(situation: Situation, reply: Reply): string {
  const calls = reply.toolCalls ?? [];
  if (calls.length > 0) return `The tools that fit are offered: ${calls.map((call) => call.name).join(", ")}.`;
  if (situation.answers.length > 0) return "The tools have answered. I report what they returned.";
  if (situation.sums.length > 0) return "This is a sum, and no tool for it is offered. I work it out myself.";
  return "No tool fits, and I know nothing beyond sums. I say so.";
}

/** The length up to which a tool's answer is repeated. */
const LONGEST_ANSWER = 2_000;

/** A short sentence, and the calls that it announces. */
function sayCalls(calls: readonly PlannedCall[]): Reply {
  const names = [...new Set(calls.map((call) => call.name))];
  return { text: `I will use ${names.join(" and ")}.`, toolCalls: calls };
}

/** "25 + 17 = 42." */
function saySettled(sums: readonly { readonly sum: Sum; readonly settled: Settled }[]): string {
  return sums.map(({ sum, settled }) => sayOne(sum, settled)).join(" ");
}

function sayOne(sum: Sum, settled: Settled): string {
  const written = writeSum(sum);
  if (settled.kind === "said") return `${written}: ${shorten(settled.answer.text)}`;
  if (settled.kind === "calls" || !Number.isFinite(settled.value))
    return `${written} has no value that I could work out.`;
  return `${written} = ${writeNumber(settled.value)}.`;
}

/** What the tools returned. */
function summarise(answers: readonly ToolAnswer[]): string {
  return answers.map((answer) => `${answer.name} answered: ${shorten(answer.text) || "nothing"}`).join("\n");
}

function sayFailure(answer: ToolAnswer): string {
  return `The tool ${answer.name} failed: ${shorten(answer.text) || "it gave no reason"}\nI have no answer without it.`;
}

/** The first words of a text. */
function sayTitle(text: string): string {
  const words = text.split(/\s+/, 6).join(" ").slice(0, 60);
  return words === "" ? "Conversation" : words;
}

/** Explains what this model is, what it can do, and how to get more. */
function introduce(tools: readonly string[]): string {
  const offered =
    tools.length === 0
      ? ""
      : ` Here I could call: ${tools.slice(0, 5).join(", ")}${tools.length > 5 ? " and others" : ""}.`;
  return (
    "I am Millrace's offline model: no network, no key, and no knowledge. " +
    'I work out sums such as "What is 25 + 17?", call tools whose name fits a question, and report what they returned.' +
    `${offered} For real answers choose a real model, for instance anthropic/claude-sonnet-4-6, and set its key: ` +
    "ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY."
  );
}

function shorten(text: string): string {
  return text.length <= LONGEST_ANSWER ? text : `${text.slice(0, LONGEST_ANSWER)} … (${text.length} characters in all)`;
}
