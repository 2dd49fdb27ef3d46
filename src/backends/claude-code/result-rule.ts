import { type ErrorDetail, unreachable, type WarningDetail } from "#domain";

/** The limits after a result (S1-91). */
export const DRAIN = { silenceMs: 100, items: 10 } as const;

/**
 * How long a turn may stay open after its verdict, for the exit and late output. The CLI usually exits within 60 ms.
 * The end must follow the verdict within a second, so this leaves some room.
 */
export const RESULT_GRACE_MS = 800;

/** How long a further turn may take to begin after background work has ended. It usually takes 70 ms. */
export const NEXT_TURN_MS = 600;

/**
 * The state of one turn of a conversation, or of the stream of one process. `streaming`: no result yet, or a further
 * turn has begun. `drained`: the number of messages since the last result. `tasks`: background work that will start
 * another turn. `announced`: there was some, so a further result may belong to one of the CLI's own turns.
 *
 * The rest is known only on the control channel, where one process carries out many turns. `asked`: our message was
 * written, so results answer it. `open`: turns of the CLI that have begun and not ended. `queued`: our message waits
 * for them. `sawTasks`: the CLI has reported its own work. `hadTasks`: there was background work since we asked.
 */
export interface RuleState {
  readonly phase: "streaming" | "result-received" | "pending-end" | "closed";
  readonly result: { readonly isError: boolean } | undefined;
  readonly drained: number;
  readonly tasks: number;
  readonly announced: boolean;
  readonly asked: boolean;
  readonly open: number;
  readonly queued: boolean;
  readonly sawTasks: boolean;
  readonly hadTasks: boolean;
}

/** The possible events of the stream. */
export type RuleInput =
  /** Our message is sent now: earlier output belongs to other turns. */
  | { readonly kind: "asked" }
  /**
   * A frame of a known type. `begins`: the control channel reports that a turn begins. `opensTurn`: a sign of that,
   * without such reports. `tasks`: the current background work. `queued`: whether our message is queued behind another
   * turn.
   */
  | {
      readonly kind: "message";
      readonly begins?: boolean;
      readonly queued?: boolean;
      readonly result?: { readonly isError: boolean; readonly text?: string | undefined } | undefined;
      readonly opensTurn?: boolean;
      readonly tasks?: number | undefined;
      readonly announced?: boolean | undefined;
    }
  /** A frame that is not JSON, not UTF-8, too long, or of an unknown type. */
  | { readonly kind: "fault"; readonly error: ErrorDetail; readonly seen: string }
  | {
      readonly kind: "exit";
      readonly code: number | null;
      readonly signal: string | null;
      /** The error to report if there was no result. */
      readonly error: ErrorDetail;
    }
  /** The output has ended, but no exit was observed. */
  | { readonly kind: "eof" }
  /** Nothing arrived for `DRAIN.silenceMs`. */
  | { readonly kind: "silence" }
  /** There was a result, and the work after it has been silent for too long. */
  | { readonly kind: "stalled"; readonly warning: WarningDetail }
  /** The next item was requested, and nothing has happened. */
  | { readonly kind: "pull" };

/** The output for a reader. `given`: the input message itself. */
export type RuleItem =
  | { readonly kind: "given" }
  | { readonly kind: "warning"; readonly warning: WarningDetail }
  | { readonly kind: "error"; readonly error: ErrorDetail }
  | { readonly kind: "end" };

export interface RuleStep {
  readonly state: RuleState;
  /** `undefined`: no output yet, wait for the next input. */
  readonly item: RuleItem | undefined;
}

export interface RuleOptions {
  /** A non-zero exit after a successful result is an error. */
  readonly strictExitStatus?: boolean | undefined;
}

export const RULE_START: RuleState = {
  phase: "streaming",
  result: undefined,
  drained: 0,
  tasks: 0,
  announced: false,
  asked: true,
  open: 0,
  queued: false,
  sawTasks: false,
  hadTasks: false,
};

/**
 * The state table of a stream (S1-70 … S1-90): one input, one item. The step that enters `closed` must release the
 * process. A result is passed on unchanged; the reader must check whether it is a success.
 */
export function stepRule(state: RuleState, input: RuleInput, options: RuleOptions = {}): RuleStep {
  switch (state.phase) {
    case "closed":
      return { state, item: END };
    case "pending-end":
      return close(state, END);
    case "result-received":
      return afterResult(state, input, options);
    case "streaming":
      return streaming(state, input, options);
    default:
      return unreachable(state.phase);
  }
}

/**
 * How long to wait for the next input: for ever; until silence counts as the end; or, with a result and work that
 * continues after it, as long as such work may be silent.
 */
export function mayWait(state: RuleState): "for-ever" | "background" | "drain" | "no" {
  if (state.phase === "streaming") return state.result === undefined ? "for-ever" : "background";
  if (state.phase !== "result-received") return "no";
  return state.tasks > 0 ? "background" : "drain";
}

const END: RuleItem = { kind: "end" };

function streaming(state: RuleState, input: RuleInput, options: RuleOptions): RuleStep {
  switch (input.kind) {
    case "asked":
      return { state: { ...state, asked: true, result: undefined, hadTasks: state.tasks > 0 }, item: undefined };
    case "message":
      if (isSecondResult(state, input)) return warnSecondResult(state, input);
      return { state: noteMessage(state, input), item: { kind: "given" } };
    case "fault":
      return giveFault(state, input);
    case "exit":
      if (state.result !== undefined) return exitAfterResult(state, input, options);
      if (input.code === 0) return warnNoResult(state);
      return close(state, { kind: "error", error: input.error });
    case "eof":
      return state.result === undefined ? warnNoResult(state) : close(state, END);
    case "stalled":
      return state.result === undefined ? { state, item: undefined } : warnStalled(state, input);
    case "silence":
    case "pull":
      return { state, item: undefined };
    default:
      return unreachable(input);
  }
}

function afterResult(state: RuleState, input: RuleInput, options: RuleOptions): RuleStep {
  const isWorking = state.tasks > 0;
  switch (input.kind) {
    case "message":
    case "fault":
      if (state.drained >= DRAIN.items && !isWorking) return close(state, END);
      return input.kind === "message" ? giveLate(state, input) : warnLate(state, input);
    case "exit":
      return exitAfterResult(state, input, options);
    case "eof":
      return close(state, END);
    case "silence":
      return isWorking ? { state, item: undefined } : close(state, END);
    case "stalled":
      return warnStalled(state, input);
    case "asked":
    case "pull":
      return { state, item: undefined };
    default:
      return unreachable(input);
  }
}

type MessageInput = Extract<RuleInput, { kind: "message" }>;

function noteMessage(state: RuleState, input: MessageInput): RuleState {
  const noted = noteFacts(state, input);
  const { phase, asked, open, queued } = noted;
  if (input.result !== undefined) {
    const left = Math.max(0, open - 1);
    if (!asked) return { ...noted, open: left };
    const isOver = left === 0 && !queued;
    const next = isOver ? "result-received" : "streaming";
    return { ...noted, phase: next, result: { isError: input.result.isError }, drained: 0, open: left };
  }
  // The result of another turn arrived while our message was queued, and nothing follows it.
  const isFree = phase === "streaming" && input.queued === false && noted.result !== undefined && open === 0;
  return isFree ? { ...noted, phase: "result-received" } : noted;
}

/** Applies what a message reports about the process. Returns the same state if nothing is new. */
function noteFacts(state: RuleState, input: MessageInput): RuleState {
  const { begins = false, queued = state.queued, tasks = state.tasks } = input;
  const announced = state.announced || tasks > 0 || input.announced === true;
  const sawTasks = state.sawTasks || (input.tasks !== undefined && input.result === undefined);
  if (!begins && queued === state.queued && tasks === state.tasks && announced === state.announced) {
    return sawTasks === state.sawTasks ? state : { ...state, sawTasks };
  }
  // Only background work opens a second turn; otherwise a second beginning belongs to the open turn.
  const opens = begins && (state.open === 0 || state.sawTasks);
  return {
    ...state,
    queued,
    tasks,
    announced,
    sawTasks,
    hadTasks: state.hadTasks || tasks > 0,
    open: state.open + (opens ? 1 : 0),
  };
}

/** Before our message, and without an open turn: a second result of a turn that is over. */
function isSecondResult({ asked, open, announced }: RuleState, { result }: MessageInput): boolean {
  return result !== undefined && !asked && open === 0 && !announced;
}

function warnSecondResult(state: RuleState, { result }: MessageInput): RuleStep {
  return { state, item: { kind: "warning", warning: secondResultWarning(result?.text) } };
}

/**
 * Known frames after a result are passed on unchanged (C2). If background work was announced, a further turn opens the
 * stream again and its result counts; otherwise the first result is the verdict.
 */
function giveLate(state: RuleState, input: MessageInput): RuleStep {
  const noted = noteMessage(state, input);
  if (input.result !== undefined) {
    if (noted.announced) return { state: noted, item: { kind: "given" } };
    return warnSecondResult({ ...state, open: noted.open, drained: state.drained + 1 }, input);
  }
  const isNext = (input.opensTurn === true || input.begins === true) && noted.announced;
  const phase = isNext ? "streaming" : "result-received";
  return { state: { ...noted, phase, drained: noted.drained + 1 }, item: { kind: "given" } };
}

/** The warning instead of a result that was not announced. */
function secondResultWarning(text: string | undefined): WarningDetail {
  return {
    code: "unexpected-message-after-result",
    message:
      "Claude Code gave another result after its verdict and had announced no background work. The first counts.",
    context: { text: text ?? "" },
  };
}

function warnLate(state: RuleState, input: Extract<RuleInput, { kind: "fault" }>): RuleStep {
  const warning: WarningDetail = {
    code: "unexpected-message-after-result",
    message:
      input.error.code === "unexpected-message"
        ? `${input.error.message} The result holds.`
        : "Something that cannot be read came after the result; it changes nothing.",
    context: { text: input.seen },
  };
  const next = { ...state, drained: state.drained + 1 };
  // A terminal fault also ends the stream here, but the result stays valid: a warning, then the end.
  return {
    state: input.error.terminal ? { ...next, phase: "pending-end" } : next,
    item: { kind: "warning", warning },
  };
}

function warnStalled(state: RuleState, { warning }: Extract<RuleInput, { kind: "stalled" }>): RuleStep {
  return { state: { ...state, phase: "pending-end" }, item: { kind: "warning", warning } };
}

function giveFault(state: RuleState, input: Extract<RuleInput, { kind: "fault" }>): RuleStep {
  const item: RuleItem = { kind: "error", error: input.error };
  return input.error.terminal ? close(state, item) : { state, item };
}

function exitAfterResult(
  state: RuleState,
  input: Extract<RuleInput, { kind: "exit" }>,
  options: RuleOptions,
): RuleStep {
  if (input.code === 0) return close(state, END);
  const failed = state.result?.isError === true;
  if (options.strictExitStatus === true && !failed) return close(state, { kind: "error", error: input.error });
  return {
    state: { ...state, phase: "pending-end" },
    item: { kind: "warning", warning: exitWarning(input, failed) },
  };
}

/** The CLI exits with 1 after every failed result, so the code is no news there. */
function exitWarning(exit: { readonly code: number | null; readonly signal: string | null }, failed: boolean) {
  const how = exit.code === null ? `by ${exit.signal ?? "a signal"}` : `with code ${exit.code}`;
  return {
    code: "non-zero-exit-after-result",
    message: `Claude Code gave its result and then exited ${how}. The result holds.`,
    context: { exitCode: exit.code, signal: exit.signal },
    ...(failed && { expected: true }),
  } as const satisfies WarningDetail;
}

function warnNoResult(state: RuleState): RuleStep {
  const warning: WarningDetail = {
    code: "clean-exit-no-result",
    message: "Claude Code ended without an error and without a result.",
  };
  return { state: { ...state, phase: "pending-end" }, item: { kind: "warning", warning } };
}

function close(state: RuleState, item: RuleItem): RuleStep {
  return { state: { ...state, phase: "closed" }, item };
}
