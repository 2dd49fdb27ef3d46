import {
  type Chunk,
  describeThrown,
  type ErrorDetail,
  type ErrorItem,
  errorItem,
  type NoticeItem,
  noticeItem,
  type ProcessExit,
  type WarningDetail,
  type WarningItem,
  warningItem,
} from "#domain";
import { diagnoseExit } from "../diagnostics.ts";
import type { CliProcess } from "../launch.ts";
import { RULE_START, type RuleState, stepRule } from "../result-rule.ts";
import type { BackgroundWork } from "../result-rule-frames.ts";

export interface ExitTraces {
  readonly stderrTail: string;
  readonly stdoutWasEmpty: boolean;
  readonly lastNonJsonLine: string | undefined;
  /** Why its output could not be read to the end. */
  readonly outputFailure: string | undefined;
}

/** The error of a CLI that ended in the middle of a turn. */
export function exitError(exit: ProcessExit, { outputFailure, ...traces }: ExitTraces): ErrorDetail {
  const diagnostic = diagnoseExit({ code: exit.code, signal: exit.signal, ...traces });
  if (outputFailure !== undefined) return { ...cutError(outputFailure), diagnostic };
  const hint = diagnostic.hint === undefined ? "" : `: ${diagnostic.hint}`;
  if (exit.code === 0) {
    return { code: "no-result", message: "Claude Code ended without a result.", terminal: true, diagnostic };
  }
  const how = exit.code === null ? `was ended by ${exit.signal ?? "a signal"}` : `exited with code ${exit.code}`;
  return { code: "process-exited", message: `Claude Code ${how}${hint}`, terminal: true, diagnostic };
}

/** The error of a CLI whose output broke off. */
export function cutError(outputFailure: string): ErrorDetail {
  return {
    code: "stream-cut",
    message: `Claude Code's output could not be read to its end: ${outputFailure}`,
    terminal: true,
  };
}

/** What a turn says about an exit after its result, in every mode: nothing, a warning, or with `strict` an error. */
export function exitAfterResult(
  exit: ProcessExit,
  error: ErrorDetail,
  { isError, strict }: { readonly isError: boolean; readonly strict: boolean | undefined },
): WarningItem | ErrorItem | undefined {
  const received: RuleState = { ...RULE_START, phase: "result-received", result: { isError } };
  const input = { kind: "exit", code: exit.code, signal: exit.signal, error } as const;
  const { item } = stepRule(received, input, { strictExitStatus: strict });
  if (item?.kind === "warning") return warningItem(item.warning);
  return item?.kind === "error" ? errorItem(item.error) : undefined;
}

/** The notice of shells that Claude Code has left running: what becomes of them is not to be a surprise. */
export function backgroundNotice(shells: readonly BackgroundWork[], kept: boolean): NoticeItem {
  return noticeItem("background", { kept, shells });
}

/**
 * What is to be known of a result behind which the CLI went on and then fell silent. `work`: what it was waiting for;
 * without any, a turn that it began by itself. `kept`: the process stays, and the work with it.
 */
export function backgroundWarning(
  work: readonly BackgroundWork[],
  { silentMs, kept }: { readonly silentMs: number; readonly kept: boolean },
): WarningDetail {
  const names = work.map(({ id, description }) => (description === undefined ? id : `${description} (${id})`));
  const what = names.length === 0 ? "a turn of its own" : `background work: ${names.join(", ")}`;
  const then = kept ? "it is left running." : "it is stopped.";
  return {
    code: "background-left",
    message: `Claude Code gave its result, went on with ${what}, and said nothing for ${silentMs} ms. The result holds; ${then}`,
    context: { work, silentMs, kept },
  };
}

/** What the format gave at the end of the output, without what the exit says better. */
export function withoutEndFaults(chunks: readonly Chunk[], exit: ProcessExit): Chunk[] {
  return chunks.filter((chunk) => {
    if (chunk.type === "error") return chunk.code !== "no-result";
    // Half a line of a CLI that failed is a trace of the failure, and in its diagnostic.
    return !(chunk.type === "warning" && chunk.code === "incomplete-last-line" && exit.code !== 0);
  });
}

/** What is to be known of a result that was given to a part of the input; `undefined` when all of it was taken. */
export function inputWarning({ inputFailure }: Pick<CliProcess, "inputFailure">): WarningDetail | undefined {
  if (inputFailure === undefined) return undefined;
  return {
    code: "input-cut",
    message: `Claude Code did not take all of its input (${inputFailure}), so its answer may be to a part of it.`,
    context: { reason: inputFailure },
  };
}

function inputWords(inputFailure: string | undefined): string {
  return inputFailure === undefined ? "" : ` It did not take all of its input: ${inputFailure}`;
}

/** The error of a CLI that says nothing any more. */
export function stalledError(silentMs: number, inputFailure?: string): ErrorDetail {
  const remedy = "Try again, or raise it if answers may take this long.";
  return {
    code: "stalled",
    message: `Claude Code reached limits.idleMs: it has said nothing for ${silentMs} ms. ${remedy}${inputWords(inputFailure)}`,
    terminal: true,
    diagnostic: {
      hint: "The model's host takes requests and does not answer, or the CLI hangs.",
      troubleshooting: "Ask again; raise limits.idleMs if answers may take this long.",
    },
  };
}

/** The error of a CLI whose `initialize` came to nothing. */
export function refusedError(thrown: unknown, stderr: string, inputFailure?: string): ErrorDetail {
  const stderrTail = stderr.trim();
  return {
    code: "control-failed",
    message: `The control channel of Claude Code could not be opened: ${describeThrown(thrown)}${inputWords(inputFailure)}`,
    terminal: true,
    ...(stderrTail !== "" && { diagnostic: { stderrTail } }),
  };
}
