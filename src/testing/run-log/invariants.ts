/**
 * The invariants of every run log, one sentence each. The keys are stable: a violation names one of them.
 *
 * @example
 * for (const [name, sentence] of Object.entries(RUN_LOG_INVARIANTS)) console.log(name, sentence)
 */
export const RUN_LOG_INVARIANTS = {
  "non-empty": "A run has at least one event, its `done`.",
  "known-type": "Every event is an object of one of the fourteen types.",
  "json-safe": "Every event survives JSON unchanged; only `raw.bytes` are bytes.",
  "event-shape": "Every event has the fields of its type.",
  "one-done": "There is exactly one `done`, and it is last.",
  "gapless-seq": "`seq` counts 0, 1, 2 … without gap; a merged delta covers its span.",
  "merged-span": "Only a delta represents a span, and its `firstSeq` is before its `seq`.",
  "time-order": "`ts` never decreases.",
  "one-run": "All events carry the same `runId`.",
  "terminal-last": "There is at most one terminal error, and only `done` follows it.",
  "unique-call-id": "A `callId` is used by one tool call.",
  "result-after-call": "A tool result answers a tool call made before it, under the same name.",
  "one-result-per-call": "Every tool call has exactly one tool result before `done`.",
  "call-after-message": "A tool call follows the message that contains it.",
  "decision-after-call": "A permission follows its tool call.",
  "calls-announced":
    "In a run that succeeded every tool call in a message of the main conversation is a `tool-call` event.",
  "denied-not-run":
    "A call of ours that was denied is answered with `skipped: 'denied'`, or `'aborted'` after an abort.",
  "no-allow-no-run": "A call of ours whose permission was asked for runs only after it was allowed.",
  "retract-shape": "A `retract` notice names the message, and perhaps the block, from which deltas are void.",
  "deltas-make-block": "The deltas of one block concatenate to that block of the finished message.",
  "delta-after-message": "After its message only a replaced message may still have deltas.",
  "message-finished": "In a run that succeeded every message whose deltas stand is finished.",
  "status-agrees": "The status of the result agrees with the errors and verdicts of the log.",
  "text-agrees": "The text of a successful result is the text of the log's last assistant message.",
  "tool-calls-agree": "The tool calls of the result are those of the log.",
} as const;

/** The name of one invariant of a run log. */
export type Invariant = keyof typeof RUN_LOG_INVARIANTS;
