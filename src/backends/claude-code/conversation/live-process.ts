import type { Chunk, Clock, ErrorDetail, NoticeItem, ProcessExit } from "#domain";
import type { ClaudeCodeAdapter, Decoder } from "#dialects";
import type { ToolServer } from "#tools";
import { isRecord, type JsonRecord } from "#wire";
import { createCliDecoder } from "../cli-decoder.ts";
import { CallWait } from "../control/call-wait.ts";
import { createCallbacks, denialOf } from "../control/callbacks.ts";
import { type ControlChannel, createControlChannel } from "../control/channel.ts";
import { type ControlFrame, isControlFrame, readControlFrame } from "../control/control-frame.ts";
import type { ControlContext } from "../control/hooks.ts";
import { asksForPermission, initializeRequest } from "../control/initialize.ts";
import { createOwnToolServer } from "../control/own-tools.ts";
import { awaitExit, type CliProcess } from "../cli-process.ts";
import { launchCli } from "../launch.ts";
import type { ClaudeCodeOptions } from "../options.ts";
import { createTaskCount } from "../result-rule-frames.ts";
import { exitError, refusedError, withoutEndFaults } from "./exit.ts";
import type { ConversationPlan } from "./plan.ts";
import { pumpOutput } from "./read-output.ts";

/** The version that our tool server reports. */
const SERVER_VERSION = "1.0.0";

/** What happens in a process, in order. */
export type ProcessEvent =
  | { readonly kind: "output"; readonly chunks: readonly Chunk[] }
  /** We begin to owe the CLI answers, or none is left: meanwhile its silence is our doing. */
  | { readonly kind: "busy"; readonly isBusy: boolean }
  /** `initialize` failed: hooks may not be in place, so nothing may run. */
  | { readonly kind: "refused"; readonly error: ErrorDetail }
  /**
   * Its output is over and was processed. `rest`: chunks held back until now. `error`: what the exit means for a turn
   * without a result. A process that has closed its output but stays alive counts as one that has exited.
   */
  | { readonly kind: "exit"; readonly exit: ProcessExit; readonly error: ErrorDetail; readonly rest: readonly Chunk[] };

/** Handles an event of a process. A promise: readers lag; it resolves when they have caught up. */
export type TakeEvent = (live: LiveProcess, event: ProcessEvent) => Promise<void> | undefined;

export interface LiveRequest {
  readonly plan: ConversationPlan;
  readonly options: ClaudeCodeOptions;
  readonly features: readonly string[];
  readonly context: ControlContext;
  readonly take: TakeEvent;
}

/** Starts a process in control mode. Nothing of it is read before `begin`. Rejects with `StartError`. */
export async function startLive(request: LiveRequest): Promise<LiveProcess> {
  const { plan, options, features } = request;
  const argv = { mode: "control", permissionPrompts: asksForPermission(features) } as const;
  return new LiveProcess(await launchCli({ cli: plan.cli, options, plan: argv }, plan.world), request);
}

/**
 * One CLI process in control mode, and its state between turns. Control messages are removed from its output and
 * answered at once, after the events before them; requests about a call are answered after its `tool-call`. Everything
 * else is an event for its conversation, until the process is stopped.
 */
export class LiveProcess {
  readonly process: CliProcess;
  /** Its background work. */
  readonly tasks = createTaskCount();
  /** Turns of the CLI that have begun and not ended. */
  openTurns = 0;
  private readonly _clock: Clock;
  private readonly _take: TakeEvent;
  private readonly _server: ToolServer | undefined;
  private readonly _channel: ControlChannel;
  private readonly _decoder: Decoder;
  private readonly _adapter: ClaudeCodeAdapter;
  private readonly _callWait: CallWait;
  /** `initialize`, until it is written. */
  private _greeting: string;
  private _hasOutput = false;
  private _isOver = false;
  private _isStopped = false;

  constructor(process: CliProcess, { plan, options, features, context, take }: LiveRequest) {
    const { clock } = plan.world;
    const hasTools = plan.tools.length > 0;
    this.process = process;
    this._clock = clock;
    this._take = take;
    this._server = hasTools ? createOwnToolServer(plan.tools, SERVER_VERSION, context) : undefined;
    const reading = { mode: "control", ownTool: context.ownTool, hasSeveralRuns: true } as const;
    const { decoder, adapter } = createCliDecoder(reading, plan.keepRaw, options.maxLineBytes);
    this._decoder = decoder;
    this._adapter = adapter;
    this._callWait = new CallWait(clock, adapter, (callId) => this._emitNow(callId));
    this._channel = createControlChannel({
      clock,
      write: (lines) => process.write(lines, "control"),
      answer: createCallbacks(context, this._server, this._callWait),
      denialOf,
      onBusy: (isBusy) => void this._emit({ kind: "busy", isBusy }),
    });
    const initialize = this._channel.prepare(initializeRequest({ features, hasTools }));
    this._greeting = initialize.line;
    initialize.answer.catch((thrown: unknown) => this._noteRefusal(thrown));
  }

  /** The process is gone, or about to be. */
  get isOver(): boolean {
    return this._isOver;
  }

  /** The CLI's id of the last message. */
  get lastMessageId(): string | undefined {
    return this._adapter.lastMessageId;
  }

  /** Begins to read its output. */
  begin(): void {
    this._read().catch(() => undefined);
  }

  /**
   * Writes a line, with `initialize` before it in the same write the first time. An empty line writes `initialize`
   * alone.
   */
  write(line: string): void {
    const lines = this._greeting + line;
    this._greeting = "";
    if (lines !== "") this.process.write(lines, line === "" ? "control" : "prompt");
  }

  /** Sends a request. Rejects with `RunError`. */
  request(request: JsonRecord): Promise<JsonRecord> {
    this.write("");
    return this._channel.request(request);
  }

  /** Nothing more will be sent: an idle CLI then exits. */
  endInput(): void {
    this.write("");
    this.process.endInput();
  }

  /** Stops the process; nothing more is emitted. Resolves when nothing is left. */
  stop(how: { readonly immediate: boolean }): Promise<void> {
    const gone = this._bringDown("The conversation was ended.", how);
    this._isStopped = true;
    return gone;
  }

  private async _bringDown(why: string, how: { readonly immediate: boolean }): Promise<void> {
    this._isOver = true;
    this._channel.close(why);
    this._server?.close();
    await this.process.stop(how);
  }

  private _emit(event: ProcessEvent): Promise<void> | undefined {
    return this._isStopped ? undefined : this._take(this, event);
  }

  private _emitOutput(chunks: readonly Chunk[]): Promise<void> | undefined {
    if (chunks.length === 0) return undefined;
    this._hasOutput = true;
    const room = this._emit({ kind: "output", chunks });
    this._callWait.note(chunks);
    return room;
  }

  private async _read(): Promise<void> {
    const { process } = this;
    await pumpOutput(process, this._decoder, (chunks) => {
      const { events, control } = splitControl(chunks);
      const room = this._emitOutput(events);
      for (const frame of control) this._channel.receive(frame);
      return room;
    });
    // The output is over: whether the process has exited or not, it is of no use any more.
    const exit = (this._decoder.isOver ? await this._giveUp() : await awaitExit(process, this._clock)) ?? CLOSED;
    this._isOver = true;
    const { events, control } = splitControl(this._decoder.end());
    for (const frame of control) this._channel.receive(frame);
    this._channel.close("The Claude Code process is gone.");
    this._server?.close();
    const { lastNonJsonLine } = this._decoder;
    const error = exitError(exit, process, { hasOutput: this._hasOutput, lastNonJsonLine });
    this._emit({ kind: "exit", exit, error, rest: withoutEndFaults(events, exit) })?.catch(() => undefined);
  }

  private async _giveUp(): Promise<ProcessExit> {
    await this._bringDown("The conversation was ended.", { immediate: true });
    return this.process.exit;
  }

  private _noteRefusal(thrown: unknown): void {
    if (this._isOver) return;
    const { stderr, inputFailure, cover } = this.process;
    const error = cover(refusedError(thrown, stderr.text(), inputFailure));
    this._emit({ kind: "refused", error })?.catch(() => undefined);
  }

  private _emitNow(callId: string): void {
    if (this._isOver || this._decoder.isOver) return;
    this._emitOutput(this._adapter.emitNow(callId))?.catch(() => undefined);
  }
}

/** A process that closed its output and stays. */
const CLOSED: ProcessExit = { code: 0, signal: null };

/** Separates the control messages from the events. Returns the same list if there are none, which is nearly always. */
function splitControl(chunks: Chunk[]): {
  readonly events: readonly Chunk[];
  readonly control: readonly ControlFrame[];
} {
  if (!chunks.some(isControl)) return { events: chunks, control: [] };
  const control = chunks.filter(isControl).map(({ data }) => readControlFrame(data as JsonRecord));
  return { events: chunks.filter((chunk) => !isControl(chunk)), control };
}

function isControl(chunk: Chunk): chunk is NoticeItem {
  return chunk.type === "notice" && chunk.kind === "control" && isRecord(chunk.data) && isControlFrame(chunk.data);
}
