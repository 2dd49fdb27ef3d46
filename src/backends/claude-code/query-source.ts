import {
  type Chunk,
  type Clock,
  describeThrown,
  type ErrorDetail,
  errorItem,
  noticeItem,
  type ProcessExit,
  type Raw,
  type WarningDetail,
} from "#domain";
import { createDecoder, type Decoder, type Format } from "#dialects";
import { isRecord } from "#wire";
import { backgroundWarning, cutError, exitError, withoutEndFaults } from "./conversation/exit.ts";
import { awaitExit, type CliProcess } from "./launch.ts";
import { limitLines } from "./line-limit.ts";
import type { ClaudeCodeMessage, UnlistedMessage } from "./messages/message.ts";
import { missingField } from "./messages/missing-field.ts";
import type { QueryItem } from "./query-item.ts";
import { stalledError } from "./query-limits.ts";
import { SILENCE } from "./conversation/plan.ts";
import { DRAIN, NEXT_TURN_MS, type RuleInput } from "./result-rule.ts";
import { createTaskCount, readRuleInput } from "./result-rule-frames.ts";

/** Something that happened to the process, and the item it is when the rule gives it as it is. */
export interface Happening {
  readonly input: RuleInput;
  readonly given?: QueryItem | undefined;
}

/** What a wait for bytes came to. */
type Arrival = Uint8Array | "end" | "silence" | "closed";

/** How long something may take to happen. */
type Wait = { readonly leftMs: number } | "background" | "for-ever";

/** Nothing has happened; somebody asks. */
export const PULL: Happening = { input: { kind: "pull" } };

/** Frames as they are: the decoder adds the bytes, and says what cannot be read. */
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
  /** Shells that are left are not stopped, nor is the process. */
  readonly keepsShells: boolean;
  /** How long the CLI may be silent. */
  readonly idleMs: number | undefined;
  readonly maxLineBytes: number | undefined;
}

/** What happens to one process, one thing at a time, for a reader who may be slow: nothing is read ahead of him. */
export class QuerySource {
  private readonly _process: CliProcess;
  private readonly _clock: Clock;
  private readonly _keepsShells: boolean;
  private readonly _idleMs: number | undefined;
  private readonly _decoder: Decoder;
  private readonly _tasks = createTaskCount();
  private readonly _stdout: AsyncIterator<Uint8Array>;
  private _isClosed = false;
  /** Ends the wait for bytes, while there is one. */
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

  /** Whoever waits is told `pull`, and nothing more is read. */
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
   * The next thing that happens. With `leftMs`, a short silence is one too, and there is that much time. `background`:
   * a long one is.
   */
  async next(wait: Wait): Promise<Happening> {
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
   * A read that silence has overtaken goes on, and its bytes are not lost. Whoever closes finds the one wait there is:
   * a race against a promise that lives as long as the query would keep every byte for as long.
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

  /** The output is over: how the process ended decides what the rest of it means. */
  private async _noteEnd(leftMs: number | undefined): Promise<void> {
    const exit = await awaitExit(this._process, this._clock, leftMs);
    this._exit = { exit };
    this._chunks.push(...withoutEndFaults(this._decoder.end(), exit ?? { code: 0, signal: null }));
    const { outputFailure } = this._process;
    if (outputFailure !== undefined) this._chunks.push(errorItem(cutError(outputFailure)));
  }

  private _exitInput(exit: ProcessExit | undefined): RuleInput {
    if (exit === undefined) return { kind: "eof" };
    const error = exitError(
      exit,
      this._process.cover({
        stderrTail: this._process.stderr.text(),
        stdoutWasEmpty: !this._hasOutput,
        lastNonJsonLine: this._decoder.lastNonJsonLine,
        outputFailure: undefined,
      }),
    );
    return { kind: "exit", code: exit.code, signal: exit.signal, error };
  }

  private _read(chunk: Chunk): Happening | undefined {
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

function faultOf(error: ErrorDetail, raw: Raw | undefined, message?: UnlistedMessage): Happening {
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
      ...(raw !== undefined && { raw }),
      ...(message !== undefined && { message }),
    },
  };
}
