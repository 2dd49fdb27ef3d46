import {
  type Chunk,
  type Clock,
  describeThrown,
  type ErrorDetail,
  errorItem,
  noticeItem,
  present,
  type ProcessExit,
  type Raw,
  type WarningDetail,
} from "#domain";
import { createDecoder, type Decoder, type Format } from "#dialects";
import { isRecord, type JsonRecord, ownRecord, ownString, ownValue } from "#wire";
import { backgroundWarning, cutError, exitError, withoutEndFaults } from "./conversation/exit.ts";
import { awaitExit, type CliProcess } from "./cli-process.ts";
import { limitLines } from "./line-limit.ts";
import type { ClaudeCodeMessage, UnlistedMessage } from "./messages/message.ts";
import type { QueryItem } from "./query-item.ts";
import { stalledError } from "./query-limits.ts";
import { SILENCE } from "./conversation/plan.ts";
import { DRAIN, NEXT_TURN_MS, type RuleInput } from "./result-rule.ts";
import { createTaskCount, readRuleInput } from "./result-rule-frames.ts";

/** An event of the process, and its item if the rule passes it on unchanged. */
export interface QueryStep {
  readonly input: RuleInput;
  readonly given?: QueryItem | undefined;
}

/** The outcome of waiting for bytes. */
type Arrival = Uint8Array | "end" | "silence" | "closed";

/** How long to wait for an event. */
type Wait = { readonly leftMs: number } | "background" | "for-ever";

/** Nothing has happened, but an item was requested. */
export const PULL: QueryStep = { input: { kind: "pull" } };

/** Uninterpreted frames: the decoder adds the bytes, and reports what cannot be read. */
const FRAMES: Format = {
  name: "claude-code-messages",
  framing: "ndjson",
  description: "Claude Code's messages, not interpreted",
  createAdapter: () => ({
    feed: (frames) => frames.map((frame) => noticeItem("frame", frame.kind === "data" ? frame.value : undefined)),
    flush: () => [],
    reset: () => undefined,
  }),
};

export interface SourceOptions {
  /** Remaining shells are not stopped, nor is the process. */
  readonly keepsShells: boolean;
  /** The maximum silence of the CLI. */
  readonly idleMs: number | undefined;
  readonly maxLineBytes: number | undefined;
}

/** The events of one process, one at a time. It never reads ahead of a slow reader. */
export class QuerySource {
  private readonly _process: CliProcess;
  private readonly _clock: Clock;
  private readonly _keepsShells: boolean;
  private readonly _idleMs: number | undefined;
  private readonly _decoder: Decoder;
  private readonly _tasks = createTaskCount();
  private readonly _stdout: AsyncIterator<Uint8Array>;
  private _isClosed = false;
  /** Ends the pending wait for bytes, if any. */
  private _settleWait: ((arrival: Arrival) => void) | undefined;
  private _chunks: Chunk[] = [];
  private _reading: Promise<IteratorResult<Uint8Array>> | undefined;
  private _exit: { readonly exit: ProcessExit | undefined } | undefined;
  private _hasOutput = false;

  constructor(process: CliProcess, clock: Clock, { keepsShells, idleMs, maxLineBytes }: SourceOptions) {
    this._keepsShells = keepsShells;
    this._idleMs = idleMs;
    this._decoder = createDecoder(FRAMES, { keepRaw: true, ...limitLines(maxLineBytes) });
    this._process = process;
    this._clock = clock;
    this._stdout = process.stdout[Symbol.asyncIterator]();
  }

  /** Resolves a pending wait with `pull`, and stops reading. */
  close(): void {
    this._chunks = [];
    this._isClosed = true;
    this._settleWait?.("closed");
  }

  /** The CLI has left shells running. */
  get hasShells(): boolean {
    return this._tasks.shells.length > 0;
  }

  /**
   * The next event. With `leftMs`, a short silence counts as an event, and this much time is left. `background`: a long
   * silence does.
   */
  async next(wait: Wait): Promise<QueryStep> {
    const leftMs = typeof wait === "object" ? wait.leftMs : undefined;
    for (;;) {
      const chunk = this._chunks.shift();
      if (chunk !== undefined) {
        const happening = this._read(chunk);
        if (happening !== undefined) return happening;
        continue;
      }
      if (this._exit !== undefined) return { input: this._exitInput(this._exit.exit) };
      const bytes = await this._bytes(this._silenceMs(wait));
      if (bytes === "closed") return PULL;
      if (bytes === "silence" && leftMs !== undefined) return { input: { kind: "silence" } };
      if (bytes === "silence" && wait === "for-ever") {
        const error = stalledError(this._idleMs ?? 0);
        return { input: { kind: "fault", error, seen: error.message } };
      }
      if (bytes === "silence") {
        const silence = { silentMs: this._idleMs ?? SILENCE.limitMs, kept: this._keepsShells && this.hasShells };
        return { input: { kind: "stalled", warning: backgroundWarning(this._tasks.agents, silence) } };
      }
      if (bytes === "end") await this._noteEnd(leftMs);
      else this._chunks.push(...this._decoder.push(bytes));
    }
  }

  private _silenceMs(wait: Wait): number | undefined {
    if (wait === "for-ever") return this._idleMs;
    if (wait === "background") return this._idleMs ?? SILENCE.limitMs;
    return Math.min(this._tasks.wasAnnounced ? NEXT_TURN_MS : DRAIN.silenceMs, wait.leftMs);
  }

  /**
   * If silence comes first, the read stays pending and its bytes are not lost. `close` ends the single pending wait:
   * `Promise.race` against a promise that lives as long as the query would retain every piece of bytes.
   */
  private _bytes(silenceMs: number | undefined): Promise<Arrival> {
    return new Promise((resolve) => {
      if (this._isClosed) return resolve("closed");
      let stopClock = (): void => undefined;
      const settle = (arrival: Arrival): void => {
        if (this._settleWait !== settle) return;
        this._settleWait = undefined;
        stopClock();
        if (arrival !== "silence") this._reading = undefined;
        resolve(arrival);
      };
      this._settleWait = settle;
      if (silenceMs !== undefined) stopClock = this._clock.after(silenceMs, () => settle("silence"));
      this._reading ??= this._stdout.next();
      this._reading.then(
        ({ done, value }) => settle(done === true ? "end" : (value as Uint8Array)),
        (error: unknown) => {
          this._process.outputFailure = this._process.cover(describeThrown(error));
          settle("end");
        },
      );
    });
  }

  /** The output is over: the exit decides what the rest of it means. */
  private async _noteEnd(leftMs: number | undefined): Promise<void> {
    const exit = await awaitExit(this._process, this._clock, leftMs);
    this._exit = { exit };
    this._chunks.push(...withoutEndFaults(this._decoder.end(), exit ?? { code: 0, signal: null }));
    const { outputFailure } = this._process;
    if (outputFailure !== undefined) this._chunks.push(errorItem(cutError(outputFailure)));
  }

  private _exitInput(exit: ProcessExit | undefined): RuleInput {
    if (exit === undefined) return { kind: "eof" };
    // A failure of the output was reported as a chunk.
    const traces = { stderr: this._process.stderr, cover: this._process.cover, outputFailure: undefined };
    const { lastNonJsonLine } = this._decoder;
    const error = exitError(exit, traces, { hasOutput: this._hasOutput, lastNonJsonLine });
    return { kind: "exit", code: exit.code, signal: exit.signal, error };
  }

  private _read(chunk: Chunk): QueryStep | undefined {
    this._hasOutput = true;
    if (chunk.type === "error") return faultOf(chunk, chunk.raw);
    if (chunk.type === "warning") {
      const { code, message, context } = chunk;
      const warning: WarningDetail = { code, message, ...(context !== undefined && { context }) };
      return { input: { kind: "message" }, given: { kind: "warning", warning } };
    }
    if (chunk.type !== "notice" || chunk.raw === undefined) return undefined;
    const { data, raw } = chunk;
    const missing = isRecord(data) ? missingField(data) : undefined;
    if (missing !== undefined) return faultOf(incomplete(data as ClaudeCodeMessage, missing), raw);
    const input = isRecord(data) ? readRuleInput(data, this._tasks) : undefined;
    if (input !== undefined) return { input, given: { kind: "message", message: data as ClaudeCodeMessage, raw } };
    const isMessage = isRecord(data) && typeof data.type === "string";
    return faultOf(UNKNOWN, raw, isMessage ? (data as UnlistedMessage) : undefined);
  }
}

const UNKNOWN: ErrorDetail = {
  code: "unexpected-message",
  message: "The CLI sent a message of an unknown type.",
  terminal: false,
};

function incomplete({ type }: ClaudeCodeMessage, field: string): ErrorDetail {
  return { code: "json-decode", message: `The CLI sent a message of type ${type} without ${field}.`, terminal: false };
}

function faultOf(error: ErrorDetail, raw: Raw | undefined, message?: UnlistedMessage): QueryStep {
  const { code, terminal, diagnostic } = error;
  const detail: ErrorDetail = {
    code,
    message: error.message,
    terminal,
    ...(diagnostic !== undefined && { diagnostic }),
  };
  return {
    input: { kind: "fault", error: detail, seen: raw?.json || (diagnostic?.seen ?? error.message) },
    given: {
      kind: "error",
      error: detail,
      ...present({ raw, message }),
    },
  };
}

/** The name of a required field that a message lacks; `undefined` if it has all of them. */
function missingField(message: JsonRecord): string | undefined {
  switch (message.type) {
    case "result":
      return ownString(message, "subtype") === undefined ? "subtype" : undefined;
    case "assistant":
      return Array.isArray(contentOf(message)) ? undefined : "message.content";
    case "user":
      return typeof contentOf(message) === "string" || Array.isArray(contentOf(message))
        ? undefined
        : "message.content";
    case "stream_event":
      return ownString(ownRecord(message, "event") ?? {}, "type") === undefined ? "event.type" : undefined;
    default:
      return undefined;
  }
}

function contentOf(message: JsonRecord): unknown {
  const inner = ownValue(message, "message");
  return isRecord(inner) ? ownValue(inner, "content") : undefined;
}
