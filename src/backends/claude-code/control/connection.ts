import type { Chunk, NoticeItem, ProcessExit } from "#domain";
import type { ClaudeCodeAdapter, Decoder } from "#dialects";
import type { ToolServer } from "#tools";
import { isRecord, type JsonRecord } from "#wire";
import { createCliDecoder } from "../cli-decoder.ts";
import { pumpOutput, type TakeChunks } from "../conversation/read-output.ts";
import { awaitExit, type ClaudeCodeWorld, type CliProcess } from "../launch.ts";
import { CallWait } from "./call-wait.ts";
import { createCallbacks, denialOf } from "./callbacks.ts";
import { type ControlChannel, createControlChannel } from "./channel.ts";
import { type ControlFrame, isControlFrame, readControlFrame } from "./control-frame.ts";
import type { ControlContext } from "./hooks.ts";

export interface ConnectionParts {
  readonly process: CliProcess;
  readonly world: Pick<ClaudeCodeWorld, "clock">;
  readonly context: ControlContext;
  readonly server: ToolServer | undefined;
  /** The `initialize` request. */
  readonly initialize: JsonRecord;
  readonly maxLineBytes?: number | undefined;
  readonly keepRaw: boolean;
  readonly take: TakeChunks;
  /** We owe the CLI answers, or no longer. */
  readonly onBusy: (isBusy: boolean) => void;
  /**
   * The process is gone and everything it wrote was taken. `rest`: what was held back until now. Without an exit it has
   * closed its output and stayed.
   */
  readonly onExit: (exit: ProcessExit | undefined, rest: Chunk[]) => void;
}

/**
 * One CLI process in control mode. Control messages are taken out of the stream as they are read and answered at
 * once, behind the events that were read before them; what is about a call is answered behind its `tool-call`.
 */
export class ControlConnection {
  readonly channel: ControlChannel;
  /** The answer to `initialize`. Handled; rejects when there was none in time, or a refusal. */
  readonly ready: Promise<JsonRecord>;
  private readonly _parts: ConnectionParts;
  private readonly _decoder: Decoder;
  private readonly _callWait: CallWait;
  private readonly _adapter: ClaudeCodeAdapter;
  private _greeting: string;
  private _isOver = false;

  constructor(parts: ConnectionParts) {
    this._parts = parts;
    this._callWait = new CallWait(parts.world.clock, {
      isWaiting: (callId) => this._adapter.isWaiting(callId),
      tellNow: (callId) => this._tellNow(callId),
    });
    const answer = createCallbacks(parts.context, parts.server);
    this.channel = createControlChannel({
      clock: parts.world.clock,
      write: (lines) => parts.process.write(lines),
      answer: (request, signal) => {
        const wait = this._callWait.before(request, signal);
        if (wait === undefined) return answer(request, signal);
        return wait.then(() => (signal.aborted ? undefined : answer(request, signal)));
      },
      denialOf,
      onBusy: parts.onBusy,
    });
    const options = { mode: "control", ownTool: parts.context.ownTool, hasSeveralRuns: true } as const;
    const { decoder, adapter } = createCliDecoder(options, parts.keepRaw, parts.maxLineBytes);
    this._decoder = decoder;
    this._adapter = adapter;
    const { line, answer: ready } = this.channel.prepare(parts.initialize);
    this._greeting = line;
    this.ready = ready;
    this._read().catch(() => undefined);
  }

  /** The process is gone, or going. */
  get isOver(): boolean {
    return this._isOver;
  }

  /** The CLI's id of the last message. */
  get lastMessageId(): string | undefined {
    return this._adapter.lastMessageId;
  }

  get lastNonJsonLine(): string | undefined {
    return this._decoder.lastNonJsonLine;
  }

  /** Writes a line; `initialize` goes first, in the same write. An empty line writes `initialize` alone. */
  write(line: string): void {
    const lines = this._greeting + line;
    this._greeting = "";
    if (lines !== "") this._parts.process.write(lines);
  }

  /** Nothing more will be sent: a CLI that is not at work exits. */
  endInput(): void {
    this.write("");
    this._parts.process.endInput();
  }

  /** Ends the process. Resolves when nothing is left. */
  async stop(how: { readonly immediate: boolean }): Promise<void> {
    this._isOver = true;
    this.channel.close("The conversation was ended.");
    this._parts.server?.close();
    await this._parts.process.stop(how);
  }

  private async _read(): Promise<void> {
    const { process, take, onExit } = this._parts;
    await pumpOutput(process, this._decoder, (chunks) => {
      const { events, control } = splitControl(chunks);
      const room = take(events);
      this._callWait.note(events);
      for (const frame of control) this.channel.receive(frame);
      return room;
    });
    // Nothing more can be read: whether it has exited or not, it is of no more use.
    const exit = this._decoder.isOver ? this._giveUp() : awaitExit(process, this._parts.world.clock);
    const how = await exit;
    this._isOver = true;
    const { events: rest, control } = splitControl(this._decoder.end());
    for (const frame of control) this.channel.receive(frame);
    this.channel.close("The Claude Code process is gone.");
    this._parts.server?.close();
    onExit(how, rest);
  }

  private _tellNow(callId: string): void {
    if (this._isOver || this._decoder.isOver) return;
    const chunks = this._adapter.tellNow(callId);
    this._parts.take(chunks)?.catch(() => undefined);
    this._callWait.note(chunks);
  }

  private async _giveUp(): Promise<ProcessExit> {
    await this.stop({ immediate: true });
    return this._parts.process.exit;
  }
}

/** Takes the control messages out of what was read. The same list when there are none, which is nearly always. */
function splitControl(chunks: Chunk[]): { readonly events: Chunk[]; readonly control: readonly ControlFrame[] } {
  if (!chunks.some(isControl)) return { events: chunks, control: [] };
  const control = chunks.filter(isControl).map(({ data }) => readControlFrame(data as JsonRecord));
  return { events: chunks.filter((chunk) => !isControl(chunk)), control };
}

function isControl(chunk: Chunk): chunk is NoticeItem {
  return chunk.type === "notice" && chunk.kind === "control" && isRecord(chunk.data) && isControlFrame(chunk.data);
}
