import type { Reply } from "../reply.ts";
import type { ToolAnswer } from "./question.ts";
import type { Settled } from "./settle-sum.ts";
import { type Sum, writeNumber, writeSum } from "./sum.ts";
import type { PlannedCall } from "./sum-tools.ts";

/** A tool's answer is repeated up to this length. */
const LONGEST_ANSWER = 2_000;

/** A short sentence, and the calls it announces. */
export function sayCalls(calls: readonly PlannedCall[]): Reply {
  const names = [...new Set(calls.map((call) => call.name))];
  return { text: `I will use ${names.join(" and ")}.`, toolCalls: calls };
}

/** "25 + 17 = 42." */
export function saySettled(sums: readonly { readonly sum: Sum; readonly settled: Settled }[]): string {
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
export function summarise(answers: readonly ToolAnswer[]): string {
  return answers.map((answer) => `${answer.name} answered: ${shorten(answer.text) || "nothing"}`).join("\n");
}

export function sayFailure(answer: ToolAnswer): string {
  return `The tool ${answer.name} failed: ${shorten(answer.text) || "it gave no reason"}\nI have no answer without it.`;
}

/** The first words of a text. */
export function sayTitle(text: string): string {
  const words = text.split(/\s+/, 6).join(" ").slice(0, 60);
  return words === "" ? "Conversation" : words;
}

/** Says what this is, what it can do, and how to get more. */
export function introduce(tools: readonly string[]): string {
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
