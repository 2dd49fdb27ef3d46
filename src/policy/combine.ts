import type { HookOutcome } from "./run-hooks.ts";

/** The combined answer of all hooks at one point. */
export interface Combined {
  /** At least one hook blocked; the reasons of all that did, one per line. Wins over everything else. */
  readonly block: string | undefined;
  /** Wins over `ask` and `allow`. The reason is that of the first hook in the list that stops the run. */
  readonly stop: string | undefined;
  /** Wins over `allow`. */
  readonly ask: { readonly reason: string | undefined } | undefined;
  readonly allow: boolean;
  /** The replacement given by the last hook in the list that gives one. */
  readonly input: { readonly value: unknown } | undefined;
  readonly output: { readonly value: unknown } | undefined;
  readonly message: string | undefined;
  readonly notes: readonly string[];
  readonly failures: readonly { readonly index: number; readonly why: string }[];
  readonly isAborted: boolean;
}

/**
 * Combines answers by the order of the list, never by which hook answered first, so that the same hooks always give the
 * same decision.
 */
export function combine(outcomes: readonly HookOutcome[]): Combined {
  const answers = outcomes.flatMap((outcome) => (outcome.kind === "answered" ? [outcome.answer] : []));
  const blocks = answers.flatMap(({ block }) => (block === undefined ? [] : [block]));
  const asks = answers.flatMap(({ ask }) => (ask === undefined ? [] : [ask]));
  const reasons = asks.filter((ask) => typeof ask === "string");
  const input = answers.findLast((answer) => "input" in answer);
  const output = answers.findLast((answer) => "output" in answer);
  return {
    block: blocks.length === 0 ? undefined : blocks.join("\n"),
    stop: answers.find(({ stop }) => stop !== undefined)?.stop,
    ask: asks.length === 0 ? undefined : { reason: reasons.length === 0 ? undefined : reasons.join("\n") },
    allow: answers.some(({ allow }) => allow === true),
    input: input === undefined ? undefined : { value: input.input },
    output: output === undefined ? undefined : { value: output.output },
    message: answers.findLast(({ message }) => message !== undefined)?.message,
    notes: answers.flatMap(({ context }) => (context === undefined ? [] : [context])),
    failures: outcomes.flatMap((outcome) => (outcome.kind === "failed" ? [outcome] : [])),
    isAborted: outcomes.some((outcome) => outcome.kind === "aborted"),
  };
}
