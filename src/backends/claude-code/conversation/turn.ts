import {
  type Chunk,
  isDelta,
  type MessageItem,
  type NoticeItem,
  type ResultItem,
  startItem,
  textOf,
  type ToolResultItem,
} from "#domain";
import { createDeferred } from "#streams";
import { isRecord, type JsonRecord, ownArray, ownString } from "#wire";
import type { AgentLink } from "../../backend.ts";
import { CallDecisions, type TurnControl } from "../control/call-decisions.ts";
import { RULE_START } from "../result-rule.ts";
import { createTaskCount, readControlChunk, type TaskCount } from "../result-rule-frames.ts";
import { TurnRule } from "./turn-rule.ts";
import { explainVerdict } from "../verdict-words.ts";

/**
 * One `send` on its way: what is ours to say about the chunks of its turn, and, by the result rule, when it is over.
 *
 * The CLI begins each of its turns with an init and ends it with a result. Background work starts further ones that
 * nobody asked for; ours is over when none is open, and none is to come.
 */
export class ActiveTurn {
  /** What was decided about the calls of this turn. */
  readonly turn: CallDecisions;
  readonly ended: Promise<void>;
  /** A terminal error was written, or the caller has aborted: nothing more is. */
  isFailed = false;
  /** A process carries it. Before, what a process does has nothing to do with this turn. */
  isAdopted = false;
  sessionId: string | undefined;
  /** The CLI has begun a turn. */
  hasStarted = false;
  /** The id of our message. */
  readonly uuid: string;
  private readonly _toolName: (vendorName: string) => string;
  private readonly _strict: boolean | undefined;
  private readonly _end: () => void;
  private _tasks: TaskCount = createTaskCount();
  private _rule: TurnRule;

  constructor(
    link: AgentLink,
    control: TurnControl,
    parts: {
      readonly uuid: string;
      readonly toolName: (vendorName: string) => string;
      readonly strictExitStatus: boolean | undefined;
    },
  ) {
    this.turn = new CallDecisions(link, control);
    const ended = createDeferred<void>();
    this.ended = ended.promise;
    this._end = () => ended.resolve();
    this.uuid = parts.uuid;
    this._toolName = parts.toolName;
    this._strict = parts.strictExitStatus;
    this._rule = this._startRule({ tasks: this._tasks, openTurns: 0 });
  }

  /** When the turn is over. */
  get rule(): TurnRule {
    return this._rule;
  }

  /** The background work of the process that carries the turn. */
  get tasks(): TaskCount {
    return this._tasks;
  }

  /** The process that carries the turn, with what was under way in it before. */
  adopt(process: { readonly tasks: TaskCount; readonly openTurns: number }): void {
    this.isAdopted = true;
    this._tasks = process.tasks;
    this._rule = this._startRule(process);
  }

  private _startRule({ tasks, openTurns }: { readonly tasks: TaskCount; readonly openTurns: number }): TurnRule {
    const known = { asked: false, open: openTurns, tasks: tasks.count, announced: tasks.wasAnnounced };
    return new TurnRule({ strictExitStatus: this._strict }, { ...RULE_START, ...known });
  }

  end(): void {
    this._end();
  }

  /** The chunks that readers get, as far as the rule lets them, with what the CLI cannot know put right. */
  pass(chunks: readonly Chunk[]): Chunk[] {
    const passed: Chunk[] = [];
    for (const chunk of chunks) {
      if (this._rule.isClosed) break;
      if (isDelta(chunk) && !this._rule.isLate) {
        passed.push(chunk);
        continue;
      }
      const whole = this._complete(chunk);
      const input = readControlChunk(chunk, this._tasks, { isLate: this._rule.isLate, uuid: this.uuid });
      const given = this._rule.pass(whole, input);
      if (given === undefined) continue;
      passed.push(given);
      if (given.type === "error" && given.terminal) this.isFailed = true;
    }
    return passed;
  }

  private _complete(chunk: Chunk): Chunk {
    switch (chunk.type) {
      case "start":
        this.hasStarted = true;
        this.sessionId = chunk.sessionId ?? this.sessionId;
        return chunk;
      case "notice":
        return chunk.kind === "init" && isRecord(chunk.data) ? this._noteInit(chunk, chunk.data) : chunk;
      case "message":
        if (chunk.role === "user") this._noteUserMessage(chunk);
        return chunk;
      case "tool-result":
        this._noteToolResult(chunk);
        return chunk;
      case "result":
        this.sessionId = chunk.sessionId ?? this.sessionId;
        return this._noteResult(explainVerdict(chunk));
      default:
        return chunk;
    }
  }

  /** The format reports the first init of a process as its start; each of our turns has a start of its own. */
  private _noteInit(chunk: NoticeItem, frame: JsonRecord): Chunk {
    this.sessionId = ownString(frame, "session_id") ?? this.sessionId;
    if (this.hasStarted) return chunk;
    this.hasStarted = true;
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

  /** A hook that stopped the turn is the reason of its end. */
  private _noteResult(chunk: ResultItem): Chunk {
    if (this.turn.stopReason === undefined) return chunk;
    return Object.assign(chunk, { subtype: "hook_stopped", isError: true, message: this.turn.stopReason });
  }
}
