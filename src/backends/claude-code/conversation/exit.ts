import {
  type ChunkOf,
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
import type { CliProcess } from "../cli-process.ts";
import { RULE_START, type RuleState, stepRule } from "../result-rule.ts";
import type { BackgroundWork } from "../result-rule-frames.ts";

/** The error for a CLI that exited in the middle of a turn, with the traces it left. */
export function exitError(
  exit: ProcessExit,
  { stderr, cover, outputFailure }: Pick<CliProcess, "stderr" | "cover" | "outputFailure">,
  { hasOutput, lastNonJsonLine }: { readonly hasOutput: boolean; readonly lastNonJsonLine: string | undefined },
): ErrorDetail {
  const traces = cover({ stderrTail: stderr.text(), stdoutWasEmpty: !hasOutput, lastNonJsonLine });
  const diagnostic = diagnoseExit({ code: exit.code, signal: exit.signal, ...traces });
  if (outputFailure !== undefined) return { ...cutError(outputFailure), diagnostic };
  const hint = diagnostic.hint === undefined ? "" : `: ${diagnostic.hint}`;
  if (exit.code === 0) {
    return { code: "no-result", message: "Claude Code ended without a result.", terminal: true, diagnostic };
  }
  const how = exit.code === null ? `was ended by ${exit.signal ?? "a signal"}` : `exited with code ${exit.code}`;
  return { code: "process-exited", message: `Claude Code ${how}${hint}`, terminal: true, diagnostic };
}

/** The error for a CLI whose output broke off. */
export function cutError(outputFailure: string): ErrorDetail {
  return {
    code: "stream-cut",
    message: `Claude Code's output could not be read to its end: ${outputFailure}`,
    terminal: true,
  };
}

/**
 * How a turn reports an exit after its result, in every mode: not at all, as a warning, or with `strict` as an error.
 */
export function exitAfterResult(
  exit: ProcessExit,
  error: ErrorDetail,
  { isError, strict }: { readonly isError: boolean; readonly strict: boolean | undefined },
): ChunkOf<WarningItem> | ChunkOf<ErrorItem> | undefined {
  const received: RuleState = { ...RULE_START, phase: "result-received", result: { isError } };
  const input = { kind: "exit", code: exit.code, signal: exit.signal, error } as const;
  const { item } = stepRule(received, input, { strictExitStatus: strict });
  if (item?.kind === "warning") return warningItem(item.warning);
  return item?.kind === "error" ? errorItem(item.error) : undefined;
}

/** The notice about shells that Claude Code has left running, and what happens to them. */
export function backgroundNotice(shells: readonly BackgroundWork[], kept: boolean): ChunkOf<NoticeItem> {
  return noticeItem("background", { kept, shells });
}

/**
 * The warning for a result after which the CLI continued and then fell silent. `work`: what it was waiting for; empty
 * for a turn that it began itself. `kept`: the process stays, and the work with it.
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
    message: `Claude Code gave its result, continued with ${what}, and wrote nothing for ${silentMs} ms. The result stays valid; ${then}`,
    context: { work, silentMs, kept },
  };
}

/** The format's chunks at the end of the output, without those that the exit explains better. */
export function withoutEndFaults(chunks: readonly Chunk[], exit: ProcessExit): Chunk[] {
  return chunks.filter((chunk) => {
    if (chunk.type === "error") return chunk.code !== "no-result";
    // A partial line of a failed CLI is a trace of the failure, and part of its diagnostic.
    return !(chunk.type === "warning" && chunk.code === "incomplete-last-line" && exit.code !== 0);
  });
}

/** The warning for a result if only part of the prompt was read; `undefined` if all of it was. */
export function inputWarning({ promptFailure }: Pick<CliProcess, "promptFailure">): WarningDetail | undefined {
  if (promptFailure === undefined) return undefined;
  return {
    code: "input-cut",
    message: `Claude Code did not take all of its input (${promptFailure}), so its answer may be to a part of it.`,
    context: { reason: promptFailure },
  };
}

function inputWords(inputFailure: string | undefined): string {
  return inputFailure === undefined ? "" : ` It did not take all of its input: ${inputFailure}`;
}

/** The error for a CLI that has been silent for too long. */
export function stalledError(silentMs: number, inputFailure?: string): ErrorDetail {
  const remedy = "Try again, or raise it if answers may take this long.";
  return {
    code: "stalled",
    message: `Claude Code reached limits.idleMs: it has written nothing for ${silentMs} ms. ${remedy}${inputWords(inputFailure)}`,
    terminal: true,
    diagnostic: {
      hint: "The model's host takes requests and does not answer, or the CLI hangs.",
      troubleshooting: "Ask again; raise limits.idleMs if answers may take this long.",
    },
  };
}

/** The error for a CLI whose `initialize` failed. */
export function refusedError(thrown: unknown, stderr: string, inputFailure?: string): ErrorDetail {
  const stderrTail = stderr.trim();
  return {
    code: "control-failed",
    message: `The control channel of Claude Code could not be opened: ${describeThrown(thrown)}${inputWords(inputFailure)}`,
    terminal: true,
    ...(stderrTail !== "" && { diagnostic: { stderrTail } }),
  };
}
