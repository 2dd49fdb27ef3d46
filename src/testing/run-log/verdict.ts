import {
  type ErrorItem,
  type MessageItem,
  type ResultItem,
  type RunResult,
  textOf,
  type ToolCallItem,
  type ToolResultItem,
} from "#domain";
import type { Check, Report } from "./check.ts";
import { isSameJson } from "./same-json.ts";

/** The result in `done` agrees with the log. */
export function checkVerdict(report: Report): Check {
  const messages = new Map<string, MessageItem>();
  const calls = new Map<string, ToolCallItem>();
  const answers = new Map<string, ToolResultItem>();
  /** Inputs that a permission has changed. */
  const changedInputs = new Map<string, unknown>();
  let terminal: ErrorItem | undefined;
  let verdict: ResultItem | undefined;
  let over = false;

  const checkStatus = (result: RunResult, at: number): void => {
    if (result.status === "success") {
      if (terminal !== undefined) report("status-agrees", at, `success after the terminal error ${terminal.code}`);
      if (verdict?.isError === true)
        report("status-agrees", at, `success although the last result is ${verdict.subtype}`);
    } else if (result.status === "error" && terminal === undefined && verdict?.isError !== true) {
      report("status-agrees", at, "error without a terminal error and without a failed result");
    }
  };

  const checkText = (result: RunResult, at: number): void => {
    // Only a success guarantees the whole text; for a failed run the unfinished part may be included or not.
    if (result.status !== "success") return;
    const text = finalText(messages.values()) ?? verdict?.text ?? "";
    if (text !== result.text) report("text-agrees", at, differAt(text, result.text));
  };

  const checkCalls = (result: RunResult, at: number): void => {
    const listed = new Set<string>();
    for (const record of result.toolCalls) {
      const call = calls.get(record.callId);
      const answer = answers.get(record.callId);
      const isInput = changedInputs.has(record.callId)
        ? isSameJson(record.input, changedInputs.get(record.callId)) && isSameJson(record.requestedInput, call?.input)
        : isSameJson(record.input, call?.input) && record.requestedInput === undefined;
      if (call === undefined || listed.has(record.callId)) {
        report("tool-calls-agree", at, `${record.callId} is not one call of the log`);
      } else if (call.name !== record.name || !isInput) {
        report(
          "tool-calls-agree",
          at,
          `${record.callId} has another name or input than its tool call, or than what was allowed`,
        );
      } else if (!isSameJson(answer?.output, record.output) || answer?.isError !== record.isError) {
        report("tool-calls-agree", at, `${record.callId} has another output than its tool result`);
      }
      listed.add(record.callId);
    }
    for (const call of calls.values()) {
      // A result may include the calls of sub-agents or leave them out.
      if (call.parent === undefined && !listed.has(call.callId)) {
        report("tool-calls-agree", at, `${call.callId} (${call.name}) is missing`);
      }
    }
  };

  const checkAnnounced = (result: RunResult, at: number): void => {
    if (result.status !== "success") return;
    for (const message of messages.values()) {
      if (message.role !== "assistant" || message.parent !== undefined) continue;
      for (const block of message.blocks) {
        if (block.type !== "tool-call" || calls.has(block.callId)) continue;
        report(
          "calls-announced",
          at,
          `${block.callId} (${block.name}) of the message ${message.id} has no tool-call event`,
        );
      }
    }
  };

  return {
    next(event, at) {
      if (over) return;
      switch (event.type) {
        case "message":
          messages.set(event.id, event);
          return;
        case "tool-call":
          if (!calls.has(event.callId)) calls.set(event.callId, event);
          return;
        case "tool-result":
          if (!answers.has(event.callId)) answers.set(event.callId, event);
          return;
        case "permission":
          if (event.state === "allowed" && event.input !== undefined) changedInputs.set(event.callId, event.input);
          return;
        case "error":
          if (event.terminal) terminal ??= event;
          return;
        case "result":
          if (event.parent === undefined) verdict = event;
          return;
        case "done":
          over = true;
          checkStatus(event.result, at);
          checkText(event.result, at);
          checkAnnounced(event.result, at);
          checkCalls(event.result, at);
          return;
        default:
          return;
      }
    },
  };
}

/** The text of the assistant's last message in the main conversation. */
export function finalText(messages: Iterable<MessageItem>): string | undefined {
  const last = [...messages].findLast(({ role, parent }) => role === "assistant" && parent === undefined);
  return last === undefined ? undefined : textOf(last.blocks);
}

function differAt(expected: string, actual: string): string {
  let place = 0;
  while (place < expected.length && expected[place] === actual[place]) place += 1;
  const seen = (text: string): string => JSON.stringify(text.slice(place, place + 30));
  return `from character ${place} on the messages say ${seen(expected)}, the result says ${seen(actual)}`;
}
