import { createRedactor } from "#runtime";
import { isAbsolute, resolve } from "node:path";
import { adviceFor, type AgentEvent, describeThrown, type PermissionItem, type RunResult } from "#domain";
import {
  type AskOptions,
  createLogSink,
  createNdjsonSink,
  createProgressSink,
  createTerminalAsk,
  createTerminalSink,
  joinSinks,
  logFileName,
  plainText,
  type Sink,
  selectSinks,
  wantsColor,
} from "#sinks";
import { askLine } from "./ask-line.ts";
import { canErase, type CommandIo, EXIT, type Interrupt } from "./io.ts";
import { SETUP_CODES } from "./report.ts";

/** The flags for the output of a run. */
export interface ShowFlags {
  readonly json?: boolean;
  readonly color?: boolean;
  readonly thinking?: "show" | "collapse" | "hide";
  readonly showThinking?: boolean;
  readonly showAll?: boolean;
  readonly showJson?: boolean;
  /** A file; `""` or `true` for the default name. */
  readonly appendJson?: string | boolean;
  readonly stream?: boolean;
  readonly quiet?: boolean;
}

/** The part of a run that the command line uses. */
export interface DisplayedRun extends AsyncIterable<AgentEvent> {
  result(): Promise<RunResult>;
  abort(reason?: unknown): Promise<void>;
  /** Resolves when everything the run started has ended. */
  readonly closed?: Promise<void>;
  /** Absent if questions are not answered here. */
  answer?(callId: string, decision: { allow: true } | { allow: false; reason: string }): boolean;
}

/** Additions of a command to the output of a run. */
export interface ShowMore {
  /** Replaces the terminal and the progress line. */
  readonly formatted?: Sink | undefined;
  /** Answers permission questions; by default the person at this terminal does. */
  readonly ask?: ReturnType<typeof createTerminalAsk>;
  /** The run belongs to a session, which is closed separately: do not wait for `closed`. */
  readonly isOneOfMany?: boolean;
  /** The events up to this number are of an earlier process: only questions that are still open are asked. */
  readonly past?: number;
  /** Whether the event with this number is kept. A question is asked as soon as it is, so that it survives the process. */
  readonly isStored?: ((seq: number) => Promise<boolean>) | undefined;
  /** What an interrupt does; by default it aborts the run. */
  readonly stop?: (signal: Interrupt) => void;
}

/**
 * Shows a run while it is running, at the reader's pace, and returns the exit code. Ctrl-C aborts it, and a second one
 * ends the process. If the reader of stdout leaves, the run is aborted, too: its output would be lost but still billed.
 */
export async function show(run: DisplayedRun, flags: ShowFlags, io: CommandIo, more: ShowMore = {}): Promise<number> {
  const sink = createSinks(flags, io, more);
  const ask = more.ask ?? createAsk(io);
  const questions = new AbortController();
  let left = false;
  let wasCut = false;
  const findQuestion = createQuestionFinder(more.past ?? -1);
  const { stop = () => ignore(run.abort("interrupted")), isStored = () => true } = more;
  const release = io.onInterrupt((signal) => {
    release();
    wasCut = io.cut();
    questions.abort();
    stop(signal);
  });
  try {
    for await (const event of run) {
      sink.accept(event);
      const question = findQuestion(event);
      if (question !== undefined && run.answer !== undefined) {
        ignore(answer(run, question, { ask, isStored, signal: questions.signal }));
      }
      const room = io.out.room() ?? sink.room?.();
      if (room !== undefined) await room;
      if (io.out.isGone && !left) {
        left = true;
        ignore(run.abort("The reader of the output has left."));
      }
    }
    // The run is over, but a slow terminal may still be at its beginning: Ctrl-C drops the rest.
    await io.written();
    // The process ends soon after this and must leave nothing running.
    if (more.isOneOfMany !== true) await run.closed;
  } finally {
    release();
    questions.abort();
    await sink.close?.();
  }
  if (left) return EXIT.success;
  return wasCut ? EXIT.aborted : exitCodeOf(await run.result());
}

/** Creates a callback that asks the person at this terminal. */
export function createAsk(
  io: CommandIo,
  ask: AskOptions["ask"] = (question, signal) => askLine(question, signal, io),
): ReturnType<typeof createTerminalAsk> {
  return createTerminalAsk({
    ask,
    color: wantsColor(io.err.isTerminal, io.world.env),
    width: () => io.err.columns,
  });
}

/**
 * Finds the questions that a run waits for. One that an earlier process asked is not in the events again: the run only
 * says that it waits for its answer.
 */
export function createQuestionFinder(past: number): (event: AgentEvent) => (PermissionItem & AgentEvent) | undefined {
  const earlier = new Map<string, PermissionItem & AgentEvent>();
  return (event) => {
    if (event.type === "permission") {
      if (event.state === "asked" && event.seq > past) return event;
      if (event.state === "asked") earlier.set(event.callId, event);
      else earlier.delete(event.callId);
      return undefined;
    }
    if (event.seq <= past || event.type !== "notice" || event.kind !== "waiting") return undefined;
    const { callId } = (event.data ?? {}) as { readonly callId?: string };
    const question = earlier.get(callId ?? "");
    earlier.delete(callId ?? "");
    return question;
  };
}

/** Asks a person without blocking the reading of events: other calls may continue meanwhile. */
async function answer(
  run: DisplayedRun,
  { seq, callId, name, input, agent, runId, reason }: PermissionItem & AgentEvent,
  { ask, isStored, signal }: AskSettings,
): Promise<void> {
  // The run ends if it cannot be stored.
  if (!(await isStored(seq))) return;
  try {
    run.answer?.(callId, await ask({ name, input, agent, runId, reason, signal }));
  } catch (error) {
    run.answer?.(callId, { allow: false, reason: describeThrown(error) });
  }
}

interface AskSettings {
  readonly ask: ReturnType<typeof createTerminalAsk>;
  readonly isStored: (seq: number) => boolean | Promise<boolean>;
  readonly signal: AbortSignal;
}

function createSinks(flags: ShowFlags, io: CommandIo, { formatted }: ShowMore): Sink {
  const sinks: Sink[] = [];
  if (flags.json === true) sinks.push(createNdjsonSink((text) => io.out.write(text)));
  else sinks.push(...selectSinks({ formatted, ...createScreen(flags, io) }));
  if (flags.showJson === true) sinks.push(createNdjsonSink((text) => io.err.write(text)));
  if (flags.appendJson !== undefined && flags.appendJson !== false) sinks.push(createLog(flags.appendJson, io));
  return joinSinks(sinks, (error) => io.err.write(`millrace: ${plainText(describeThrown(error))}\n`));
}

/** The text on stdout, everything else on stderr, and a progress line that makes room for both. */
function createScreen(flags: ShowFlags, io: CommandIo) {
  const { env, clock } = io.world;
  const color = flags.color !== false && wantsColor(io.err.isTerminal, env);
  const width = (): number => io.err.columns;
  const progress = createProgressSink({
    write: (text) => io.err.write(text),
    isTerminal: canErase(io) && flags.quiet !== true && flags.showJson !== true,
    color,
    width,
    clock,
    isMidLine: () => terminal.isMidLine,
  });
  const terminal = createTerminalSink({
    out: (text) => {
      progress.hide();
      io.out.write(text);
    },
    aside: (text) => {
      progress.hide();
      io.err.write(text);
    },
    color,
    width,
    wrap: io.out.isTerminal,
    wrapAside: io.err.isTerminal,
    reword: (text) => adviceFor("shell", text),
    asks: io.err.isTerminal && io.input.isTTY === true,
    markdown: flags.color !== false && io.out.isTerminal && wantsColor(io.out.isTerminal, env),
    showThinking: thinkingOf(flags),
    showAll: flags.showAll === true,
    stream: flags.stream !== false && (env["MILLRACE_NO_STREAM"] ?? "") === "",
    quiet: flags.quiet === true,
  });
  return { terminal, progress };
}

function thinkingOf({ thinking, showThinking }: ShowFlags): boolean | "collapsed" {
  if (thinking === "collapse") return "collapsed";
  return thinking === "show" || (thinking === undefined && showThinking === true);
}

function createLog(name: string | boolean, io: CommandIo): Sink {
  const file = typeof name === "string" && name !== "" ? name : logFileName(io.world.clock.now());
  // A log is kept and shared, so known secrets of this process are removed from it.
  const { text: redact } = createRedactor(io.world.env);
  return createLogSink({ path: isAbsolute(file) ? file : resolve(io.cwd, file), files: io.world.files, redact });
}

function exitCodeOf(result: RunResult): number {
  if (result.status === "success") return EXIT.success;
  if (result.status === "aborted") return EXIT.aborted;
  return SETUP_CODES.has(result.error?.code ?? "") ? EXIT.setup : EXIT.failed;
}

/** Neither an abort nor an answer rejects. */
function ignore(settled: Promise<void>): void {
  settled.catch(() => undefined);
}
