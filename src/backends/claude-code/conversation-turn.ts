import {
  type Chunk,
  isDelta,
  type MessageItem,
  type NoticeItem,
  type ResultItem,
  type StartItem,
  startItem,
  textOf,
  type ToolResultItem,
  warningItem,
} from "#domain";
import { createDeferred } from "#streams";
import { isRecord, type JsonRecord, ownArray, ownString } from "#wire";
import type { AgentLink } from "../backend.ts";
import { Turn, type TurnControl } from "./control/turn.ts";
import { DRAIN, secondResultWarning } from "./result-rule.ts";
import { createTaskCount, lateWarning, type TaskCount } from "./result-rule-frames.ts";
import { explainVerdict } from "./verdict-words.ts";

/**
 * One `send` on its way: what is ours to say about the chunks of its turn, and when it is over.
 *
 * The CLI begins each of its turns with an init and ends it with a result. Background work starts further ones that
 * nobody asked for; ours is over when none is open, and none is to come.
 */
export class ActiveTurn {
  /** What was decided about the calls of this turn. */
  readonly turn: Turn;
  readonly ended: Promise<void>;
  /** A terminal error was written, or the caller has aborted: nothing more is. */
  isFailed = false;
  hasResult = false;
  /** Background work was seen after a result, so a further turn may be on its way. */
  hadTasks = false;
  /** What the result says of itself. */
  isErrorResult = false;
  /** The verdict has come, and nothing was announced that could follow it. */
  isJudged = false;
  /** Our message was written: the next result is its verdict. */
  private _isAsked = false;
  private _lateWarnings = 0;
  sessionId: string | undefined;
  /** The id of our message. */
  readonly uuid: string;
  private readonly _toolName: (vendorName: string) => string;
  private _tasks: TaskCount = createTaskCount();
  private readonly _end: () => void;
  private _openTurns = 0;
  private _hasStarted = false;
  private _isQueued = false;
  private _sawTasks = false;

  constructor(
    link: AgentLink,
    control: TurnControl,
    parts: {
      readonly uuid: string;
      readonly toolName: (vendorName: string) => string;
    },
  ) {
    this.turn = new Turn(link, control);
    const ended = createDeferred<void>();
    this.ended = ended.promise;
    this._end = () => ended.resolve();
    this.uuid = parts.uuid;
    this._toolName = parts.toolName;
  }

  /** The CLI has begun a turn. */
  get hasStarted(): boolean {
    return this._hasStarted;
  }

  get openTurns(): number {
    return this._openTurns;
  }

  /** A result has come, and nothing is open. */
  get isSettled(): boolean {
    return this.hasResult && this._openTurns === 0 && !this._isQueued;
  }

  get isWaitingForTasks(): boolean {
    return this._tasks.count > 0;
  }

  /** The background work of the process that carries the turn. */
  get tasks(): TaskCount {
    return this._tasks;
  }

  /** The process that carries the turn, with what was under way in it before. */
  adopt(process: { readonly tasks: TaskCount; readonly openTurns: number }): void {
    this._tasks = process.tasks;
    this._openTurns = process.openTurns;
  }

  /** Our message goes out now: what came before belongs to others. */
  awaitResult(): void {
    this._isAsked = true;
    this.hasResult = false;
    this.hadTasks = this._tasks.count > 0;
  }

  end(): void {
    this._end();
  }

  /** Looks at chunks on their way, and puts right what the CLI cannot know. Changes the list in place. */
  look(chunks: Chunk[]): void {
    for (let index = 0; index < chunks.length; index += 1) {
      const chunk = chunks[index] as Chunk;
      if (this.isJudged) {
        chunks.splice(index, chunks.length - index, ...chunks.slice(index).flatMap((late) => this._noteLate(late)));
        return;
      }
      switch (chunk.type) {
        case "text-delta":
        case "thinking-delta":
        case "tool-input-delta":
          break;
        case "start":
          this._noteStart(chunk);
          break;
        case "notice":
          chunks[index] = this._noteNotice(chunk);
          break;
        case "message":
          if (chunk.role === "user") this._noteUserMessage(chunk);
          break;
        case "tool-result":
          this._noteToolResult(chunk);
          break;
        case "result":
          chunks[index] = this._noteResult(explainVerdict(chunk));
          break;
        case "error":
          if (chunk.terminal) this.isFailed = true;
          break;
        default:
          break;
      }
    }
  }

  /** After the verdict only what tells of something is passed on; content and results are named in a warning. */
  private _noteLate(chunk: Chunk): readonly Chunk[] {
    switch (chunk.type) {
      case "notice":
        return chunk.kind.startsWith("unknown:") ? this._warnLate(lateWarning(chunk)) : [this._noteNotice(chunk)];
      case "warning":
      case "permission":
        return [chunk];
      case "result":
        this._openTurns = Math.max(0, this._openTurns - 1);
        return this._warnLate(warningItem(secondResultWarning(chunk.text)));
      default:
        return isDelta(chunk) ? [] : this._warnLate(lateWarning(chunk));
    }
  }

  private _warnLate(warning: Chunk): readonly Chunk[] {
    this._lateWarnings += 1;
    return this._lateWarnings > DRAIN.items ? [] : [warning];
  }

  private _noteStart(chunk: StartItem): void {
    this._hasStarted = true;
    this._openTurn();
    this.sessionId = chunk.sessionId ?? this.sessionId;
  }

  /** Only background work opens a turn beside another; without any, a second init belongs to the turn that is open. */
  private _openTurn(): void {
    if (this._openTurns === 0 || this._sawTasks) this._openTurns += 1;
  }

  private _noteNotice(chunk: NoticeItem): Chunk {
    const frame = isRecord(chunk.data) ? chunk.data : undefined;
    if (frame === undefined) return chunk;
    switch (chunk.kind) {
      case "task":
        this._tasks.note(frame);
        this._sawTasks = true;
        if (this._tasks.count > 0) this.hadTasks = true;
        return chunk;
      case "command-lifecycle":
        if (ownString(frame, "command_uuid") === this.uuid) this._isQueued = ownString(frame, "state") === "queued";
        return chunk;
      case "init":
        return this._noteInit(chunk, frame);
      default:
        return chunk;
    }
  }

  /** The format tells the first init of a process as its start; each of our turns has a start of its own. */
  private _noteInit(chunk: NoticeItem, frame: JsonRecord): Chunk {
    this._openTurn();
    this.sessionId = ownString(frame, "session_id") ?? this.sessionId;
    if (this._hasStarted) return chunk;
    this._hasStarted = true;
    const model = ownString(frame, "model");
    const tools = ownArray(frame, "tools")?.filter((name) => typeof name === "string");
    return startItem({
      backend: "claude-code",
      mode: "control",
      ...(model !== undefined && { model }),
      ...(this.sessionId !== undefined && { sessionId: this.sessionId }),
      ...(tools !== undefined && { tools: tools.map(this._toolName) }),
    });
  }

  /** The CLI shows the feedback it was given as a message of the user's. It is ours. */
  private _noteUserMessage(chunk: MessageItem): void {
    const text = textOf(chunk.blocks);
    if (!this.turn.feedback.some((feedback) => text.includes(feedback))) return;
    (chunk as { -readonly [Key in keyof MessageItem]: MessageItem[Key] }).source = "millrace";
  }

  /** What our policy and our tools said is the truth about a call; the CLI tells it in words of its own. */
  private _noteToolResult(chunk: ToolResultItem): void {
    const record = this.turn.find(chunk.callId);
    if (record === undefined) return;
    // A chunk is not an event yet, so it may still be completed.
    const writable = chunk as { -readonly [Key in keyof ToolResultItem]: ToolResultItem[Key] };
    if (record.denial !== undefined && !record.hasRun && chunk.isError) {
      writable.skipped = "denied";
      writable.output = record.denial;
    } else if (record.answer !== undefined) {
      writable.output = record.answer.output;
      writable.isError = record.answer.isError;
    }
  }

  private _noteResult(chunk: ResultItem): Chunk {
    const { wasAnnounced } = this._tasks;
    // Before our message, and of no turn that had begun: a second result of a turn that is over.
    if (!this._isAsked && this._openTurns === 0 && !wasAnnounced) return warningItem(secondResultWarning(chunk.text));
    this._openTurns = Math.max(0, this._openTurns - 1);
    // Before our message it is the result of a turn of the CLI's own, and no answer to us.
    this.hasResult = this._isAsked;
    this.isErrorResult = chunk.isError;
    this.sessionId = chunk.sessionId ?? this.sessionId;
    if (this._tasks.count > 0) this.hadTasks = true;
    this.isJudged = this._isAsked && this.isSettled && !wasAnnounced;
    if (this.turn.stopReason === undefined) return chunk;
    const writable = chunk as { -readonly [Key in keyof ResultItem]: ResultItem[Key] };
    this.isErrorResult = true;
    writable.subtype = "hook_stopped";
    writable.isError = true;
    writable.message = this.turn.stopReason;
    return chunk;
  }
}
