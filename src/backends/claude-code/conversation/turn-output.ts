import {
  type ChunkOf,
  type Chunk,
  isDelta,
  type MessageItem,
  type NoticeItem,
  present,
  type ResultItem,
  startItem,
  textOf,
  type ToolResultItem,
} from "#domain";
import { isRecord, type JsonRecord, ownArray, ownString } from "#wire";
import type { CallDecisions } from "../control/call-decisions.ts";
import type { ClaudeCodeOptions } from "../options.ts";
import { RULE_START } from "../result-rule.ts";
import { createTaskCount, readControlChunk, type TaskCount } from "../result-rule-frames.ts";
import { TurnRule } from "./turn-rule.ts";
import { explainVerdict } from "../verdict-words.ts";

/**
 * The output of one turn in control mode: adds our part to its chunks, and determines, by the result rule, when it is
 * over.
 *
 * The CLI begins each of its turns with an init and ends it with a result. Background work starts further turns that
 * were not requested; ours is over when none is open and none is expected.
 */
export class TurnOutput {
  sessionId: string | undefined;
  /** The CLI has begun a turn. */
  hasStarted = false;
  /** A terminal error was among the chunks. */
  hasFailed = false;
  private readonly _parts: OutputParts;
  private _tasks: TaskCount = createTaskCount();
  private _rule: TurnRule;

  constructor(parts: OutputParts) {
    this._parts = parts;
    this._rule = this._startRule({ tasks: this._tasks, openTurns: 0 });
  }

  /** Determines when the turn is over. */
  get rule(): TurnRule {
    return this._rule;
  }

  /** The background work of the process that carries the turn. */
  get tasks(): TaskCount {
    return this._tasks;
  }

  /** Sets the process that carries the turn, with its state so far. */
  adopt(process: { readonly tasks: TaskCount; readonly openTurns: number }): void {
    this._tasks = process.tasks;
    this._rule = this._startRule(process);
  }

  private _startRule({ tasks, openTurns }: { readonly tasks: TaskCount; readonly openTurns: number }): TurnRule {
    const known = { asked: false, open: openTurns, tasks: tasks.count, announced: tasks.wasAnnounced };
    return new TurnRule({ strictExitStatus: this._parts.options.strictExitStatus }, { ...RULE_START, ...known });
  }

  /** The chunks for readers, as far as the rule allows, with what the CLI cannot know corrected. */
  pass(chunks: readonly Chunk[]): Chunk[] {
    const passed: Chunk[] = [];
    for (const chunk of chunks) {
      if (this._rule.isClosed) break;
      if (isDelta(chunk) && !this._rule.isLate) {
        passed.push(chunk);
        continue;
      }
      const whole = this._complete(chunk);
      const input = readControlChunk(chunk, this._tasks, { isLate: this._rule.isLate, uuid: this._parts.uuid });
      const given = this._rule.pass(whole, input);
      if (given === undefined) continue;
      passed.push(given);
      if (given.type === "error" && given.terminal) this.hasFailed = true;
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
        return chunk.role === "user" ? this._completeUserMessage(chunk) : chunk;
      case "tool-result":
        return this._completeToolResult(chunk);
      case "result":
        this.sessionId = chunk.sessionId ?? this.sessionId;
        return this._noteResult(explainVerdict(chunk, this._parts.options));
      default:
        return chunk;
    }
  }

  /** The format reports the first init of a process as its start; each of our turns has its own start. */
  private _noteInit(chunk: ChunkOf<NoticeItem>, frame: JsonRecord): Chunk {
    this.sessionId = ownString(frame, "session_id") ?? this.sessionId;
    if (this.hasStarted) return chunk;
    this.hasStarted = true;
    const model = ownString(frame, "model");
    const tools = ownArray(frame, "tools")?.filter((name) => typeof name === "string");
    return startItem({
      backend: "claude-code",
      mode: "control",
      ...present({ model, sessionId: this.sessionId }),
      ...(tools !== undefined && { tools: tools.map((name) => this._parts.ownTool(name) ?? name) }),
    });
  }

  /** The CLI reports the feedback of our hook as a user message. It is ours. */
  private _completeUserMessage(chunk: ChunkOf<MessageItem>): Chunk {
    const text = textOf(chunk.blocks);
    const isOurs = this._parts.decisions.feedback.some((feedback) => text.includes(feedback));
    return isOurs ? { ...chunk, source: "millrace" } : chunk;
  }

  /** The answers of our policy and our tools are authoritative; the CLI rewords them. */
  private _completeToolResult(chunk: ChunkOf<ToolResultItem>): Chunk {
    const record = this._parts.decisions.find(chunk.callId);
    if (record?.denial !== undefined && !record.hasRun && chunk.isError) {
      return { ...chunk, skipped: "denied", output: record.denial };
    }
    if (record?.answer === undefined) return chunk;
    return { ...chunk, output: record.answer.output, isError: record.answer.isError };
  }

  /** A hook that stopped the turn is the reason for its end. */
  private _noteResult(chunk: ChunkOf<ResultItem>): Chunk {
    const { stopReason } = this._parts.decisions;
    return stopReason === undefined ? chunk : { ...chunk, subtype: "hook_stopped", isError: true, message: stopReason };
  }
}

interface OutputParts {
  /** What was decided about the calls of the turn. */
  readonly decisions: CallDecisions;
  /** The id of our message. */
  readonly uuid: string;
  /** The caller's name of one of our tools. */
  readonly ownTool: (vendorName: string) => string | undefined;
  readonly options: ClaudeCodeOptions;
}
