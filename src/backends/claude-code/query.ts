import {
  type ErrorDetail,
  errorItem,
  noticeItem,
  type Raw,
  StartError,
  type Chunk,
  type ProcessExit,
  type WarningDetail,
} from "#domain";
import { createDecoder, type Decoder, type Format } from "#formats";
import { createDeferred } from "#streams";
import { isRecord, type JsonRecord } from "#wire";
import { buildArgv } from "./argv.ts";
import { exitError, withoutEndFaults } from "./conversation-exit.ts";
import { type ClaudeCodeWorld, type CliProcess, findCli, launchCli } from "./launch.ts";
import { checkClaudeCodeOptions, type ClaudeCodeOptions } from "./options.ts";
import { DRAIN, mayWait, RULE_START, type RuleInput, type RuleItem, type RuleState, stepRule } from "./result-rule.ts";
import { createTaskCount, readRuleInput } from "./result-rule-frames.ts";

/** One message of the CLI, in its own words. Only `type` is certain. */
export type ClaudeCodeMessage = JsonRecord & { readonly type: string };

/**
 * One item of a query. `raw` is the message's line exactly as it came, without its end. After an error with
 * `terminal` only `end` follows.
 */
export type QueryItem =
  | { readonly kind: "message"; readonly message: ClaudeCodeMessage; readonly raw: Raw }
  | { readonly kind: "warning"; readonly warning: WarningDetail }
  | { readonly kind: "error"; readonly error: ErrorDetail; readonly raw?: Raw | undefined }
  | { readonly kind: "end" };

/**
 * The messages of one process. A result is a message like any other; whether it is a success is yours to judge.
 *
 * The process is gone when the stream has ended, was closed, or was left.
 */
export interface Query extends AsyncIterable<QueryItem> {
  /** The next item; `end` for ever behind the last. Calls at the same time are answered in order. Never rejects. */
  next(): Promise<QueryItem>;
  /** Ends the process and whoever waits for an item. Resolves when nothing is left. Idempotent. */
  close(): Promise<void>;
  /** Every item but `end`. Leaving the loop closes the query. */
  [Symbol.asyncIterator](): AsyncIterableIterator<QueryItem, undefined>;
}

/** Starts the CLI with a prompt, in plain mode. Rejects with `StartError`. */
export async function openQuery(prompt: string, given: ClaudeCodeOptions, world: ClaudeCodeWorld): Promise<Query> {
  if (typeof prompt !== "string" || prompt.trim() === "") {
    throw new StartError("invalid-input", "The prompt says nothing. Give it text.");
  }
  const options = checkClaudeCodeOptions(given);
  const plan = { mode: "plain", prompt: "stdin" } as const;
  const { warnings } = buildArgv(options, plan);
  const cli = await findCli(options, world);
  const process = await launchCli({ cli, options, plan }, world);
  process.write(prompt);
  process.endInput();
  return new MessageStream(process, [...cli.warnings, ...warnings], options, world);
}

/** How long a CLI may take to go once it has closed its output. */
const EXIT_MS = 1000;
/** How long a further turn may take to begin once background work has ended. */
const NEXT_TURN_MS = 1000;

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

const END: QueryItem = { kind: "end" };

class MessageStream implements Query {
  private readonly _process: CliProcess;
  private readonly _options: ClaudeCodeOptions;
  private readonly _world: ClaudeCodeWorld;
  private readonly _decoder: Decoder = createDecoder(FRAMES, { keepRaw: true });
  private readonly _tasks = createTaskCount();
  private readonly _stdout: AsyncIterator<Uint8Array>;
  private readonly _closing = createDeferred<void>();
  private _warnings: WarningDetail[];
  private _chunks: Chunk[] = [];
  private _state: RuleState = RULE_START;
  private _reading: Promise<IteratorResult<Uint8Array>> | undefined;
  private _exit: { readonly exit: ProcessExit | undefined } | undefined;
  private _turn: Promise<unknown> = Promise.resolve();
  private _closed: Promise<void> | undefined;
  private _hasOutput = false;
  private _hadTasks = false;

  constructor(
    process: CliProcess,
    warnings: readonly WarningDetail[],
    options: ClaudeCodeOptions,
    world: ClaudeCodeWorld,
  ) {
    this._process = process;
    this._warnings = [...warnings];
    this._options = options;
    this._world = world;
    this._stdout = process.stdout[Symbol.asyncIterator]();
  }

  next(): Promise<QueryItem> {
    const item = this._turn.then(() => this._pull());
    this._turn = item.catch(() => undefined);
    return item;
  }

  close(): Promise<void> {
    this._closed ??= this._release();
    return this._closed;
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<QueryItem, undefined> {
    const iterator: AsyncIterableIterator<QueryItem, undefined> = {
      next: async () => {
        const value = await this.next();
        return value.kind === "end" ? { done: true, value: undefined } : { done: false, value };
      },
      return: async () => {
        await this.close();
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  private async _release(): Promise<void> {
    this._state = { ...this._state, phase: "closed" };
    this._warnings = [];
    this._chunks = [];
    this._closing.resolve();
    await this._process.stop({ immediate: true });
  }

  private async _pull(): Promise<QueryItem> {
    const warning = this._warnings.shift();
    if (warning !== undefined) return { kind: "warning", warning };
    for (;;) {
      const wait = mayWait(this._state);
      const { input, given } = wait === "no" ? PULL : await this._next(wait);
      // Closed meanwhile: whatever came, nobody waits for it.
      const step = stepRule(this._closed === undefined ? this._state : CLOSED, input, {
        strictExitStatus: this._options.strictExitStatus,
      });
      if (this._closed === undefined) this._state = step.state;
      if (step.item === undefined) continue;
      if (step.state.phase === "closed") await this.close();
      return itemOf(step.item, given);
    }
  }

  /** What happens next, as the rule sees it. */
  private async _next(wait: "for-ever" | "drain"): Promise<Happening> {
    for (;;) {
      const chunk = this._chunks.shift();
      if (chunk !== undefined) {
        const happening = this._read(chunk);
        if (happening !== undefined) return happening;
        continue;
      }
      if (this._exit !== undefined) return { input: this._exitInput(this._exit.exit) };
      const bytes = await this._bytes(wait === "drain" ? this._silenceMs() : undefined);
      if (bytes === "closed") return PULL;
      if (bytes === "silence") return { input: { kind: "silence" } };
      if (bytes === undefined) await this._noteEnd();
      else this._chunks.push(...this._decoder.push(bytes));
      if (this._decoder.isOver && this._exit === undefined && this._chunks.length === 0) await this._noteEnd();
    }
  }

  private _silenceMs(): number {
    return this._hadTasks ? NEXT_TURN_MS : DRAIN.silenceMs;
  }

  /** The next bytes; a read that silence has overtaken goes on, and its bytes are not lost. */
  private async _bytes(silenceMs: number | undefined): Promise<Uint8Array | undefined | "silence" | "closed"> {
    this._reading ??= this._stdout.next();
    const reading = this._reading;
    let stopClock = (): void => undefined;
    const silence = new Promise<"silence">((resolve) => {
      if (silenceMs !== undefined) stopClock = this._world.clock.after(silenceMs, () => resolve("silence"));
    });
    const closing = this._closing.promise.then(() => "closed" as const);
    const first = await Promise.race([
      reading.then(
        (read) => (read.done === true ? undefined : read.value),
        () => undefined,
      ),
      silence,
      closing,
    ]);
    stopClock();
    if (first !== "silence" && first !== "closed") this._reading = undefined;
    return first;
  }

  /** The output is over: how the process ended decides what the rest of it means. */
  private async _noteEnd(): Promise<void> {
    const exit = await new Promise<ProcessExit | undefined>((resolve) => {
      const stopClock = this._world.clock.after(EXIT_MS, () => resolve(undefined));
      this._process.exit.then(
        (how) => {
          stopClock();
          resolve(how);
        },
        () => resolve(undefined),
      );
    });
    this._exit = { exit };
    this._chunks.push(...withoutEndFaults(this._decoder.end(), exit ?? { code: 0, signal: null }));
  }

  private _exitInput(exit: ProcessExit | undefined): RuleInput {
    if (exit === undefined) return { kind: "eof" };
    const error = exitError(exit, {
      stderrTail: this._process.stderr.text(),
      stdoutWasEmpty: !this._hasOutput,
      lastNonJsonLine: this._decoder.lastNonJsonLine,
    });
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
    const input = isRecord(data) ? readRuleInput(data, this._tasks) : undefined;
    if (input === undefined) return faultOf(unknownFrame(), raw);
    if (this._tasks.count > 0) this._hadTasks = true;
    return { input, given: { kind: "message", message: data as ClaudeCodeMessage, raw } };
  }
}

/** Something that happened, and the item it is when the rule gives it as it is. */
interface Happening {
  readonly input: RuleInput;
  readonly given?: QueryItem | undefined;
}

const PULL: Happening = { input: { kind: "pull" } };
const CLOSED: RuleState = { ...RULE_START, phase: "closed" };

function faultOf(error: ErrorDetail, raw: Raw | undefined): Happening {
  const { code, message, terminal, diagnostic } = error;
  const detail: ErrorDetail = { code, message, terminal, ...(diagnostic !== undefined && { diagnostic }) };
  return {
    input: { kind: "fault", error: detail, seen: raw?.json || (diagnostic?.seen ?? message) },
    given: { kind: "error", error: detail, ...(raw !== undefined && { raw }) },
  };
}

function unknownFrame(): ErrorDetail {
  return errorItem({
    code: "unexpected-message",
    message: "The CLI sent a message of an unknown type.",
    terminal: false,
  });
}

function itemOf(item: RuleItem, given: QueryItem | undefined): QueryItem {
  switch (item.kind) {
    case "given":
      return given ?? END;
    case "error":
      return given?.kind === "error" ? given : { kind: "error", error: item.error };
    default:
      return item;
  }
}
